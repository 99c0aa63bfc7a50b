"""Publish the census once for every run, and compare."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from celosia import datasets
from celosia.assess.risk import measure
from celosia.assess.utility import aggregates
from celosia.core.errors import PrivacyError, PrivacyWarning
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.lab.findings import Kind, Row, compare
from celosia.lab.tables.runs import NONE, Run, runs, tolerance_of
from celosia.lab.tables.setting import QUASI_IDENTIFIERS, published_schema
from celosia.lab.tolerance import Cell
from celosia.tables import Hierarchy, Schema, TableRelease, publish
from celosia.tables.hierarchies import ROOT

AT_RISK = 0.1
"""A record is at risk in a class of fewer than ten."""


def cells_of(release: TableRelease, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Cell]:
    """Every figure that was published of a run, from the labels of the release.

    Only the levels, which were not published but belong to the reference runs, are taken from what
    the release says of itself.
    """
    risk = measure(release.data, QUASI_IDENTIFIERS, threshold=AT_RISK)
    ages = aggregates(release.data["age"], published=True)
    limits = (ages.mean_midpoint, ages.mean_lower, ages.maximum, ages.minimum)
    middle, lower, oldest, youngest = (int(limit or 0) for limit in limits)
    return {
        Message("lab.tables.loss"): 100 * loss_of_labels(release.data, hierarchies),
        Message("lab.tables.average_class"): risk.average_size,
        Message("lab.tables.maximum_class"): risk.largest,
        Message("lab.tables.minimum_class"): risk.smallest,
        "classes": risk.classes,
        "tuples": risk.records,
        "suppressed": risk.suppressed,
        Message("lab.tables.mean_age_midpoint"): middle,
        Message("lab.tables.mean_age_lower_limit"): lower,
        Message("lab.tables.maximum_age"): oldest,
        Message("lab.tables.minimum_age"): youngest,
        "mode": ROOT if ages.mode == ROOT else f"[{ages.mode}]",
        Message("lab.tables.mode_count"): ages.mode_count,
        Message("lab.tables.average_risk"): 100 * risk.average,
        Message("lab.tables.maximum_risk"): 100 * risk.maximum,
        Message("lab.tables.at_risk"): 100 * risk.at_risk,
        "levels": "".join(map(str, release.solution.levels)),
    }


def loss_of_labels(table: pl.DataFrame, hierarchies: Mapping[str, Hierarchy]) -> float:
    """Information lost, read off the labels: how many leaves each of them may stand for.

    The share of leaves is averaged over all rows, put on a scale where raw cells lose 0 and `*`
    loses 1, cut after ten decimals as was done for the published losses, and the columns are
    brought together by the geometric mean.

    >>> sex = Hierarchy.from_paths([("Male", "*"), ("Female", "*")])
    >>> loss_of_labels(pl.DataFrame({"sex": ["Male", "Female", "*", "*"]}), {"sex": sex})
    0.5
    """
    losses = [_column_loss(table[name], tree) for name, tree in hierarchies.items()]
    return math.prod(math.pow(1 + loss, 1 / len(losses)) for loss in losses) - 1


def _column_loss(labels: pl.Series, hierarchy: Hierarchy) -> float:
    counts = labels.cast(pl.String).alias("label").value_counts(name="rows").rows()
    leaves = sum(int(hierarchy.stands_for(label).size) * int(rows) for label, rows in counts)
    raw, total = len(labels), len(labels) * len(hierarchy.leaves)
    return math.floor((leaves - raw) / (total - raw) * 1e10) / 1e10


def reproduce(
    file: str, start: str, kind: Kind | None, path: Path | None, progress: Progress
) -> list[Row]:
    """Compute the cells of all runs in a file whose names begin with `start`.

    `kind` says where the cells of the file come from; None if they were published.

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
        found += _compare(run, _compute(run, rows, schema, hierarchies, watch), kind)
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


def _compare(run: Run, computed: Mapping[str, Cell], kind: Kind | None) -> Iterator[Row]:
    for cell, stated in run.cells.items():
        value = computed.get(cell, NONE)
        yield compare(run.name, cell, stated, value, tolerance_of(cell), kind=kind)
    if run.seconds is not None:
        cell, reason = Message("lab.tables.seconds"), Message("lab.not_run.time")
        yield Row(run.name, cell, run.seconds, None, not_run=reason)
