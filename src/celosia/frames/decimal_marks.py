"""Numbers with a decimal comma: how they are written, and where a mark may be another.

`3,14` can only be a decimal. `1,234` may be one, or a thousand as it is written in English; and so
may `1.234`, for that is how thousands are written where decimals have a comma. Columns with such
cells alone are in doubt, and the rest of the file decides: one column with a comma that can only be
decimal is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl

from celosia.core.errors import InputError

Mark = Literal[".", ","]
"""What may stand before the decimals of a number."""

EXPONENT = "[eE][+-]?[0-9]+"
WHOLE = "(?:0|[1-9][0-9]*)"
SHORT_WHOLE = "(?:0|[1-9][0-9]{0,14})"
"""A whole number of 16 digits or more would lose digits as a float: it is a name, not a number."""

_GROUPED = r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+"
"""Points between thousands, which are read only where a decimal comma follows them."""

WITH_COMMA = (
    f"^-?(?:{SHORT_WHOLE}|{WHOLE}?,[0-9]+(?:{EXPONENT})?|{_GROUPED},[0-9]+|{WHOLE}{EXPONENT})$"
)
"""A number with a decimal comma, or without decimals."""

_THOUSANDS: dict[Mark, str] = {
    mark: f"^-?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}$" for mark in (".", ",")
}
"""What may be a number with three decimals, or a whole number of thousands."""


_SAMPLE = 200
"""Rows looked at first: nearly every column of decimals is told by them."""


def marks_for(delimiter: str, given: Mark | None) -> tuple[Mark, ...]:
    """The decimal marks that the columns of a file may have, by its delimiter alone.

    >>> marks_for(";", None), marks_for(",", None), marks_for("|", ",")
    (('.', ','), ('.',), (',',))
    """
    if given is not None:
        return (given,)
    return (".", ",") if delimiter in {";", "\t"} else (".",)


def pointed(text: pl.Series) -> pl.Series:
    """Numbers that match `WITH_COMMA` as they are written with a decimal point."""
    plain = text.str.replace_all(".", "", literal=True)
    return plain.str.replace(",", ".", literal=True)


def with_points(cells: pl.Series, marks: Sequence[Mark]) -> pl.Series:
    """Cells with decimal points in place of commas, each judged by itself and by no other.

    This is for columns whose cells must not decide about one another, as differential privacy
    demands. So there is no doubt here: where a file may have decimal commas, `1,234` has one.

    >>> with_points(pl.Series(["3,14", "1.234,5", "2.5", "x,y"]), (".", ",")).to_list()
    ['3.14', '1234.5', '2.5', 'x,y']
    >>> with_points(pl.Series(["3,14", "2.5"]), (",",)).to_list()
    ['3.14', None]
    """
    if "," not in marks:
        return cells
    fits = cells.str.contains(WITH_COMMA)
    other = cells if "." in marks else cells.set(cells.str.contains(".", literal=True), None)
    return pointed(cells).zip_with(fits.fill_null(False), other)


def has_mark(text: pl.Series, mark: Mark) -> bool:
    """Whether a column of numbers has the mark anywhere."""
    return bool(text.str.contains(mark, literal=True).any())


def is_certain(text: pl.Series, mark: Mark) -> bool:
    """Whether a column of numbers has the mark where it cannot stand between thousands.

    >>> is_certain(pl.Series(["1,234", "5"]), ","), is_certain(pl.Series(["0,234"]), ",")
    (False, True)
    """
    for part in (text.head(_SAMPLE), text):
        marked = part.str.contains(mark, literal=True)
        if (marked & ~part.str.contains(_THOUSANDS[mark])).any():
            return True
    return False


def in_doubt(column: str, mark: Mark) -> InputError:
    """The error for a column declared as decimal whose marks may stand between thousands."""
    return InputError("CEL-F060.commas" if mark == "," else "CEL-F060.points", column=column)
