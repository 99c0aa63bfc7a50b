"""One exact draw from many candidates, weighted by the exponential of their exponents."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.numbers import exact
from celosia.core.randomness import Source

TOTAL_BITS = 61
"""Bits of the sum of all weights in the fast stage."""

MOST_BITS = 2**16
"""A draw that needs more random bits than these: once in 2^65000, or a broken source."""


def draw_weighted(
    exponents: NDArray[np.int64],
    *,
    rate: Fraction,
    rng: Source,
    weights: NDArray[np.int64] | None = None,
) -> int:
    """An index i drawn with a chance exactly proportional to weight[i] * exp(-rate * exponent[i]).

    The draw is an inversion: the index is where a uniform real number falls among the cumulated
    chances. The number is known to 64 bits and the chances, from floats, to within a proven error;
    when that leaves no doubt, which is nearly always, the index is found. Otherwise the number gets
    more bits and the chances are computed in whole numbers, to twice the precision each time, until
    there is no doubt. So the law is exact, however small a chance is, and the work of the first
    stage does not depend on what is drawn.

    Args:
        exponents: whole numbers, such as how far each candidate is from the best.
        rate: a number above 0.
        rng: where the bits come from.
        weights: whole numbers of at least 0, such as how many values each candidate stands for.

    >>> from celosia.core.randomness import Seeded
    >>> draw_weighted(np.array([3, 0, 2**40]), rate=Fraction(5), rng=Seeded(7))
    1

    Raises:
        InputError: CEL-M030 exponents or weights that are not whole numbers of one length;
            CEL-M031 no positive weight, or too much of it; CEL-M032 not a rate.
    """
    places, above, amounts = _candidates(exponents, weights)
    speed = exact(rate)
    if speed is None or speed <= 0:
        raise InputError("CEL-M032", rate=rate)
    number, bits = int(rng.words(1)[0]), 64
    least, most = _fast(above, amounts, speed, number)
    if least == most:
        return int(places[least])
    groups, group = np.unique(above, return_inverse=True)
    while bits < MOST_BITS:
        for word in rng.words(bits // 64):
            number = number << 64 | int(word)
        bits *= 2
        powers = [exp_minus(speed * value, bits) for value in groups.tolist()]
        chances = _Chances(group, amounts, powers, bits)
        least, most = chances.search(number, least, most)
        if least == most:
            return int(places[least])
    raise PrivacyError("CEL-M033")


def _fast(
    above: NDArray[np.int64], amounts: NDArray[np.int64], rate: Fraction, number: int
) -> tuple[int, int]:
    """The least and the greatest index that (number + [0, 1)) / 2^64 may mean.

    With u = 2^-53: above, rate and amount are rounded to floats (u each), and so are their products
    (u each). An error of 3u in x makes one of 3xu in exp(-x); exp itself is taken to be 16 u off,
    more than any library's. So each chance is off by (3x + 24) u of itself at most, plus one unit
    for its rounding to a whole number or to nothing. The sums of whole numbers are exact.
    """
    # A rate beyond these bounds makes each x 0 or each chance 0 within a unit, clipped or not.
    speed = float(min(max(rate, Fraction(1, 2**900)), Fraction(2**900)))
    x = above.astype(np.float64) * speed
    with np.errstate(under="ignore"):
        chances = amounts * np.exp(-x)
    units = np.ldexp(chances, TOTAL_BITS - int(np.frexp(chances.sum())[1]))
    error = above.size + 2 + int(np.dot(units, 3.0 * np.minimum(x, 800.0) + 24.0) * 2.0**-52)
    ends = np.cumsum(np.rint(units).astype(np.int64))  # below 2^61 + 2^60
    total = int(ends[-1])
    low = (number * (total - error) >> 64) - error
    high = ((number + 1) * (total + error) >> 64) + 1 + error
    least, most = np.searchsorted(ends, [low, min(high, 2**62)], side="right")
    return int(least), min(int(most), above.size - 1)


class _Chances:
    """Cumulated chances in whole numbers, each between a lower and an upper bound."""

    def __init__(
        self,
        group: NDArray[np.int64],
        amounts: NDArray[np.int64],
        powers: list[tuple[int, int]],
        bits: int,
    ):
        self._group, self._amounts, self._powers, self._bits = group, amounts, powers, bits
        self._total = self._before(group.size)

    def search(self, number: int, least: int, most: int) -> tuple[int, int]:
        """The least and the greatest index in least .. most that number / 2^bits may mean.

        The index is i when end(i) <= number * total < end(i + 1), end(i) the sum of the i first.
        """
        low = number * self._total[0]
        high = (number + 1) * self._total[1]
        shift = self._bits

        def surely_past(index: int) -> bool:
            return self._before(index + 1)[1] << shift <= low

        def maybe_past(index: int) -> bool:
            return self._before(index + 1)[0] << shift < high

        return _first_not(surely_past, least, most), _first_not(maybe_past, least, most)

    def _before(self, count: int) -> tuple[int, int]:
        """Bounds of the sum of the `count` first chances."""
        sums = np.zeros(len(self._powers), dtype=np.int64)
        np.add.at(sums, self._group[:count], self._amounts[:count])  # in all below 2^62
        pairs = [
            (amount * low, amount * high)
            for amount, (low, high) in zip(sums.tolist(), self._powers, strict=True)
        ]
        return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def _first_not(passed: Callable[[int], bool], least: int, most: int) -> int:
    """The first index in least .. most - 1 that is not passed, or `most`."""
    while least < most:
        middle = (least + most) // 2
        least, most = (middle + 1, most) if passed(middle) else (least, middle)
    return least


def _candidates(
    exponents: object, weights: object
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Places of the candidates of positive weight, their exponents from 0 on, and their weights."""
    values = np.asarray(exponents)
    amounts = np.ones(values.size, dtype=np.int64) if weights is None else np.asarray(weights)
    if (
        values.ndim != 1
        or values.shape != amounts.shape
        or not (_whole(values) and _whole(amounts))
    ):
        raise InputError("CEL-M030")
    places = np.flatnonzero(amounts)
    if places.size < amounts.size:
        values, amounts = values[places], amounts[places]
    values, amounts = values.astype(np.int64, copy=False), amounts.astype(np.int64, copy=False)
    # In two halves, so that the sum itself cannot overflow.
    total = (int((amounts >> 32).sum()) << 32) + int((amounts & 0xFFFFFFFF).sum())
    if not 0 < total < 2**62:
        raise InputError("CEL-M031")
    return places, values - values.min(), amounts


