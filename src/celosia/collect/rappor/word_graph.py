"""Words from pairs of their pieces: cliques in the graph of pieces that are common together."""

from __future__ import annotations

from itertools import product

from celosia.core.errors import InputError

PAD = "\0"
"""Fills a word up to its length; it is no letter of any alphabet."""


def pair_value(pair: int, first: str, second: str) -> str:
    """The text that stands for two pieces at a pair of positions.

    >>> pair_value(2, "ab", "cd")
    '2:abcd'
    """
    return f"{pair}:{first}{second}"


def pair_candidates(alphabet: str, gram: int) -> list[tuple[str, str]]:
    """All pairs of pieces that a word can have: after its end nothing but its end follows.

    >>> len(pair_candidates("ab", 1))  # aa, ab, ba, bb, a and b before the end, the end twice
    7
    """
    found = []
    for letters in product(alphabet + PAD, repeat=2 * gram):
        text = "".join(letters)
        if PAD not in text.rstrip(PAD):
            found.append((text[:gram], text[gram:]))
    return found


def candidate_words(
    common: dict[tuple[int, int], set[tuple[str, str]]], pieces: int, *, most: int
) -> tuple[str, ...]:
    """The words all of whose pairs of pieces are common, in order.

    Args:
        common: for each pair of positions, which pairs of pieces.
        pieces: of a word.
        most: candidates, also half-way.

    Raises:
        InputError: CEL-R044 there are more.

    >>> pairs = {("c", "a")}, {("c", "t"), ("c", "r")}, {("a", "t"), ("o", "r")}
    >>> candidate_words(dict(zip([(0, 1), (0, 2), (1, 2)], pairs)), 3, most=10)
    ('cat',)
    """
    paths: list[tuple[str, ...]] = [
        (first,) for first in sorted({each[0] for each in common[0, 1]})
    ]
    for at in range(1, pieces):
        after: dict[str, list[str]] = {}
        for before, piece in sorted(common[at - 1, at]):
            after.setdefault(before, []).append(piece)
        longer: list[tuple[str, ...]] = []
        for path in paths:
            for piece in after.get(path[-1], ()):
                if all((each, piece) in common[place, at] for place, each in enumerate(path)):
                    longer.append((*path, piece))
            if len(longer) > most:
                raise InputError("CEL-R044", most=most)
        paths = longer
    words = {"".join(path).rstrip(PAD) for path in paths}
    return tuple(sorted(words - {""}))
