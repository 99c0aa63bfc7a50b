"""l and t of classes and records, and separation, against their definitions over plain lists."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from math import exp, log

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.assess.risk import attribute_risk, column_risks, record_risks, separation
from celosia.core.errors import InputError

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from([None, 1, 2, 3, 7])),
    min_size=1,
    max_size=25,
)


@settings(max_examples=60)
@given(ROWS, st.booleans())
def test_l_and_t_are_those_of_the_definitions(
    rows: list[tuple[int, int, int | None]], ordered: bool
) -> None:
    table = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64, "s": pl.Int64}, orient="row")
    found = attribute_risk(table, keys=["a", "b"], sensitive="s", ordered=ordered)
    classes = defaultdict(list)
    for a, b, value in rows:
        classes[a, b].append(-1 if value is None else value)
    order = sorted({value for values in classes.values() for value in values})
    everyone = Counter(value for values in classes.values() for value in values)
    shown = found.frame()
    for place, (a, b, value) in enumerate(rows):
        mine = classes[a, b]
        shares = {v: mine.count(v) / len(mine) for v in order}
        record = shown.row(place, named=True)
        assert record["distinct_l"] == len(set(mine))
        entropy = -sum(p * log(p) for p in shares.values() if p)
        assert record["entropy_l"] == pytest.approx(exp(entropy))
        assert record["certainty"] == pytest.approx(max(shares.values()))
        assert record["own_value"] == pytest.approx(shares[-1 if value is None else value])
        gaps = [shares[v] - everyone[v] / len(rows) for v in order]
        t = sum(map(abs, gaps)) / 2
        if ordered:
            t = sum(map(abs, np.cumsum(gaps))) / max(1, len(order) - 1)
        assert record["t"] == pytest.approx(t, abs=1e-12)


def test_numbers_are_ordered_and_texts_are_not() -> None:
    """The salaries of Li et al. 2007: 3, 4, 5 of nine values are 0.375 away, 3, 5, 11 are 0.167."""
    pay = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    table = pl.DataFrame({"class": [1, 1, 1, 2, 2, 2, 3, 3, 3], "pay": pay})
    assert attribute_risk(table, keys=["class"], sensitive="pay").t[0] == pytest.approx(0.375)
    texts = table.with_columns(pl.col("pay").cast(pl.String))
    found = attribute_risk(texts, keys=["class"], sensitive="pay")
    assert not found.ordered
    assert found.t[0] == pytest.approx(2 / 3)


def test_separation_is_the_share_of_pairs_that_differ() -> None:
    table = pl.DataFrame({"a": [1, 1, 2, 2, 2], "b": [1, 2, 2, 2, 1]})
    for risk in column_risks(table).subsets:
        rows = table.select(risk.columns).rows()
        pairs = list(combinations(rows, 2))
        share = sum(one != other for one, other in pairs) / len(pairs)
        assert risk.separation == pytest.approx(share)
        assert separation(np.array(list(Counter(rows).values()))) == pytest.approx(share)
    assert separation(np.array([1])) == 1.0


def test_measures_stand_side_by_side() -> None:
    table = pl.DataFrame({"a": [1, 1, 2], "ill": ["x", "y", "y"], "w": [5.0, 5.0, 10.0]})
    found = record_risks(
        table, keys=["a"], weights="w", suda=True, log_linear="none", sensitive=["ill"]
    )
    assert found.frame().height == 3
    assert {"risk", "suda", "dis_suda", "log_linear_risk", "ill_t"} <= set(found.frame().columns)
    assert found.suda is not None
    assert found.suda.sampling_fraction == pytest.approx(3 / 20)
    assert {"suda", "log_linear", "sensitive", "average_risk"} <= set(found.as_dict())
    for asked in (False, True):
        with pytest.raises(InputError) as caught:
            record_risks(table, keys=["a"], suda=asked, household="a" if asked else None)
        assert caught.value.code == "CEL-A290"
