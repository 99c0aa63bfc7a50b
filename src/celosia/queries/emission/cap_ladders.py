"""Totals under every cap of a ladder, from how many contributions lie between which caps.

A contribution v adds v to the totals under all caps from its size on, and the cap itself (with its
sign) to those below. So a total follows from a few numbers for each step of the ladder: how many
contributions end there, and their sum. The engine counts these in one pass with one test each,
where a sum for each cap would take dozens; the rest is arithmetic on a table of a few rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from celosia.queries.emission.target import (
    Target,
    as_alias,
    at_most,
    column,
    group_by,
    integer_literal,
    select_from,
)


def count_by_level(
    entries: exp.Select, ladders: Sequence[Sequence[int]], signed: Sequence[bool], target: Target
) -> exp.Select:
    """How many contributions end at which steps of all ladders, and their sums.

    Args:
        entries: contributions in columns value_1, value_2, ...; none of them NULL.
        ladders: for each its caps, rising.
        signed: for each whether it may be below 0.
        target: the engine.

    Returns:
        A query with columns level_1, ... (from 1; 0 for contributions of 0), people, and for each
        contribution its sum_1, ..., cut off at the last cap, and sign_1, ... where it is signed.
    """
    clipped: list[exp.Expr] = []
    levels: list[exp.Expr] = []
    sums: list[exp.Expr] = [as_alias(target.cast(exp.Count(this=exp.Star()), "wide"), "people")]
    for place, (ladder, is_signed) in enumerate(zip(ladders, signed, strict=True), start=1):
        word, last = f"value_{place}", ladder[-1]
        amount: exp.Expr = clip(column(word), last)
        if is_signed:
            amount = exp.Greatest(
                this=amount, expressions=[integer_literal(-last)], ignore_nulls=True
            )
            sign = exp.Sum(this=_sign(column(word)))
            sums.append(as_alias(target.cast(sign, "wide"), f"sign_{place}"))
        # Back to 64 bits, where it fits: engines add those up in 128 bits, and fast.
        clipped.append(as_alias(target.cast(amount, "whole"), word))
        size = exp.Abs(this=column(word)) if is_signed else column(word)
        levels += [column(word), as_alias(_level(size, ladder), f"level_{place}")]
        sums.append(as_alias(exp.Sum(this=column(word)), f"sum_{place}"))
    words = [f"level_{place}" for place, _ in enumerate(ladders, start=1)]
    placed = select_from(select_from(entries, clipped), levels)
    return group_by(select_from(placed, [*map(column, words), *sums]), words)


def people_at(place: int, level: int) -> exp.Sum:
    """How many contributions end at a level, from the rows of `count_by_level`."""
    is_here = exp.EQ(this=column(f"level_{place}"), expression=integer_literal(level))
    return exp.Sum(this=_case(is_here, column("people"), integer_literal(0)))


def total_under(place: int, level: int, cap: int, *, signed: bool) -> exp.Sum:
    """The total of contributions cut off at the cap of a level, from the rows of `count_by_level`.

    Numbers of people have 128 bits there, and caps at most 62: no product leaves them.
    """
    ends_before = at_most(column(f"level_{place}"), level)
    beyond = exp.Mul(
        this=column(f"sign_{place}" if signed else "people"), expression=integer_literal(cap)
    )
    return exp.Sum(this=_case(ends_before, column(f"sum_{place}"), beyond))


def clip(amount: exp.Expr, cap: int) -> exp.Least:
    """An amount, but not more than a cap."""
    return exp.Least(this=amount, expressions=[integer_literal(cap)], ignore_nulls=True)


def _level(size: exp.Expr, ladder: Sequence[int]) -> exp.Case:
    # Put together by hand: builders copy and parse, which adds up over dozens of columns.
    ends = [0, *ladder[:-1]]
    return exp.Case(
        ifs=[
            exp.If(this=at_most(size.copy(), end), true=integer_literal(level))
            for level, end in enumerate(ends)
        ],
        default=integer_literal(len(ladder)),
    )


def _sign(amount: exp.Expr) -> exp.Case:
    # Not SIGN, which is a double in PostgreSQL.
    negative = exp.LT(this=amount, expression=integer_literal(0))
    return _case(
        negative,
        integer_literal(-1),
        _case(at_most(amount.copy(), 0), integer_literal(0), integer_literal(1)),
    )


def _case(test: exp.Expr, one: exp.Expr, other: exp.Expr) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=test, true=one)], default=other)
