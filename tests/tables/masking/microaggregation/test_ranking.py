"""Columns one at a time: the printed tables, representatives, groups by another column."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from celosia.assess.risk import measure
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.method import MethodResult
from celosia.tables.masking.microaggregation import Microaggregation

MEDICAL = pl.DataFrame(
    {
        "postcode": [
            "08500",
            "17600",
            "08242",
            "25128",
            "17488",
            "08401",
            "08760",
            "43840",
            "43500",
            "25310",
        ],
        "age": [29, 48, 21, 36, 45, 58, 72, 22, 25, 43],
    }
)
PRINTED = [27, 46, 21, 39, 46, 65, 65, 21, 27, 39]
JOBS = pl.DataFrame({"job": ["nurse", "cook", "cook", "nurse"], "salary": [2700, 2950, 2760, 3500]})


def masked(frame: pl.DataFrame, method: Microaggregation, *columns: str) -> MethodResult:
    return method.apply(frame, columns, rng=Seeded(1))


def test_ages_in_pairs_keep_their_mean_to_the_last_digit() -> None:
    done = masked(MEDICAL, Microaggregation(k=2), "age")
    assert done.frame["age"].to_list() == [27, 46.5, 21.5, 39.5, 46.5, 65, 65, 21.5, 27, 39.5]
    assert done.frame["age"].mean() == pytest.approx(39.9, abs=1e-9)
    assert done.frame["postcode"].equals(MEDICAL["postcode"])
    facts = done.facts["columns"]["age"]
    assert facts["squared_error"] == pytest.approx(135.5)
    assert facts["total_squares"] == pytest.approx(2492.9)
    assert facts["loss_percent"] == pytest.approx(5.435, abs=5e-4)
    assert (facts["groups"], facts["smallest_group"], facts["largest_group"]) == (5, 2, 2)
    assert measure(done.frame, ["age"]).maximum == 0.5


def test_cut_means_are_the_printed_table_and_shift_the_mean() -> None:
    done = masked(MEDICAL, Microaggregation(k=2, truncate=True), "age").frame["age"]
    assert done.to_list() == PRINTED
    assert done.dtype == pl.Int64
    assert done.mean() == pytest.approx(39.6, abs=1e-9)


def test_rounded_means_are_whole_numbers_nearest_to_them() -> None:
    done = masked(MEDICAL, Microaggregation(k=2, integer=True), "age").frame["age"]
    assert done.to_list() == [27, 46, 22, 40, 46, 65, 65, 22, 27, 40]  # halves go to even


def test_the_table_stays_alone_on_its_other_columns() -> None:
    done = masked(MEDICAL, Microaggregation(k=2), "age")
    assert measure(done.frame, ["postcode", "age"]).maximum == 1.0
    assert Microaggregation(k=2).promise(["age"]) == "each value of age occurs at least 2 times"
    assert Microaggregation(k=2).promise(["age", "postcode"]) is None
    assert "on its own" in Microaggregation().leaves_open(["age", "postcode"])[0]


def test_salaries_by_job() -> None:
    done = masked(JOBS, Microaggregation(k=2, by="job"), "salary").frame
    assert done["salary"].to_list() == [3100, 2855, 2855, 3100]


def test_a_group_by_another_column_with_fewer_than_k_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        masked(JOBS, Microaggregation(k=3, by="job"), "salary")
    assert caught.value.code == "CEL-V107"
    assert "2 groups of equal" in str(caught.value)


def test_two_columns_are_grouped_each_in_its_own_way() -> None:
    frame = pl.DataFrame({"a": [1, 2, 9, 10], "b": [10, 1, 9, 2], "c": [1, 2, 3, 4]})
    done = masked(frame, Microaggregation(k=2), "a", "b").frame
    assert done["a"].to_list() == [1.5, 1.5, 9.5, 9.5]
    assert done["b"].to_list() == [9.5, 1.5, 9.5, 1.5]
    assert done["c"].equals(frame["c"])


def test_medians_of_numbers_and_of_ordered_categories() -> None:
    numbers = pl.DataFrame({"n": [1, 2, 9, 20, 21, 40]})
    done = masked(numbers, Microaggregation(k=3, representative="median"), "n").frame
    assert done["n"].to_list() == [2, 2, 2, 21, 21, 21]
    levels = pl.DataFrame({"level": ["low", "low", "mid", "mid", "high", "high"]})
    method = Microaggregation(
        k=3, variant="fixed", representative="median", order=("low", "mid", "high")
    )
    done = masked(levels, method, "level").frame
    assert done["level"].to_list() == ["low", "low", "low", "high", "high", "high"]


def test_modes_of_categories_by_another_column() -> None:
    frame = pl.DataFrame({"town": ["b", "a", "a", "c", "b", "c"], "area": [1, 1, 1, 2, 2, 2]})
    done = masked(frame, Microaggregation(k=3, representative="mode", by="area"), "town").frame
    assert done["town"].to_list() == ["a", "a", "a", "c", "c", "c"]


def test_empty_cells_stay_empty_and_are_in_no_group() -> None:
    frame = pl.DataFrame({"n": [1.0, None, 2.0, float("nan"), 10.0, 12.0]})
    done = masked(frame, Microaggregation(k=2), "n").frame
    assert done["n"].to_list() == [1.5, None, 1.5, None, 11.0, 11.0]
    town = pl.DataFrame({"t": ["a", None, "a", "b", "b"]})
    done = masked(town, Microaggregation(k=2, representative="mode"), "t").frame
    assert done["t"].to_list() == ["a", None, "a", "b", "b"]


@given(
    st.integers(2, 4),
    st.lists(st.one_of(st.none(), st.integers(-30, 30)), min_size=8, max_size=30),
    st.sampled_from(["optimal", "fixed"]),
    st.sampled_from(["mean", "median"]),
)
@settings(max_examples=60, deadline=None)
def test_every_value_occurs_at_least_k_times(
    k: int, cells: list[int | None], variant: Any, representative: Any
) -> None:
    cells = [*cells, *range(k)]
    frame = pl.DataFrame({"n": cells}, schema={"n": pl.Int64})
    given_frame = frame.clone()
    method = Microaggregation(k=k, variant=variant, representative=representative)
    done = masked(frame, method, "n").frame["n"]
    assert_frame_equal(frame, given_frame)
    assert done.is_null().to_list() == frame["n"].is_null().to_list()
    counts = done.drop_nulls().value_counts()["count"]
    assert counts.min() >= k  # type: ignore[operator]
    if representative == "mean":
        assert done.mean() == pytest.approx(frame["n"].mean(), abs=1e-9)


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"k": 1}, "CEL-I060"),
        ({"variant": "best"}, "CEL-I060"),
        ({"representative": "centre"}, "CEL-I060"),
    ],
)
def test_bad_parameters_are_refused_at_once(parameters: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        Microaggregation(**parameters)  # type: ignore[arg-type]
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("cells", "parameters", "code"),
    [
        ([7, 7, 7, 7], {}, "CEL-V108"),
        ([None, None, None], {}, "CEL-V108"),
        ([1, 2], {"k": 3}, "CEL-V101"),
        ([1, 2, None, None], {"k": 3}, "CEL-V101"),
        (["secret", "b", "c"], {}, "CEL-V004"),
        ([1e30, -1e30, 2.0, 3.0], {"k": 2, "integer": True}, "CEL-V106"),
        ([1e300, -1e300, 2.0, 3.0], {"k": 2}, "CEL-V113"),
        (["secret", "b", "c"], {"representative": "median", "order": ["b", "c"]}, "CEL-V006"),
    ],
)
def test_bad_columns_are_refused_without_showing_a_cell(
    cells: list[object], parameters: dict[str, object], code: str
) -> None:
    empty = {"n": pl.Int64} if cells[0] is None else None
    frame = pl.DataFrame({"n": cells}, schema=empty)
    with pytest.raises(InputError) as caught:
        masked(frame, Microaggregation(**parameters), "n")  # type: ignore[arg-type]
    assert caught.value.code == code
    assert "secret" not in str(caught.value)


def test_the_order_is_kept_as_a_tuple_and_told_in_the_recipe() -> None:
    method = Microaggregation(k=5, order=["a", "b"])  # type: ignore[arg-type]
    assert method.as_dict() == {"method": "microaggregation", "k": 5, "order": ["a", "b"]}
    assert np.isfinite(hash(method))


@pytest.mark.parametrize(
    "parameters",
    [{"order": 3}, {"order": "ab"}, {"order": [1, "a"]}, {"order": ["a", "a"]}, {"by": 3}]
    + [{name: value} for name in ("integer", "truncate") for value in ("no", 1, None)],
    ids=str,
)
def test_parameters_of_the_wrong_kind_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Microaggregation(**parameters)
    assert caught.value.code == "CEL-I060"


def test_numbers_whose_squares_vanish_are_grouped_all_the_same() -> None:
    tiny = pl.DataFrame({"x": [5e-324 * step for step in (1, 2, 8, 9)]})
    done = masked(tiny, Microaggregation(k=2), "x")
    assert done.frame["x"].n_unique() == 2
    assert done.facts["columns"]["x"]["loss_percent"] == 0.0
