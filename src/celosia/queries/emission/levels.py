"""How many people add how much, and the totals under every cap of a ladder, in one pass.

For each aggregate and each cap the query returns two numbers: the people whose whole contribution
(the sum of its sizes over all groups) is above the cap before and up to this one, and the total of
all contributions cut off at the cap. With keys a person is cut off over all groups together: their
entries are taken in an order that follows from the person and the keys alone, and once they reach
the cap in sum of sizes, the rest is left out. So one person moves one number of people by one, and
the totals of all groups under a cap by at most the cap in sum (see `bounds.caps.grouped_totals`).

A distinct count whose values do not tell their owner is no sum over people. Each person then keeps
the first t of their own pairs of a group and a value, and a pair counts if somebody keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.algebra import Question
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.flat import Flat, Known, aggregated
from celosia.queries.emission.people import check_limits, of_one_person
from celosia.queries.emission.target import (
    Target,
    at_most,
    chosen,
    column,
    grouped,
    named,
    row_number,
    whole,
)
from celosia.queries.emission.totals import NO_SUMS
from celosia.queries.ownership import Owned

Ladders = Sequence[Sequence[int]]
"""For each aggregate its caps, rising."""


def people_totals_query(  # noqa: PLR0913 - each is a separate choice of the planner
    question: Question,
    owned: Owned,
    *,
    caps: Ladders,
    target: Target,
    fixed: Mapping[str, FixedPoint] = NO_SUMS,
    known: Known | None = None,
) -> exp.Select:
    """The keys of each group, then for each aggregate its people and its totals, one for each cap.

    The people of an aggregate are the sum of the column over all groups: a person stands in one
    group of theirs only.

    Args:
        question: counts and sums; a distinct count that does not tell its owner must be alone.
        owned: the question's rows with their owners, of one class.
        caps: a ladder for each aggregate.
        target: the engine.
        fixed: how sums are put on their grids.
        known: all values of each key; needed where there are keys.

    Raises:
        InputError: CEL-Q134 caps, CEL-Q135 a distinct count that must be alone.
        QueryRefused: CEL-Q124 rows that belong to several people, CEL-Q125 rows without a name.
    """
    ladders = [check_limits(each) for each in caps]
    flat = of_one_person(question, owned, target, fixed, known)
    shared = [
        each.kind == "distinct" and not owned.is_told_by(each.argument)
        for each in question.aggregates
    ]
    if any(shared) and len(shared) > 1:
        raise InputError(
            "CEL-Q135",
            "a distinct count of values that several people share must be asked alone.",
            why="It is no sum over people, and is clipped in another way than the others.",
            fix="Ask for one after the other.",
        )
    rows = flat.rows(of_known=True)
    parts = _shared(flat, rows, ladders[0]) if any(shared) else _own(flat, rows, ladders)
    return flat.shown(parts, _names(ladders))


def _names(ladders: list[list[int]]) -> list[str]:
    return [
        f"{word}_{place}_{number}"
        for place, ladder in enumerate(ladders, start=1)
        for word in ("people", "total")
        for number, _ in enumerate(ladder, start=1)
    ]


def _own(flat: Flat, rows: exp.Select, ladders: list[list[int]]) -> exp.Select:
    """Contributions that add up: each person's own."""
    entries = aggregated(flat, rows, [*flat.keys, "owner_1"])
    if not flat.keys:
        columns: list[exp.Expr] = []
        for (word, aggregate), ladder in zip(flat.aggregates, ladders, strict=True):
            signed = aggregate.kind == "sum" and flat.fixed[aggregate.name].low < 0
            size = exp.Abs(this=column(word)) if signed else column(word)
            columns += [_people(size, low, high) for low, high in _levels(ladder)]
            columns += [
                _clipped(column(word), cap, signed=signed, target=flat.target) for cap in ladder
            ]
        return chosen(entries, _listed(columns, ladders))
    return _cut_over_groups(flat, entries, ladders)


def _cut_over_groups(flat: Flat, entries: exp.Select, ladders: list[list[int]]) -> exp.Select:
    keys: list[exp.Expr] = [column(key) for key in flat.keys]
    order = [flat.target.scramble([*keys, column("owner_1")]), *keys]
    placed: list[exp.Expr] = [*keys, named(row_number([column("owner_1")], order), "place")]
    for place, ladder in enumerate(ladders, start=1):
        word = f"value_{place}"
        # No size above the last cap matters: 2^20 groups of at most 2^62 stay within 128 bits.
        size = exp.func("LEAST", exp.Abs(this=column(word)), whole(ladder[-1]))
        placed += [
            column(word),
            named(size, f"size_{place}"),
            named(_running(size, order), f"upto_{place}"),
            named(_running(size, None), f"whole_{place}"),
        ]
    columns: list[exp.Expr] = []
    for place, ladder in enumerate(ladders, start=1):
        whole_of = column(f"whole_{place}")
        is_first = exp.EQ(this=column("place"), expression=whole(1))
        columns += [_people(whole_of, low, high, is_first) for low, high in _levels(ladder)]
        upto = column(f"upto_{place}")
        before = exp.Sub(this=upto.copy(), expression=column(f"size_{place}"))
        for cap in ladder:
            kept = exp.Sub(
                this=_least(upto.copy(), cap),
                expression=_least(exp.Paren(this=before.copy()), cap),
            )
            sign = exp.Sign(this=column(f"value_{place}"))
            columns.append(exp.Sum(this=exp.Mul(this=sign, expression=exp.Paren(this=kept))))
    made = chosen(chosen(entries, placed), [*keys, *_listed(columns, ladders)])
    return grouped(made, flat.keys)


