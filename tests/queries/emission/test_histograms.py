"""Which rows count in a rank, in both engines, against a plain account of each person's rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from hashlib import md5
from itertools import pairwise
from random import Random
from typing import Literal

import pytest
from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import POLICY, Rows, database, tree, without

from celosia.core.errors import InputError
from celosia.queries.algebra import Aggregate, Key, Question, Scan
from celosia.queries.emission import FixedPoint, histogram_query, people_by_rows_query
from celosia.queries.ownership import attach_owners

GRID = FixedPoint(lower=Fraction(-3), upper=Fraction(3))
SCAN = Scan("orders", "o")
OWNED = attach_owners(SCAN, policy=POLICY)
QUANTILE = Aggregate("quantile", "q", tree("o.amount"), 0.5)
GROUP = Key("note", tree("o.note"))
NOTES = ("a", "b")
Entry = tuple[str, int]
"""A group and a value."""


def crowded(seed: int) -> dict[str, Rows]:
    """A shop whose orders belong to few people, in three groups of which two are known."""
    random = Random(seed)
    rows = database(random, size=9)
    rows["orders"] = [
        {
            "id": each,
            "person": random.choice([None, 1, 1, 1, 2, 3]),
            "amount": random.choice([None, *range(-6, 7)]),
            "note": random.choice(["a", "b", "c", None]),
        }
        for each in range(60)
    ]
    return rows


def entries(rows: dict[str, Rows], *, by_group: bool) -> dict[int, list[Entry]]:
    """Of each person the groups and values, in their order."""
    found: dict[int, list[Entry]] = defaultdict(list)
    for row in rows["orders"]:
        group = row["note"] if by_group else ""
        if row["person"] is None or row["amount"] is None or (by_group and group not in NOTES):
            continue
        found[row["person"]].append((group, max(-3, min(3, row["amount"]))))
    return {person: sorted(each) for person, each in found.items()}


def start(person: int) -> int:
    digits = [each for each in md5(str(person).encode()).hexdigest() if each.isdigit()]
    return int("0" + "".join(digits[:9]))


def spread(own: list[Entry], person: int, most: int) -> list[Entry]:
    if len(own) <= most:
        return own
    first, size = start(person), len(own)
    return [each for place, each in enumerate(own, start=1) if (place * most + first) % size < most]


def extremes(own: list[Entry], extreme: str | None) -> list[Entry]:
    if extreme is None:
        return own
    pick = min if extreme == "minimum" else max
    groups = sorted({group for group, _ in own})
    return [(group, pick(value for each, value in own if each == group)) for group in groups]


@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.parametrize("extreme", [None, "minimum", "maximum"])
@pytest.mark.parametrize("most", [None, 1, 2, 5, 100])
def test_the_rows_that_count_are_those_of_the_plain_account(
    bench: Bench,
    by_group: bool,
    extreme: Literal["minimum", "maximum"] | None,
    most: int | None,
) -> None:
    rows = crowded(7)
    bench.load(rows)
    question = Question(SCAN, (QUANTILE,), (GROUP,) if by_group else ())
    known = [NOTES] if by_group else None
    query = histogram_query(
        question,
        fixed=GRID,
        target=bench.target(),
        owned=OWNED,
        group_keys=known,
        extreme=extreme,
        most=most,
    )
    kept: Counter[Entry] = Counter()
    held: Counter[int] = Counter()
    for person, own in entries(rows, by_group=by_group).items():
        counting = extremes(own, extreme)
        held[min(len(counting), 6)] += 1
        kept.update(counting if most is None else spread(counting, person, most))
    found = {(row[0] if by_group else "", row[-2]): row[-1] for row in bench.ask(query)}
    assert found == dict(kept)
    levels = people_by_rows_query(
        question,
        OWNED,
        fixed=GRID,
        target=bench.target(),
        most=6,
        group_keys=known,
        extreme=extreme,
    )
    assert bench.ask(levels) == sorted(held.items())


@pytest.mark.parametrize("most", [1, 3])
def test_nobody_elses_rows_depend_on_a_person(bench: Bench, most: int) -> None:
    rows = crowded(11)
    query = histogram_query(
        Question(SCAN, (QUANTILE,)), fixed=GRID, target=bench.target(), owned=OWNED, most=most
    )
    bench.load(rows)
    all_of = Counter(dict(bench.ask(query)))
    bench.load(without(1, rows))
    rest = Counter(dict(bench.ask(query)))
    # Those of the person alone come on top: as many as the cap, and none is taken away.
    assert not rest - all_of
    assert sum((all_of - rest).values()) == most


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 12])
@pytest.mark.parametrize("size", [9, 10, 13, 24])
def test_over_all_starts_each_row_is_kept_equally_often_and_rows_lie_evenly(
    most: int, size: int
) -> None:
    often = Counter(
        place
        for first in range(size)
        for place in range(1, size + 1)
        if size <= most or (place * most + first) % size < most
    )
    assert set(often.values()) == {min(most, size)}
    for first in range(size):
        kept = [place for place in range(1, size + 1) if (place * most + first) % size < most]
        gaps = [after - before for before, after in pairwise(kept)]
        assert size <= most or len(kept) == most
        assert size <= most or all(size // most <= gap <= -(-size // most) for gap in gaps)


def test_a_cap_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        people_by_rows_query(
            Question(SCAN, (QUANTILE,)),
            OWNED,
            fixed=GRID,
            target=Bench("duckdb", None, None).target(),  # type: ignore[arg-type]
            most=-1,
        )
    assert refused.value.key == "CEL-Q130.thresholds"
