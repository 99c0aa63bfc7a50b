"""A check of a published log that shares no code with the methods: plain counting of persons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator


def queries_of_few(
    persons: Iterable[object],
    queries: Iterable[str | None],
    published: Iterable[str | None],
    k: int,
) -> Iterator[str]:
    """The published queries that fewer than k persons asked.

    >>> list(queries_of_few([1, 1, 2], ["a", "b", "a"], ["a", "b", "b"], 2))
    ['b']
    """
    asked: dict[str | None, set[object]] = defaultdict(set)
    for person, query in zip(persons, queries, strict=True):
        asked[query].add(person)
    for query in dict.fromkeys(published):
        if query is not None and len(asked[query]) < k:
            yield query
