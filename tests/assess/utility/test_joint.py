"""Pairs of values, before and after, against counting them one by one."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia import InputError, tables
from celosia.assess.utility import compare, joint
from celosia.assess.utility.distributions import assign_bins
from celosia.assess.utility.joint import OTHERS, Side, joint_mass
from celosia.assess.utility.spread import Spread
from celosia.tables.hierarchies import Hierarchy
from celosia.tables.meanings import meanings

rows = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=30)


@given(rows, st.data())
def test_shares_are_those_of_counting(table: list[tuple[str, int]], data: st.DataObject) -> None:
    released = data.draw(st.permutations(table))
    before, after = (
        pl.DataFrame({"x": [a for a, _ in some], "y": [b for _, b in some]})
        for some in (table, released)
    )
    found = joint(compare(before, after, ["x", "y"]), "x", "y")
    counts = Counter((a, str(b)) for a, b in table)
    for line, first in enumerate(found.first_values):
        for place, second in enumerate(found.second_values):
            share = counts[(first, second)] / len(table)
            assert found.before[line][place] == pytest.approx(share)
    assert np.allclose(found.before, found.after)
    assert found.moved == pytest.approx(0)


def test_a_label_is_spread_over_what_it_stands_for() -> None:
    schema = tables.Schema.of(quasi_identifiers={"zip": tables.Mask()})
    original = {"zip": ["11", "12", "21", "22"], "ill": ["a", "a", "b", "b"]}
    released = {"zip": ["1*", "1*", "2*", "2*"], "ill": ["a", "a", "b", "b"]}
    explained = meanings(schema, original=original)
    found = joint(compare(original, released, ["zip", "ill"], meanings=explained), "zip", "ill")
    order = [found.first_values.index(each) for each in ("11", "12", "21", "22")]
    assert [found.after[place] for place in order] == [(0.25, 0), (0.25, 0), (0, 0.25), (0, 0.25)]


def test_many_values_are_put_together_and_nothing_is_lost() -> None:
    table = pl.DataFrame({"n": range(100), "c": [str(each % 40) for each in range(100)]})
    found = joint(compare(table, table, ["n", "c"]), "n", "c", bins=8)
    assert len(found.first_values) <= 8
    assert len(found.second_values) == 8
    assert found.second_values[-1] == OTHERS
    assert np.sum(found.before) == pytest.approx(1)
    assert np.sum(found.after) == pytest.approx(1)
    assert found.as_dict()["first"] == "n"
    assert str(found) == "n and c: total variation 0.0000"


def test_one_bin_is_refused() -> None:
    table = {"a": ["x"], "b": ["y"]}
    with pytest.raises(InputError, match="at least 2"):
        joint(compare(table, table, ["a", "b"]), "a", "b", bins=1)


def test_pairs_of_many_values_are_those_of_the_definition_in_little_memory() -> None:
    """14,000 dates against 14,000 incomes: their table of pairs would take gigabytes."""
    rng = np.random.default_rng(1)
    days, incomes = rng.integers(0, 30_000, 20_000), rng.integers(0, 30_000, 20_000)
    table = {"day": days, "income": incomes}
    hidden = pl.DataFrame({"day": ["*"] * 20_000, "income": incomes})
    meaning = Hierarchy.from_paths([(str(day), "*") for day in np.unique(days).tolist()])
    tables = compare(table, hidden, ["day", "income"], meanings={"day": meaning}, numeric=table)
    tracemalloc.start()
    found = joint(tables, "day", "income")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    assert sum(map(sum, found.after)) == pytest.approx(1)
    # A hidden day is spread evenly over the days that occur.
    _names, place = assign_bins(np.unique(days).astype(float), tuple(map(str, np.unique(days))), 12)
    even = np.bincount(place) / place.size
    after = np.array(found.after)
    assert after.sum(axis=1) == pytest.approx(even)
    assert after == pytest.approx(np.outer(even, after.sum(axis=0)))


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_mass_of_pairs_is_that_of_every_row_spread_by_itself(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 8))
    sides = []
    for _side in range(2):
        values = data.draw(st.integers(1, 4))
        some = st.lists(st.integers(0, values - 1), min_size=1, max_size=values, unique=True)
        members = data.draw(st.lists(some, min_size=1, max_size=4))
        codes = data.draw(st.lists(st.integers(0, len(members) - 1), min_size=rows, max_size=rows))
        spread = Spread.even([np.array(each) for each in members], values=values)
        sides.append((Side(np.array(codes, dtype=np.int32), spread), members, codes))
    (one, members, codes), (other, others, other_codes) = sides
    expected = np.zeros((one.spread.values, other.spread.values))
    for here, there in zip(codes, other_codes, strict=True):
        for value in members[here]:
            for partner in others[there]:
                expected[value, partner] += 1 / len(members[here]) / len(others[there])
    assert joint_mass(one, other) == pytest.approx(expected)
    with pytest.MonkeyPatch.context() as patch:  # piece by piece it is the same
        patch.setattr(import_module("celosia.assess.utility.joint"), "MOST_ENTRIES", 2)
        assert joint_mass(one, other) == pytest.approx(expected)