def _shared(flat: Flat, rows: exp.Select, ladder: list[int]) -> exp.Select:
    """Values of which several people may have one."""
    words = [*flat.keys, "owner_1", "value_1"]
    different = grouped(chosen(rows, [column(word) for word in words]), words)
    different.where(exp.Not(this=exp.Is(this=column("value_1"), expression=exp.Null())), copy=False)
    mixed: list[exp.Expr] = [column(word) for word in (*flat.keys, "value_1")]
    order = [flat.target.scramble([*mixed, column("owner_1")]), *mixed]
    owner: list[exp.Expr] = [column("owner_1")]
    all_of = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[column("owner_1")])
    placed = chosen(
        different, [*mixed, named(row_number(owner, order), "place"), named(all_of, "whole")]
    )
    by = [*flat.keys, "value_1"]
    is_first = exp.EQ(this=column("place"), expression=whole(1))
    people = [_people(column("whole"), low, high, is_first) for low, high in _levels(ladder)]
    firsts = [f"first_{number}" for number, _ in enumerate(ladder, start=1)]
    lowest = named(exp.Min(this=column("place")), "place")
    counted = [named(tree, word) for tree, word in zip(people, firsts, strict=True)]
    values = grouped(chosen(placed, [*map(column, by), lowest, *counted]), by)
    columns: list[exp.Expr] = [exp.Sum(this=column(word)) for word in firsts]
    columns += [exp.Sum(this=_one_if(at_most(column("place"), cap))) for cap in ladder]
    keys: list[exp.Expr] = [column(key) for key in flat.keys]
    return grouped(chosen(values, [*keys, *_listed(columns, [ladder])]), flat.keys)


def _listed(columns: list[exp.Expr], ladders: list[list[int]]) -> list[exp.Expr]:
    return [
        named(exp.Coalesce(this=tree, expressions=[whole(0)]), word)
        for tree, word in zip(columns, _names(ladders), strict=True)
    ]


def _levels(ladder: list[int]) -> list[tuple[int, int | None]]:
    """Above which and up to which contribution people are counted at each cap."""
    ends: list[int | None] = [*ladder[:-1], None]
    return list(zip([0, *ladder[:-1]], ends, strict=True))


def _people(
    size: exp.Expr, low: int, high: int | None, condition: exp.Expr | None = None
) -> exp.Sum:
    tests: list[exp.Expr] = [exp.GT(this=size.copy(), expression=whole(low))]
    if high is not None:
        tests.append(at_most(size.copy(), high))
    if condition is not None:
        tests.append(condition.copy())
    both = tests[0]
    for test in tests[1:]:
        both = exp.And(this=both, expression=test)
    return exp.Sum(this=_one_if(both))


def _one_if(test: exp.Expr) -> exp.Case:
    # Put together by hand: builders copy and parse, which adds up over dozens of columns.
    return exp.Case(ifs=[exp.If(this=test, true=whole(1))], default=whole(0))


def _least(amount: exp.Expr, cap: int) -> exp.Least:
    return exp.Least(this=amount, expressions=[whole(cap)], ignore_nulls=True)


def _clipped(amount: exp.Expr, cap: int, *, signed: bool, target: Target) -> exp.Sum:
    clipped: exp.Expr = _least(amount, cap)
    if signed:
        clipped = exp.Greatest(this=clipped, expressions=[whole(-cap)], ignore_nulls=True)
    # Back to 64 bits, where it fits: engines add those up in 128 bits, and fast.
    return exp.Sum(this=target.cast(clipped, "whole"))


def _running(size: exp.Expr, order: list[exp.Expr] | None) -> exp.Window:
    """The sum of a person's sizes: up to a row, or of all rows."""
    window = exp.Window(this=exp.Sum(this=size.copy()), partition_by=[column("owner_1")])
    if order is not None:
        ordered = [exp.Ordered(this=each.copy(), nulls_first=False) for each in order]
        window.set("order", exp.Order(expressions=ordered))
        window.set(
            "spec",
            exp.WindowSpec(
                kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
            ),
        )
    return window
