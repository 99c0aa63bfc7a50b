"""Cells find their leaves, whatever type the column has."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.tables import Column, Hierarchy, Intervals, Role, Tree
from celosia.tables.coded_table import CodedColumn, code_column
from celosia.tables.hierarchies import Builder
from celosia.tables.recoding import Lattice

LETTERS = Hierarchy.from_paths([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")])


def coded(values: Any, hierarchy: Hierarchy | Builder | None = LETTERS, **more: Any) -> CodedColumn:
    column = Column("cell", Role.QUASI_IDENTIFIER, hierarchy=hierarchy, **more)
    return code_column(values if isinstance(values, pl.Series) else pl.Series(values), column)


def test_each_row_gets_the_place_of_its_leaf() -> None:
    assert coded(["c", "a", "a"]).leaf_of_row.tolist() == [2, 0, 0]


def test_leaves_that_nobody_has_are_counted_as_zero() -> None:
    assert Lattice([coded(["c", "a", "a"])]).leaf_counts[0].tolist() == [2, 0, 1]


def test_rows_may_stand_for_several_records() -> None:
    counts = np.array([5, 1, 2], dtype=np.int64)
    assert Lattice([coded(["c", "a", "a"])], counts).leaf_counts[0].tolist() == [3, 0, 5]


@pytest.mark.parametrize(("level", "labels"), [(0, ["c", "a"]), (1, ["y", "x"]), (2, ["*", "*"])])
def test_labels_are_those_of_the_level(level: int, labels: list[str]) -> None:
    assert coded(["c", "a"]).labels_at(level).to_list() == labels


@pytest.mark.parametrize("level", [0, 1])
def test_empty_cells_are_empty_below_the_root(level: int) -> None:
    assert coded(["c", None], missing="value").labels_at(level).to_list()[1] is None


def test_empty_cells_join_the_others_at_the_root() -> None:
    assert coded(["c", None], missing="value").labels_at(2).to_list() == ["*", "*"]


def test_a_leaf_for_empty_cells_is_added_only_where_there_are_any() -> None:
    assert len(coded(["c", "a"], missing="value").hierarchy.leaves) == 3
    assert len(coded(["c", None], missing="value").hierarchy.leaves) == 4


@pytest.mark.parametrize(
    ("series", "leaves"),
    [
        (pl.Series([1, 2, 1], dtype=pl.Int8), ("1", "2")),
        (pl.Series([1.0, 2.0, 1.0]), ("1", "2")),
        (pl.Series(["1", "2", "1"]), ("1", "2")),
        (pl.Series(["1", "2", "1"], dtype=pl.Categorical), ("1", "2")),
        (pl.Series([True, False, True]), ("true", "false")),
        (
            pl.Series([dt.date(2026, 1, 2), dt.date(2026, 1, 3), dt.date(2026, 1, 2)]),
            ("2026-01-02", "2026-01-03"),
        ),
    ],
    ids=["integers", "floats", "texts", "categories", "truth values", "dates"],
)
def test_cells_are_matched_by_their_text_whatever_their_type(
    series: pl.Series, leaves: tuple[str, str]
) -> None:
    assert coded(series, Tree(leaves)).leaf_of_row.tolist() == [0, 1, 0]


def test_a_rule_is_built_from_the_values_of_the_column() -> None:
    column = coded([12, 38, 12], Intervals(widths=(10,)))
    assert column.hierarchy.leaves == ("12", "38")
    assert column.labels_at(1).to_list() == ["10-19", "30-39", "10-19"]


def test_a_column_without_a_rule_gets_one_that_fits() -> None:
    assert coded([12, 38, 12], None).hierarchy.height >= 1


def test_a_rule_that_fails_names_the_column() -> None:
    with pytest.raises(InputError, match="column 'cell'") as caught:
        coded(["x"], Intervals(widths=(10,)))
    assert (caught.value.code, caught.value.details["column"]) == ("CEL-H023", "cell")


def test_empty_cells_are_refused_by_default() -> None:
    with pytest.raises(InputError) as caught:
        coded(["a", "b", None, None])
    assert (caught.value.code, caught.value.details["row"]) == ("CEL-T010", 3)


def test_uncovered_values_are_counted_apart_from_empty_cells() -> None:
    with pytest.raises(InputError, match="2 rows") as caught:
        coded([None, "q", "a", "q", None], missing="value")
    assert caught.value.code == "CEL-T011"
    assert (caught.value.details["values"], caught.value.details["row"]) == (1, 2)


def test_a_column_of_no_rows_codes_to_nothing() -> None:
    assert coded(pl.Series([], dtype=pl.String)).leaf_of_row.size == 0


def test_a_cell_that_looks_suppressed_is_refused() -> None:
    with pytest.raises(InputError, match="mark of suppressed records") as refused:
        coded(["a", "*"], Tree(("a", "*")))
    assert refused.value.code == "CEL-T012"
