"""Marginals of one contingency table: which to measure, and the best estimates from them.

A table over keys of n_1, ..., n_d values falls into orthogonal components, one for each set A of
keys: what the means over all other keys tell beyond those of smaller sets. A marginal over the keys
K, each of whose cells has noise of variance s_K, tells the components A inside K. So everything
about estimation by least squares is known in closed form (the algebra of marginals of McKenna et
al., HDMM, 2018; Xiao et al., ResidualPlanner, 2023):

- the precision of component A is p_A, the sum over measured K that contain A of N / (n_K s_K);
- a cell of the marginal over Q has the variance 1 / n_Q times the sum over A inside Q of
  (product over A of n_i - 1) (N / n_Q) / p_A.

Here n_K is the number of cells of a marginal, and N that of the whole table. Everything in this
module but `estimate` is made of public numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import pi, prod, sqrt

import numpy as np
from numpy.typing import NDArray

Keys = frozenset[int]
"""Keys of a marginal, by their positions."""
Table = NDArray[np.float64]

MOST_CELLS = 100_000
"""Cells of the largest marginal that is measured."""
MOST_CANDIDATES = 64
MOST_STARTS = 12
_ROUNDS = 400


def subsets(keys: Keys) -> Iterator[Keys]:
    """All subsets, the empty one first."""
    ordered = sorted(keys)
    sizes = range(len(ordered) + 1)
    found = chain.from_iterable(combinations(ordered, size) for size in sizes)
    return map(frozenset, found)


@dataclass(frozen=True)
class Marginals:
    """A contingency table by the number of values of each key, and marginals that are measured.

    Args:
        sizes: how many values each key has.
        variances: of the noise of each cell, by the keys of each measured marginal.
    """

    sizes: tuple[int, ...]
    variances: Mapping[Keys, float]

    def cells(self, keys: Keys) -> int:
        """How many cells a marginal has."""
        return prod(self.sizes[key] for key in keys)

    def precisions(self, component: Keys) -> dict[Keys, float]:
        """What each measured marginal tells about a component; their sum is its precision."""
        whole = prod(self.sizes)
        return {
            keys: whole / (self.cells(keys) * variance)
            for keys, variance in self.variances.items()
            if component <= keys
        }

    def variance(self, wanted: Keys) -> float:
        """The variance of one cell of an estimated marginal; infinite if it cannot be estimated."""
        share = prod(self.sizes) / self.cells(wanted)
        total = 0.0
        for component in subsets(wanted):
            precision = sum(self.precisions(component).values())
            if not precision:
                return float("inf")
            total += prod(self.sizes[key] - 1 for key in component) * share / precision
        return total / self.cells(wanted)

    def coefficients(self, wanted: Keys) -> list[tuple[float, float, int]]:
        """The noise in one estimated cell: coefficient, standard deviation and number of each part.

        A measured cell counts by the keys in which it agrees with the estimated one, so there are
        few different coefficients.
        """
        found = []
        for keys, variance in self.variances.items():
            shared = sorted(keys & wanted)
            for agrees in product((True, False), repeat=len(shared)):
                same = frozenset(
                    key for key, is_same in zip(shared, agrees, strict=True) if is_same
                )
                many = prod(self.sizes[key] - 1 for key in shared if key not in same)
                count = many * self.cells(keys - wanted)
                if count:
                    part = self._coefficient(wanted, keys, same)
                    found.append((part, sqrt(variance), count))
        return found

    def _coefficient(self, wanted: Keys, keys: Keys, same: Keys) -> float:
        total = 0.0
        for component in subsets(keys & wanted):
            known = self.precisions(component)
            share = known[keys] / sum(known.values())
            centred = prod((key in same) - 1 / self.sizes[key] for key in component)
            total += share * centred / self.cells(keys - component)
        # From means over the other keys of a measured marginal to sums over those of this one.
        return total * self.cells(keys) / self.cells(wanted)

    def radius(self, wanted: Keys, confidence: float) -> float:
        """How far an estimated cell is from the exact one with a confidence, for Laplace noise."""
        parts = [
            (abs(part) * deviation / sqrt(2), count)
            for part, deviation, count in self.coefficients(wanted)
            if part
        ]
        return laplace_sum_radius(parts, confidence)

    def estimate(self, measured: Mapping[Keys, Table], wanted: Keys) -> Table:
        """The best linear estimate of a marginal from all that were measured.

        Args:
            measured: the noisy tables, with one axis for each key of theirs, in order.
            wanted: the keys of the marginal.
        """
        axes = sorted(wanted)
        total = np.zeros(tuple(self.sizes[key] for key in axes))
        for component in subsets(wanted):
            known = self.precisions(component)
            whole = sum(known.values())
            part = sum(
                (precision / whole) * self.cells(keys) * _component(measured[keys], keys, component)
                for keys, precision in known.items()
            )
            shape = tuple(self.sizes[key] if key in component else 1 for key in axes)
            total = total + np.reshape(part, shape)
        return total / self.cells(wanted)


def laplace_sum_radius(parts: Sequence[tuple[float, int]], confidence: float) -> float:
    """What a sum of Laplace variables does not exceed in size, with a confidence.

    By the inversion formula of Gil-Pelaez: the characteristic function of the sum is the product of
    1 / (1 + (w s)^2), which falls at least as fast as w^-2, so that the integral is cut off where
    what is left is below 1e-5.

    Args:
        parts: scales, and how many variables have each.
        confidence: of the bound.

    >>> round(laplace_sum_radius([(1.0, 1)], 0.95), 2)  # ln 20
    3.0
    """
    deviation = sqrt(sum(2 * scale**2 * count for scale, count in parts))
    if not deviation:
        return 0.0
    rates = (np.arange(20_000) + 0.5) * (0.015 / deviation)
    logs = sum(count * np.log1p((rates * scale) ** 2) for scale, count in parts)
    weights = np.exp(-logs) / rates * (0.03 / (pi * deviation))
    low, high = 0.0, 60 * deviation
    while high - low > 1e-4 * deviation:
        middle = (low + high) / 2
        is_inside = float(np.sin(rates * middle) @ weights) < confidence
        low, high = (middle, high) if is_inside else (low, middle)
    return high


def _component(table: Table, keys: Keys, component: Keys) -> Table:
    """Means of a table over all keys but those of a component, without what smaller sets tell."""
    axes = sorted(keys)
    others = tuple(place for place, key in enumerate(axes) if key not in component)
    found: Table = table.mean(axis=others) if others else table
    for axis in range(found.ndim):
        found = found - found.mean(axis=axis, keepdims=True)
    return found


def choose_marginals(
    sizes: Sequence[int], wanted: Mapping[Keys, float], *, least: float
) -> dict[Keys, float]:
    """Shares of a budget for the marginals to measure, so that estimates vary least.

    Minimises the weighted sum of the variances of the wanted marginals, where a marginal that gets
    the share s of the budget has noise of variance 1 / s^2. Candidates are the wanted marginals and
    unions of them. The result is never worse than the equal split over the wanted ones.

    Args:
        sizes: how many values each key has.
        wanted: the weight of each wanted marginal.
        least: the smallest share that may be charged.
    """
    given = tuple(sizes)
    candidates = _candidates(given, wanted)
    starts = [
        dict.fromkeys(candidates, 1 / len(candidates)),
        dict.fromkeys(wanted, 1 / len(wanted)),
    ]
    # The loss has several local minima; each of the largest marginals pulls to another one.
    for keys in sorted(candidates, key=lambda each: -prod(given[key] for key in each))[
        :MOST_STARTS
    ]:
        starts.append({each: 0.5 * (each == keys) + 0.5 / len(candidates) for each in candidates})
    kept = [_prune(given, wanted, _descend(given, wanted, start), least) for start in starts]
    return min([*kept, starts[1]], key=lambda shares: _loss(given, wanted, shares))


def _candidates(sizes: tuple[int, ...], wanted: Mapping[Keys, float]) -> list[Keys]:
    found = dict.fromkeys(wanted)
    for one in list(wanted):
        for other in list(found):
            union = one | other
            if prod(sizes[key] for key in union) <= MOST_CELLS and len(found) < MOST_CANDIDATES:
                found[union] = None
    return list(found)


def _loss(
    sizes: tuple[int, ...], wanted: Mapping[Keys, float], shares: Mapping[Keys, float]
) -> float:
    measured = Marginals(sizes, _variances(shares))
    return sum(weight * measured.variance(keys) for keys, weight in wanted.items())


def _variances(shares: Mapping[Keys, float]) -> dict[Keys, float]:
    return {keys: share**-2 for keys, share in shares.items() if share > 1e-9}


def _descend(
    sizes: tuple[int, ...], wanted: Mapping[Keys, float], start: Mapping[Keys, float]
) -> dict[Keys, float]:
    """Move shares to where they lower the loss most, by multiplicative steps of its gradient."""
    shares, best = dict(start), _loss(sizes, wanted, start)
    rate = 0.5
    for _ in range(_ROUNDS):
        gradient = _gradient(sizes, wanted, shares)
        scale = max(abs(each) for each in gradient.values()) or 1.0
        moved = {
            keys: share * float(np.exp(-rate * gradient[keys] / scale))
            for keys, share in shares.items()
        }
        total = sum(moved.values())
        moved = {keys: share / total for keys, share in moved.items()}
        loss = _loss(sizes, wanted, moved)
        if loss < best:
            shares, best = moved, loss
        else:
            rate /= 2
        if rate < 1e-4:
            break
    return shares


def _gradient(
    sizes: tuple[int, ...], wanted: Mapping[Keys, float], shares: Mapping[Keys, float]
) -> dict[Keys, float]:
    """The derivative of the loss by each share."""
    measured = Marginals(sizes, _variances(shares))
    whole = prod(sizes)
    found = dict.fromkeys(shares, 0.0)
    for query, weight in wanted.items():
        cells = measured.cells(query)
        for component in subsets(query):
            known = measured.precisions(component)
            precision = sum(known.values())
            part = prod(sizes[key] - 1 for key in component) * whole / cells**2
            for keys in known:
                slope = 2 * shares[keys] * whole / measured.cells(keys)
                found[keys] -= weight * part * slope / precision**2
    return found


def _prune(
    sizes: tuple[int, ...],
    wanted: Mapping[Keys, float],
    shares: Mapping[Keys, float],
    least: float,
) -> dict[Keys, float]:
    """Leave out shares that cost more than they tell, smallest first."""
    kept = dict(shares)
    for keys in sorted(shares, key=lambda each: shares[each]):
        rest = {other: share for other, share in kept.items() if other != keys}
        total = sum(rest.values())
        if not total:
            break
        rest = {other: share / total for other, share in rest.items()}
        current = sum(kept.values())
        scaled = {other: share / current for other, share in kept.items()}
        is_small = scaled[keys] < least
        loss = _loss(sizes, wanted, rest)
        if loss <= _loss(sizes, wanted, scaled) * 1.001 or (is_small and loss < float("inf")):
            kept = rest
    total = sum(kept.values())
    return {keys: share / total for keys, share in kept.items()}
