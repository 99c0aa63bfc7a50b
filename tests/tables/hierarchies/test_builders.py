"""What all rules promise: every value is a leaf, every level coarsens the one below, no leaks."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.frames import as_text
from celosia.tables.hierarchies import (
    Automatic,
    Builder,
    Dates,
    Hierarchy,
    Intervals,
    Mask,
    Ordered,
)


def coarsens(hierarchy: Hierarchy) -> bool:
    """Whether equal labels at each level have equal labels at the next, up to one root."""
    parents: list[dict[str, set[str]]] = [{} for _ in range(hierarchy.height)]
    for path in hierarchy.paths():
        for level in range(hierarchy.height):
            parents[level].setdefault(path[level], set()).add(path[level + 1])
    single = all(len(above) == 1 for level in parents for above in level.values())
    return single and len(hierarchy.labels[-1]) == 1


numbers = st.lists(st.integers(0, 10_000) | st.none(), min_size=1, max_size=40)
fractions = st.lists(st.floats(0, 1e6), min_size=1, max_size=40)
texts = st.lists(st.text(max_size=8), min_size=1, max_size=40)
days = st.lists(st.dates(), min_size=1, max_size=40)

PERIODS = ("day", "month", "quarter", "year", "5 years", "decade")
SIZES = st.lists(st.integers(2, 5), max_size=3).map(
    lambda factors: [int(pl.Series(factors[: end + 1]).product()) for end in range(len(factors))]
)
cases = st.one_of(
    st.tuples(SIZES.filter(bool).map(lambda widths: Intervals(widths=widths)), numbers | fractions),
    st.tuples(SIZES.map(lambda sizes: Ordered(sizes=sizes)), texts | numbers),
    st.tuples(
        st.builds(
            Mask,
            direction=st.sampled_from(["left", "right"]),
            levels=st.none() | st.sets(st.integers(1, 9)).map(sorted),
        ),
        texts | numbers,
    ),
    st.tuples(
        st.sets(st.sampled_from(PERIODS), min_size=1)
        .map(lambda chosen: [name for name in PERIODS if name in chosen])
        .map(lambda levels: Dates(levels=levels)),
        days,
    ),
    st.tuples(st.just(Automatic()), numbers | fractions | texts | days),
)


@given(case=cases)
@settings(max_examples=200)
def test_the_leaves_are_the_texts_of_the_values_and_every_level_coarsens_the_one_below(
    case: tuple[Builder, list[Any]],
) -> None:
    rule, values = case
    series = pl.Series(values)
    if series.null_count() == len(series):
        return
    before = series.clone()
    hierarchy = rule.build(series)
    assert set(hierarchy.leaves) == set(as_text(series).drop_nulls())
    assert coarsens(hierarchy)
    assert series.equals(before, null_equal=True)


@given(case=cases)
@settings(max_examples=60)
def test_the_hierarchy_does_not_tell_the_order_of_the_rows(
    case: tuple[Builder, list[Any]],
) -> None:
    rule, values = case
    if all(value is None for value in values):
        return
    backwards = rule.build(pl.Series(values[::-1]))
    assert rule.build(pl.Series(values)).paths() == backwards.paths()


@pytest.mark.parametrize("rule", [Intervals(widths=(5,)), Ordered(), Mask(), Dates(), Automatic()])
def test_a_column_without_values_has_no_hierarchy(rule: Builder) -> None:
    with pytest.raises(InputError) as caught:
        rule.build(pl.Series([], dtype=pl.String))
    assert caught.value.code == "CEL-H001"


MARKER = "zq7731"


@pytest.mark.parametrize(
    "rule",
    [
        Intervals(widths=(5,)),
        Intervals(widths=(5,), domain=(0, 9)),
        Ordered(order=("a", "b")),
        Dates(),
        Dates(format="%d/%m/%Y"),
        Mask(),
    ],
)
def test_no_message_repeats_a_value(rule: Builder) -> None:
    with pytest.raises(InputError) as caught:
        rule.build(pl.Series([MARKER * 20]))
    assert MARKER not in f"{caught.value} {caught.value.as_dict()} {caught.value.__cause__}"
