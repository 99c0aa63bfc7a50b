"""The engine counts groups as polars does, whatever the columns are called."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import CelosiaError
from celosia.engines import DuckDB, Groups


def grouped(source: Any, columns: list[str]) -> Groups:
    with DuckDB() as engine:
        return engine.count_groups(source, columns)


def counts(source: Any, columns: list[str]) -> dict[tuple[Any, ...], int]:
    groups = grouped(source, columns)
    assert groups.values.columns == columns
    assert groups.values.height == groups.sizes.size
    return dict(zip(groups.values.rows(), groups.sizes.tolist(), strict=True))


@pytest.mark.parametrize(
    "name",
    [
        "count",
        "count(*)",
        "group",
        "select",
        'with "quotes"',
        '"',
        "it's",
        "with blanks ",
        "año ñ 年齢 🦓",
        "a;b--c",
        "a\nb",
        "1",
        "*",
        "a.b",
        "$1",
        "?",
        "ROWID",
    ],
)
def test_a_column_may_have_any_name(name: str) -> None:
    table = pl.DataFrame({name: ["x", "y", "x"], "other": [1, 2, 3]})
    assert counts(table, [name]) == {("x",): 2, ("y",): 1}


@pytest.mark.parametrize("name", ["celosia group size", "celosia row"])
def test_a_column_may_be_called_as_the_engine_calls_its_own(name: str) -> None:
    assert counts(pl.DataFrame({name: ["x", "y", "x"]}), [name]) == {("x",): 2, ("y",): 1}


def test_columns_may_differ_in_case_alone() -> None:
    table = pl.DataFrame({"a": ["x", "x", "y"], "A": ["1", "2", "1"]})
    assert counts(table, ["a", "A"]) == {("x", "1"): 1, ("x", "2"): 1, ("y", "1"): 1}


def test_empty_cells_are_a_group_of_their_own() -> None:
    table = pl.DataFrame({"a": ["x", None, None, ""], "b": [1, None, None, 1]})
    assert counts(table, ["a", "b"]) == {("x", 1): 1, (None, None): 2, ("", 1): 1}


def test_columns_that_are_not_asked_for_do_not_matter() -> None:
    table = pl.DataFrame({"a": ["x", "x"], "blob": [[1], [2]]})
    assert counts(table, ["a"]) == {("x",): 2}


def test_a_table_without_rows_has_no_groups() -> None:
    assert counts(pl.DataFrame({"a": ["x"]}).clear(), ["a"]) == {}


def test_a_stream_is_counted_across_its_chunks() -> None:
    chunks = (pl.DataFrame({"a": [number % 3] * 4}) for number in range(6))
    assert counts(chunks, ["a"]) == {(0,): 8, (1,): 8, (2,): 8}


def test_chunks_without_rows_are_passed_over() -> None:
    empty = pl.DataFrame({"a": ["x"]}).clear()
    chunks = [empty, pl.DataFrame({"a": ["x", "y"]}), empty, pl.DataFrame({"a": ["x"]})]
    assert counts(chunks, ["a"]) == {("x",): 2, ("y",): 1}


def test_chunks_may_have_their_columns_in_another_order() -> None:
    chunks = [pl.DataFrame({"a": ["x"], "b": [1]}), pl.DataFrame({"b": [1], "a": ["x"]})]
    assert counts(chunks, ["a", "b"]) == {("x", 1): 2}


def test_chunks_may_have_categories_of_their_own() -> None:
    chunks = [
        pl.DataFrame({"a": pl.Series(list(texts), dtype=pl.Categorical)}) for texts in ("xy", "zyz")
    ]
    assert counts(chunks, ["a"]) == {("x",): 1, ("y",): 2, ("z",): 2}


def test_chunks_of_other_types_are_refused_without_showing_a_cell() -> None:
    chunks = [pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [47.11]})]
    with pytest.raises(CelosiaError) as caught:
        counts(chunks, ["a"])
    assert "47.11" not in str(caught.value)


@pytest.mark.parametrize(
    "series",
    [
        pl.Series([1, 2, 1], dtype=pl.UInt64),
        pl.Series([0.5, -0.0, 0.0]),
        pl.Series([True, None, True]),
        pl.Series([dt.date(2026, 1, 1), None, dt.date(1900, 1, 1)]),
        pl.Series(
            [dt.datetime(2026, 1, 1), None, dt.datetime(1900, 1, 1)], dtype=pl.Datetime("ns")
        ),
        pl.Series([dt.time(1), dt.time(2), dt.time(1)]),
        pl.Series(["1.50", "2", "1.5"]).cast(pl.Decimal(10, 2)),
        pl.Series(["x", "y", "x"], dtype=pl.Categorical),
        pl.Series(["x", "y", "x"], dtype=pl.Enum(["y", "x"])),
        pl.Series([None, None, None], dtype=pl.Null),
    ],
    ids=lambda series: str(series.dtype),
)
def test_a_column_may_have_any_plain_type(series: pl.Series) -> None:
    table = pl.DataFrame({"a": series})
    expected = table.group_by("a").len()
    assert counts(table, ["a"]) == {(value,): count for value, count in expected.iter_rows()}


rows = st.lists(
    st.tuples(
        st.sampled_from([None, "", "a", "A", "ñ", "null"]),
        st.one_of(st.none(), st.integers(-2, 2)),
        st.one_of(st.none(), st.booleans()),
    ),
    max_size=40,
)


@settings(max_examples=60)
@given(rows, st.lists(st.integers(0, 40), max_size=4))
def test_groups_are_those_of_plain_counting_however_the_rows_are_cut(
    cells: list[tuple[str | None, int | None, bool | None]], cuts: list[int]
) -> None:
    schema = {"text": pl.String, "number": pl.Int64, "flag": pl.Boolean}
    table = pl.DataFrame(cells, schema=schema, orient="row")
    edges = sorted({0, table.height, *(cut for cut in cuts if cut < table.height)})
    chunks = [table.slice(a, b - a) for a, b in pairwise(edges)]
    assert counts(chunks or table, list(schema)) == dict(Counter(cells))


@settings(max_examples=60)
@given(rows)
def test_groups_are_those_of_polars(
    cells: list[tuple[str | None, int | None, bool | None]],
) -> None:
    schema = {"text": pl.String, "number": pl.Int64, "flag": pl.Boolean}
    table = pl.DataFrame(cells, schema=schema, orient="row")
    expected = table.group_by("text", "flag").len()
    assert counts(table, ["text", "flag"]) == {
        (text, flag): size for text, flag, size in expected.iter_rows()
    }


def test_the_first_row_of_each_group_is_told_across_chunks() -> None:
    chunks = [pl.DataFrame({"a": list(cells)}) for cells in ("xx", "yx", "zy")]
    groups = grouped(chunks, ["a"])
    assert groups.first_rows is not None
    first = dict(zip(groups.values["a"], groups.first_rows.tolist(), strict=True))
    assert first == {"x": 0, "y": 2, "z": 4}


def test_an_engine_is_closed_at_the_end_of_its_block() -> None:
    with DuckDB() as engine:
        pass
    with pytest.raises(Exception, match="closed"):
        engine.count_groups(pl.DataFrame({"a": [1]}), ["a"])
