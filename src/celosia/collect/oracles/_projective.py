"""Projective spaces over prime fields: points, orthogonal points, and sums over hyperplanes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from celosia.mechanisms.additive.directed_rounding import exp_below

Places = NDArray[np.int64]

MOST_POINTS = 2**25
"""Their transform takes 16 bytes for each."""

_NEAR = Fraction(101, 100)
"""A space with fewer points is taken where its variance is within so much of the least one."""


@dataclass(frozen=True)
class ProjectiveSpace:
    """Points with `coordinates` coordinates over the field of the integers modulo `order`."""

    order: int
    coordinates: int

    @property
    def points(self) -> int:
        """How many there are."""
        return self._size(self.coordinates)

    def _size(self, coordinates: int) -> int:
        size: int = (self.order**coordinates - 1) // (self.order - 1)
        return size

    @property
    def outside(self) -> Fraction:
        """How many points are not orthogonal to a point, for each one that is."""
        return Fraction(self.order ** (self.coordinates - 1), self._size(self.coordinates - 1))

    def other(self, own: Fraction) -> Fraction:
        """The chance of a point orthogonal to another value, from that for the own value.

        The points orthogonal to two values are a space of two coordinates less.
        """
        inside, both = self._size(self.coordinates - 1), self._size(self.coordinates - 2)
        return own * both / inside + (1 - own) * (inside - both) / (self.points - inside)

    @cached_property
    def _inverses(self) -> Places:
        """The inverse of each element; 0 for 0."""
        found = np.zeros(self.order, dtype=np.int64)
        if self.order > 1:
            found[1] = 1
        for number in range(2, self.order):
            found[number] = -(self.order // number) * found[self.order % number] % self.order
        return found

    def vectors(self, points: Places) -> Places:
        """The coordinates of points: coordinates by points."""
        made = np.zeros((self.coordinates, points.size), dtype=np.int64)
        for after in range(self.coordinates):  # those with so many coordinates after the first 1
            start, end = self._size(after), self._size(after + 1)
            here = np.flatnonzero((points >= start) & (points < end))
            made[self.coordinates - 1 - after, here] = 1
            left = points[here] - start
            for place in range(self.coordinates - 1, self.coordinates - 1 - after, -1):
                left, made[place, here] = np.divmod(left, self.order)
        return made

    def numbers(self, vectors: Places) -> Places:
        """The points of vectors that are not 0, each scaled so that it starts with 1."""
        first = np.argmax(vectors != 0, axis=0)
        scale = self._inverses[vectors[first, np.arange(vectors.shape[1])]]
        found = np.zeros(vectors.shape[1], dtype=np.int64)
        for place in range(self.coordinates):
            after = place > first
            found[after] *= self.order
            found[after] += (vectors[place] * scale % self.order)[after]
        starts = np.array([self._size(after) for after in range(self.coordinates)])
        found += starts[self.coordinates - 1 - first]
        return found

    def completed(self, points: Places, free: Places, products: Places) -> Places:
        """The point of the vector with given free coordinates and a given product with a point.

        The free coordinates are all but the first one where the point is not 0 (it is 1 there).
        """
        normal = self.vectors(points)
        first = np.argmax(normal != 0, axis=0)
        made = np.zeros_like(normal)
        left = free
        for place in range(self.coordinates - 1, -1, -1):
            used = place != first
            rest, digit = np.divmod(left, self.order)
            made[place] = np.where(used, digit, 0)
            left = np.where(used, rest, left)
        # Products are below 2^54 for every order that is allowed, and there are at most 32.
        sums = np.zeros(points.size, dtype=np.int64)
        for place in range(self.coordinates):
            sums += normal[place] * made[place] % self.order
        made[first, np.arange(points.size)] = (products - sums) % self.order
        return self.numbers(made)

    def orthogonal(self, counts: Places) -> Places:
        """For each point, the sum of the counts of all points that are orthogonal to it.

        Points are split into those that start with 1, an affine space, and those that start with
        0, a projective space of one coordinate less. In the affine part the counts y with
        <w, y> = s, for one w and all s, are the inverse Fourier transform of the line through w of
        the transform of the counts (the projection-slice theorem). It takes O(k log k) steps.
        Sums are whole numbers, and the transforms are exact to far less than one half for less
        than 2^40 reports, so rounding makes the result exact.
        """
        if self.coordinates == 1:  # one point, and it is not orthogonal to itself
            return np.zeros(1, dtype=np.int64)
        below = ProjectiveSpace(self.order, self.coordinates - 1)
        after, lines = self.coordinates - 1, below.points
        rest = below.orthogonal(counts[:lines])
        affine = counts[lines:].reshape((self.order,) * after)
        frequencies = np.fft.fftn(affine).reshape(-1)
        scales = np.arange(self.order)
        places = below._multiples(scales)
        # hits[s, w]: how many affine points y have <w, y> = s.
        hits = np.rint(np.fft.ifft(frequencies[places], axis=0).real).astype(np.int64)
        found = np.empty(self.points, dtype=np.int64)
        found[:lines] = hits[0] + rest
        # (1, c w) is orthogonal to (1, y) where <w, y> = -1/c, and to (0, y) where w is to y.
        found[lines] = counts[:lines].sum()
        found[lines + places[1:]] = hits[-self._inverses[1:] % self.order] + rest
        return found

    def _multiples(self, scales: Places) -> Places:
        """The multiples of all points as numbers with the order as base: scales by points."""
        vectors = self.vectors(np.arange(self.points))
        found = np.zeros((scales.size, self.points), dtype=np.int64)
        for coordinate in vectors:
            found *= self.order
            found += scales[:, None] * coordinate % self.order
        return found


def is_prime(number: int) -> bool:
    """Whether a number is prime; by division, for numbers below 2^30.

    >>> [number for number in range(20) if is_prime(number)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return number > 1 and all(number % each for each in range(2, isqrt(number) + 1))


def _prime_from(number: int, step: int) -> int:
    while number > 2 and not is_prime(number):
        number += step
    return max(2, number)


def best_space(epsilon: Fraction, values: int) -> ProjectiveSpace:
    """The space with a point for each value and the least variance of a rare one.

    Of spaces that are as good within a hundredth, the one with the fewest points.
    """
    ratio = exp_below(min(epsilon, Fraction(64)))
    target = int(min(ratio, Fraction(values))) + 1
    options: dict[ProjectiveSpace, Fraction] = {}
    for coordinates in range(2, max(3, values.bit_length() + 2)):
        # The points are more than order^(coordinates - 1), and at most twice as many.
        least = max(2, int((values / 2) ** (1 / (coordinates - 1))) - 1)
        enough = bisect_left(range(values + 1), values, least, key=_points_with(coordinates))
        least = _prime_from(enough, 1)
        for near in (_prime_from(target, -1), _prime_from(target, 1), least):
            space = ProjectiveSpace(max(least, near), coordinates)
            if space.points <= min(max(64, 64 * values), MOST_POINTS):
                options[space] = _rare(space, ratio)
    good = min(options.values()) * _NEAR
    return min((space for space, rare in options.items() if rare <= good), key=lambda s: s.points)


def _points_with(coordinates: int) -> Callable[[int], int]:
    return lambda order: ProjectiveSpace(order, coordinates).points


def _rare(space: ProjectiveSpace, ratio: Fraction) -> Fraction:
    own = ratio / (ratio + space.outside)
    other = space.other(own)
    return other * (1 - other) / (own - other) ** 2