def _whole(values: NDArray[np.generic]) -> bool:
    if values.dtype.kind not in "iu":
        return False
    return values.size == 0 or (int(values.min()) >= 0 and int(values.max()) < 2**63)


def exp_minus(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Whole numbers that enclose 2^bits * exp(-exponent), at most 3 apart; exponent >= 0.

    Computed in whole-number arithmetic, to any precision.

    >>> exp_minus(Fraction(1), 20), round(2**20 / 2.718281828459045)
    ((385748, 385751), 385750)
    """
    if exponent * 10 > (bits + 2) * 7:  # 0.7 > ln 2, so that exp(-exponent) < 2^-bits
        return 0, 1
    # exp(-x) = exp(-x / 2^halvings)^(2^halvings) with x / 2^halvings <= 2^-8.
    halvings = (exponent.numerator // exponent.denominator).bit_length() + 8
    places = bits + halvings + bits.bit_length() + 8
    one = 1 << places
    small = (exponent.numerator << places) // (exponent.denominator << halvings)
    power, term, count = one, one, 0
    while term:
        count += 1
        term = (term * small >> places) // count
        power += -term if count % 2 else term
    # Each of the `count` terms is less than 3 units wrong (its own rounding, that of `small`, and
    # that of the term before), the terms left out less than 1 together. Each squaring of a number
    # up to 1 doubles the error and adds 1: in the end 2^halvings * (3 count + 3) units at most,
    # below 2^(places - bits), one unit of the result.
    for _ in range(halvings):
        power = power * power >> places
    found = power >> (places - bits)  # rounded down, by less than another unit
    return max(found - 1, 0), min(found + 2, 1 << bits)
