"""How well the two databases can be told apart by what is seen of their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import comb

from celosia.queries.timing_audit.doors import Observation

Rule = Callable[[Observation], bool]
"""Guesses whether the person has the property."""


def guess(without: Sequence[Observation], having: Sequence[Observation]) -> int:
    """How many of the second halves of both a rule guesses right that was learnt on the first.

    Of the rules by status, text, size and time, the one is taken that did best on the first halves.
    """
    half = len(without) // 2
    learnt = [(each, False) for each in without[:half]] + [(each, True) for each in having[:half]]
    tried = [(each, False) for each in without[half:]] + [(each, True) for each in having[half:]]
    rules = [
        _by_kind(learnt, lambda seen: seen.status),
        _by_kind(learnt, lambda seen: seen.text),
        _by_threshold(learnt, lambda seen: float(seen.size)),
        _by_threshold(learnt, lambda seen: seen.seconds),
    ]
    best = max(rules, key=lambda rule: _right(rule, learnt))
    return _right(best, tried)


def chance_of(right: int, tried: int) -> float:
    """The chance to guess at least so many right by tossing a fair coin.

    >>> chance_of(2, 2), chance_of(0, 9)
    (0.25, 1.0)
    """
    ways: int = sum(comb(tried, each) for each in range(right, tried + 1))
    return float(Fraction(ways, 2**tried))


def _right(rule: Rule, labelled: Sequence[tuple[Observation, bool]]) -> int:
    return sum(rule(seen) == label for seen, label in labelled)


def _by_kind(
    labelled: Sequence[tuple[Observation, bool]], kind: Callable[[Observation], str]
) -> Rule:
    """By which of the two a status or text was seen more often."""
    having = Counter(kind(seen) for seen, label in labelled if label)
    without = Counter(kind(seen) for seen, label in labelled if not label)
    return lambda seen: having[kind(seen)] > without[kind(seen)]


def _by_threshold(
    labelled: Sequence[tuple[Observation, bool]], number: Callable[[Observation], float]
) -> Rule:
    """By whether a number is above the threshold that tells them apart best, or below it."""
    numbers = sorted({number(seen) for seen, _ in labelled})
    rules: list[Rule] = [lambda _: False]
    for below, above in pairwise(numbers):
        cut = (below + above) / 2
        rules += [partial(_is_above, number, cut), partial(_is_below, number, cut)]
    return max(rules, key=lambda rule: _right(rule, labelled))


def _is_above(number: Callable[[Observation], float], cut: float, seen: Observation) -> bool:
    return number(seen) > cut


def _is_below(number: Callable[[Observation], float], cut: float, seen: Observation) -> bool:
    return number(seen) <= cut
