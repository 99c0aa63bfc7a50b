"""Any table becomes a Polars frame, or is refused with its place and without its values."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from celosia.core.errors import InputError
from celosia.frames import as_frame

EXPECTED = pl.DataFrame({"age": [39, 50], "sex": ["Male", "Female"]})


@pytest.mark.parametrize(
    "data",
    [
        EXPECTED,
        EXPECTED.lazy(),
        EXPECTED.to_arrow(),
        EXPECTED.to_arrow().to_batches()[0],
        EXPECTED.to_arrow().to_reader(),
        pd.DataFrame({"age": [39, 50], "sex": ["Male", "Female"]}),
        pd.DataFrame({"age": [39, 50], "sex": pd.Series(["Male", "Female"], dtype=object)}),
        {"age": [39, 50], "sex": ("Male", "Female")},
        {"age": np.array([39, 50]), "sex": pl.Series(["Male", "Female"])},
        {"age": pa.array([39, 50]), "sex": pd.Series(["Male", "Female"])},
        {"age": range(39, 51, 11), "sex": iter(["Male", "Female"])},
    ],
    ids=lambda data: type(data).__module__.split(".")[0] + "." + type(data).__name__,
)
def test_every_sort_of_table_gives_the_same_frame(data: Any) -> None:
    assert as_frame(data).equals(EXPECTED)


def test_the_input_stays_as_it_was() -> None:
    mapping = {"age": [39, None, 2.5]}
    panda = pd.DataFrame({"age": [1.0, float("nan")], "name": ["x", None]})
    before = panda.copy(deep=True)
    as_frame(mapping)
    as_frame(panda)
    assert mapping == {"age": [39, None, 2.5]}
    pd.testing.assert_frame_equal(panda, before)


def test_missing_marks_of_pandas_and_lists_become_missing() -> None:
    frame = as_frame(
        pd.DataFrame(
            {
                "a": [1.0, float("nan")],
                "b": pd.Series(["x", None], dtype=object),
                "c": pd.Series([1, pd.NA], dtype="Int64"),
                "d": pd.to_datetime(["2020-01-01", None]),
            }
        )
    )
    assert frame.null_count().row(0) == (1, 1, 1, 1)
    assert as_frame({"a": [float("nan"), 1]})["a"].to_list() == [None, 1.0]


def test_whole_and_broken_numbers_may_share_a_column() -> None:
    assert as_frame({"a": [1, 2.5, None]})["a"].to_list() == [1.0, 2.5, None]


def test_a_column_of_one_kind_keeps_its_type() -> None:
    frame = as_frame({"d": [dt.date(2020, 1, 2)], "b": [True], "n": [None]})
    assert frame.schema["d"] == pl.Date
    assert frame.schema["b"] == pl.Boolean


@pytest.mark.parametrize(
    ("values", "row"),
    [
        ([1, 2, "MARKER"], 3),
        (["MARKER", None, 7], 3),
        ([True, 1], 2),
        ([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)], 2),
    ],
)
def test_mixed_kinds_are_refused_with_column_and_row(values: list[object], row: int) -> None:
    for data in ({"x": values}, pd.DataFrame({"x": pd.Series(values, dtype=object)})):
        with pytest.raises(InputError, match="column 'x'") as caught:
            as_frame(data)
        assert caught.value.code == "CEL-F005"
        assert caught.value.details["row"] == row


@pytest.mark.parametrize(
    "data",
    [
        {"ok": [1], "bad": [[1, 2]]},
        {"ok": [1], "bad": [{"x": 1}]},
        pl.DataFrame({"bad": [[1]]}),
        pa.table({"bad": [{"x": 1}]}),
    ],
)
def test_nested_columns_are_refused_by_name(data: Any) -> None:
    with pytest.raises(InputError, match="'bad'") as caught:
        as_frame(data)
    assert caught.value.code == "CEL-F006"


def test_a_pandas_index_is_refused_with_a_hint() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    with pytest.raises(InputError, match="reset_index"):
        as_frame(frame)


def test_duplicate_names_are_refused_with_their_positions() -> None:
    table = pa.table([pa.array([1])] * 3, names=["a", "b", "a"])
    with pytest.raises(InputError, match=r"'a' .*positions 1, 3"):
        as_frame(table)
    with pytest.raises(InputError, match=r"'a' .*positions 1, 2"):
        as_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize("name", [7, "", " ", None, ("a", "b")])
def test_names_that_are_empty_or_not_text_are_refused_with_their_position(name: Any) -> None:
    with pytest.raises(InputError, match="position 2") as caught:
        as_frame({"a": [1], name: [2]})
    assert caught.value.code == "CEL-F003"


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="lengths"):
        as_frame({"a": [1], "b": [1, 2]})


@pytest.mark.parametrize("data", [3, "text", [1, 2], None, {"a": "text"}, {"a": 3}])
def test_what_is_no_table_is_refused(data: Any) -> None:
    with pytest.raises(InputError) as caught:
        as_frame(data)
    assert caught.value.code == "CEL-F001"
