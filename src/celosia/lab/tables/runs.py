"""The runs of the study with their published cells, as they stand in its files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

from celosia.core.messages import Message
from celosia.lab.tolerance import EXACT, Cell, Tolerance
from celosia.tables import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    TCloseness,
    model_from_text,
)

LOSS = Tolerance(absolute=1e-5, why=Message("lab.tolerance.short_floats"))
"""Percentage points: some losses were printed from 32-bit floats."""

RATIO = Tolerance(relative=1e-9, why=Message("lab.tolerance.floats"))
"""Risks and averages were printed from 64-bit floats, whose last digit depends on the formula."""

TOLERANCES = {
    "loss %": LOSS,
    "average class": RATIO,
    "average risk %": RATIO,
    "maximum risk %": RATIO,
    "at risk %": RATIO,
}
"""Of the cells that are not exact."""

TEXTS = frozenset({"mode", "levels"})
"""Cells that are no numbers, even if they look like one."""

NONE = "none"
"""Stands for the levels of a run that has no solution."""

_CELLS = {
    str.__str__(each): each
    for each in (
        Message("lab.tables.loss"),
        Message("lab.tables.average_class"),
        Message("lab.tables.maximum_class"),
        Message("lab.tables.minimum_class"),
        Message("lab.tables.classes"),
        Message("lab.tables.tuples"),
        Message("lab.tables.suppressed"),
        Message("lab.tables.mean_age_midpoint"),
        Message("lab.tables.mean_age_lower_limit"),
        Message("lab.tables.maximum_age"),
        Message("lab.tables.minimum_age"),
        Message("lab.tables.mode"),
        Message("lab.tables.mode_count"),
        Message("lab.tables.average_risk"),
        Message("lab.tables.maximum_risk"),
        Message("lab.tables.at_risk"),
        Message("lab.tables.levels"),
    )
}
"""The columns of the files, which are named in English."""

_SETTINGS = ("run", "models", "suppression", "seconds")


@dataclass(frozen=True, slots=True)
class Run:
    """One experiment: its parameters and what was published of its outcome."""

    name: str
    models: tuple[Model, ...]
    suppression: float
    """The largest share of the records that may be suppressed; 1 for no limit."""
    cells: dict[str, Cell]
    seconds: float | None = None
    """How long it took, as it was published."""


def runs(file: str) -> tuple[Run, ...]:
    """The runs in a file of this package, in their order.

    >>> [len(run.cells) for run in runs("published.csv")] == [16] * 24
    True
    """
    text = files(__package__).joinpath(file).read_text("utf-8")
    return tuple(map(_run, csv.DictReader(text.splitlines())))


def tolerance_of(cell: str) -> Tolerance:
    """What may lie between a computed cell and the one it is compared with."""
    return TOLERANCES.get(cell, EXACT)


def _run(line: dict[str, str]) -> Run:
    models = tuple(map(model_from_text, line["models"].split()))
    suppression = float(line.get("suppression", 1))
    return Run(
        name=_name(line["run"], models, suppression),
        models=models,
        suppression=suppression,
        seconds=float(line["seconds"]) if "seconds" in line else None,
        cells={
            _CELLS[name]: _read(name, text)
            for name, text in line.items()
            if text and name not in _SETTINGS
        },
    )


def _name(text: str, models: tuple[Model, ...], suppression: float) -> str:
    """The name of a run as a message, where it is not a formula."""
    match models:
        case [_, DistinctDiversity(l=values)]:
            return Message("lab.tables.run_of_distinct_diversity", l=values)
        case [_, EntropyDiversity(l=values)]:
            return Message("lab.tables.run_of_entropy_diversity", l=values)
        case [_, TCloseness(t=t, distance="equal")]:
            return Message("lab.tables.run_of_equal_distance", t=t)
        case [TCloseness(t=t)]:
            return Message("lab.tables.run_without_k", t=t)
        case [KAnonymity(k=k)] if suppression < 1:
            return Message("lab.tables.run_with_suppression", k=k, percent=100 * suppression)
    return text


def _read(cell: str, text: str) -> Cell:
    if cell in TEXTS:
        return text
    return int(text) if text.isdigit() else float(text)
