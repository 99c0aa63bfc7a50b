"""The runs of the study with their published cells, as they stand in its files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

from celosia.lab.tolerance import EXACT, Cell, Tolerance
from celosia.tables import Model, model_from_text

LOSS = Tolerance(absolute=1e-5)
"""Percentage points: some losses were printed from 32-bit floats."""

RATIO = Tolerance(relative=1e-9)
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

_SETTINGS = ("run", "models", "suppression")


@dataclass(frozen=True, slots=True)
class Run:
    """One experiment: its parameters and what was published of its outcome."""

    name: str
    models: tuple[Model, ...]
    suppression: float
    """The largest share of the records that may be suppressed; 1 for no limit."""
    cells: dict[str, Cell]


def runs(file: str) -> tuple[Run, ...]:
    """The runs in a file of this package, in their order.

    >>> [len(run.cells) for run in runs("published.csv")] == [16] * 24
    True
    """
    text = files(__package__).joinpath(file).read_text("utf-8")
    return tuple(map(_run, csv.DictReader(text.splitlines())))


def matches(cell: str, published: Cell, computed: Cell) -> bool:
    """Whether a computed cell is the published one, by the tolerance of this cell."""
    return TOLERANCES.get(cell, EXACT).matches(published, computed)


def _run(line: dict[str, str]) -> Run:
    return Run(
        name=line["run"],
        models=tuple(map(model_from_text, line["models"].split())),
        suppression=float(line.get("suppression", 1)),
        cells={
            name: _read(name, text) for name, text in line.items() if text and name not in _SETTINGS
        },
    )


def _read(cell: str, text: str) -> Cell:
    if cell in TEXTS:
        return text
    return int(text) if text.isdigit() else float(text)
