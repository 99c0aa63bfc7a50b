"""SUDA and DIS-SUDA against published scores and their definitions."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.assess.risk import column_risks, suda
from celosia.core.errors import InputError

GUIDE = pl.DataFrame(
    {
        "residence": ["urban"] * 4 + ["rural"] + ["urban"] * 5,
        "gender": list("fffmfmfmff"),
        "education": ["incomplete", "incomplete", "primary-", *["complete"] * 3, "primary", "post"]
        + ["incomplete"] * 2,
        "labour": ["work", "work", "none", "work", "seek", "work", "none", "seek", "none", "none"],
    }
)
"""The ten records of the IHSN's guide to disclosure control, with words of our own."""


def test_the_published_scores_of_the_guide_are_found() -> None:
    found = suda(GUIDE)
    assert found.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert (found.uniques, found.pairs) == (4, 3)
    # Skinner and Elliot: 4 p / (4 p + 2 * 3 (1 - p)) with p = 1 %.
    assert found.dis_of_file == pytest.approx(0.04 / (0.04 + 6 * 0.99))
    assert (found.dis > 0).tolist() == (found.score > 0).tolist()
    assert found.dis[4] == found.dis.max()
    assert found.smallest.tolist() == [0, 0, 1, 0, 1, 0, 1, 1, 0, 0]


def test_published_scores_of_sdcmicro_are_found() -> None:
    table = pl.DataFrame(
        {
            "age": ["20s"] * 7 + ["60s"],
            "gender": list("mmmmfffm"),
            "income": ["more"] * 2 + ["less"] * 6,
            "school": ["high"] * 4 + ["university", "high", "middle", "university"],
        }
    )
    assert suda(table).score[4:].tolist() == [4, 2, 6, 8]


def _alone(rows: list[tuple[int, ...]], record: int, subset: tuple[int, ...]) -> bool:
    mine = [rows[record][i] for i in subset]
    return sum([row[i] for i in subset] == mine for row in rows) == 1


@settings(max_examples=40)
@given(
    st.lists(st.tuples(*[st.integers(0, wide) for wide in (1, 2, 3, 5)]), min_size=1, max_size=20),
    st.floats(0.01, 1.0),
)
def test_scores_are_those_of_the_definition(rows: list[tuple[int, ...]], fraction: float) -> None:
    found = suda(pl.DataFrame(rows, schema=list("abcd"), orient="row"), sampling_fraction=fraction)
    sets = [each for size in range(1, 5) for each in combinations(range(4), size)]
    expected = []
    for record in range(len(rows)):
        unique = [each for each in sets if _alone(rows, record, each)]
        minimal = [s for s in unique if not any(set(o) < set(s) for o in unique)]
        expected.append(float(sum(factorial(4 - len(each)) for each in minimal)))
        assert found.smallest[record] == min(map(len, minimal), default=0)
        for column in range(4):
            part = sum(factorial(4 - len(each)) for each in minimal if column in each)
            share = part / expected[-1] if minimal else 0.0
            assert found.contributions[record, column] == pytest.approx(share)
    assert found.score.tolist() == expected
    alone = sum(rows.count(row) == 1 for row in rows)
    pairs = sum(rows.count(row) == 2 for row in rows)
    assert (found.uniques, 2 * found.pairs) == (alone, pairs)
    if alone:
        odds = alone * (1 / found.dis_of_file - 1)
        power = np.array([score**1.2 for score in expected if score])
        chances = 1 / (1 + odds / (power * (1 / power).sum()))
        assert found.dis[found.score > 0] == pytest.approx(chances)


def test_scores_agree_with_the_sets_of_columns_up_to_a_size() -> None:
    assert suda(GUIDE, at_most=2).score.tolist() == column_risks(GUIDE, at_most=2).suda.tolist()


def test_a_table_without_uniques_has_no_score_and_no_chance() -> None:
    found = suda(pl.DataFrame({"a": [1, 1, 2, 2]}))
    assert found.score.tolist() == found.dis.tolist() == [0.0] * 4
    assert found.as_dict()["dis"] == 0.0


@pytest.mark.parametrize("fraction", [0.0, -1.0, 1.5, float("nan")])
def test_a_fraction_that_is_none_is_refused(fraction: float) -> None:
    with pytest.raises(InputError) as caught:
        suda(GUIDE, sampling_fraction=fraction)
    assert caught.value.code == "CEL-A021"
