"""Pairs of columns: measures against plain computations on expanded tables."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

from celosia.assess.meaning import ExactMeaning
from celosia.assess.utility import associations, compare, cramers_v
from celosia.core.progress import Step

Table = dict[str, list[object]]


def expanded(
    rows: list[tuple[str, str]], domains: tuple[list[str], list[str]]
) -> Counter[tuple[str, str]]:
    """Each row as all that it may be, in equal parts; a part is 1/36 to stay whole."""
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        choices = [d if cell == "*" else [cell] for cell, d in zip(row, domains, strict=True)]
        each = 36 // (len(choices[0]) * len(choices[1]))
        for first, second in product(*choices):
            found[first, second] += each
    return found


def plain_correlation(weights: Counter[tuple[str, str]]) -> float:
    total = weights.total()
    x = sum(int(a) * n for (a, _), n in weights.items()) / total
    y = sum(int(b) * n for (_, b), n in weights.items()) / total
    xx = sum((int(a) - x) ** 2 * n for (a, _), n in weights.items())
    yy = sum((int(b) - y) ** 2 * n for (_, b), n in weights.items())
    xy = sum((int(a) - x) * (int(b) - y) * n for (a, b), n in weights.items())
    return xy / math.sqrt(xx * yy) if xx * yy > 1e-9 else 0.0


def plain_ratio(weights: Counter[tuple[str, str]]) -> float:
    total = weights.total()
    mean = sum(int(b) * n for (_, b), n in weights.items()) / total
    everything = sum((int(b) - mean) ** 2 * n for (_, b), n in weights.items())
    between = 0.0
    for group in {a for a, _ in weights}:
        inside = [(int(b), n) for (a, b), n in weights.items() if a == group]
        size = sum(n for _, n in inside)
        between += size * (sum(b * n for b, n in inside) / size - mean) ** 2
    return math.sqrt(between / everything) if everything > 1e-9 else 0.0


DOMAIN = ["1", "2", "4"]
pairs_of_cells = st.lists(
    st.tuples(st.sampled_from([*DOMAIN, "*"]), st.sampled_from([*DOMAIN, "*"])),
    min_size=2,
    max_size=20,
)


@pytest.mark.parametrize(
    ("numeric", "oracle"), [(["a", "b"], plain_correlation), (["b"], plain_ratio)]
)
@given(released=pairs_of_cells)
def test_released_pairs_count_as_all_that_they_may_be(
    numeric: list[str], oracle: object, released: list[tuple[str, str]]
) -> None:
    original = {"a": DOMAIN, "b": DOMAIN}
    first, second = zip(*released, strict=True)
    meaning = ExactMeaning(tuple(DOMAIN))
    tables = compare(
        original,
        {"a": first, "b": second},
        ["a", "b"],
        meanings={"a": meaning, "b": meaning},
        numeric=numeric,
    )
    [found] = associations(tables).pairs
    assert callable(oracle)
    assert found.after == pytest.approx(oracle(expanded(released, (DOMAIN, DOMAIN))), abs=1e-6)
    assert found.before == pytest.approx(1.0)


@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=2, max_size=4))
def test_the_corrected_v_is_that_of_scipy_where_scipy_has_one(table: list[list[int]]) -> None:
    counts = np.array(table, dtype=np.float64)
    if (counts.sum(axis=0) == 0).any() or (counts.sum(axis=1) == 0).any():
        return
    # Bergsma's correction of phi squared, on SciPy's uncorrected V.
    rows, columns, total = *counts.shape, counts.sum()
    least = min(rows, columns) - 1
    phi = association(counts.astype(int), method="cramer") ** 2 * least
    phi = max(0.0, phi - (rows - 1) * (columns - 1) / (total - 1))
    width = min(n - (n - 1) ** 2 / (total - 1) for n in (rows, columns)) - 1
    wanted = min(1.0, math.sqrt(phi / width)) if width > 0 else 0.0
    assert cramers_v(counts) == pytest.approx(wanted, abs=1e-9)


@given(pairs_of_cells)
def test_categories_count_as_all_that_they_may_be(released: list[tuple[str, str]]) -> None:
    first, second = zip(*released, strict=True)
    tables = compare({"a": DOMAIN, "b": DOMAIN}, {"a": first, "b": second}, ["a", "b"], numeric=[])
    weights = expanded(released, (DOMAIN, DOMAIN))
    joint = np.array([[weights[a, b] / 36 for b in DOMAIN] for a in DOMAIN])
    [found] = associations(tables).pairs
    assert found.after == pytest.approx(cramers_v(joint), abs=1e-9)


def test_the_same_table_keeps_everything() -> None:
    table: Table = {"a": ["x", "y", "x", None], "b": [1, 2, 3, None], "c": [5, 5, 6, 7]}
    found = associations(compare(table, table, ["a", "b", "c"]))
    assert [pair.measure for pair in found.pairs] == [
        "correlation ratio",
        "correlation ratio",
        "correlation",
    ]
    assert found.mean_change == 0


def test_rows_without_an_amount_are_left_out_of_the_pair() -> None:
    table: Table = {"x": [1, 2, 3, None], "y": [1, 2, 3, 100]}
    [found] = associations(compare(table, table, ["x", "y"])).pairs
    assert found.before == pytest.approx(1.0)


def test_full_suppression_of_one_column_leaves_no_association() -> None:
    table: Table = {"x": [1, 2, 3, 4], "sex": ["F", "F", "M", "M"], "y": [2, 4, 6, 9]}
    released: Table = {**table, "x": ["*"] * 4}
    found = associations(compare(table, released, ["x", "sex", "y"]))
    assert [round(pair.after, 9) for pair in found.pairs if pair.first == "x"] == [0, 0]
    assert 0 < found.mean_change < 1


def test_a_large_offset_does_not_drown_the_variance() -> None:
    table: Table = {"x": [1e12, 1e12 + 1, 1e12 + 2], "y": [3, 2, 1]}
    [found] = associations(compare(table, table, ["x", "y"])).pairs
    assert found.before == pytest.approx(-1.0)


def test_a_column_of_names_is_left_out_and_said_to_be() -> None:
    table: Table = {"name": [f"n{i}" for i in range(1001)], "a": ["x"] * 1001, "b": ["y"] * 1001}
    found = associations(compare(table, table, ["name", "a", "b"]))
    assert found.left_out == ("name",)
    assert len(found.pairs) == 1


def test_one_column_has_no_pairs() -> None:
    found = associations(compare({"a": [1]}, {"a": [1]}, ["a"]))
    assert (found.pairs, found.mean_change) == ((), 0)


def test_progress_is_told_and_the_result_is_plain_json() -> None:
    steps: list[Step] = []
    table: Table = {"a": ["x", "y"], "b": ["x", "y"]}
    found = associations(compare(table, table, ["a", "b"]), progress=steps.append)
    assert steps[-1] == Step("associations", 1, 1)
    assert json.loads(json.dumps(found.as_dict()))["pairs"][0]["measure"] == "Cramér's V"
    assert "mean change 0.0000" in str(found)
