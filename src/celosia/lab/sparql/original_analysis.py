"""The first analysis of SPARQL counts, as it was coded: broken, and for comparison only.

It walks the triple patterns in the order in which they are written, at the fixed distance 1, and
takes terms for what tables are to SQL. So every join counts as a join of a table with itself; the
frequency of a variable is looked up on the side where it does not occur, and comes out far too
small; and nothing is smoothed. Its bound is below the true sensitivity (`small_graphs`), so its
answers are not protected. Nothing outside the lab may import this.  Reference: an engineering
thesis of the Universidad Técnica Federico Santa María (2018), sections on RDF, and its public code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

Pattern = tuple[str, str, str]
"""Subject, predicate, object; a variable begins with `?`."""
Frequency = Callable[[Pattern, str], int]
"""The most facts of a pattern that share a value of a term; 0 for a term that it does not have."""

THESIS_DELTA = 1e-14
"""One over the square of ten million facts."""
DISTANCE = 1
"""The only one that the published numbers look at."""


@dataclass(frozen=True, slots=True)
class _JoinedPatterns:
    keys: tuple[str, ...]
    terms: frozenset[str]
    """All of both sides."""
    left: _JoinedPatterns | Pattern
    right: Pattern


def patterns(text: str) -> list[Pattern]:
    """The triple patterns of a text.

    >>> patterns("?u likes ?p . ?p tag t1")
    [('?u', 'likes', '?p'), ('?p', 'tag', 't1')]
    """
    found = []
    for part in text.split(" . "):
        subject, predicate, value = part.split()
        found.append((subject, predicate, value))
    return found


def list_frequencies(frequencies: Mapping[tuple[str, str], int]) -> Frequency:
    """Frequencies by predicate and place ("subject", "object"), 1 where none is given.

    A pattern with one variable has frequency 1, as a fact is in a graph once.
    """

    def frequency(pattern: Pattern, term: str) -> int:
        subject, predicate, value = pattern
        if term not in (subject, value):
            return 0
        if not (subject[0] == value[0] == "?"):
            return 1
        place = "subject" if term == subject else "object"
        return frequencies.get((predicate, place), 1)

    return frequency


def compat_sensitivity(
    given: Sequence[Pattern], frequency: Frequency, *, distance: int = DISTANCE
) -> int:
    """What the thesis prints as sensitivity. Below the true one for many graphs.

    Raises:
        ValueError: a pattern shares no term with those before it, or there is only one.

    >>> compat_sensitivity(patterns("?x p ?y . ?x q ?z . ?x r ?w"), list_frequencies({}))
    18
    """
    first, second, *others = given if len(given) > 1 else [*given, ("", "", "")]
    seen = {first[0], first[2]}
    keys = _shared(second, seen)
    k = distance
    bound = (
        (k + min(frequency(first, key) for key in keys))
        + (k + min(frequency(second, key) for key in keys))
        + 1
    )
    seen |= {second[0], second[2]}
    joined = _JoinedPatterns(keys, frozenset(seen), first, second)
    for pattern in others:
        keys = _shared(pattern, seen)
        before = min(_in_joined(key, joined, frequency, k) for key in keys)
        here = k + min(frequency(pattern, key) for key in keys)
        bound = before + here * bound + bound
        seen |= {pattern[0], pattern[2]}
        joined = _JoinedPatterns(keys, frozenset(seen), joined, pattern)
    return bound


def compat_scale(sensitivity: int, *, epsilon: float, delta: float = THESIS_DELTA) -> float:
    """The scale of the noise: discounted for the one distance, and for no other."""
    rate = epsilon / (2 * log(2 / delta))
    return 2 * exp(-rate * DISTANCE) * sensitivity / epsilon


def _shared(pattern: Pattern, seen: set[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(term for term in (pattern[0], pattern[2]) if term in seen))
    if not found:
        raise ValueError("a pattern shares no term with those before it")
    return found


def _in_joined(term: str, joined: _JoinedPatterns | Pattern, frequency: Frequency, k: int) -> int:
    """The frequency of a term, looked up on the left even where only the right has it."""
    if isinstance(joined, tuple):
        return k + frequency(joined, term)
    if term in joined.terms:
        left = _in_joined(term, joined.left, frequency, k)
        return (k + left) * frequency(joined.right, joined.keys[0])
    left = _in_joined(joined.keys[0], joined.left, frequency, k)
    return frequency(joined.right, term) * (k + left)  # 0: the right does not have it either
