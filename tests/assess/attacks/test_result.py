"""What every attack hands back: counts, confidence, and no private value unless asked."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.assess.attacks import Attack, Exposure, homogeneity
from celosia.assess.attacks.classes import Classes, number_combinations, texts_of
from celosia.assess.attacks.result import Members
from celosia.core.errors import InputError

TABLE = pl.DataFrame(
    {
        "age": ["<50"] * 3 + [">=50"] * 2 + ["*"],
        "ill": ["secretitis", "secretitis", "secretitis", "flu", "cold", "cold"],
    }
)


@pytest.fixture
def found() -> Attack:
    return homogeneity(TABLE, ["age"], "ill")


def test_people_are_counted_and_confidence_is_averaged_over_them(found: Attack) -> None:
    assert (found.people, found.exposed_people, found.exposed_groups) == (5, 3, 1)
    assert found.share == 3 / 5
    assert found.greatest == 1
    assert found.average == pytest.approx((3 * 1 + 2 * 0.5) / 5)


def test_gain_is_what_the_release_added(found: Attack) -> None:
    (exposure,) = found.exposed
    assert exposure == Exposure(0, 3, "ill", 1.0, 0.5, ("secretitis",), (0, 1, 2))
    assert exposure.gain == found.greatest_gain == 0.5


def test_nothing_that_is_printed_or_stored_has_a_cell_value_unless_asked(found: Attack) -> None:
    texts = [str(found), repr(found), repr(found.exposed), json.dumps(found.as_dict())]
    assert not any("secretitis" in text for text in texts)
    assert found.as_dict(values=True)["exposed"][0]["learnt"] == ["secretitis"]


def test_plain_values_list_the_surest_only() -> None:
    table = pl.DataFrame({"age": ["1", "2", "3", "3"], "ill": ["a", "b", "a", "b"]})
    facts = homogeneity(table, ["age"], "ill", certainty=0.5).as_dict(limit=2)
    assert [one["confidence"] for one in facts["exposed"]] == [1, 1]
    assert facts["exposed_groups"] == 3


def test_the_line_says_what_matters_most(found: Attack) -> None:
    assert str(found) == (
        "homogeneity, 'ill': 3 of 5 people exposed (60.00%), greatest confidence 100.0%"
    )


def test_a_table_without_rows_exposes_nobody() -> None:
    found = homogeneity(TABLE.clear(), ["age"], "ill")
    assert (found.people, found.share, found.greatest, found.average) == (0, 0, 0, 0)
    assert found.exposed == ()


@given(st.lists(st.integers(-1, 5)))
def test_members_are_the_rows_of_each_group(groups: list[int]) -> None:
    members = Members.of(np.array(groups, dtype=np.int64), 6)
    for group in range(6):
        assert members.of_group(group) == tuple(i for i, g in enumerate(groups) if g == group)


@given(
    st.lists(st.tuples(st.sampled_from(["*", "a", "", None]), st.sampled_from(["*", "b", None])))
)
def test_classes_are_those_of_counting(rows: list[tuple[str | None, str | None]]) -> None:
    table = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.String}, orient="row")
    classes = Classes.of(table)
    star = ("*", "*")
    hides = any(row != star for row in rows)
    kept = [row for row in rows if row != star or not hides]
    found = dict(zip(classes.labels.iter_rows(), classes.sizes.tolist(), strict=True))
    assert found == {row: kept.count(row) for row in kept}
    assert classes.suppressed == len(rows) - len(kept)
    for row, number in zip(rows, classes.of_row.tolist(), strict=True):
        assert number == -1 if row not in kept else classes.labels.row(number) == row


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_combinations_are_numbered_in_their_sorted_order(rows: list[tuple[int, int]]) -> None:
    order = sorted(set(rows))
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    assert number_combinations(columns).tolist() == [order.index(row) for row in rows]


def test_an_unknown_column_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"'agee' \(did you mean 'age'\?\)") as caught:
        texts_of(TABLE, ["agee"])
    assert caught.value.code == "CEL-A050"


def test_no_columns_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        homogeneity(TABLE, [], "ill")
    assert caught.value.code == "CEL-A051"


def test_combinations_too_many_for_a_word_are_numbered_all_the_same() -> None:
    wide = [np.array([0, 2**21, 5, 2**21, 0], dtype=np.int64)] * 4
    assert number_combinations(wide).tolist() == [0, 2, 1, 2, 0]
