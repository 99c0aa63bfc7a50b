"""Jobs of the door Publish: release a table, try all solutions, measure, write what is taken."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import polars as pl

from celosia import tables
from celosia.core.errors import CelosiaError, InputError
from celosia.core.files import replacing
from celosia.core.progress import Step
from celosia.studio.model.publish import choices as chosen
from celosia.studio.model.publish import results, results_solutions, results_table, writing
from celosia.studio.model.publish.choices import Choices
from celosia.studio.worker import Voice

SECONDS = 60.0
"""How long solutions are tried; after that those found so far are shown."""
KEPT = (
    "release.csv",
    "release.csv.cert.json",
    "release.parquet",
    "release.parquet.cert.json",
    "report.html",
    "schema.toml",
    "publish.py",
    "publish.sh",
)
"""What the archive holds."""


def run(
    voice: Voice, *, folder: str, choices: dict[str, Any], seconds: float = SECONDS
) -> dict[str, Any]:
    """Publish as chosen, try all other solutions, measure both sides, and write it all down."""
    place = Path(folder)
    for name in (results.FILE, results_solutions.FILE):
        (place / name).unlink(missing_ok=True)
    wanted = Choices.from_dict(choices)
    frame, people = _read(voice, place, wanted)
    release = _published(voice, frame, people, wanted)
    solutions = _explored(voice, frame, people, wanted, release, seconds)
    _write_json(place / results_solutions.FILE, solutions)
    return _written(voice, place, wanted, frame, people, release)


def apply(
    voice: Voice, *, folder: str, choices: dict[str, Any], levels: dict[str, int]
) -> dict[str, Any]:
    """Publish at levels that the visitor took from the solutions; these stay as they are."""
    place = Path(folder)
    wanted = replace(
        Choices.from_dict(choices), levels=levels, method="lattice", local=False, time_limit=None
    )
    frame, people = _read(voice, place, wanted)
    release = _published(voice, frame, people, wanted)
    return _written(voice, place, wanted, frame, people, release)


def _read(voice: Voice, place: Path, wanted: Choices) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    voice(Step("Reading the table", 0))
    frame = pl.read_parquet(place / chosen.DATA)
    if wanted.population is None:
        return frame, None
    return frame, pl.read_parquet(place / chosen.POPULATION)


def _published(
    voice: Voice, frame: pl.DataFrame, people: pl.DataFrame | None, wanted: Choices
) -> tables.TableRelease:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them, and the page shows them
        return tables.publish(
            frame,
            chosen.schema(wanted),
            chosen.models(wanted),
            population=people,
            progress=voice,
            **chosen.arguments(wanted),
        )


def _explored(  # noqa: PLR0913 - all that a search is about
    voice: Voice,
    frame: pl.DataFrame,
    people: pl.DataFrame | None,
    wanted: Choices,
    release: tables.TableRelease,
    seconds: float,
) -> dict[str, Any]:
    """All solutions of the lattice; none where only finer recoding meets the models."""
    try:
        found = tables.explore(
            frame,
            chosen.schema(wanted),
            chosen.models(wanted),
            suppression=wanted.suppression,
            metric=chosen.metric(wanted),
            time_limit=seconds,
            population=people,
            progress=voice,
        )
    except CelosiaError as error:
        if isinstance(error, InputError) and error.code != "CEL-P003":
            raise
        found = None
    return results_solutions.told(
        found,
        release.solution,
        metric=wanted.metric,
        labels=results_solutions.level_labels(frame, chosen.schema(wanted)),
    )


def _written(  # noqa: PLR0913 - what was asked, what came of it, and where it goes
    voice: Voice,
    place: Path,
    wanted: Choices,
    frame: pl.DataFrame,
    people: pl.DataFrame | None,
    release: tables.TableRelease,
) -> dict[str, Any]:
    aligned = _aligned(voice, frame, people, wanted, release)
    voice(Step("Measuring risk and use", 0))
    told = results.measured(frame, release, wanted, people=people, progress=voice)
    voice(Step("Writing the files", 0))
    results_table.write_sides(place, frame, release.data, aligned, wanted)
    release.save(place / "release.csv")
    release.save(place / "release.parquet")
    release.report(place / "report.html")
    # The studio hands out names with up to two suffixes.
    shutil.copyfile(place / "release.csv.cert.json", place / "certificate.json")
    (place / "schema.toml").write_text(writing.schema_text(wanted), "utf-8")
    (place / "publish.py").write_text(writing.python_text(wanted), "utf-8")
    (place / "publish.sh").write_text(writing.command_text(wanted) + "\n", "utf-8")
    with (
        replacing(place / "release.zip") as draft,
        ZipFile(draft, "w", compression=ZIP_DEFLATED) as archive,
    ):
        for name in KEPT:
            archive.write(place / name, name)
    _write_json(place / results.FILE, told)  # last: it says that all the rest is there
    return {"rows": release.solution.rows, "suppressed": release.solution.suppressed}


def _aligned(
    voice: Voice,
    frame: pl.DataFrame,
    people: pl.DataFrame | None,
    wanted: Choices,
    release: tables.TableRelease,
) -> pl.DataFrame | None:
    """The same release in the order of the table, to say which class each record went to.

    It is shown to whoever has the table anyway, and written nowhere but beside it.
    """
    levels = release.solution.levels
    again = replace(wanted, keep_order=True, drop_suppressed=False)
    if not wanted.local and wanted.method == "lattice" and None not in levels:
        names = [column.name for column in release.solution.columns]
        fixed = {name: int(level or 0) for name, level in zip(names, levels, strict=True)}
        again = replace(again, levels=fixed, time_limit=None)
    try:
        return _published(voice, frame, people, again).data
    except CelosiaError:  # a release may hold only because its suppressed records are dropped
        return None


def _write_json(path: Path, value: Any) -> None:
    with replacing(path) as draft:
        draft.write_text(json.dumps(value, ensure_ascii=False, allow_nan=False), "utf-8")
