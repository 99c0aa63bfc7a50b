"""Exact decimals as whole numbers on a grid: no group edge depends on a rounding error.

A decimal is `digits * 10**exponent`. All numbers of one question are put on the finest grid any of
them needs, `10**-places`, and are plain Python integers from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_FORM = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?")
"""Three digits of exponent hold every float; more would let one cell fill the memory."""


class Decimal(NamedTuple):
    """The number `digits * 10**exponent`."""

    digits: int
    exponent: int

    def on_grid(self, places: int) -> int:
        """The number as a multiple of `10**-places`.

        >>> Decimal(125, -1).on_grid(2)
        1250
        """
        return int(self.digits * 10 ** (self.exponent + places))


def parse(text: str) -> Decimal | None:
    """The exact number that a text writes, or None when it writes none.

    >>> parse("12.50"), parse("1e3"), parse("twelve")
    (Decimal(digits=125, exponent=-1), Decimal(digits=1, exponent=3), None)
    """
    form = _FORM.fullmatch(text)
    if form is None or len(text) > 400:
        return None
    sign, whole, fraction, exponent = form.groups(default="")
    fraction = fraction.rstrip("0")
    digits = int(sign + whole + fraction)
    return Decimal(digits, int(exponent or 0) - len(fraction)) if digits else Decimal(0, 0)


def of(number: float) -> Decimal:
    """The exact number that a parameter was written as.

    >>> of(0.1), of(20.0)
    (Decimal(digits=1, exponent=-1), Decimal(digits=20, exponent=0))
    """
    parsed = parse(repr(float(number) if isinstance(number, float) else int(number)))
    assert parsed is not None, "finite numbers are checked before"
    return parsed


def finest(numbers: Iterable[Decimal]) -> int:
    """How many decimal places hold all the numbers exactly."""
    return max((-number.exponent for number in numbers if number.exponent < 0), default=0)


def plain(value: int, places: int) -> str:
    """A number of the grid without exponent and without idle zeros.

    >>> plain(1250, 2), plain(-5, 1), plain(40, 0)
    ('12.5', '-0.5', '40')
    """
    whole, fraction = divmod(abs(value), 10**places)
    tail = f"{fraction:0{places}}".rstrip("0") if places else ""
    return f"{'-' if value < 0 else ''}{whole}{'.' if tail else ''}{tail}"
