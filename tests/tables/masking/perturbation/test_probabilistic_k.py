"""Probabilistic k-anonymity: uniform permutations in groups, and what a linkage finds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.draws import normals
from celosia.tables.masking.microaggregation.multivariate import mdav_groups
from celosia.tables.masking.perturbation import ProbabilisticK
from celosia.tables.masking.perturbation.probabilistic_k import permute_within


@pytest.mark.statistical
@pytest.mark.parametrize("grouping", ["mdav", "sort"])
@pytest.mark.parametrize("k", [2, 5])
def test_linkage_succeeds_with_a_chance_of_at_most_one_in_k(k: int, grouping: Any) -> None:
    rows, runs = 300, 20
    drawn = normals(Seeded(1), 3 * rows).reshape(rows, 3)
    frame = pl.DataFrame({name: drawn[:, place] for place, name in enumerate("abc")})
    method = ProbabilisticK(k=k, grouping=grouping)
    nearest = stayed = 0
    for seed in range(runs):
        masked = method.apply(frame, list("abc"), rng=Seeded(seed)).frame.to_numpy()
        apart = ((drawn[:, np.newaxis] - masked[np.newaxis]) ** 2).sum(axis=2)
        nearest += int((apart.argmin(axis=1) == np.arange(rows)).sum())
        stayed += int((masked[:, 0] == drawn[:, 0]).sum())
    error = np.sqrt(1 / k * (1 - 1 / k) / (rows * runs))
    assert nearest / (rows * runs) <= 1 / k + 3 * error
    # Whoever knows the groups finds a value in its own row as often as there are groups.
    assert stayed / (rows * runs) <= 1 / k + 3 * error
    groups = method.apply(frame, list("abc"), rng=Seeded(0)).facts["groups"]
    # The fixed points of a uniform permutation have variance 1, so `stayed` has one a group.
    assert abs(stayed - runs * groups) < 5 * np.sqrt(runs * groups)


@pytest.mark.statistical
def test_every_permutation_of_a_group_is_equally_likely() -> None:
    labels = np.array([0, 1, 0, 1, 0])
    rng = Seeded(5)
    drawn = Counter(tuple(permute_within(labels, rng).tolist()) for _ in range(12_000))
    assert len(drawn) == 12  # 3! times 2!
    assert chisquare(list(drawn.values())).pvalue > 1e-4


def test_columns_are_permuted_independently() -> None:
    frame = pl.DataFrame({"x": np.arange(60), "y": np.arange(60)})
    masked = ProbabilisticK(k=30).apply(frame, ["x", "y"], rng=Seeded(1)).frame
    assert (masked["x"] != masked["y"]).any()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.integers(0, 5)),
        min_size=4,
        max_size=40,
    ),
    st.sampled_from(["mdav", "sort"]),
)
def test_values_move_within_groups_of_k_records_that_have_the_same_cells(
    cells: list[tuple[int | None, int]], grouping: Any
) -> None:
    frame = pl.DataFrame(cells, schema={"x": pl.Int64, "y": pl.Int64}, orient="row")
    gaps = frame["x"].null_count()
    assume(gaps != 1 and gaps != frame.height - 1)  # such a record is refused, see below
    assume(frame["x"].drop_nulls().n_unique() > 1 and frame["y"].n_unique() > 1)
    masked = ProbabilisticK(k=2, grouping=grouping).apply(frame, ["x", "y"], rng=Seeded(3))
    assert masked.facts["smallest_group"] >= 2
    assert masked.frame["x"].is_null().to_list() == frame["x"].is_null().to_list()
    for empty in (True, False):
        rows = frame["x"].is_null() == empty
        for name in ("x", "y"):
            kept = masked.frame.filter(rows)[name].sort()
            assert kept.equals(frame.filter(rows)[name].sort())


def test_groups_are_those_of_mdav() -> None:
    drawn = normals(Seeded(1), 80).reshape(40, 2)
    frame = pl.DataFrame({"x": drawn[:, 0], "y": drawn[:, 1]})
    masked = ProbabilisticK(k=3).apply(frame, ["x", "y"], rng=Seeded(1)).frame
    labels = mdav_groups(drawn, 3)
    for group in range(labels.max() + 1):
        for name in ("x", "y"):
            inside = pl.Series(labels == group)
            kept = masked.filter(inside)[name].sort()
            assert kept.equals(frame.filter(inside)[name].sort())


def test_sorted_texts_are_permuted_among_neighbours() -> None:
    frame = pl.DataFrame({"x": ["d", "a", "c", "b", "e"]})
    masked = ProbabilisticK(k=2, grouping="sort").apply(frame, ["x"], rng=Seeded(1))
    assert masked.facts == {"groups": 2, "smallest_group": 2, "largest_group": 3}
    assert {masked.frame["x"][1], masked.frame["x"][3]} == {"a", "b"}


def test_a_record_with_empty_cells_of_its_own_is_refused() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3, None], "y": [1, 2, 3, 4]})
    with pytest.raises(InputError) as caught:
        ProbabilisticK(k=2).apply(frame, ["x", "y"], rng=Seeded(1))
    assert caught.value.code == "CEL-V240"


def test_records_without_any_filled_cell_are_a_group_of_their_own() -> None:
    frame = pl.DataFrame({"x": [1, None, 3, None]})
    masked = ProbabilisticK(k=2).apply(frame, ["x"], rng=Seeded(1))
    assert masked.facts["groups"] == 2
    assert sorted(masked.frame["x"].drop_nulls()) == [1, 3]


def test_fewer_records_than_k_and_a_k_of_one_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        ProbabilisticK(k=5).apply(pl.DataFrame({"x": [1, 2]}), ["x"], rng=Seeded(1))
    assert caught.value.code == "CEL-V101"
    for wrong in (1, 2.5, True):
        with pytest.raises(InputError) as caught:
            ProbabilisticK(k=wrong)  # type: ignore[arg-type]
        assert caught.value.code == "CEL-I060"


def test_the_promise_names_the_columns_and_k() -> None:
    promise = ProbabilisticK(k=4).promise(["age", "zip"])
    assert promise == "a record is linked by age, zip with a chance of at most 1/4"
