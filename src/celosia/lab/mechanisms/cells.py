"""Published numbers as they were printed, beside what is computed for them."""

from __future__ import annotations

from decimal import Decimal
from math import inf

from celosia.core.messages import Message
from celosia.lab.findings import Row, name_of
from celosia.lab.tolerance import EXACT, Cell, Tolerance

SIGMAS = 4.0
"""Standard errors that chance may add to a simulated cell: a right one misses once in 16,000."""

INFINITE = Message("lab.value.infinite")
"""How a loss without limit is told: JSON has no such number."""

_FLOATS = Tolerance(relative=1e-9)


def compare_printed(run: str, cell: str, text: str, computed: float, *, error: float = 0.0) -> Row:
    """A row for a number that was printed with some digits: the computed one must round to it.

    Args:
        run: which experiment: its name, or a key of the catalogue.
        cell: which of its figures, in the same way.
        text: the number as it was printed, because its digits say how exact it is.
        computed: what came out now.
        error: the standard error of both numbers together where they were drawn at random.

    >>> print(compare_printed("ln 3", "epsilon", "1.0986", 1.0986123))
    ln 3, epsilon: 1.0986 published, 1.0986123: matches
    """
    reach = half_unit(text) + SIGMAS * error
    matches = Tolerance(reach).matches(float(text), computed)
    return Row(name_of(run), name_of(cell), float(text), computed, matches)


def compare_equal(run: str, cell: str, published: Cell, computed: Cell) -> Row:
    """A row for a whole number, a word, or a number that is exact: no rounding is forgiven.

    Floats may differ in their last digits; what is not finite is told in words.
    """
    stated, found = _plain(published), _plain(computed)
    rule = _FLOATS if isinstance(found, float) and stated else EXACT
    return Row(name_of(run), name_of(cell), stated, found, rule.matches(stated, found))


def half_unit(text: str) -> float:
    """Half of the last printed digit.

    >>> half_unit(".0010"), half_unit("22026")
    (5e-05, 0.5)
    """
    exponent = Decimal(text).as_tuple().exponent
    assert isinstance(exponent, int)  # not for NaN and the like, which nobody printed
    return float(Decimal(5).scaleb(exponent - 1))


def _plain(cell: Cell) -> Cell:
    return INFINITE if isinstance(cell, float) and cell == inf else cell
