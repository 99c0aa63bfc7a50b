"""Published numbers as they were printed, beside what is computed for them."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from math import inf

from celosia.core.messages import Message
from celosia.lab.findings import Kind, Row, compare
from celosia.lab.tolerance import EXACT, Cell, Tolerance

SIGMAS = 4.0
"""Standard errors that chance may add to a simulated cell: a right one misses once in 16,000."""

INFINITE = Message("lab.value.infinite")
"""How a loss without limit is told: JSON has no such number."""

_FLOATS = Tolerance(relative=1e-9, why=Message("lab.tolerance.floats"))


def compare_printed(
    run: str,
    cell: str,
    text: str,
    computed: float,
    *,
    error: float = 0.0,
    kind: Kind | None = None,
    printed: Cell | None = None,
    wrong: str = "",
) -> Row:
    """A row for a number that is given with some digits: the computed one must round to it.

    Args:
        run: which experiment: its name, or a key of the catalogue.
        cell: which of its figures, in the same way.
        text: the number with the digits that it is given with, which say how exact it is.
        computed: what came out now.
        error: the standard error of both numbers together where they were drawn at random.
        kind: where the number comes from; None if the source prints it.
        printed: what the source prints where the number is ours.
        wrong: why what the source prints is wrong.

    >>> print(compare_printed("ln 3", "epsilon", "1.0986", 1.0986123))
    ln 3, epsilon: 1.0986 published, 1.0986123: matches
    """
    return compare(
        run,
        cell,
        float(text),
        computed,
        digits(text, error),
        kind=kind,
        printed=printed,
        wrong=wrong,
    )


def compare_equal(
    run: str,
    cell: str,
    stated: Cell,
    computed: Cell,
    *,
    kind: Kind | None = None,
    printed: Cell | None = None,
    wrong: str = "",
) -> Row:
    """A row for a whole number, a word, or a number that is exact: no rounding is forgiven.

    Floats may differ in their last digits; what is not finite is told in words.
    """
    given, found = _plain(stated), _plain(computed)
    rule = _FLOATS if isinstance(found, float) and given else EXACT
    return compare(run, cell, given, found, rule, kind=kind, printed=printed, wrong=wrong)


def comparing(kind: Kind) -> tuple[partial[Row], partial[Row]]:
    """`compare_equal` and `compare_printed` for numbers that no source prints."""
    return partial(compare_equal, kind=kind), partial(compare_printed, kind=kind)


def digits(text: str, error: float = 0.0) -> Tolerance:
    """Half of the last digit, and what chance adds where a number was drawn at random."""
    why = "lab.tolerance.digits_and_chance" if error else "lab.tolerance.digits"
    return Tolerance(absolute=half_unit(text) + SIGMAS * error, why=Message(why, sigmas=SIGMAS))


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
