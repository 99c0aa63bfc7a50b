"""The corrected bound for single facts, written down plainly: an oracle beside our analyst.

It follows the text of a query from pattern to pattern. Two patterns overlap if they have the same
predicate, or one a variable: then one fact is a row of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from celosia.lab.sparql.original_analysis import Frequency, Pattern


@dataclass(frozen=True, slots=True)
class _JoinedPatterns:
    moved: int
    """Solutions that one fact moves."""
    frequencies: Mapping[str, int]
    """The most solutions that share a value of a variable."""
    predicates: frozenset[str]


def corrected_sensitivity(
    given: Sequence[Pattern], frequency: Frequency, *, distance: int, sets: bool = True
) -> int:
    """How many solutions one fact moves at a distance, at most, in the order of the text.

    Args:
        given: patterns of which each shares a variable with those before it.
        frequency: measured on the graph.
        distance: facts by which the graph may differ.
        sets: whether a pattern with one variable has frequency 1 whatever the graph.

    >>> from celosia.lab.sparql.original_analysis import list_frequencies, patterns
    >>> frequency = list_frequencies({("q", "subject"): 3})
    >>> corrected_sensitivity(patterns("?x p ?y . ?x q ?z"), frequency, distance=1)
    4
    """
    first, *others = (_alone(each, frequency, distance, sets) for each in given)
    found = first
    for each in others:
        found = _join(found, each)
    return found.moved


def _alone(pattern: Pattern, frequency: Frequency, distance: int, sets: bool) -> _JoinedPatterns:
    variables = {term for term in (pattern[0], pattern[2]) if term[0] == "?"}
    is_once = sets and len(variables) == 1
    return _JoinedPatterns(
        1,
        {each: 1 if is_once else frequency(pattern, each) + distance for each in variables},
        frozenset({pattern[1]}),
    )


def _join(one: _JoinedPatterns, other: _JoinedPatterns) -> _JoinedPatterns:
    shared = one.frequencies.keys() & other.frequencies.keys()
    if not shared:
        raise ValueError("a pattern shares no variable with those before it")
    left = min(one.frequencies[each] for each in shared)
    right = min(other.frequencies[each] for each in shared)
    parts = (left * other.moved, right * one.moved)
    apart = not one.predicates & other.predicates
    offered: dict[str, list[int]] = {}
    for each, number in one.frequencies.items():
        offered.setdefault(each, []).append(number * right)
    for each, number in other.frequencies.items():
        offered.setdefault(each, []).append(number * left)
    return _JoinedPatterns(
        max(parts) if apart else sum(parts) + one.moved * other.moved,
        {each: min(numbers) for each, numbers in offered.items()},
        one.predicates | other.predicates,
    )
