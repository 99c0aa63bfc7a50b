"""Attacks on traces: unicity against brute force, homes, linking."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import sqrt

import numpy as np
import pytest
from tests.effort import some
from tests.traces.small_city import small_city

from celosia.assess.intervals import wilson
from celosia.core.randomness import Seeded
from celosia.datasets import city
from celosia.traces import Glove, PublishOptions, publish
from celosia.traces.attacks import (
    ATTACKS,
    AttackedTraces,
    ByHome,
    ByLinking,
    attack_from_text,
    home_errors,
    unicity,
    unicity_curve,
    worst_case,
)
from celosia.traces.attacks._kernels import candidates, random_keys
from celosia.traces.attacks.unicity import _index, _known, sample_codes
from celosia.traces.samples import segmented

RANGES = {
    (200, 1): [(0.789, 0.858), (0.986, 0.994), (0.999, 1.0)],
    (1000, 1): [(0.176, 0.295), (0.786, 0.872), (0.990, 0.999)],
    (1000, 6): [(0.032, 0.079), (0.494, 0.618), (0.801, 0.886)],
    (2000, 6): [(0.007, 0.020), (0.183, 0.354), (0.576, 0.723)],
    (5000, 24): [(0.0, 0.002), (0.009, 0.017), (0.076, 0.159)],
}
"""Least and greatest unicity of six cities, for 1, 2 and 4 known points."""


def test_the_unicity_of_six_cities_lies_in_the_known_ranges() -> None:  # check 9
    cities = [city(seed=seed).traces for seed in range(100, 106)]
    for (cell, hours), ranges in some(RANGES.items(), 3):
        curves = [
            unicity_curve(each, cell=cell, hours=hours, most=4, rng=Seeded(1)) for each in cities
        ]
        means = np.mean(curves, axis=0)[[0, 1, 3]]
        for mean, (low, high) in zip(means, ranges, strict=True):
            assert low <= mean <= high


def _sets(cell: float, hours: float | None) -> list[set[int]]:
    traces = small_city(30, 3).traces
    base = segmented(traces, "whole")
    codes = sample_codes(base, traces, cell=cell, hours=hours)
    return [set(codes[base.trace == one].tolist()) for one in range(traces.people)]


@pytest.mark.parametrize(("cell", "hours", "points"), [(1000, 1, 2), (2000, 6, 1), (5000, 24, 3)])
def test_candidates_are_those_of_brute_force(cell: float, hours: float, points: int) -> None:
    """Check 9: for every combination of known points that the draws may choose."""
    traces, sets = small_city(30, 3).traces, _sets(cell, hours)
    found = unicity(traces, cell=cell, hours=hours, points=points, rng=Seeded(4))
    asked = [each for each in sets if len(each) >= points]
    assert found.targets == len(asked)
    assert found.left_out == 30 - len(asked)
    certain = sum(
        all(
            sum(set(chosen) <= other for other in sets) == 1
            for chosen in combinations(each, points)
        )
        for each in asked
    )
    possible = sum(
        any(
            sum(set(chosen) <= other for other in sets) == 1
            for chosen in combinations(each, points)
        )
        for each in asked
    )
    assert certain <= found.found <= possible


@pytest.mark.parametrize("points", [1, 2, 3])
def test_the_worst_case_is_that_of_brute_force(points: int) -> None:
    traces, sets = small_city(30, 3).traces, _sets(2000, None)
    expected = [
        1
        / min(
            sum(set(chosen) <= other for other in sets)
            for chosen in combinations(each, min(points, len(each)))
        )
        for each in sets
    ]
    assert worst_case(traces, cell=2000, points=points) == pytest.approx(np.array(expected))


def test_the_worst_case_is_the_definition_also_where_many_share_cells() -> None:
    traces = city(100, 14).traces
    base = segmented(traces, "whole")
    codes = sample_codes(base, traces, cell=5000, hours=None)
    sets = [set(codes[base.trace == one].tolist()) for one in range(traces.people)]
    expected = [
        1
        / min(
            sum(set(some_cells) <= other for other in sets)
            for some_cells in combinations(sorted(own), min(2, len(own)))
        )
        for own in sets
    ]
    found = worst_case(traces, cell=5000, points=2)
    assert found.tolist() == expected
    assert (found < 1).sum() > 50


def test_the_next_trace_does_not_lend_its_keys() -> None:
    keys = np.array([0, 1, 2, 3])  # of two traces, {0, 1} and {2, 3}
    starts = np.array([0, 2, 4])
    holders, key_starts = np.array([0, 0, 1, 1]), np.arange(5)
    known = np.array([1, 2])  # a target that has a key of each
    sizes, _ = candidates(known, np.array([0, 2]), 2, keys, starts, holders, key_starts, 20)
    assert sizes.tolist() == [0]


def test_known_points_are_drawn_uniformly_without_replacement() -> None:
    sizes = [0, 1, 4, 6]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    keys = np.concatenate([np.arange(size) for size in sizes])
    kept = np.concatenate([[0], np.cumsum(np.minimum(sizes, 3))])
    counts = np.zeros((6, 6))
    for seed in range(1500):
        coins = Seeded(seed).integers(2**31, 12).reshape(4, 3)
        found = random_keys(keys, starts, kept, coins)
        parts = np.split(found, kept[1:-1])
        assert [len(set(part.tolist())) for part in parts] == [0, 1, 3, 3]
        counts[parts[3][0], parts[3][1]] += 1
    # 30 ordered pairs of 6 keys: 50 each on average; six deviations of a count.
    assert np.abs(counts[~np.eye(6, dtype=bool)] - 50).max() < 6 * sqrt(50)


def test_an_index_of_very_large_codes_is_that_of_their_ranks() -> None:
    trace = np.array([0, 0, 1, 1, 2])
    codes = np.array([5, 2**61, 5, 5, 9])
    found = _index(trace, codes, 3)
    assert found.keys.tolist() == [0, 2, 0, 1]
    assert found.starts.tolist() == [0, 2, 3, 4]
    assert found.holders.tolist() == [0, 1, 2, 0]
    assert found.key_starts.tolist() == [0, 2, 3, 4]
    small = _index(trace, np.where(codes == 2**61, 11, codes), 3)
    assert all((a == b).all() for a, b in zip(small, found, strict=True))


def test_coarser_nested_cells_never_raise_the_worst_case() -> None:  # check 9
    traces = small_city().traces
    for points in (1, 2):
        risks = [worst_case(traces, cell=cell, points=points) for cell in (640, 1280, 2560, 5120)]
        for fine, coarse in pairwise(risks):
            # A subset of coarse cells is known from fine ones: candidates can only be more.
            assert coarse.mean() <= fine.mean() + 1e-12


def test_homes_are_found_in_raw_points_and_not_in_groups() -> None:
    made = small_city(100, 7)
    traces = made.traces
    errors = home_errors(traces, segmented(traces, "whole"))
    assert np.nanmax(errors) == 0
    raw = ByHome().run(AttackedTraces(original=traces), rng=Seeded(1))
    assert raw.share == 1
    release = publish(traces, Glove(k=5), options=PublishOptions(assess=False), rng=Seeded(1))
    safe = ByHome().run(AttackedTraces(original=traces, release=release.samples), rng=Seeded(1))
    assert safe.share < 0.1


def test_true_homes_are_found_within_100_metres() -> None:
    from celosia.traces.attacks.home import places_of

    made = small_city(200, 14, 3)
    home, _ = places_of(segmented(made.traces, "whole"), made.traces)
    apart = np.hypot(home.x - made.homes[:, 0], home.y - made.homes[:, 1])
    assert (apart < 100).mean() > 0.99


def test_habits_link_two_halves_of_raw_points() -> None:
    traces = small_city(100, 7).traces
    found = ByLinking().run(AttackedTraces(original=traces), rng=Seeded(1))
    assert found.share > 0.8
    assert found.chance == pytest.approx(0.01)


def test_one_candidate_of_another_person_is_no_success() -> None:
    from dataclasses import replace

    traces = small_city().traces
    base = segmented(traces, "whole")
    right = unicity(traces, base, rng=Seeded(2))
    wrong = replace(base, owner=np.roll(base.owner, 1))
    assert right.share > 0.9
    assert unicity(traces, wrong, rng=Seeded(2)).found == 0


def test_intervals_are_wilsons() -> None:
    low, high = wilson(8, 10)
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)
    assert wilson(0, 0) == (0.0, 1.0)


def test_every_attack_runs_and_names_no_person() -> None:
    traces = small_city(40, 3).traces
    for name in ATTACKS:
        found = attack_from_text(name).run(AttackedTraces(original=traces), rng=Seeded(1))
        assert 0 <= found.share <= 1
        told = str(found.as_dict())
        assert not any(person in told for person in traces.names.to_list())
        assert found.blocks()


def test_a_curve_counts_as_one_number_of_points_at_a_time() -> None:
    """Who is alone with some points is alone with more: nobody is counted again."""
    traces = small_city(60, 3).traces
    base = segmented(traces, "whole")
    codes = sample_codes(base, traces, cell=5000, hours=24)
    index = _index(base.trace, codes, base.traces)
    known, starts = _known(index, 5, Seeded(1))
    for points, share in enumerate(unicity_curve(traces, cell=5000, hours=24, rng=Seeded(1)), 1):
        sizes, _ = candidates(known, starts, points, *index, 2)
        assert share == np.mean(sizes[sizes >= 0] == 1)
