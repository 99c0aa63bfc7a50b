"""Sequential trees: cells of real rows, drawn from leaves."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.synthesis import Trees

ROWS = 4000


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    sex = rng.choice(["f", "m"], ROWS, p=[0.6, 0.4])
    size = np.where(sex == "m", 180.0, 165.0) + rng.normal(0, 4, ROWS)
    shoe = np.rint(size / 4 + rng.normal(0, 0.5, ROWS)).astype(int)
    empty = rng.random(ROWS) < np.where(sex == "m", 0.4, 0.05)
    return pl.DataFrame(
        {"sex": sex, "size": pl.Series(size).set(pl.Series(empty), None), "shoe": shoe}
    )


@pytest.mark.parametrize("bayesian", [False, True])
def test_relations_and_empty_cells_follow_the_table(people: pl.DataFrame, bayesian: bool) -> None:
    made = Trees(bayesian=bayesian).apply(people, people.columns, rng=Seeded(1)).frame
    both = [
        dict(frame.group_by("sex").agg(pl.col("size").mean()).iter_rows())
        for frame in (people, made)
    ]
    for sex in ("f", "m"):
        # Standard errors of 4 / sqrt(rows) here and there, and once more for weights.
        assert abs(both[0][sex] - both[1][sex]) < 5 * 4 * np.sqrt(3 / (0.25 * ROWS))
    gaps = [
        dict(frame.group_by("sex").agg(pl.col("size").is_null().mean()).iter_rows())
        for frame in (people, made)
    ]
    assert abs(gaps[0]["m"] - gaps[1]["m"]) < 5 * np.sqrt(3 * 0.25 / (0.4 * ROWS))
    assert made.select(pl.corr("size", "shoe")).item() > 0.9


def test_every_cell_is_the_cell_of_a_real_row(people: pl.DataFrame) -> None:
    made = Trees().apply(people, people.columns, rng=Seeded(1)).frame
    for name in people.columns:
        assert set(made[name].unique()) <= set(people[name].unique())


def test_leaves_hold_the_least_number_of_rows() -> None:
    frame = pl.DataFrame({"x": range(100), "y": range(100)})
    facts = Trees(leaf=25).apply(frame, ["x", "y"], rng=Seeded(1)).facts
    assert facts["leaves"] == [4] or facts["leaves"][0] < 4
    fine = Trees(leaf=1).apply(frame, ["x", "y"], rng=Seeded(1)).frame
    assert (fine["x"] == fine["y"]).all()  # each leaf holds one row: its cell is copied


def test_partly_synthetic_rows_stay_and_depend_on_what_is_kept(people: pl.DataFrame) -> None:
    done = Trees(partial=True).apply(people, ["size"], rng=Seeded(1))
    assert not done.synthetic
    assert done.frame.select("sex", "shoe").equals(people.select("sex", "shoe"))
    assert done.frame.columns == people.columns
    assert not done.frame["size"].equals(people["size"])
    assert done.frame.select(pl.corr("size", "shoe")).item() > 0.9
    assert any("row by row" in line for line in Trees(partial=True).leaves_open(["size"]))


def test_a_missing_extra_is_named(people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(InputError) as refusal:
        Trees().apply(people, people.columns, rng=Seeded(1))
    assert refusal.value.code == "CEL-Y010"
    assert "celosia[utility]" in refusal.value.fix


@pytest.mark.parametrize("leaf", [0, -1, 1.5, True])
def test_a_leaf_holds_a_whole_number_of_rows(leaf: object) -> None:
    with pytest.raises(InputError) as refusal:
        Trees(leaf=leaf)  # type: ignore[arg-type]
    assert refusal.value.code == "CEL-I060"


def test_partial_goes_with_no_number_of_rows() -> None:
    with pytest.raises(InputError) as refusal:
        Trees(partial=True, rows=5)
    assert refusal.value.code == "CEL-Y009"
