"""PRAM: its matrices, its draws, and the counts that can be told from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, Source
from celosia.tables.masking.perturbation import (
    Pram,
    invariant_matrix,
    make_invariant,
    plain_matrix,
    unbiased_counts,
)
from celosia.tables.masking.perturbation.pram import randomise_codes

COIN = ((0.75, 0.25), (0.25, 0.75))
COUNTS = st.lists(st.integers(1, 10_000), min_size=2, max_size=12)


def regions(rows: int, seed: int = 1) -> pl.DataFrame:
    """Four categories, the first four times as frequent as the last."""
    rng = Seeded(seed)
    codes = np.minimum(rng.integers(4, rows), rng.integers(4, rows))
    return pl.DataFrame({"region": pl.Series(["n", "e", "s", "w"]).gather(codes)})


def is_stochastic(matrix: Any) -> bool:
    return bool(
        (matrix >= 0).all()
        and (matrix <= 1).all()
        and np.allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-12)
    )


@given(COUNTS, st.floats(0.001, 0.999))
def test_invariant_pram_keeps_the_expected_counts(counts: list[int], theta: float) -> None:
    matrix = invariant_matrix(counts, theta)
    assert is_stochastic(matrix)
    shares = np.array(counts) / sum(counts)
    np.testing.assert_allclose(shares @ matrix, shares, rtol=0, atol=1e-12)
    rarest = int(np.argmin(counts))
    assert matrix[rarest, rarest] == pytest.approx(1 - theta)


@given(COUNTS, st.floats(0, 1), st.sampled_from(["uniform", "frequency"]))
def test_two_stages_keep_the_expected_counts_whatever_the_first(
    counts: list[int], stay: float, rest: Any
) -> None:
    first = plain_matrix(counts, stay, rest)
    assert is_stochastic(first)
    both = make_invariant(first, counts)
    assert is_stochastic(both)
    shares = np.array(counts) / sum(counts)
    np.testing.assert_allclose(shares @ both, shares, rtol=0, atol=1e-12)


def test_two_stages_pass_over_categories_that_nobody_has_or_becomes() -> None:
    both = make_invariant(np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [1, 0, 0]]), [3, 1, 0])
    assert is_stochastic(both)
    np.testing.assert_allclose(np.array([3, 1, 0]) @ both, [3, 1, 0], atol=1e-12)


@given(COUNTS, st.floats(0.5, 1))
def test_the_estimate_of_expected_counts_is_the_counts(counts: list[int], stay: float) -> None:
    matrix = plain_matrix(counts, max(stay, 1 / len(counts) + 0.1), "uniform")
    np.testing.assert_allclose(unbiased_counts(np.array(counts) @ matrix, matrix), counts)


def test_the_coin_example_is_a_matrix_of_three_quarters() -> None:
    # 1,000 answers of which 550 are yes after the coin: 600 were yes before it.
    np.testing.assert_allclose(unbiased_counts([550, 450], COIN), [600, 400])
    frame = pl.DataFrame({"answer": ["no", "yes"] * 50})
    made = Pram(stay=0.75).apply(frame, ["answer"], rng=Seeded(1))
    assert made.facts["answer"]["matrix"] == [list(row) for row in COIN]


@pytest.mark.statistical
@pytest.mark.parametrize(
    "method",
    [
        Pram(stay=0.6),
        Pram(stay=0.6, rest="frequency"),
        Pram(theta=0.7),
        Pram(stay=0.6, invariant=True),
        Pram(
            matrix=((0.7, 0.3, 0, 0), (0, 1, 0, 0), (0.25, 0.25, 0.25, 0.25), (0, 0, 0.9, 0.1)),
            values=("n", "e", "s", "w"),
        ),
    ],
    ids=["uniform", "frequency", "invariant", "two stages", "matrix"],
)
def test_categories_change_by_the_published_chances(method: Pram) -> None:
    rows = 40_000
    frame = regions(rows)
    masked = method.apply(frame, ["region"], rng=Seeded(3))
    matrix = np.array(masked.facts["region"]["matrix"])
    order = list(method.values) or sorted("nesw")
    for code, name in enumerate(order):
        after = masked.frame.filter(frame["region"] == name)["region"]
        found = np.array([(after == other).sum() for other in order])
        possible = matrix[code] > 0
        assert found[~possible].sum() == 0
        if possible.sum() > 1:
            wanted = len(after) * matrix[code][possible]
            assert chisquare(found[possible], wanted).pvalue > 1e-4
    before = [(frame["region"] == name).sum() for name in order]
    # Each estimate is a sum over the records of terms whose spread is below the inverse's largest.
    error = np.abs(np.linalg.inv(matrix)).max() * np.sqrt(rows)
    assert np.abs(np.array(masked.facts["region"]["estimated_counts"]) - before).max() < 5 * error
    assert masked.facts["region"]["changed"] == (masked.frame["region"] != frame["region"]).sum()


@pytest.mark.statistical
def test_invariant_pram_leaves_counts_as_they_are_on_average() -> None:
    frame = regions(40_000)
    masked = Pram(theta=0.9).apply(frame, ["region"], rng=Seeded(4)).frame
    for name in "nesw":
        moved = int((masked["region"] == name).sum()) - int((frame["region"] == name).sum())
        # At most theta min(T) records leave and as many come: a variance below twice that.
        fewest = frame["region"].value_counts()["count"].min()
        assert isinstance(fewest, int)
        assert abs(moved) < 5 * np.sqrt(2 * 0.9 * fewest)


class Highest(Source):
    """A source whose every draw is the largest."""

    simulation = True

    def raw(self, count: int) -> bytes:
        return b"\xff" * count


def test_a_chance_of_zero_never_happens_though_sums_are_rounded() -> None:
    matrix = np.array([[0.1] * 10 + [0.0], *np.eye(11)[1:]])
    assert np.cumsum(matrix[0])[-1] < 1
    assert randomise_codes(np.array([0]), matrix, Highest()).tolist() == [9]


def test_empty_cells_stay_empty_and_types_are_kept() -> None:
    frame = pl.DataFrame({"x": [1, None, 2, 3] * 10})
    masked = Pram(stay=0).apply(frame, ["x"], rng=Seeded(1)).frame["x"]
    assert masked.dtype == pl.Int64
    assert masked.is_null().to_list() == frame["x"].is_null().to_list()
    assert (masked.drop_nulls() != frame["x"].drop_nulls()).all()


def test_a_matrix_from_counts_says_so() -> None:
    frame = regions(100)
    for method, from_counts in [
        (Pram(stay=0.5), False),
        (Pram(theta=0.5), True),
        (Pram(stay=0.5, invariant=True), True),
        (Pram(stay=0.5, rest="frequency"), True),
    ]:
        facts = method.apply(frame, ["region"], rng=Seeded(1)).facts["region"]
        assert facts["matrix_from_counts"] is from_counts
        assert any("counts of the original" in gap for gap in method.leaves_open([])) is from_counts


def test_counts_that_no_matrix_gives_back_are_left_out() -> None:
    facts = Pram(stay=0.25).apply(regions(100), ["region"], rng=Seeded(1)).facts["region"]
    assert facts["estimated_counts"] is None
    with pytest.raises(InputError) as caught:
        unbiased_counts([1, 2], [[0.5, 0.5], [0.5, 0.5]])
    assert caught.value.code == "CEL-V222"
    with pytest.raises(InputError) as caught:
        unbiased_counts([1, 2, 3], COIN)
    assert caught.value.code == "CEL-V222"


def test_a_matrix_may_name_categories_that_no_record_has() -> None:
    frame = pl.DataFrame({"x": ["a", "b", "a"]})
    method = Pram(matrix=((0, 0, 1), (0, 0, 1), (0, 0, 1)), values=("a", "b", "c"))
    assert method.apply(frame, ["x"], rng=Seeded(1)).frame["x"].to_list() == ["c", "c", "c"]


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "CEL-V201"),
        ({"stay": 0.5, "theta": 0.5}, "CEL-V201"),
        ({"stay": 1.1}, "CEL-I060"),
        ({"theta": 0}, "CEL-I060"),
        ({"theta": 1}, "CEL-I060"),
        ({"theta": 0.5, "invariant": True}, "CEL-V201"),
        ({"stay": 0.5, "values": ["a", "b"]}, "CEL-V201"),
        ({"stay": 0.5, "rest": "even"}, "CEL-I060"),
        ({"matrix": [[0.5, 0.5]]}, "CEL-V221"),
        ({"matrix": [[1.0]]}, "CEL-V221"),
        ({"matrix": [[0.5, 0.6], [0.5, 0.5]]}, "CEL-V221"),
        ({"matrix": [[1.5, -0.5], [0.5, 0.5]]}, "CEL-V221"),
        ({"matrix": [["1", "0"], ["0", "1"]]}, "CEL-I060"),
        ({"matrix": 3}, "CEL-I060"),
        ({"matrix": [[1, 0], [1]]}, "CEL-V221"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        Pram(**parameters)
    assert caught.value.code == code


def test_columns_that_do_not_fit_the_matrix_are_refused() -> None:
    texts = pl.DataFrame({"x": ["a", "b", "c"]})
    numbers = pl.DataFrame({"x": range(1001)})
    for frame, method, code in [
        (texts, Pram(matrix=COIN), "CEL-V220"),
        (texts, Pram(matrix=COIN, values=("a", "b")), "CEL-V006"),
        (numbers, Pram(stay=0.5), "CEL-V220"),
        (numbers, Pram(matrix=COIN, values=("a", "b")), "CEL-V006"),
    ]:
        with pytest.raises(InputError) as caught:
            method.apply(frame, ["x"], rng=Seeded(1))
        assert caught.value.code == code
