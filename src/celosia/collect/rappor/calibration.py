"""The chances of RAPPOR's two stages from what its reports may cost."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from celosia.collect.coins import WHOLE, Coin
from celosia.core.errors import InputError
from celosia.mechanisms.additive.directed_rounding import exp_below

if TYPE_CHECKING:
    from celosia.collect.rappor.rappor import Rappor

_MOST = Fraction(64)
"""Beyond e^64 nothing changes: chances are multiples of 2^-32."""


def calibrate(make: Callable[..., Rappor], hashes: int, lasting: Fraction, one: Fraction) -> Rappor:
    """A RAPPOR of at most these costs.

    Two values differ in up to 2 * `hashes` bits, so a bit may cost `lasting` / (2 * hashes); with
    half of these bits in mind one would deliver twice what was asked for.
    """
    lies = WHOLE - Coin.truthful(lasting / (2 * hashes)).heads
    f = Fraction(2 * lies, WHOLE)
    if f == 1:
        raise InputError("CEL-R031.lasting_too_small")
    low, high = _fair_ones(f, one / hashes) or _even(f, one / (2 * hashes))
    step = 0
    while True:  # rounding to 2^-32 may cost a hair too much: closer together, bit by bit
        shift = Fraction(step, WHOLE)
        made = make(f=f, p=_round(low, up=True) + shift, q=_round(high, up=False) - shift)
        if made.epsilon <= one:
            return made
        step = 2 * step + 1


def _fair_ones(f: Fraction, bit: Fraction) -> tuple[Fraction, Fraction] | None:
    """The p and q with q* = 1/2 and p* = 1 / (e^bit + 1), the least error for rare values.

    Reference: Wang et al. 2017, "Locally Differentially Private Protocols for Frequency
    Estimation" (optimised unary encoding). p + q = p* + q*, q - p = (q* - p*) / (1 - f).
    """
    absent = 1 / (1 + exp_below(min(bit, _MOST)))
    total, apart = Fraction(1, 2) + absent, (Fraction(1, 2) - absent) / (1 - f)
    low, high = (total - apart) / 2, (total + apart) / 2
    return (low, high) if low >= 0 and high <= 1 else None


def _even(f: Fraction, bit: Fraction) -> tuple[Fraction, Fraction]:
    """The p and q = 1 - p with q* = e^bit / (e^bit + 1), as far as the permanent stage allows."""
    ratio = exp_below(min(bit, _MOST))
    high = min(Fraction(1), (ratio / (1 + ratio) - f / 2) / (1 - f))
    return 1 - high, high


def _round(chance: Fraction, *, up: bool) -> Fraction:
    return Fraction(ceil(chance * WHOLE) if up else floor(chance * WHOLE), WHOLE)
