"""A project: all choices about a table as one file, with the table itself where that is wanted.

The file is a ZIP archive: `project.json` has roles, hierarchies, models, settings and candidates;
the schema and the command are there to be read. What comes back is checked like all that a
visitor brings: it is somebody's file, not ours.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import polars as pl

from celosia.core.errors import CelosiaError, InputError
from celosia.core.files import replacing
from celosia.core.progress import Step
from celosia.studio import stored_json
from celosia.studio.publish import changes, code, results_tray
from celosia.studio.publish.form import DATA, POPULATION, SAVED, PublishForm, publish_options
from celosia.studio.publish.readers import PROFILE
from celosia.studio.publish.results_tray import Candidate
from celosia.studio.publish.suggestions import column_facts, kind_of
from celosia.studio.uploads import check_table, uploaded
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

FILE = "project.celosia"
"""What a project is called in its work, and when it is taken away."""
CHOICES = "project.json"
FORMAT = 1
LARGEST = {CHOICES: 20_000_000, DATA: 1_000_000_000, POPULATION: 1_000_000_000}
"""Bytes of each part, unpacked."""


def save(work: Work, *, with_data: bool) -> Path:
    """Write the project of a work; with its table and its population, or without."""
    form = PublishForm.load(work)
    kept = {
        "celosia_project": FORMAT,
        "form": form.as_dict() | {"history": None},
        "candidates": [each.as_dict() for each in results_tray.load(work)],
    }
    with (
        replacing(work.path(FILE), overwrite=True) as draft,
        ZipFile(draft, "w", compression=ZIP_DEFLATED) as archive,
    ):
        archive.writestr(CHOICES, stored_json.dumps(kept, indent=1))
        for name, write in (("schema.toml", code.schema_text), ("publish.sh", code.command_text)):
            try:
                archive.writestr(name, write(form))
            except CelosiaError:  # choices that do not go together yet have no recipe
                continue
        for name in (DATA, POPULATION) if with_data else ():
            if work.path(name).is_file():
                archive.write(work.path(name), name)
    return work.path(FILE)


def open_whole(progress: JobProgress, *, folder: str, file: str, shown: str) -> dict[str, Any]:
    """Begin a work with a project that has its table; the upload goes.

    Raises:
        InputError: CEL-W063 it is no project, or has no table, or not the table of its choices.
    """
    progress(Step("Reading the file", 0))
    work = Work.at(folder)
    with uploaded(work.path(file), shown) as path:
        found = _parts(path)
    if DATA not in found:
        raise InputError("CEL-W063.no_table")
    frame = _table(found[DATA])
    form, tray = _choices(found[CHOICES])
    if form.population is not None and POPULATION in found:
        _table(found[POPULATION]).write_parquet(work.path(POPULATION))
    else:
        form = replace(form, population=None)
    form = _fitting(form, frame.columns, [kind_of(each) for each in frame.dtypes], frame.height)
    facts = column_facts(frame, progress=progress)
    frame.write_parquet(work.path(DATA))
    work.save(PROFILE, [each.as_dict() for each in facts])
    work.save(results_tray.SAVED, [each.as_dict() for each in tray])
    work.save(SAVED, form.as_dict())  # last: it says that all the rest is there
    return {"rows": frame.height, "columns": frame.width}


def open_choices(work: Work, file: str, shown: str) -> None:
    """Take the choices and candidates of a project for the table of a work; the upload goes.

    Raises:
        InputError: CEL-W063 it is no project, or the project of a table with other columns.
    """
    with uploaded(work.path(file), shown) as path:
        form, tray = _choices(_parts(path, only=(CHOICES,))[CHOICES])
    now = PublishForm.load(work)
    names, kinds = zip(*((each.name, each.kind) for each in now.columns), strict=True)
    form = _fitting(form, names, kinds, now.rows)
    changes.note(work, now)
    work.save(results_tray.SAVED, [each.as_dict() for each in tray])
    replace(
        form, file=now.file, sample=now.sample, population=now.population, history=now.history
    ).save(work)


def _parts(path: Path, only: Sequence[str] = tuple(LARGEST)) -> dict[str, bytes]:
    """The parts of the archive that are known, none larger than it may be."""
    try:
        with ZipFile(path) as archive:
            sizes = {each.filename: each.file_size for each in archive.infolist()}
            wanted = [name for name in only if name in sizes]
            if any(sizes[name] > LARGEST[name] for name in wanted) or CHOICES not in wanted:
                raise _no_project()
            found = {}
            for name in wanted:
                with archive.open(name) as part:  # no more than it said, whatever is packed in it
                    found[name] = part.read(sizes[name])
            return found
    except (BadZipFile, OSError, RuntimeError, NotImplementedError):
        raise _no_project() from None


def _choices(content: bytes) -> tuple[PublishForm, list[Candidate]]:
    try:
        values = stored_json.loads(content.decode("utf-8"))
        if values["celosia_project"] != FORMAT:
            raise _no_project()
        plain = json.loads(json.dumps(values["form"]))
        form = replace(PublishForm.from_dict(plain), history=None)
        tray = [Candidate.from_dict(each) for each in values["candidates"][: results_tray.MOST]]
        _try(form, tray)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise _no_project() from None
    return replace(form, file=str(form.file)[:100]), tray


def _try(form: PublishForm, tray: Sequence[Candidate]) -> None:
    """Build what is chosen: what is of a wrong type shows, what is only unfinished may stay."""
    for each in tray:
        str(each.promise), each.smallest, results_tray.level_of(each, "")
    try:
        publish_options(replace(form, population=None))
    except CelosiaError:
        return


def _table(content: bytes) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(BytesIO(content))
    except (pl.exceptions.PolarsError, OSError):
        raise _no_project() from None
    check_table(frame)
    return frame


def _fitting(
    form: PublishForm, names: Sequence[str], kinds: Sequence[str], rows: int
) -> PublishForm:
    """The choices for a table with these columns, which must be those that were chosen for."""
    if sorted(each.name for each in form.columns) != sorted(names):
        raise InputError("CEL-W063.other_table")
    columns = tuple(
        replace(form.column(name), kind=kind) for name, kind in zip(names, kinds, strict=True)
    )
    return replace(form, columns=columns, rows=rows)


def _no_project() -> InputError:
    return InputError("CEL-W063")
