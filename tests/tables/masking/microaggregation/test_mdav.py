"""MDAV, V-MDAV and the principal component against their plain forms, ties included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.tables.masking.microaggregation.plain_groups import as_groups, error, mdav, variable_mdav

from celosia.core.errors import Cancelled, InputError
from celosia.core.progress import Step
from celosia.tables.masking.microaggregation import (
    _kernels,
    _plain_kernels,
    information_loss,
    mdav_groups,
    multivariate,
    principal_groups,
    standard_scores,
    v_mdav_groups,
)
from celosia.tables.masking.microaggregation.scale import on_grid

Case = tuple[int, int, int, int]


choose = _plain_kernels.kernels_for


@pytest.fixture(autouse=True, scope="module")
def compiled() -> Iterator[None]:
    """Small tables would do without the kernels that are tried here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_plain_kernels, "kernels_for", lambda name, matrix, k: _kernels)
        yield


tables = st.tuples(
    st.integers(2, 5), st.integers(1, 4), st.integers(5, 60), st.integers(0, 2**32 - 1)
)


def small_table(width: int, size: int, seed: int, values: int) -> NDArray[np.float64]:
    """Few different values, so that nearly every choice is between equals."""
    return np.random.default_rng(seed).integers(0, values, size=(size, width)).astype(float)


@given(tables, st.sampled_from([2, 3, 50]))
@settings(max_examples=80, deadline=None)
def test_the_groups_are_those_of_the_plain_algorithm_ties_included(case: Case, values: Any) -> None:
    k, width, size, seed = case
    table = small_table(width, size, seed, values)
    assert as_groups(mdav_groups(table, k, standardise=False)) == mdav(table.tolist(), k)


@given(tables)
@settings(max_examples=40, deadline=None)
def test_standardised_columns_give_the_plain_groups_of_the_same_grid(case: Case) -> None:
    k, width, size, seed = case
    table = np.random.default_rng(seed).normal(size=(size, width)) * [10.0**c for c in range(width)]
    grid = on_grid(standard_scores(table))
    assert as_groups(mdav_groups(table, k)) == mdav(grid.tolist(), k)


def test_many_boxes_of_records_give_the_plain_groups() -> None:
    rng = np.random.default_rng(11)
    for table in (rng.normal(size=(600, 3)), rng.integers(0, 3, size=(600, 4)).astype(float)):
        grid = on_grid(table)
        assert as_groups(mdav_groups(table, 4, standardise=False)) == mdav(grid.tolist(), 4)


def test_stages_and_the_list_of_far_records_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # 400 records in stages, so that lists and boxes are made anew several times.
    table = np.random.default_rng(12).normal(size=(400, 2))
    whole = mdav_groups(table, 3)
    monkeypatch.setattr(multivariate, "_STAGE", 30)
    assert mdav_groups(table, 3).tolist() == whole.tolist()


def test_records_equally_far_are_settled_by_the_boxes() -> None:
    # Over a thousand records equally far from the centroid: the walk gives up, the tree decides.
    table = np.repeat([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]], 700, axis=0)
    labels = mdav_groups(table, 3, standardise=False)
    # Equals are taken by their row: the first group is rows 0, 1, 2.
    assert np.flatnonzero(labels == 0).tolist() == [0, 1, 2]
    assert np.flatnonzero(labels == 1).tolist() == [1400, 1401, 1402]
    assert information_loss(table, labels) < 1.0


@given(tables, st.sampled_from([0.0, 0.2, 0.7, 1.1, 5.0]))
@settings(max_examples=60, deadline=None)
def test_variable_groups_are_those_of_the_plain_algorithm(case: Case, gamma: float) -> None:
    k, width, size, seed = case
    table = small_table(width, size, seed, 30)
    groups, rest = variable_mdav(table.tolist(), k, gamma)
    labels = v_mdav_groups(table, k, gamma=gamma, standardise=False)
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    if len(sizes) == len(groups):  # none was cut in two
        for label, rows in enumerate(groups):
            found = np.flatnonzero(labels == label).tolist()
            assert [row for row in found if row not in rest] == rows


