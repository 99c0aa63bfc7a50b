"""Jobs of related tables: bring them one after another, and make new ones that hang together."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.progress import Step
from celosia.studio import comparison
from celosia.studio.mask.jobs import MOST_SHOWN, compared
from celosia.studio.parameters import starting
from celosia.studio.query.databases import SUFFIXES as DATABASES
from celosia.studio.query.databases import read_sqlite, table_name
from celosia.studio.related import model
from celosia.studio.release_facts import guarantee_facts, write_report
from celosia.studio.uploads import Brought, read_table_file, uploaded
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

if TYPE_CHECKING:
    from celosia.tables.private.related import RelatedTables, SyntheticTables

MOST_TABLES = 12
"""Tables of one work: each takes a part of the budget."""
ARCHIVE, DECLARED = "made.zip", "related.toml"


def bring(progress: JobProgress, *, folder: str, brought: Brought) -> dict[str, Any]:
    """Add what was brought to the tables of a work: the sample, a file, a database, a declaration.

    Raises:
        InputError: CEL-W111 too many tables; or what is wrong with the file.
    """
    work = Work.at(folder)
    state: dict[str, Any] = work.load("related") or {
        **brought.state(),
        "tables": [],
        "form": {},
        "parameters": starting(model.controls())
        if brought.sample is not None
        else model.first_parameters(),
        "seed": None,
    }
    path = work.path(brought.file) if brought.file else Path()
    if brought.sample is not None:
        progress(Step("Making the sample", 0))
        _add_sample(state, work)
    elif path.suffix == ".toml":
        _declare(state, path, brought.shown)
    elif path.suffix in DATABASES:
        progress(Step("Reading the file", 0))
        with uploaded(path, brought.shown):
            found = read_sqlite(path)
        _add(state, work, {name: (frame, f"{name}.csv") for name, frame in found.items()})
    else:
        frame = read_table_file(progress, path, brought.shown)
        name = table_name(PurePath(brought.shown).stem)
        _add(state, work, {name: (frame, brought.shown)})
    work.save("related", state)
    return state


def _add_sample(state: dict[str, Any], work: Work) -> None:
    import tomllib

    from celosia.datasets.clinic import DECLARATION, clinic

    tables = clinic().tables
    _add(state, work, {name: (frame, f"{name}.csv") for name, frame in tables.items()})
    state["form"] = model.form_of(tomllib.loads(DECLARATION), state["tables"])


def _declare(state: dict[str, Any], path: Path, shown: str) -> None:
    from celosia.tables.private.related import RelatedTables

    with uploaded(path, shown):
        declared = RelatedTables.load(path)
    state["form"] |= model.form_of(declared.as_dict(), state["tables"])


def _add(state: dict[str, Any], work: Work, given: Mapping[str, tuple[pl.DataFrame, str]]) -> None:
    """Keep tables, each in the place of one of the same name; guess how they hang together.

    What was chosen for a table before stays, unless its columns are other ones now.
    """
    kept = [each for each in state["tables"] if each["name"] not in given]
    if len(kept) + len(given) > MOST_TABLES:
        raise InputError("CEL-W111", most=MOST_TABLES)
    for name, (frame, file) in given.items():
        # As on the command line: numbers, or text.
        plain = frame.with_columns(pl.exclude(pl.Int64, pl.Float64).cast(pl.String))
        plain.write_parquet(work.path(f"{name}.parquet"))
        kept.append({"name": name, "file": file, "rows": frame.height, "columns": _facts(plain)})
    before = state["form"]
    state["tables"] = kept
    state["form"] = {
        name: _still(before.get(name), entry) for name, entry in model.guess(kept).items()
    }


def _still(before: dict[str, Any] | None, guessed: dict[str, Any]) -> dict[str, Any]:
    if before is None or list(before["columns"]) != list(guessed["columns"]):
        return guessed
    links = before if before["parent"] else guessed
    return before | {
        "parent": links["parent"],
        "foreign_key": links["foreign_key"],
        "key": before["key"] or guessed["key"],
        "given": before["given"] or guessed["given"],
    }


def _facts(frame: pl.DataFrame) -> list[dict[str, Any]]:
    from celosia.assess.risk import detect

    roles = {each.column: str(each.role) for each in detect(frame)}
    return [
        {
            "name": column.name,
            "kind": "text"
            if column.dtype == pl.String
            else "integer"
            if column.dtype.is_integer()
            else "decimal",
            "role": roles[column.name],
            "distinct": column.n_unique(),
            "empty": column.null_count(),
        }
        for column in frame.get_columns()
    ]


def fill(progress: JobProgress, *, folder: str, table: str) -> dict[str, Any]:
    """Take values and bounds of the columns of a table from its cells."""
    work = Work.at(folder)
    frame = pl.read_parquet(work.path(f"{table}.parquet"))
    state = work.load("related")
    entry = state["form"][table]
    for place, name in enumerate(model.made_columns(entry)):
        progress(Step("Looking at the columns", place, frame.width))
        column = frame.get_column(name).drop_nulls()
        each = entry["columns"][name]
        if column.dtype.is_numeric() and len(column):
            each.update(treatment=model.BOUNDS, bounds=[column.min(), column.max()])
        elif 0 < column.n_unique() <= model.MOST_FOUND:
            each.update(treatment=model.VALUES, values=column.unique().sort().to_list())
    work.save("related", state)
    return dict(state)


def run(
    progress: JobProgress,
    *,
    folder: str,
    declared: Mapping[str, Any],
    parameters: Mapping[str, Any],
    seed: int | None = None,
) -> dict[str, Any]:
    """Make new tables of a work; files and `made.json` are written to its folder."""
    from celosia.core.randomness import source
    from celosia.tables.private import AdaptiveMarginals
    from celosia.tables.private.related import RelatedTables, synthesise_tables

    work = Work.at(folder)
    declaration = RelatedTables.from_table(declared)
    method = AdaptiveMarginals(**parameters)
    frames = {
        name: pl.read_parquet(work.path(f"{name}.parquet"))
        for name in declaration.tables
        if work.path(f"{name}.parquet").is_file()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them
        release = synthesise_tables(
            frames, declaration, method, rng=source(seed), progress=progress
        )
    progress(Step("Writing the files", 0))
    _write(release, work, declared)
    progress(Step("Comparing", 0))
    result = {
        **guarantee_facts(release.guarantee),
        "warnings": list(release.warnings),
        "rows": release.rows(),
        "declared": dict(declared),
        "parameters": dict(parameters),
        "seed": seed,
        "not_found": [
            f"{name}.{column}"
            for name, table in declaration.tables.items()
            for column in table.discover or {}
            if release.tables[name][column].null_count() == release.tables[name].height
        ],
        "tables": [
            {"name": name} | _comparison(name, declaration, frames, release.tables)
            for name in declaration.tables
        ],
    }
    for name, frame in release.tables.items():
        frames[name].select(frame.columns).head(MOST_SHOWN).write_parquet(
            work.path(f"real-{name}.parquet")
        )
        frame.head(MOST_SHOWN).write_parquet(work.path(f"made-{name}.parquet"))
    work.save("made", result)
    return {"rows": release.rows()}


def _comparison(
    name: str,
    declaration: RelatedTables,
    real: Mapping[str, pl.DataFrame],
    made: Mapping[str, pl.DataFrame],
) -> dict[str, Any]:
    """Both tables side by side, with the number of rows that each row of the parent has."""
    table = declaration.tables[name]
    found = compared(real[name], made[name], table.columns)
    if table.parent is None:
        return found | {"rows_of_one": None}
    key = str(declaration.tables[table.parent].key)
    before, after = (
        _rows_of_one(tables[table.parent], key, tables[name], str(table.foreign_key))
        for tables in (real, made)
    )
    return found | {"rows_of_one": comparison.distribution(before, after)}


def _rows_of_one(
    parents: pl.DataFrame, key: str, children: pl.DataFrame, foreign_key: str
) -> pl.Series:
    """How many rows each of the parents has."""
    counts = children.group_by(pl.col(foreign_key).cast(pl.String).alias("key")).len()
    known = parents.select(pl.col(key).cast(pl.String).alias("key")).drop_nulls().unique()
    return known.join(counts, on="key", how="left")["len"].fill_null(0)


def _write(release: SyntheticTables, work: Work, declared: Mapping[str, Any]) -> None:
    """The tables with their certificate in one archive, and all files under names of ours."""
    place = work.folder / "made"
    saved = release.save(place)
    paper = saved.with_name(f"{saved.name}.cert.json")
    write_report(release.document_of(saved), work.path("report.html"))
    work.path(DECLARED).write_text(model.declaration_text(declared), "utf-8")
    with (
        replacing(work.path(ARCHIVE)) as draft,
        zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for each in sorted(place.iterdir()):
            archive.write(each, f"{saved.name}/{each.name}")
        archive.write(paper, paper.name)
    for each in place.iterdir():
        each.replace(work.path(f"made-{each.name}"))
    place.rmdir()
    paper.replace(work.path("certificate.json"))
