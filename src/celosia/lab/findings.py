"""Findings of a study: published and computed cells side by side."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues
from celosia.lab.tolerance import Cell

VALUES = {"yes": "lab.value.yes", "no": "lab.value.no", "none": "lab.value.none"}
"""Cells in words, with their keys of the catalogue."""


def cell_text(cell: Cell) -> str:
    """What a cell holds, as it is shown to people.

    >>> cell_text("yes"), cell_text(0.5)
    ('yes', '0.5')
    """
    return say(VALUES[cell]) if isinstance(cell, str) and cell in VALUES else str(cell)


def name_of(name: str) -> str:
    """The name of a run or of a cell: a message where it is a key of the catalogue.

    >>> name_of("k=5"), name_of("lab.value.yes")
    ('k=5', 'yes')
    """
    return Message(name) if name.startswith("lab.") else name


@dataclass(frozen=True, slots=True)
class Row(PlainValues):
    """One published cell beside what was computed for it."""

    run: str
    """Which experiment: `k=5`."""
    cell: str
    """Which of its figures: `classes`."""
    published: Cell
    computed: Cell
    matches: bool

    def __str__(self) -> str:
        return say(
            "lab.report.row_matches" if self.matches else "lab.report.row_differs",
            run=self.run,
            cell=self.cell,
            published=cell_text(self.published),
            computed=cell_text(self.computed),
        )


@dataclass(frozen=True, slots=True)
class Findings(PlainValues):
    """All cells that a study checked, in the order of their runs.

    >>> found = Findings("sums", (Row("1+1", "sum", 2, 2, True), Row("2+2", "sum", 5, 4, False)))
    >>> print(found)
    1 of 2 cells match
    >>> found.is_reproduced, [str(row) for row in found.rows if not row.matches]
    (False, ['2+2, sum: 5 published, 4: differs'])
    """

    derived = ("checked", "matched")
    study: str
    rows: tuple[Row, ...]

    @property
    def checked(self) -> int:
        """How many cells were compared."""
        return len(self.rows)

    @property
    def matched(self) -> int:
        """How many of them agree."""
        return sum(row.matches for row in self.rows)

    @property
    def is_reproduced(self) -> bool:
        """Whether all cells agree."""
        return self.matched == self.checked

    def by_run(self) -> dict[str, tuple[Row, ...]]:
        """The cells of each run."""
        runs: dict[str, tuple[Row, ...]] = {}
        for row in self.rows:
            runs[row.run] = (*runs.get(row.run, ()), row)
        return runs

    def frame(self) -> pl.DataFrame:
        """The cells as a table; both values as text, because some are labels."""
        return pl.DataFrame(
            [(r.run, r.cell, str(r.published), str(r.computed), r.matches) for r in self.rows],
            schema={
                "run": pl.String,
                "cell": pl.String,
                "published": pl.String,
                "computed": pl.String,
                "matches": pl.Boolean,
            },
            orient="row",
        )

    def __str__(self) -> str:
        return say("lab.report.matched", matched=self.matched, checked=self.checked)
