"""Pairs of values, before and after, against counting them one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import InputError, tables
from celosia.assess.utility import compare, joint
from celosia.assess.utility.joint import OTHERS
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
