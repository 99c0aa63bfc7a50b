"""Declared domains: no cell is an error, and one row moves one count."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.hierarchies import Hierarchy, Intervals, Ordered, Tree
from celosia.tables.private.declarations import DomainDeclarations
from celosia.tables.private.marginals import Marginals
from celosia.tables.schema import Column, Role, Schema

NUMBERS = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))
TEXTS = st.one_of(st.none(), st.text(max_size=3), st.sampled_from(["f", "m"]))
SCHEMA = pl.Schema({"x": pl.Float64(), "n": pl.Int64(), "sex": pl.String(), "t": pl.Boolean()})
DECLARED = DomainDeclarations(
    {"sex": ("f", "m"), "t": (True, False)}, {"x": (-1, 2.5), "n": (3, 12)}, {"x": 5, "n": 4}
)


@given(st.lists(NUMBERS), st.lists(TEXTS))
def test_every_cell_has_a_code_and_one_row_more_moves_one_count_by_one(
    numbers: list[float | None], texts: list[str | None]
) -> None:
    x, _, sex, _ = DECLARED.columns(SCHEMA, ["x", "n", "sex", "t"])
    for column, cells, dtype in ((x, numbers, pl.Float64), (sex, texts, pl.String)):
        counts = column.counts(pl.Series(cells, dtype=dtype))
        assert counts.sum() == len(cells)
        if cells:
            fewer = column.counts(pl.Series(cells[1:], dtype=dtype))
            assert sorted(counts - fewer) == [0] * (column.size - 1) + [1]


def test_numbers_are_clamped_and_strangers_are_put_apart() -> None:
    x, n, sex, t = DECLARED.columns(SCHEMA, ["x", "n", "sex", "t"])
    cells = [-np.inf, -7.0, -1.0, 2.5, 99.0, np.inf, np.nan, None]
    assert x.codes(pl.Series(cells)).tolist() == [0, 0, 0, 4, 4, 4, 5, 5]
    assert n.codes(pl.Series([2, 3, 4, 5, 12, 13, None])).tolist() == [0, 0, 0, 1, 3, 3, 4]
    assert sex.codes(pl.Series(["m", "f", "d", None])).tolist() == [1, 0, 2, 2]
    assert t.codes(pl.Series([False, True, None])).tolist() == [1, 0, 2]


@given(st.integers(0, 1000))
def test_cells_drawn_for_a_code_have_that_code(seed: int) -> None:
    for column in DECLARED.columns(SCHEMA, ["x", "n", "sex", "t"]):
        codes = np.arange(column.size, dtype=np.int64)
        assert np.array_equal(column.codes(column.series(codes, Seeded(seed))), codes)


def test_whole_numbers_are_drawn_as_often_each_and_within_their_bin() -> None:
    (n,) = DomainDeclarations({}, {"n": (3, 12)}, 4).columns(pl.Schema({"n": pl.Int8()}), ["n"])
    drawn = n.series(np.repeat(np.arange(4), 30_000), Seeded(1))
    assert drawn.dtype == pl.Int64
    counts = np.bincount(drawn.to_numpy())
    # Bins 3-4, 5-7, 8-9, 10-12; a count of m draws with chance 1/3 or 1/2 is off by 5 sqrt(m/4).
    wanted = np.array([0, 0, 0, 15, 15, 10, 10, 10, 15, 15, 10, 10, 10]) * 1000
    assert np.all(np.abs(counts - wanted) < 5 * np.sqrt(30_000 / 4))


def test_a_small_range_of_whole_numbers_has_a_bin_a_value() -> None:
    (n,) = DomainDeclarations({}, {"n": (3, 5)}).columns(pl.Schema({"n": pl.Int64()}), ["n"])
    assert n.labels().to_list() == ["3", "4", "5", None]
    assert n.codes(pl.Series([1, 3, 4, 5, 6, None])).tolist() == [0, 0, 1, 2, 2, 3]


def test_labels_tell_the_bins() -> None:
    schema = pl.Schema({"n": pl.Int64(), "x": pl.Float64(), "s": pl.Categorical()})
    declared = DomainDeclarations({"s": ("a", "b")}, {"x": (0, 1)}, 2, {"n": (0, 18, 65, 120)})
    labels = [column.labels().to_list() for column in declared.columns(schema, ["n", "x", "s"])]
    assert labels == [
        ["0-17", "18-64", "65-120", None],
        ["[0, 0.5)", "[0.5, 1]", None],
        ["a", "b", None],
    ]


def test_categories_and_enumerations_are_read_as_texts() -> None:
    for dtype in (pl.Categorical(), pl.Enum(["a", "b", "c"])):
        (s,) = DomainDeclarations({"s": ("b", "a")}, {}).columns(pl.Schema({"s": dtype}), ["s"])
        assert s.codes(pl.Series(["a", "b", "c", None], dtype=dtype)).tolist() == [1, 0, 2, 2]


@pytest.mark.parametrize(
    ("domains", "bounds", "bins", "code"),
    [
        ({"a": ()}, {}, 4, "CEL-Y021"),
        ({"a": ("x", "x")}, {}, 4, "CEL-Y021"),
        ({"a": ("x", 1)}, {}, 4, "CEL-Y021"),
        ({}, {"a": (1,)}, 4, "CEL-Y021"),
        ({}, {"a": (2, 1)}, 4, "CEL-Y021"),
        ({}, {"a": (0, float("inf"))}, 4, "CEL-Y021"),
        ({}, {"a": (0, 2**60)}, 4, "CEL-Y021"),
        ({}, {}, 4, "CEL-Y020"),
        ({"a": (1, 2)}, {"a": (0, 1)}, 4, "CEL-Y020"),
        ({"a": (1, 2), "b": (1, 2)}, {}, 4, "CEL-Y020"),
        ({"a": ("x", "y")}, {}, 4, "CEL-Y022"),
        ({"a": (True, False)}, {}, 4, "CEL-Y022"),
    ],
)
def test_declarations_that_do_not_fit_are_refused(
    domains: dict[str, Any], bounds: dict[str, Any], bins: Any, code: str
) -> None:
    with pytest.raises(InputError) as refusal:
        DomainDeclarations(domains, bounds, bins).columns(pl.Schema({"a": pl.Int64()}), ["a"])
    assert refusal.value.code == code


def test_bounds_are_for_numbers_only() -> None:
    for dtype in (pl.String(), pl.Boolean(), pl.Date()):
        with pytest.raises(InputError) as refusal:
            DomainDeclarations({}, {"a": (0, 1)}).columns(pl.Schema({"a": dtype}), ["a"])
        assert refusal.value.code == "CEL-Y022"


@pytest.mark.parametrize("given_lists", [[1], {"a": "xy"}, {"a": 3}])
def test_declarations_are_lists_by_column(given_lists: object) -> None:
    with pytest.raises(InputError) as refusal:
        Marginals(epsilon=1, domains=given_lists)  # type: ignore[arg-type]
    assert refusal.value.code == "CEL-I060"


@pytest.mark.parametrize("bins", [0, 2**20 + 1, 1.5, {"a": 1.5}, {"a": 0}, "16"])
def test_bins_are_whole_numbers(bins: Any) -> None:
    with pytest.raises(InputError, match="a whole number from 1 to 1,048,576") as refusal:
        Marginals(epsilon=1, bounds={"a": (0, 1)}, bins=bins)
    assert refusal.value.code == "CEL-I060"


def test_a_schema_declares_what_its_hierarchies_write_down() -> None:
    rules: dict[str, Any] = {
        "tree": Tree({"x": ["a", "b"], "y": ["c"]}),
        "order": Ordered(order=("low", "high")),
        "number": Hierarchy.from_paths([("1", "*"), ("2", "*"), ("(missing)", "*")]),
        "range": Intervals(widths=(5,), domain=(0, 9)),
        "seen": Ordered(),
        "open": Intervals(widths=(5,)),
        "auto": None,
        "given": Tree(["p"]),
    }
    columns = [
        Column(name, Role.QUASI_IDENTIFIER, "integer" if name == "number" else None, rule)
        for name, rule in rules.items()
    ]
    method = Marginals(epsilon=1, domains={"given": ("q",)})
    found = method.with_schema(Schema(tuple(columns)), list(rules))
    assert found.domains == {
        "given": ("q",),
        "tree": ("a", "b", "c"),
        "order": ("low", "high"),
        "number": (1, 2),
    }
    assert found.bounds == {"range": (0, 9)}
    assert method.with_schema(Schema(tuple(columns)), ["range"]).domains == {"given": ("q",)}
    texts = Column("t", Role.QUASI_IDENTIFIER, "integer", Tree(["many"]))
    assert method.with_schema(Schema((texts,)), ["t"]).domains == {"given": ("q",)}
