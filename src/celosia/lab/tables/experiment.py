"""Publish the census once for every run, and compare."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from celosia import datasets
from celosia.core.errors import PrivacyError, PrivacyWarning
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.lab.findings import Row
from celosia.lab.tables.cells import cells_of
from celosia.lab.tables.runs import NONE, Run, matches, runs
from celosia.lab.tables.setting import published_schema
from celosia.lab.tolerance import Cell
from celosia.tables import Hierarchy, Schema, publish


def reproduce(file: str, start: str, path: Path | None, progress: Progress) -> list[Row]:
    """Compute the cells of all runs in a file whose names begin with `start`.

    Raises:
        InputError: CEL-D003 to CEL-D006, the census rows cannot be found or are other rows.
    """
    wanted = [run for run in runs(file) if run.name.startswith(start)]
    rows = datasets.adult(path)
    schema = published_schema()
    hierarchies = {
        column.name: column.hierarchy_for(rows[column.name]) for column in schema.quasi_identifiers
    }
    found: list[Row] = []
    for done, run in enumerate(wanted):
        watch = _within(
            Step(Message("lab.tables.running", name=run.name), done, len(wanted)), progress
        )
        found += _compare(run, _compute(run, rows, schema, hierarchies, watch))
    progress(Step(Message("lab.study.comparing"), len(wanted), len(wanted)))
    return found


def _within(run: Step, progress: Progress) -> Progress:
    """Tell how far the study has come at every step of a run, which may end it there."""

    def watch(_: Step) -> None:
        progress(run)

    return watch


def _compute(
    run: Run,
    rows: pl.DataFrame,
    schema: Schema,
    hierarchies: Mapping[str, Hierarchy],
    progress: Progress,
) -> dict[str, Cell]:
    """The cells of a run; without a solution there are none but that."""
    try:
        with warnings.catch_warnings():
            # Nothing leaves this house, so the order of the rows tells nobody anything.
            warnings.simplefilter("ignore", PrivacyWarning)
            release = publish(
                rows,
                schema,
                run.models,
                suppression=run.suppression,
                keep_order=True,
                progress=progress,
            )
    except PrivacyError:
        return {}
    return cells_of(release, hierarchies)


def _compare(run: Run, computed: Mapping[str, Cell]) -> Iterator[Row]:
    for cell, published in run.cells.items():
        value = computed.get(cell, NONE)
        yield Row(run.name, cell, published, value, matches(cell, published, value))
