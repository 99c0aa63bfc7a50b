"""The type of each column of a text file, told from its parts, which come one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from celosia.frames.decimal_marks import Mark, has_mark, is_certain
from celosia.frames.inference import Narrow, mark_of, misfits, parse

_DECIMALS: tuple[Narrow, Narrow] = ("decimal", "decimal comma")


class TypeTally:
    """What a column whose type is not declared may be, after the parts of it that were seen.

    Args:
        tried: the types it may have.
        marks: the decimal marks that may be taken for marks between thousands; none, if it is
            known which is decimal.
    """

    def __init__(self, tried: Sequence[Narrow], *, marks: Sequence[Mark] = ()) -> None:
        self._left = tuple(tried)
        self._filled = False
        self._watched = set(marks)
        self._marked: set[Mark] = set()

    def add(self, text: pl.Series) -> None:
        """Look at the next part."""
        fitting: list[Narrow] = []
        for wanted in self._left:
            if _fits(text, wanted, fitting):
                fitting.append(wanted)
        self._left = tuple(fitting)
        self._filled = self._filled or text.null_count() < len(text)
        if "integer" not in fitting:
            self._look_at_marks(text)

    def _look_at_marks(self, text: pl.Series) -> None:
        for mark in self._watched & {mark_of(wanted) for wanted in self._left}:
            if is_certain(text, mark):
                self._marked.add(mark)
                self._watched.discard(mark)
            elif mark not in self._marked and has_mark(text, mark):
                self._marked.add(mark)

    @property
    def narrowest_type(self) -> Narrow | None:
        """The narrowest type that all values have; None is text."""
        return self._left[0] if self._left and self._filled else None

    @property
    def mark(self) -> Mark | None:
        """The decimal mark, if there is one in the column."""
        mark = None if self.narrowest_type is None else mark_of(self.narrowest_type)
        return mark if mark in self._marked else None

    @property
    def doubt(self) -> Mark | None:
        """The decimal mark, if each of them may stand between thousands."""
        return self.mark if self.mark in self._watched else None

    @property
    def is_text(self) -> bool:
        """Whether no further part can change that the column is text."""
        return not self._left


class DecimalTally(TypeTally):
    """The same for a column declared as decimal, which has one decimal mark or the other."""

    def __init__(self) -> None:
        super().__init__(_DECIMALS, marks=(".", ","))
        self._misfits = [0, 0]

    def add(self, text: pl.Series) -> None:
        """Look at the next part."""
        for place, wanted in enumerate(_DECIMALS):
            self._misfits[place] += misfits(text, wanted)
        self._look_at_marks(text)

    @property
    def narrowest_type(self) -> Narrow:
        """The way of writing that most values have; with a point if it makes no difference."""
        points, commas = self._misfits
        return "decimal comma" if commas < points else "decimal"

    @property
    def doubt(self) -> Mark | None:
        """The decimal mark, if each may stand between thousands and all cells are numbers."""
        return None if min(self._misfits) else super().doubt


def _fits(text: pl.Series, wanted: Narrow, others: Sequence[Narrow]) -> bool:
    """Whether all values are of the type, where they are known to be of these others."""
    if wanted == "decimal comma" and "decimal" in others:
        # Numbers without any mark are written alike, and those with a point have no comma.
        return "integer" in others or not has_mark(text, ".")
    return parse(text, wanted) is not None


def doubt_in(text: pl.Series, found: Narrow | None) -> Mark | None:
    """The decimal mark of a whole column, if each may stand between thousands.

    >>> doubt_in(pl.Series(["1,234"]), "decimal comma"), doubt_in(pl.Series(["1.5"]), "decimal")
    (',', None)
    """
    mark = None if found is None else mark_of(found)
    if mark is None or is_certain(text, mark) or not has_mark(text, mark):
        return None
    return mark


def decimal_mark(parts: Iterable[pl.DataFrame]) -> Mark | None:
    """The decimal mark of a file where it may be either, from the text of all its columns.

    It is a comma if there is a column of numbers with a comma that can only be decimal, open if
    there are only such as may stand between thousands, and else a point.
    """
    tallies: dict[str, TypeTally] = {}
    for part in parts:
        for column in part.iter_columns():
            tally = tallies.setdefault(column.name, TypeTally(["decimal comma"], marks=(",",)))
            if not tally.is_text:
                tally.add(column)
        if all(tally.is_text for tally in tallies.values()):
            break
    marked = [tally for tally in tallies.values() if tally.mark == ","]
    if any(tally.doubt is None for tally in marked):
        return ","
    return None if marked else "."