@given(tables, st.sampled_from([2, 3, 50]), st.sampled_from([0.0, 0.2, 1.1, 5.0]))
@settings(max_examples=60, deadline=None)
def test_kernels_as_they_are_written_group_alike(case: Case, values: int, gamma: float) -> None:
    k, width, size, seed = case
    grid = on_grid(small_table(width, size, seed, values))
    labels = np.full(size, -1, dtype=np.int64)
    made = _plain_kernels.mdav(grid, k, 0, labels)
    assert as_groups(labels) == mdav(grid.tolist(), k)
    assert made == labels.max() + 1
    until = size // 2
    some, all_of_it = np.full(size, -1, dtype=np.int64), labels
    done = _plain_kernels.mdav(grid, k, until, some)
    assert (some == np.where(some < 0, -1, all_of_it)).all()
    assert done == some.max() + 1
    if size >= k:
        labels = np.full(size, -1, dtype=np.int64)
        _plain_kernels.variable(grid, k, gamma, labels)
        groups, rest = variable_mdav(grid.tolist(), k, gamma)
        assert as_groups(labels) == groups
        assert np.flatnonzero(labels < 0).tolist() == rest


def test_a_small_table_never_waits_for_kernels_and_a_larger_one_until_it_has_paid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, float]] = []

    def does_without(name: str, cost: float) -> bool:
        asked.append((name, cost))
        return len(asked) == 1

    monkeypatch.setattr(_plain_kernels, "does_without", does_without)
    monkeypatch.setattr(_plain_kernels, "is_compiled", lambda kernel: False)
    small, larger = (np.empty((rows, 2)) for rows in (10_000, 30_000))
    assert choose("mdav", small, 5) is _plain_kernels
    assert choose("mdav", larger, 5) is _plain_kernels
    assert choose("mdav", larger, 5) is _kernels
    assert asked == [("mdav", 30_000**2 // 5 * 2 / _plain_kernels.CELLS_AT_COST)] * 2
    monkeypatch.setattr(_plain_kernels, "is_compiled", lambda kernel: True)
    assert choose("mdav", small, 5) is _kernels


def test_variable_groups_follow_clusters_that_fixed_ones_cut() -> None:
    clusters = [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
        [50, 50],
        [50, 51],
        [51, 50],
        [90, 0],
        [91, 0],
        [90, 1],
    ]
    labels = v_mdav_groups(clusters, 3, gamma=1.1)
    assert sorted(as_groups(labels)) == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_gamma_zero_never_lets_a_group_grow() -> None:
    table = np.random.default_rng(2).normal(size=(60, 2))
    assert set(np.bincount(v_mdav_groups(table, 3, gamma=0)).tolist()) == {3}


@given(tables)
@settings(max_examples=30, deadline=None)
def test_blocks_keep_every_group_between_k_and_twice_k(case: Case) -> None:
    k, width, size, seed = case
    table = np.random.default_rng(seed).normal(size=(size, width))
    sizes = np.bincount(mdav_groups(table, k, block=2 * k))
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


def test_blocks_cost_little() -> None:
    table = np.random.default_rng(8).normal(size=(4000, 3))
    whole = information_loss(table, mdav_groups(table, 3))
    cut = information_loss(table, mdav_groups(table, 3, block=1000))
    assert whole < cut < 1.25 * whole
    assert mdav_groups(table, 3, block=4000).tolist() == mdav_groups(table, 3).tolist()


def test_groups_beat_random_ones_and_a_line_beats_nothing_else() -> None:
    rng = np.random.default_rng(4)
    table = rng.normal(size=(300, 3))
    by_chance = rng.permutation(np.arange(300) // 3)
    losses = [
        information_loss(table, labels)
        for labels in (mdav_groups(table, 3), v_mdav_groups(table, 3), principal_groups(table, 3))
    ]
    assert losses[0] < losses[2] < information_loss(table, by_chance)
    assert losses[1] < losses[2]


def test_the_principal_component_of_a_line_finds_the_best_cut() -> None:
    ages = np.array([29, 48, 21, 36, 45, 58, 72, 22, 25, 43], dtype=float)
    table = np.column_stack([ages, 3 * ages, -2 * ages])
    groups = as_groups(principal_groups(table, 3))
    assert error([[a] for a in ages], groups) == pytest.approx(374.0833, abs=1e-3)


def test_a_constant_column_is_not_divided_by_zero() -> None:
    table = np.column_stack([np.arange(9.0), np.full(9, 0.1)])
    assert mdav_groups(table, 3).tolist() == mdav_groups(table[:, :1], 3).tolist()
    assert (standard_scores(table)[:, 1] == 0).all()


def test_huge_and_tiny_numbers_are_grouped_alike() -> None:
    table = np.random.default_rng(6).normal(size=(50, 3))
    groups = mdav_groups(table, 3).tolist()
    assert mdav_groups(table * 2.0**900, 3).tolist() == groups
    assert mdav_groups(table * 2.0**-900, 3).tolist() == groups
    plain = mdav_groups(table, 3, standardise=False).tolist()
    assert mdav_groups(table * 2.0**1020, 3, standardise=False).tolist() == plain


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_sums_on_the_grid_are_exact_in_any_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = on_grid(standard_scores(rng.normal(size=(1000, 2)) ** 3))
    total = [sum(int(v) for v in column) for column in grid.T]
    shuffled = rng.permutation(grid)
    assert np.cumsum(shuffled, axis=0)[-1].tolist() == total
    assert max(np.abs(grid).sum(axis=0)) < 2.0**53


def test_progress_is_told_and_can_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multivariate, "_STAGE", 100)
    table = np.random.default_rng(9).normal(size=(500, 2))
    steps: list[Step] = []
    mdav_groups(table, 3, progress=steps.append)
    assert len(steps) > 3
    assert steps[-1] == Step("group records", 500, 500)

    def stop(step: Step) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        mdav_groups(table, 3, block=100, progress=stop)


@pytest.mark.parametrize("groups", [mdav_groups, v_mdav_groups, principal_groups])
@pytest.mark.parametrize(
    ("table", "k", "code"),
    [
        ([[1.0], [2.0]], 1, "CEL-V100"),
        ([[1.0], [2.0]], 3, "CEL-V101"),
        ([1.0, 2.0, 3.0], 2, "CEL-V102"),
        (np.zeros((4, 0)), 2, "CEL-V102"),
        ([[1.0], [np.nan], [3.0]], 2, "CEL-V103"),
        ([[1.0], [np.inf], [3.0]], 2, "CEL-V103"),
    ],
)
def test_what_cannot_be_grouped_is_refused(
    groups: Callable[..., Any], table: Any, k: int, code: str
) -> None:
    with pytest.raises(InputError) as caught:
        groups(table, k)
    assert caught.value.code == code


@pytest.mark.parametrize("block", [5, 0, -1, 6.5, True])
def test_a_block_too_small_for_two_groups_is_refused(block: Any) -> None:
    with pytest.raises(InputError) as caught:
        mdav_groups(np.zeros((20, 1)), 3, block=block)
    assert caught.value.code == "CEL-V104"


@pytest.mark.parametrize("gamma", [-0.1, float("nan"), float("inf"), "0.2", True])
def test_a_gamma_that_is_no_share_is_refused(gamma: float) -> None:
    with pytest.raises(InputError) as caught:
        v_mdav_groups(np.zeros((20, 1)), 3, gamma=gamma)
    assert caught.value.code == "CEL-V105"
