"""Jobs that read what a visitor brings: the file goes as soon as its table is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.progress import Step
from celosia.studio.publish.form import (
    DATA,
    POPULATION,
    SAVED,
    ColumnForm,
    PublishForm,
)
from celosia.studio.publish.hierarchies import values_of
from celosia.studio.publish.hierarchy_tasks import ask
from celosia.studio.publish.samples import load_sample
from celosia.studio.publish.suggestions import column_facts, suggest
from celosia.studio.uploads import read_table_file
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

PROFILE = "profile"
"""The name under which a work keeps what is known of its columns."""


def read_table(
    progress: JobProgress, *, folder: str, file: str, shown: str, reading: dict[str, Any]
) -> dict[str, Any]:
    """Read an uploaded table, keep it as Parquet, suggest what to choose; the upload is removed.

    Args:
        progress: how to tell of progress.
        folder: of the work.
        file: our name of the upload in it.
        shown: what the visitor called it.
        reading: delimiter, encoding, header and decimal mark, where the visitor gave them.

    Raises:
        InputError: the file is no table, has no rows, or has too many columns.
    """
    frame = read_table_file(progress, Path(folder) / file, shown, reading)
    return _kept(progress, Work.at(folder), frame, shown, sample=None)


def read_sample(progress: JobProgress, *, folder: str, name: str) -> dict[str, Any]:
    """Make a sample table, and keep it with the choices that make sense for it."""
    progress(Step("Making the sample", 0))
    return _kept(progress, Work.at(folder), load_sample(name), f"{name}.csv", sample=name)


def read_population(
    progress: JobProgress, *, folder: str, file: str, shown: str, reading: dict[str, Any]
) -> dict[str, Any]:
    """Read the table of the population; it must have the quasi-identifiers of the sample.

    Raises:
        InputError: CEL-W057, a quasi-identifier is not among its columns.
    """
    work = Work.at(folder)
    form = PublishForm.load(work)
    frame = read_table_file(progress, work.path(file), shown, reading)
    absent = [name for name in form.named("quasi-identifier") if name not in frame.columns]
    if absent:
        raise InputError("CEL-W057", columns=absent)
    _write(frame, work.path(POPULATION))
    form.with_options(population=shown).save(work)
    return {"rows": frame.height}


def ask_column(
    progress: JobProgress,
    *,
    folder: str,
    column: ColumnForm,
    place: int,
    what: str,
    how: dict[str, Any],
) -> Any:
    """Answer a question about the hierarchy of a column that is too long for a page to wait."""
    progress(Step("Building the hierarchy", 0))
    values = values_of(Path(folder) / DATA, place)
    return ask(what, column, values, **how)


def _kept(
    progress: JobProgress, work: Work, frame: pl.DataFrame, shown: str, *, sample: str | None
) -> dict[str, Any]:
    progress(Step("Looking at the columns", 0, frame.width))
    facts = column_facts(
        frame, progress=lambda step: progress(Step("Looking at the columns", step.done, step.total))
    )
    form = suggest(shown, frame, facts, sample=sample)
    _write(frame, work.path(DATA))
    work.save(PROFILE, [each.as_dict() for each in facts])
    work.save(SAVED, form.as_dict())
    return {"rows": frame.height, "columns": frame.width}


def _write(frame: pl.DataFrame, path: Path) -> None:
    with replacing(path, overwrite=True) as draft:
        frame.write_parquet(draft)
