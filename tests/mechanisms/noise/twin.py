"""The kernels in plain Python: what they must equal, unit for unit, on the same random stream."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from celosia.mechanisms.noise.laws import Proposal

ONE = Fraction(1)


class Stream:
    """Uniform 32-bit numbers, read one after the other; counts what was read."""

    def __init__(self, units: Iterable[int]):
        self._units = [int(unit) for unit in units]
        self.read = 0

    def take(self, bits: int) -> int:
        number = 0
        for _ in range(bits // 32):
            number = number << 32 | self._units[self.read]
            self.read += 1
        return number

    def below(self, bound: int) -> int:
        bits = 32 if bound <= 2**31 else 64
        while True:
            product = self.take(bits) * bound
            if product % 2**bits >= 2**bits % bound:
                return product >> bits


def coin(stream: Stream, parts: list[tuple[int, int]], *, halved: bool = False) -> bool:
    """exp(-g), g the product of the parts: steps of chance g/k succeed an even number of times."""
    turns, copies = (9, 23) if halved else (11, 107)
    product = copies
    for k in range(1, turns + 1):
        product *= 2 * k if halved else k
    while (unit := stream.take(32)) >= product:
        pass
    k, chance = 1, ONE
    while True:
        chance /= 2 * k if halved else k
        if k <= turns:
            if unit >= product * chance:
                break
        elif stream.below(2 * k if halved else k):
            break
        if not all(top >= bottom or stream.below(bottom) < top for top, bottom in parts):
            break
        k += 1
    return k % 2 == 1


def exponential_coin(stream: Stream, numerator: int, denominator: int) -> bool:
    for _ in range(numerator // denominator):
        if not coin(stream, []):
            return False
    return coin(stream, [(numerator % denominator, denominator)])


def laplace(stream: Stream, scale: Fraction) -> int:
    top, bottom = scale.numerator, scale.denominator
    while True:
        both = stream.below(2 * top)
        negative, rest = both % 2, both // 2
        if not coin(stream, [(rest, top)]):
            continue
        turns = 0
        while coin(stream, []):
            turns += 1
        size = (rest + top * turns) // bottom
        if not (negative and size == 0):
            return -size if negative else size


def gaussian(stream: Stream, parameter: Fraction) -> int:
    way = Proposal.of(parameter)
    while True:
        proposal = laplace(stream, Fraction(way.top, way.bottom))
        distance = abs(way.factor * abs(proposal) - way.centre)
        if _kept(stream, distance, way.low, way.high):
            return proposal


def _kept(stream: Stream, distance: int, low: int, high: int) -> bool:
    turns, rest = divmod(distance, low)
    if not coin(stream, [(rest, low), (rest, high)], halved=True):
        return False
    for turn in range(turns):
        if not coin(stream, [(rest, high)]):
            return False
        for _ in range(2 * turn + 1):
            if not coin(stream, [(low, high)], halved=True):
                return False
    return True
