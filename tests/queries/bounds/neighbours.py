"""Databases one step away, and the true local sensitivity, by trying everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from celosia.core.neighbours import Relation as Notion

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]
Answer = dict[tuple[Any, ...], Any]


def pairs(*values: tuple[Any, Any]) -> Rows:
    """Rows with columns x and y."""
    return [{"x": x, "y": y} for x, y in values]


def domain(*values: Any) -> Rows:
    """All rows over some values."""
    return pairs(*product(values, repeat=2))


def steps(
    database: Tables, private: Sequence[str], everything: Rows, notion: Notion
) -> Iterator[Tables]:
    """Every database that is one step away."""
    for table in private:
        there = database[table]
        without = [there[:place] + there[place + 1 :] for place in range(len(there))]
        if notion is Notion.ADD_REMOVE:
            changed = [*without, *([*there, row] for row in everything)]
        else:
            changed = [[*rest, row] for rest in without for row in everything]
        for each in changed:
            yield database | {table: each}


def apart(left: Answer, right: Answer) -> Any:
    """The L1 distance of two answers, group by group."""
    return sum(abs(left.get(key, 0) - right.get(key, 0)) for key in {*left, *right})


def local(
    ask: Callable[[Tables], Answer],
    database: Tables,
    private: Sequence[str],
    everything: Rows,
    notion: Notion = Notion.ADD_REMOVE,
) -> Any:
    """The true local sensitivity of a question at a database."""
    here = ask(database)
    found = (apart(here, ask(other)) for other in steps(database, private, everything, notion))
    return max(found, default=0)


def frequencies(database: Tables) -> dict[tuple[str, str], int]:
    """The most rows that share a value, for every table and column."""
    return {
        (table, column): max(
            Counter(row[column] for row in there if row[column] is not None).values(), default=0
        )
        for table, there in database.items()
        for column in ("x", "y")
    }
