"""Classes small enough to check by hand, and each model written plainly from its definition."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from celosia.tables.models import (
    AlphaK,
    BetaLikeness,
    Classes,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    Histogram,
    KAnonymity,
    KMap,
    Model,
    PSensitive,
    RecursiveDiversity,
    SensitiveColumn,
    TCloseness,
)

Counts = Sequence[int]

NODES = np.array(
    [[0, 1, 2, 3, 4, 5], [0, 1, 0, 1, 2, 2], [0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]], dtype=np.int32
)
"""A hierarchy of six values whose nodes do not lie side by side."""


def column_of(totals: Counts, *, nodes: Any = None) -> SensitiveColumn:
    """A sensitive column with so many records of each value in the whole table."""
    return SensitiveColumn("disease", np.array(totals, dtype=np.int64), True, nodes)


def classes_of(
    column: SensitiveColumn, counts: Sequence[Counts], people: Counts | None = None
) -> Classes:
    """Classes with so many records of each value, among so many people."""
    table = np.array(counts, dtype=np.int64).reshape(len(counts), column.totals.size)
    classes, values = np.nonzero(table)
    histogram = Histogram.of_rows(
        column, classes, values.astype(np.int32), len(counts), table[classes, values]
    )
    population = None if people is None else np.array(people, dtype=np.int64)
    return Classes(table.sum(axis=1), {"disease": histogram}, population)


def exact(number: float) -> Fraction:
    """A parameter as the decimal that one writes."""
    return Fraction(str(number))


def hierarchical_distance(counts: Counts, totals: Counts, nodes: Any) -> Fraction:
    """The sum of cost(N) over the inner nodes: level/H times what its children exchange."""
    size, rows, height = sum(counts), sum(totals), len(nodes) - 1
    extra: list[dict[int, Fraction]] = [{} for _ in nodes]
    for level, row in enumerate(nodes):
        for value, node in enumerate(row):
            more = Fraction(counts[value], size) - Fraction(totals[value], rows)
            extra[level][int(node)] = extra[level].get(int(node), Fraction(0)) + more
    cost = Fraction(0)
    for level in range(1, len(nodes)):
        for node in extra[level]:
            inside = {
                int(nodes[level - 1][value])
                for value in range(len(totals))
                if nodes[level][value] == node
            }
            gains = [extra[level - 1][child] for child in inside]
            surplus = sum((gain for gain in gains if gain > 0), Fraction(0))
            lack = sum((-gain for gain in gains if gain < 0), Fraction(0))
            cost += Fraction(level, height) * min(surplus, lack)
    return cost


def ordered_distance(counts: Counts, totals: Counts) -> Fraction:
    """The mean over gaps of the difference of what lies below."""
    size, rows, moved, carried = sum(counts), sum(totals), Fraction(0), Fraction(0)
    for count, total in zip(counts, totals, strict=True):
        carried += Fraction(count, size) - Fraction(total, rows)
        moved += abs(carried)
    return moved / max(1, len(totals) - 1)


def equal_distance(counts: Counts, totals: Counts) -> Fraction:
    size, rows = sum(counts), sum(totals)
    return (
        sum(
            (
                abs(Fraction(count, size) - Fraction(total, rows))
                for count, total in zip(counts, totals, strict=True)
            ),
            Fraction(0),
        )
        / 2
    )


def grassberger_entropy(counts: Counts) -> float:
    """By the digamma function at halves and wholes, each by its own recurrence."""

    def digamma(twice: int) -> float:
        if twice % 2 == 0:
            return -float(np.euler_gamma) + math.fsum(1 / j for j in range(1, twice // 2))
        odd = math.fsum(2 / (2 * j - 1) for j in range(1, (twice - 1) // 2 + 1))
        return -float(np.euler_gamma) - 2 * math.log(2) + odd

    def g(count: int) -> float:
        sign = -1 if count % 2 else 1
        return digamma(2 * count) + sign / 2 * (digamma(count + 1) - digamma(count))

    size = sum(counts)
    return math.log(size) - math.fsum(count * g(count) for count in counts if count) / size


def meets(model: Model, counts: Counts, totals: Counts, people: int, nodes: Any) -> bool:
    """Whether a class meets a model, from the definition, with exact fractions where it has any."""
    return ORACLES[type(model)](model, counts, totals, people, nodes)


def _recursive(model: Any, counts: Counts, *_: Any) -> bool:
    ordered = sorted((count for count in counts if count), reverse=True)
    return len(ordered) >= model.l and ordered[0] < exact(model.c) * sum(ordered[model.l - 1 :])


def _entropy(model: Any, counts: Counts, *_: Any) -> bool:
    size, present = sum(counts), [count for count in counts if count]
    if model.estimator == "grassberger":
        entropy = grassberger_entropy(counts)
    else:
        entropy = -math.fsum(count / size * math.log(count / size) for count in present)
    return len(present) >= model.l and entropy >= math.log(model.l) - 1e-12


def _close(model: Any, counts: Counts, totals: Counts, _: int, nodes: Any) -> bool:
    if model.distance == "hierarchical":
        distance = hierarchical_distance(counts, totals, nodes)
    else:
        distance = {"ordered": ordered_distance, "equal": equal_distance}[model.distance](
            counts, totals
        )
    return distance <= exact(model.t)


def _alike(model: Any, counts: Counts, totals: Counts, *_: Any) -> bool:
    size, rows = sum(counts), sum(totals)
    for count, total in zip(counts, totals, strict=True):
        if count:
            p, q = Fraction(count, size), Fraction(total, rows)
            if model.enhanced and -math.log(q) < model.beta:
                if float((p - q) / q) > -math.log(q) + 1e-12:
                    return False
            elif (p - q) / q > exact(model.beta):
                return False
    return True


def _undisclosed(model: Any, counts: Counts, totals: Counts, *_: Any) -> bool:
    size, rows = sum(counts), sum(totals)
    for count, total in zip(counts, totals, strict=True):
        if total and not count and model.strict:
            return False
        ratio = Fraction(count * rows, size * total) if total else Fraction(0)
        if count and abs(math.log(ratio)) >= model.delta - 1e-12:
            return False
    return True


def _mapped(model: Any, counts: Counts, _: Any, people: int, __: Any) -> bool:
    fraction = model.sampling_fraction
    if fraction is None:
        return bool(people >= model.k)
    size = sum(counts)
    fewer = math.fsum(
        math.comb(whole - 1, size - 1) * fraction**size * (1 - fraction) ** (whole - size)
        for whole in range(size, model.k)
    )
    return bool(1 - fewer >= model.confidence - 1e-12)


def _distinct(counts: Counts) -> int:
    return sum(1 for count in counts if count)


ORACLES: dict[type[Model], Callable[..., bool]] = {
    KAnonymity: lambda model, counts, *_: sum(counts) >= model.k,
    DistinctDiversity: lambda model, counts, *_: _distinct(counts) >= model.l,
    EntropyDiversity: _entropy,
    RecursiveDiversity: _recursive,
    TCloseness: _close,
    KMap: _mapped,
    DeltaPresence: lambda model, counts, _, people, __: sum(counts) <= exact(model.upper) * people,
    AlphaK: lambda model, counts, *_: (
        sum(counts) >= model.k and max(counts) <= exact(model.alpha) * sum(counts)
    ),
    PSensitive: lambda model, counts, *_: sum(counts) >= model.k and _distinct(counts) >= model.p,
    BetaLikeness: _alike,
    DeltaDisclosure: _undisclosed,
}

shares = st.sampled_from([0.05, 0.1, 0.125, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9])
factors = st.sampled_from([0.1, 0.3, 0.5, 0.7, 1, 1.1, 1.5, 2, 3, 4, 8])
wholes = st.integers(2, 6)
models: st.SearchStrategy[Model] = st.one_of(
    st.builds(KAnonymity, wholes),
    st.builds(DistinctDiversity, wholes, st.just("disease")),
    st.builds(
        EntropyDiversity,
        st.sampled_from([1.2, 1.5, 2, 2.5, 2**1.5, 3, 4, 5, 6]),
        st.sampled_from(["shannon", "grassberger"]),
        st.just("disease"),
    ),
    st.builds(RecursiveDiversity, factors, wholes, st.just("disease")),
    st.builds(
        TCloseness,
        shares,
        st.sampled_from(["equal", "ordered", "hierarchical"]),
        st.just("disease"),
    ),
    st.builds(KMap, st.integers(2, 30), st.none() | shares),
    st.builds(DeltaPresence, st.just(0), shares),
    st.builds(AlphaK, shares, wholes, st.just("disease")),
    st.builds(PSensitive, wholes, wholes, st.just("disease")),
    st.builds(BetaLikeness, factors, st.booleans(), st.just("disease")),
    st.builds(
        DeltaDisclosure,
        st.sampled_from([0.1, 0.5, math.log(2), 1, 1.5, math.log(4), 3]),
        st.booleans(),
        st.just("disease"),
    ),
)
"""Models that judge each class by itself, of every kind."""


@st.composite
def split_classes(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int]]:
    """Parts of one class with the people around each, and totals of a table that holds them."""
    width = NODES.shape[1]
    most = draw(st.sampled_from([1, 2, 4, 9, 30]))
    one = st.lists(st.integers(0, most), min_size=width, max_size=width).filter(any)
    parts = draw(st.lists(one, min_size=1, max_size=5))
    outside = draw(
        st.lists(st.integers(0, 2 * most), min_size=width, max_size=width)
        if draw(st.booleans())
        else st.just([0] * width)
    )
    totals = [
        sum(column) + more for column, more in zip(zip(*parts, strict=True), outside, strict=True)
    ]
    people = [sum(part) + draw(st.integers(0, 40)) for part in parts]
    return parts, people, totals
