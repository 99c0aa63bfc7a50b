"""Local suppression: the worked table, minimality by brute force, and the promise on any table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.suppression import METHODS, LocalSuppression, minimum
from celosia.tables.masking.suppression.costs import class_sizes, identify, matching

T9 = pl.read_csv(
    b"""postcode;gender;age;illness
08***;M;[20,30);Cancer
17***;F;[30,50);Hepatitis
08***;M;[20,30);Flu
25***;M;[30,50);Cancer
17***;F;[30,50);Diabetes
08***;F;[50,80);Flu
08***;F;[50,80);Hepatitis
43***;F;[20,30);Cancer
43***;M;[20,30);Diabetes
25***;F;[30,50);Flu
""",
    separator=";",
)
T10_CLASSES = [{1, 3}, {2, 5}, {4, 10}, {6, 7}, {8, 9}]
KEYS = ["postcode", "gender", "age"]


def suppress(
    frame: pl.DataFrame, columns: Sequence[str] | None = None, **parameters: Any
) -> tuple[pl.DataFrame, Mapping[str, Any]]:
    chosen = frame.columns if columns is None else columns
    masked = LocalSuppression(**parameters).apply(frame, chosen, rng=Seeded(1))
    return masked.frame, masked.facts


def table_of(rows: Sequence[Sequence[int | None]]) -> pl.DataFrame:
    columns = [f"c{place}" for place in range(len(rows[0]))]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.Int64), orient="row")


def smallest_count(rows: Sequence[Sequence[Any]], reading: str) -> int:
    """By the definition, record by record."""
    if reading == "own":
        return min(Counter(map(tuple, rows)).values())
    return min(
        sum(
            all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))
            for other in rows
        )
        for one in rows
    )


def least_cost(
    rows: Sequence[Sequence[Any]], k: int, reading: str, costs: Sequence[float]
) -> float:
    """By trying every set of cells."""
    width = len(rows[0])
    best = float("inf")
    for blank in product((False, True), repeat=len(rows) * width):
        chosen = [blank[at : at + width] for at in range(0, len(blank), width)]
        tried = [
            [None if gone else cell for gone, cell in zip(b, row, strict=True)]
            for b, row in zip(chosen, rows, strict=True)
        ]
        if smallest_count(tried, reading) >= k:
            fresh = sum(
                cost
                for b, row in zip(chosen, rows, strict=True)
                for gone, cell, cost in zip(b, row, costs, strict=True)
                if gone and cell is not None
            )
            best = min(best, fresh)
    return best


def test_the_package_offers_the_method() -> None:
    assert [each.method_name for each in METHODS] == ["local-suppression"]
    assert LocalSuppression.truthful
    assert not LocalSuppression.randomised


def test_gender_is_blanked_in_four_cells_of_t9_and_gives_the_classes_of_t10() -> None:
    assert class_sizes(np.column_stack([T9[c].rank("dense").to_numpy() for c in KEYS])).min() == 1
    released, facts = suppress(T9, KEYS, k=2)
    assert released["gender"].to_list() == [*"MFM", None, *"FFF", None, None, None]
    assert released.drop("gender").equals(T9.drop("gender"))
    numbered = released.with_row_index("id", 1).group_by(KEYS, maintain_order=True).agg("id")
    classes = [set(ids) for ids in numbered["id"]]
    assert sorted(classes, key=min) == T10_CLASSES
    assert facts["cells_by_column"] == {"postcode": 0, "gender": 4, "age": 0}
    assert facts["proved_minimal"]
    assert facts["lower_bound"] == facts["cost"] == 4


def test_read_as_any_value_one_cell_of_each_pair_of_t9_is_enough() -> None:
    _, facts = suppress(T9, KEYS, k=2, reading="any")
    assert facts["cells"] == 2
    assert facts["proved_minimal"]


@pytest.mark.parametrize("reading", ["own", "any"])
@pytest.mark.parametrize("seed", range(4))
def test_small_tables_cost_the_least_that_any_set_of_cells_does(reading: str, seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = draw.integers(0, 3, (6, 2)).tolist()
    if seed % 2:
        rows[0][0] = None
    costs = [1.0, float(draw.integers(1, 4))]
    for k in (2, 3):
        released, facts = suppress(table_of(rows), k=k, reading=reading, weights={"c1": costs[1]})
        assert facts["proved_minimal"]
        assert facts["cost"] == least_cost(rows, k, reading, costs) == facts["lower_bound"]
        assert facts["cost_of_greedy"] >= facts["cost"]
        assert smallest_count(released.rows(), reading) >= k


@pytest.mark.parametrize("seed", range(3))
def test_the_least_is_found_with_three_columns_too(seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 2, (5, 3)).tolist()
    _, facts = suppress(table_of(rows), k=2)
    assert facts["cost"] == least_cost(rows, 2, "own", [1.0] * 3)


CELL = st.one_of(st.none(), st.integers(0, 3))


@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=4, max_size=25),
    k=st.integers(2, 4),
    reading=st.sampled_from(["own", "any"]),
    weight=st.sampled_from([0.5, 1.0, 3.0]),
)
def test_every_released_combination_occurs_k_times_and_no_cell_is_changed(
    rows: list[tuple[int | None, ...]], k: int, reading: Any, weight: float
) -> None:
    method = LocalSuppression(k=k, reading=reading, weights={"c1": weight})
    codes = method._codes(table_of(rows), ["c0", "c1", "c2"])
    released = method._greedy(codes, [1.0, weight, 1.0], lambda step: None)
    shown = [[None if code < 0 else code for code in row] for row in released.tolist()]
    assert smallest_count(shown, reading) >= k
    assert ((released == codes) | (released == -1)).all()
    if reading == "own":
        price = ((released == -1) & (codes != -1)).sum(axis=0) @ np.array([1.0, weight, 1.0])
        assert minimum.lower_bound(codes, k, [1.0, weight, 1.0]) <= price + 1e-9


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=3, max_size=15),
    reading=st.sampled_from(["own", "any"]),
    marker=st.sampled_from([None, "*"]),
)
def test_pairs_of_columns_are_frequent_if_only_pairs_are_asked_for(
    rows: list[tuple[int | None, ...]], reading: str, marker: str | None
) -> None:
    released, _ = suppress(table_of(rows), k=2, reading=reading, subsets=2, marker=marker)
    for pair in (["c0", "c1"], ["c0", "c2"], ["c1", "c2"]):
        shown = released.select(pair).rows()
        if reading == "any":
            shown = [tuple(None if cell == "*" else str(cell) for cell in row) for row in shown]
            shown = [tuple(None if cell == "None" else cell for cell in row) for row in shown]
        assert smallest_count(shown, reading) >= 2


def test_an_important_column_is_touched_last() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]})
    first, _ = suppress(frame, k=2, weights={"a": 2})
    second, _ = suppress(frame, k=2, weights={"b": 2})
    assert (first["a"].null_count(), first["b"].null_count()) == (0, 4)
    assert (second["a"].null_count(), second["b"].null_count()) == (4, 0)


def test_a_marker_makes_text_of_the_columns_it_is_needed_in_and_leaves_empty_cells_empty() -> None:
    frame = pl.DataFrame({"a": [7, 7, 7, 7], "b": [1, 2, None, None]})
    released, _ = suppress(frame, k=2, marker="*")
    assert released["a"].dtype == pl.Int64
    assert released["b"].to_list() == ["*", "*", None, None]


@pytest.mark.parametrize("reading", ["own", "any"])
def test_columns_may_have_any_name(reading: str) -> None:
    frame = pl.DataFrame({"^.*$": ["a", "a", "b", "b"], "*": ["x", "y", "x", "x"]})
    released, facts = suppress(frame, k=2, reading=reading, marker="-")
    assert released["*"].to_list().count("-") == facts["cells"] == {"own": 2, "any": 1}[reading]
    assert released.columns == frame.columns


def test_columns_not_named_stay_and_the_given_table_is_not_touched() -> None:
    before = T9.clone()
    released, _ = suppress(T9, KEYS, k=3)
    assert released["illness"].equals(T9["illness"])
    assert T9.equals(before)


def test_a_table_that_is_frequent_already_is_left_alone() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2]})
    released, facts = suppress(frame, k=2)
    assert released.equals(frame)
    assert facts["cells"] == 0
    assert facts["proved_minimal"]


@pytest.mark.parametrize("reading", ["own", "any"])
def test_one_record_alone_in_a_large_table_finds_company(reading: str) -> None:
    frame = pl.DataFrame({"a": [0] * 1000 + [9], "b": [0] * 1000 + [9]})
    released, facts = suppress(frame, k=3, reading=reading)
    assert smallest_count(released.rows(), reading) >= 3
    assert facts["cells"] == {"own": 6, "any": 2}[reading]


def test_counts_agree_with_pandas_like_grouping_and_with_the_definition() -> None:
    draw = np.random.default_rng(5)
    codes = draw.integers(-1, 4, (300, 4))
    names = identify(codes)
    same = (codes[:, None] == codes[None]).all(axis=2)
    assert ((names[:, None] == names[None]) == same).all()
    assert (class_sizes(codes) == same.sum(axis=1)).all()
    agree = (codes[:, None] == codes[None]) | (codes[:, None] < 0) | (codes[None] < 0)
    assert (matching(codes, codes) == agree.all(axis=2).sum(axis=1)).all()


def test_the_bound_of_a_large_table_is_below_its_cost() -> None:
    draw = np.random.default_rng(3)
    frame = pl.DataFrame({name: draw.geometric(0.1, 3000) for name in "abc"})
    _, facts = suppress(frame, k=5)
    assert not facts["proved_minimal"]
    assert 0 < facts["lower_bound"] <= facts["cost"] < 1.3 * facts["lower_bound"]


@pytest.mark.parametrize(
    ("code", "parameters"),
    [
        ("CEL-I060", {"k": 1}),
        ("CEL-I060", {"k": True}),
        ("CEL-I060", {"k": 2.5}),
        ("CEL-I060", {"k": 2, "reading": "wild"}),
        ("CEL-I060", {"k": 2, "weights": {"a": 0}}),
        ("CEL-I060", {"k": 2, "weights": {"a": float("nan")}}),
        ("CEL-V302", {"k": 2, "weights": {"z": 1}}),
        ("CEL-V303", {"k": 5}),
        ("CEL-I060", {"k": 2, "marker": ""}),
        ("CEL-I060", {"k": 2, "subsets": 0}),
        ("CEL-V305", {"k": 2, "subsets": 3}),
    ],
)
def test_bad_parameters_are_refused(code: str, parameters: dict[str, Any]) -> None:
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]})
    with pytest.raises(InputError) as caught:
        suppress(frame, **parameters)
    assert caught.value.code == code


def test_bad_tables_are_refused() -> None:
    with pytest.raises(InputError) as empty:
        suppress(pl.DataFrame({"a": []}, schema={"a": pl.Int64}), k=2)
    assert empty.value.code == "CEL-V303"
    with pytest.raises(InputError) as wide:
        suppress(pl.DataFrame({f"c{i}": [1, 1] for i in range(13)}), k=2)
    assert wide.value.code == "CEL-V306"
    with pytest.raises(InputError) as unknown:
        suppress(T9, ["gendre"], k=2)
    assert unknown.value.code == "CEL-V003"


def test_the_method_says_what_it_promises_and_what_not() -> None:
    own, wild = LocalSuppression(k=3), LocalSuppression(k=3, reading="any", subsets=2)
    assert own.promise(["a", "b"]) == "every combination of a, b occurs 3 times at least"
    assert len(wild.leaves_open(["a"])) == 3
    assert own.as_dict() == {"method": "local-suppression", "k": 3}
