"""What each model asks, written from its definition over plain lists of values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tests.tables.recoding.plain import Path

from celosia.tables.models import (
    AlphaK,
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    NoAttack,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
)


class PlainClass(NamedTuple):
    """The sensitive values of one class, and the people of the population who fit it."""

    values: list[int]
    people: int


class Whole(NamedTuple):
    """What is public of the whole table."""

    values: list[int]
    tree: list[Path]


def decimal(number: float) -> Fraction:
    """A parameter as the decimal that one writes."""
    return Fraction(str(number))


def shares(values: Sequence[Any]) -> dict[Any, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def ordered_distance(part: list[int], whole: Whole) -> Fraction:
    """1/(m - 1) times the sum of |r1 + ... + ri| over the values of the table in order."""
    p, q = shares(part), shares(whole.values)
    domain, total, carried = sorted(q), Fraction(0), Fraction(0)
    for value in domain[:-1]:
        carried += p.get(value, Fraction(0)) - q[value]
        total += abs(carried)
    return total / max(1, len(domain) - 1)


def equal_distance(part: list[int], whole: Whole) -> Fraction:
    p, q = shares(part), shares(whole.values)
    return sum((abs(p.get(value, Fraction(0)) - q[value]) for value in q), Fraction(0)) / 2


def hierarchical_distance(part: list[int], whole: Whole) -> Fraction:
    """The sum over inner nodes N of level(N)/H * min(pos(N), neg(N))."""
    p, q = shares(part), shares(whole.values)
    path_of = {int(path[0]): path for path in whole.tree}
    height = len(whole.tree[0]) - 1
    total = Fraction(0)
    for level in range(1, height + 1):
        for node in {path[level] for path in whole.tree}:
            extra: dict[str, Fraction] = {}
            for value in q:
                if path_of[value][level] == node:
                    child = path_of[value][level - 1]
                    more = p.get(value, Fraction(0)) - q[value]
                    extra[child] = extra.get(child, Fraction(0)) + more
            positive = sum((max(each, Fraction(0)) for each in extra.values()), Fraction(0))
            negative = sum((max(-each, Fraction(0)) for each in extra.values()), Fraction(0))
            total += Fraction(level, height) * min(positive, negative)
    return total


DISTANCES = {
    "ordered": ordered_distance,
    "equal": equal_distance,
    "hierarchical": hierarchical_distance,
}


def _entropy(model: Any, one: PlainClass, _: Whole) -> bool:
    entropy = -math.fsum(float(p) * math.log(p) for p in shares(one.values).values())
    return entropy >= math.log(model.l) - 1e-12


def _recursive(model: Any, one: PlainClass, _: Whole) -> bool:
    counts = sorted(Counter(one.values).values(), reverse=True)
    return len(counts) >= model.l and counts[0] < decimal(model.c) * sum(counts[model.l - 1 :])


def _alike(model: Any, one: PlainClass, whole: Whole) -> bool:
    p, q = shares(one.values), shares(whole.values)
    for value, share in p.items():
        gain = (share - q[value]) / q[value]
        if gain > decimal(model.beta):
            return False
        if model.enhanced and gain > -math.log(q[value]) + 1e-12:
            return False
    return True


def _undisclosed(model: Any, one: PlainClass, whole: Whole) -> bool:
    p, q = shares(one.values), shares(whole.values)
    if model.strict and set(p) != set(q):
        return False
    return all(abs(math.log(p[value] / q[value])) < model.delta - 1e-12 for value in p)


CONDITIONS: dict[type[Model], Callable[[Any, PlainClass, Whole], bool]] = {
    KAnonymity: lambda model, one, _: len(one.values) >= model.k,
    DistinctDiversity: lambda model, one, _: len(set(one.values)) >= model.l,
    EntropyDiversity: _entropy,
    RecursiveDiversity: _recursive,
    TCloseness: lambda model, one, whole: (
        DISTANCES[model.distance](one.values, whole) <= decimal(model.t)
    ),
    AlphaK: lambda model, one, _: (
        len(one.values) >= model.k and max(shares(one.values).values()) <= decimal(model.alpha)
    ),
    PSensitive: lambda model, one, _: (
        len(one.values) >= model.k and len(set(one.values)) >= model.p
    ),
    BetaLikeness: _alike,
    DeltaDisclosure: _undisclosed,
    NoAttack: lambda model, one, _: decimal(model.gain) <= decimal(model.cost) * len(one.values),
    KMap: lambda model, one, _: one.people >= model.k,
    DeltaPresence: lambda model, one, _: len(one.values) <= decimal(model.upper) * one.people,
}
"""Models about one class at a time."""


def kept_classes(classes: dict[Any, PlainClass], whole: Whole, models: Sequence[Model]) -> set[Any]:
    """The classes that meet every model; those of `AverageRisk` by suppressing the smallest."""
    kept = {
        label
        for label, one in classes.items()
        if one.values
        and all(
            CONDITIONS[type(model)](model, one, whole)
            for model in models
            if type(model) in CONDITIONS
        )
    }
    for model in models:
        if isinstance(model, AverageRisk):
            kept = _within_average(kept, classes, decimal(model.most))
        if isinstance(model, DeltaPresence) and model.lower > 0:
            low = decimal(model.lower)
            if any(
                label not in kept or len(one.values) < low * one.people
                for label, one in classes.items()
            ):
                return set()
    return kept


def _within_average(kept: set[Any], classes: dict[Any, PlainClass], most: Fraction) -> set[Any]:
    left = [label for label in classes if label in kept]
    left.sort(key=lambda label: len(classes[label].values))  # of one size, the first goes first
    while left and len(left) > most * sum(len(classes[label].values) for label in left):
        left.pop(0)
    return set(left)
