"""The local search: never worse than its start, the optimum on small tables, always k records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.masking.microaggregation.plain_groups import as_groups, error, partitions

from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.lab.masking.reference import losses
from celosia.tables.masking.microaggregation import (
    information_loss,
    mdav_groups,
    refined_groups,
)


@given(st.integers(2, 5), st.integers(1, 4), st.integers(5, 80), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_the_error_is_never_above_that_of_mdav(k: int, width: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(size, width)) if seed % 2 else rng.integers(0, 4, size=(size, width))
    labels = refined_groups(table, k)
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    before = information_loss(table, mdav_groups(table, k))
    assert information_loss(table, labels) <= before * (1 + 1e-9) + 1e-12


def test_no_move_change_or_dissolved_group_would_lower_the_error() -> None:
    """Every single move and change of two records, by brute force over a small table."""
    k = 3
    table = np.random.default_rng(21).normal(size=(25, 2))
    records = table.tolist()
    labels = refined_groups(table, k, standardise=False)
    reached = error(records, as_groups(labels))
    for row in range(25):
        for other in range(25):
            changed = labels.copy()
            changed[row], changed[other] = labels[other], labels[row]
            assert error(records, as_groups(changed)) >= reached - 1e-9
        if np.bincount(labels)[labels[row]] == k:
            continue
        for group in range(labels.max() + 1):
            moved = labels.copy()
            moved[row] = group
            if np.bincount(moved).max() <= 2 * k - 1:
                assert error(records, as_groups(moved)) >= reached - 1e-9


def test_small_tables_come_close_to_the_best_partition() -> None:
    shares = []
    for seed in range(12):
        records = np.random.default_rng(seed).normal(size=(9, 2)).tolist()
        best = min(error(records, groups) for groups in partitions(list(range(9)), 3))
        found = error(records, as_groups(refined_groups(records, 3, standardise=False)))
        start = error(records, as_groups(mdav_groups(records, 3, standardise=False)))
        assert best <= found + 1e-9
        shares.append((found / best, start / best))
    mean_found, mean_start = np.mean(shares, axis=0)
    assert mean_found < 1.1
    assert mean_found < mean_start


def test_the_ages_reach_the_optimum_that_mdav_misses() -> None:
    ages = [[29.0], [48.0], [21.0], [36.0], [45.0], [58.0], [72.0], [22.0], [25.0], [43.0]]
    assert error(ages, as_groups(refined_groups(ages, 3))) == pytest.approx(374.083, abs=5e-4)


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("tail", ["normal", "long"])
def test_correlated_columns_lose_at_least_a_twentieth_less(k: int, tail: str) -> None:
    rng = np.random.default_rng(7)
    table = rng.normal(size=(900, 4)) @ rng.normal(size=(4, 8))
    table = np.exp(table / 3) if tail == "long" else table
    before = information_loss(table, mdav_groups(table, k))
    assert information_loss(table, refined_groups(table, k)) < 0.95 * before


def test_the_losses_of_a_table_are_told_for_each_size() -> None:
    ages = [[29], [48], [21], [36], [45], [58], [72], [22], [25], [43]]
    three, four = losses(ages, [3, 4])
    assert three.mdav == pytest.approx(100 * 458.0833 / 2492.9, abs=1e-4)
    assert three.refined == pytest.approx(100 * 374.0833 / 2492.9, abs=1e-4)
    assert three.as_dict()["gain"] == pytest.approx(100 * (1 - 374.0833 / 458.0833), abs=1e-4)
    assert four.mdav == pytest.approx(100 * 818.0833 / 2492.9, abs=1e-4)


def test_the_same_records_give_the_same_groups() -> None:
    table = np.random.default_rng(3).normal(size=(200, 3))
    assert refined_groups(table, 4).tolist() == refined_groups(table.copy(), 4).tolist()
    assert refined_groups(table, 4, block=40).min() == 0


def test_labels_have_no_gap_after_groups_dissolve() -> None:
    table = np.random.default_rng(17).integers(0, 6, size=(120, 2))
    labels = refined_groups(table, 2)
    assert set(labels.tolist()) == set(range(labels.max() + 1))


def test_progress_is_told_for_each_pass() -> None:
    steps: list[Step] = []
    refined_groups(np.random.default_rng(1).normal(size=(60, 2)), 3, progress=steps.append)
    assert [step.stage for step in steps].count("improve groups") >= 2


def test_bad_input_is_refused_as_by_mdav() -> None:
    with pytest.raises(InputError) as caught:
        refined_groups([[1.0], [2.0]], 3)
    assert caught.value.code == "CEL-V101"
