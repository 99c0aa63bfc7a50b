"""How numbers and the ends of intervals are written in labels."""

from __future__ import annotations

from itertools import pairwise

from celosia.core.numbers import exact


def format_number(number: float) -> str:
    """A number as people write it: no fraction of zero.

    >>> format_number(10.0), format_number(0.5), format_number(-3), format_number(1e20)
    ('10', '0.5', '-3', '100000000000000000000')
    """
    decimal = exact(number)
    assert decimal is not None, "parameters are finite"
    return str(decimal.numerator) if decimal.denominator == 1 else repr(float(number))


def interval_labels(breaks: tuple[float, ...]) -> tuple[str, ...]:
    """The labels of all intervals between breaks and beyond them, disjoint and exhaustive.

    >>> interval_labels((0, 10, 20))
    ('<0', '[0,10)', '[10,20)', '≥20')
    """
    ends = [format_number(each) for each in breaks]
    inner = [f"[{low},{high})" for low, high in pairwise(ends)]
    return (f"<{ends[0]}", *inner, f"≥{ends[-1]}")
