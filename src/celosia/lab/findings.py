"""Findings of a study: published and computed cells side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from celosia.core.messages import Message, say, say_of
from celosia.core.methods import PlainValues, derived
from celosia.lab.tolerance import EXACT, Cell, Tolerance

VALUES = {"yes": "lab.value.yes", "no": "lab.value.no", "none": "lab.value.none"}
"""Cells in words, with their keys of the catalogue."""


def cell_text(cell: Cell | None) -> str:
    """What a cell holds, as it is shown to people.

    >>> cell_text("yes"), cell_text(0.5), cell_text(None)
    ('yes', '0.5', '')
    """
    if cell is None:
        return ""
    return say(VALUES[cell]) if isinstance(cell, str) and cell in VALUES else str(cell)


def name_of(name: str) -> str:
    """The name of a run or of a cell: a message where it is a key of the catalogue.

    >>> name_of("k=5"), name_of("lab.value.yes")
    ('k=5', 'yes')
    """
    return Message(name) if name.startswith("lab.") else name


Kind = Literal["theory", "simulation", "program", "promise", "judgement"]
"""Where a number of our own comes from that a computed cell is compared with.

A closed form; runs with random numbers; a program that shares no code with the one that is tried;
what a method or a definition promises; what a careful person would say.
"""


_KINDS: dict[Kind, str] = {
    "theory": "lab.kind.theory",
    "simulation": "lab.kind.simulation",
    "program": "lab.kind.program",
    "promise": "lab.kind.promise",
    "judgement": "lab.kind.judgement",
}


def kind_text(kind: Kind) -> str:
    """Where an expected number comes from, in words."""
    return say(_KINDS[kind])


@dataclass(frozen=True, slots=True)
class Row(PlainValues):
    """One cell: what was published of it, or what we expect of it, and what was computed.

    >>> print(Row("1+1", "sum", 2, 2))
    1+1, sum: 2 published, 2: matches
    >>> print(Row("1+1", "sum", 3, 2, expected=2, kind="theory", wrong="a slip of the pen"))
    1+1, sum: 2 expected, 2: matches
    """

    run: str
    """Which experiment: `k=5`."""
    cell: str
    """Which of its figures: `classes`."""
    published: Cell | None
    """What the source prints, and nothing else; None where it prints nothing."""
    computed: Cell | None
    """None where it was not computed, or says nothing beside what was published."""
    tolerance: Tolerance = EXACT
    expected: Cell | None = None
    """A number of our own that the computed one is compared with instead."""
    kind: Kind | None = None
    """Where the expected number comes from."""
    wrong: str = ""
    """Why the published number is wrong, where that is proved."""
    not_run: str = ""
    """Why nothing was compared."""

    def __post_init__(self) -> None:
        assert self.published is not None or self.expected is not None or self.not_run
        assert (self.expected is None) == (self.kind is None)
        assert self.computed is not None or self.not_run
        assert self.published is not None or not self.wrong

    @property
    def stated(self) -> Cell | None:
        """What the computed cell is compared with."""
        return self.published if self.expected is None else self.expected

    @property
    def number(self) -> float:
        """What was computed, where it is a number."""
        return float(self.computed or 0)

    @property
    @derived
    def matches(self) -> bool | None:
        """Whether the cell is as it should be; None where nothing was compared."""
        if self.not_run or self.computed is None or self.stated is None:
            return None
        return self.tolerance.matches(self.stated, self.computed)

    @property
    def differs(self) -> bool:
        """Whether a comparison failed."""
        return self.matches is False

    def __str__(self) -> str:
        if self.not_run or self.stated is None or self.computed is None:
            return say("lab.report.row_not_run", run=self.run, cell=self.cell, reason=self.not_run)
        return say_of(
            "lab.report.row_matches" if self.matches else "lab.report.row_differs",
            self,
            stated=cell_text(self.stated),
            whose=say("lab.report.published" if self.expected is None else "lab.report.expected"),
            computed=cell_text(self.computed),
        )


def compare(
    run: str,
    cell: str,
    stated: Cell,
    computed: Cell,
    tolerance: Tolerance = EXACT,
    *,
    kind: Kind | None = None,
    printed: Cell | None = None,
    wrong: str = "",
) -> Row:
    """A row for a number of the source, or for one of our own.

    Args:
        run: which experiment: its name, or a key of the catalogue.
        cell: which of its figures, in the same way.
        stated: the number to compare with.
        computed: what came out now.
        tolerance: what may lie between them.
        kind: where the stated number comes from; None if the source prints it.
        printed: what the source prints where the stated number is ours.
        wrong: why what the source prints is wrong.
    """
    published = stated if kind is None else printed
    expected = None if kind is None else stated
    return Row(name_of(run), name_of(cell), published, computed, tolerance, expected, kind, wrong)


@dataclass(frozen=True, slots=True)
class Findings(PlainValues):
    """All cells that a study checked, in the order of their runs.

    >>> found = Findings("sums", (Row("1+1", "sum", 2, 2), Row("2+2", "sum", 5, 4)))
    >>> print(found)
    1 of 2 cells match
    >>> found.is_reproduced, [str(row) for row in found.rows if row.differs]
    (False, ['2+2, sum: 5 published, 4: differs'])
    """

    study: str
    rows: tuple[Row, ...]

    @property
    @derived
    def checked(self) -> int:
        """How many cells were compared."""
        return sum(row.matches is not None for row in self.rows)

    @property
    @derived
    def matched(self) -> int:
        """How many of them agree."""
        return sum(row.matches is True for row in self.rows)

    @property
    def unchecked_runs(self) -> tuple[str, ...]:
        """The runs without a compared cell: their package or data is not here, for example."""
        runs = self.by_run().items()
        return tuple(name for name, rows in runs if all(row.matches is None for row in rows))

    @property
    def is_reproduced(self) -> bool:
        """Whether all compared cells agree, and there are some."""
        return 0 < self.matched == self.checked

    def by_run(self) -> dict[str, tuple[Row, ...]]:
        """The cells of each run."""
        runs: dict[str, tuple[Row, ...]] = {}
        for row in self.rows:
            runs[row.run] = (*runs.get(row.run, ()), row)
        return runs

    def frame(self) -> pl.DataFrame:
        """The cells as a table; all values as text, because some are labels."""
        texts = ("run", "cell", "published", "expected", "kind", "computed")
        return pl.DataFrame(
            [
                (
                    *(
                        None if (value := getattr(row, name)) is None else f"{value!s}"
                        for name in texts
                    ),
                    row.matches,
                    f"{row.tolerance}",
                    f"{row.tolerance.why}",
                    f"{row.wrong}" or None,
                    f"{row.not_run}" or None,
                )
                for row in self.rows
            ],
            schema=dict.fromkeys(texts, pl.String)
            | {"matches": pl.Boolean}
            | dict.fromkeys(("tolerance", "derivation", "wrong", "not run"), pl.String),
            orient="row",
        )

    def __str__(self) -> str:
        line = say("lab.report.matched", matched=self.matched, checked=self.checked)
        if not self.unchecked_runs:
            return line
        return f"{line}; {say('lab.report.unchecked', runs=len(self.unchecked_runs))}"
