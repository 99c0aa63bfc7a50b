"""Frequent sets of items with differential privacy: which persons have together.

Reference: Li, Qardaji, Su and Cao 2012, PrivBasis; there the list of items is public, here the
items are named privately first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ApproximateLoss
from celosia.core.messages import Message
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Source
from celosia.logs.private.data import JOIN, KeyData
from celosia.logs.private.mechanisms import (
    FEW,
    ONE_PERSON,
    GaussianKeys,
    KeyMechanism,
    LaplaceKeys,
    Released,
)
from celosia.logs.private.thresholds import MOST_KEYS
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import (
    DELTA,
    EPSILON,
    check_confidence,
    check_delta,
    check_epsilon,
    field_of,
    whole_number,
)
from celosia.mechanisms.selection.top_selection import TopSelection

LARGEST_BASIS = 8
"""Items whose sets are all counted together: 2^8 noisy numbers."""

Basis = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class PrivateItemsets(Mechanism[KeyData, Released]):
    """Sets of items with noisy numbers of persons who have all of them, in three steps.

    (1) The items with the largest noisy numbers, by private keys. (2) The pairs of them that most
    persons have, by the exponential mechanism. (3) Items that belong together form bases; each
    person is in one cell of each basis, by the items of it that she has; all cells get noise, and
    the number of a set is the sum of the cells that hold it.

    Guarantee: (epsilon, delta)-DP for one person. Each step costs a third of epsilon, the first all
    of delta, and each takes as public what the one before released. One person raises all pair
    counts by at most 1 (monotone scores), and one cell of each of w bases by 1: Laplace noise of
    scale w / (epsilon / 3). Bases and the largest sets are chosen from what is released.

    >>> PrivateItemsets(epsilon=3, delta=1e-6).items
    12
    """

    method_name: ClassVar[str] = "itemsets"

    epsilon: float = field_of(EPSILON)
    delta: float = field_of(DELTA)
    per_person: int = field_of(whole_number(most=MOST_KEYS), 1)
    items: int = field_of(whole_number(least=2, most=64), 12)
    top: int = field_of(whole_number(most=10_000), 50)
    neighbours: Neighbours = field(default=ONE_PERSON, init=False)

    @property
    def question(self) -> str:
        """What is asked, in a few words."""
        return Message("logs.private.itemsets", per_person=self.per_person)

    @property
    def third(self) -> Fraction:
        """The price of each step: a decimal number just below a third of epsilon."""
        return Fraction(f"{float(check_epsilon(self.epsilon)) / 3 * (1 - 1e-9):.12g}")

    def privacy_loss(self) -> ApproximateLoss:
        return ApproximateLoss(check_epsilon(self.epsilon), check_delta(self.delta))

    @cached_property
    def naming(self) -> KeyMechanism:
        """The mechanism that names items."""
        kind = GaussianKeys if self.per_person >= FEW else LaplaceKeys
        return kind(epsilon=float(self.third), delta=self.delta, per_person=self.per_person)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """What the noise of one cell does not exceed, with a single basis."""
        return float(DiscreteLaplace(1 / self.third).bound(check_confidence(confidence)))

    def measure(self, x: KeyData, *, rng: Source) -> Measurement[Released]:
        """The sets with the largest noisy numbers, the largest first."""
        named = self.naming.measure(x, rng=rng).value
        chosen = sorted(named, key=lambda name: (-named[name], name))[: self.items]
        has = _holders(x, chosen)
        bases = make_bases(len(chosen), self._pairs(has, rng))
        sums: dict[Basis, float] = {}
        shares: dict[Basis, float] = {}
        for basis in bases:
            law = DiscreteLaplace(len(bases) / self.third)
            for inside, count in _set_counts(cell_counts(has, basis), law, basis, rng):
                share = 2.0 ** (len(inside) - len(basis))  # one over its cells: over its variance
                sums[inside] = sums.get(inside, 0) + share * count
                shares[inside] = shares.get(inside, 0) + share
        counts = {inside: round(sums[inside] / shares[inside]) for inside in sums}
        ranked = sorted(counts, key=lambda inside: (-counts[inside], inside))[: self.top]
        return Measurement(
            {JOIN.join(sorted(chosen[one] for one in inside)): counts[inside] for inside in ranked}
        )

    def _pairs(self, has: NDArray[np.bool_], rng: Source) -> list[tuple[int, int]]:
        """The pairs of items that most persons have: as many as there are items."""
        listed = list(combinations(range(has.shape[1]), 2))
        if len(listed) <= has.shape[1]:
            return listed
        scores = [int((has[:, one] & has[:, other]).sum()) for one, other in listed]
        method = TopSelection(epsilon=float(self.third), count=has.shape[1], monotone=True)
        return [listed[place] for place in method.release(scores, rng=rng).tolist()]


def _holders(x: KeyData, chosen: list[str]) -> NDArray[np.bool_]:
    """For each person which of the chosen items she has."""
    place = {name: number for number, name in enumerate(chosen)}
    column = np.array([place.get(name, -1) for name in x.labels], dtype=np.int64)
    has = np.zeros((int(x.people.max(initial=-1)) + 1, len(chosen)), dtype=bool)
    of = column[x.codes]
    has[x.people[of >= 0], of[of >= 0]] = True
    is_there = np.zeros(len(has), dtype=bool)
    is_there[x.people] = True
    return has[is_there]


def cell_counts(has: NDArray[np.bool_], basis: Basis) -> NDArray[np.int64]:
    """How many persons have exactly each set of the items of a basis, by its bits."""
    cells = has[:, basis] @ (1 << np.arange(len(basis)))
    return np.bincount(cells, minlength=1 << len(basis))


def _set_counts(
    cells: NDArray[np.int64], law: DiscreteLaplace, basis: Basis, rng: Source
) -> list[tuple[Basis, int]]:
    """The noisy number of persons for each set of items of a basis: all cells that hold it."""
    sums = cells + law.draw(len(cells), rng)
    for bit in range(len(basis)):
        halves = sums.reshape(-1, 2, 1 << bit)
        halves[:, 0] += halves[:, 1]
    return [
        (tuple(basis[bit] for bit in range(len(basis)) if cell >> bit & 1), int(sums[cell]))
        for cell in range(1, len(sums))
    ]


def make_bases(items: int, pairs: list[tuple[int, int]]) -> list[Basis]:
    """Sets of items that are counted together: maximal cliques of pairs, joined while it pays.

    The error of a number grows with the number of bases and with the cells of its basis: two are
    joined while the mean of both together falls.

    >>> make_bases(3, [(0, 1)])
    [(0, 1, 2)]
    """
    near: list[set[int]] = [set() for _ in range(items)]
    for one, other in pairs:
        near[one].add(other)
        near[other].add(one)
    bases: list[set[int]] = []
    for start in range(items):  # cliques grown from each item, the nearest first
        grown = {start}
        for other in sorted(near[start], key=lambda each: (-len(near[start] & near[each]), each)):
            if len(grown) < LARGEST_BASIS and grown <= near[other]:
                grown.add(other)
        bases.append(grown)
    bases = [one for one in bases if not any(one < other for other in bases)]
    found = sorted({tuple(sorted(one)) for one in bases})
    while (better := _joined(found)) is not None:
        found = better
    return found


def _cost(bases: list[Basis]) -> float:
    """The mean variance of a number of single items, up to a factor."""
    return len(bases) ** 2 * sum(2.0 ** len(each) for each in bases) / max(1, len(bases))


def _joined(bases: list[Basis]) -> list[Basis] | None:
    """The bases with two of them joined, where it pays."""
    best, lowest = None, _cost(bases)
    for one, other in combinations(bases, 2):
        whole = tuple(sorted({*one, *other}))
        if len(whole) > LARGEST_BASIS:
            continue
        rest = [each for each in bases if not set(each) <= set(whole)]
        candidate = sorted([*rest, whole])
        if _cost(candidate) < lowest:
            best, lowest = candidate, _cost(candidate)
    return best
