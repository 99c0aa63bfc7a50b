"""Rows are drawn as the weights say."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.datasets._network import alias_tables, parse_network

WEIGHTS = files("celosia.datasets").joinpath("census_weights.json").read_text("utf-8")


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=80).filter(any))
def test_an_alias_table_gives_every_value_its_share(weights: list[int]) -> None:
    threshold, alias = alias_tables(np.array([weights], dtype=np.float64))
    size = len(weights)
    shares = threshold[0] / size
    np.add.at(shares, alias[0], (1 - threshold[0]) / size)
    assert shares == pytest.approx(np.array(weights) / sum(weights), abs=1e-12)
    assert ((threshold >= -1e-12) & (threshold <= 1 + 1e-12)).all()


@given(st.lists(st.integers(0, 10), min_size=2, max_size=20).filter(any))
def test_a_value_of_weight_zero_is_never_drawn(weights: list[int]) -> None:
    threshold, alias = alias_tables(np.array([weights], dtype=np.float64))
    for slot in range(len(weights)):
        if threshold[0, slot] > 0:
            assert weights[slot] > 0
        if threshold[0, slot] < 1:
            assert weights[alias[0, slot]] > 0


def test_factors_multiply_and_the_last_given_column_varies_fastest() -> None:
    a = {"name": "a", "values": ["x", "y"], "given": {}, "factors": [_factor([], [1, 1])]}
    n = {"name": "n", "values": [1, 2, 3], "given": {}, "factors": [_factor([], [1, 1, 1])]}
    both = _factor(["a", "n"], [1, 0], [1, 0], [1, 1], [0, 1])
    number = _factor(["n"], [1, 0], [1, 1])
    groups = {"a": [["x"], ["y"]], "n": [1, 3]}
    b = {"name": "b", "values": ["p", "q"], "given": groups, "factors": [both, number]}
    codes = parse_network(json.dumps({"columns": [a, n, b]})).draw(2000, seed=1)
    seen = set(zip(codes["a"].tolist(), codes["n"].tolist(), codes["b"].tolist(), strict=True))
    assert seen == {(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0), (1, 2, 1)}


@pytest.mark.statistical
def test_every_case_of_every_column_is_drawn_with_its_stated_shares() -> None:
    rows = 400_000
    network = parse_network(WEIGHTS)
    codes = network.draw(rows, seed=3)
    for column, entry in zip(network.columns, json.loads(WEIGHTS)["columns"], strict=True):
        shares = _stated_shares(entry)
        place = np.zeros(rows, dtype=np.int64)
        for name, offset in column.offsets.items():
            place += offset[codes[name]]
        case = place // len(column.values)
        counts = np.zeros(shares.shape)
        np.add.at(counts, (case, codes[column.name]), 1)
        expected = counts.sum(axis=1, keepdims=True) * shares
        # Bernstein: beyond z sigma + z²/3 a binomial count comes with chance below 2 exp(-z²/2);
        # z = 7 makes that 5e-11 for each of about 225,000 cells.
        tolerance = 7 * np.sqrt(expected * (1 - shares)) + 7**2 / 3
        assert (np.abs(counts - expected) <= tolerance).all(), column.name


def test_the_file_holds_statistics_and_not_rows() -> None:
    assert len(WEIGHTS) < 60_000
    columns = json.loads(WEIGHTS)["columns"]
    # No factor looks at more than two earlier columns, so no combination of values is stored.
    assert all(len(factor["on"]) <= 2 for column in columns for factor in column["factors"])


def _factor(on: list[str], *weights: list[int]) -> dict[str, Any]:
    return {"on": on, "weights": weights}


def _stated_shares(entry: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The shares of every case by plain loops: the twin of the product in the loader."""
    sizes = {name: len(groups) for name, groups in entry["given"].items()}
    rows = []
    for case in np.ndindex(*sizes.values()):
        place = dict(zip(sizes, case, strict=True))
        row = np.ones(len(entry["values"]))
        for factor in entry["factors"]:
            index = 0
            for name in factor["on"]:
                index = index * sizes[name] + place[name]
            row = row * factor["weights"][index]
        rows.append(row / row.sum())
    return np.array(rows)
