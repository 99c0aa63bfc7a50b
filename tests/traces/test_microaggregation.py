"""Microaggregation of traces by MDAV, and swapped locations."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from tests.traces.small_city import small_city

from celosia.core.randomness import Seeded
from celosia.traces import (
    PublishOptions,
    SwapLocations,
    TraceMicroaggregation,
    publish,
    verify,
)
from celosia.traces._grouping_kernels import swap_sets
from celosia.traces.microaggregation import trace_groups
from celosia.traces.resampling import Resampled
from celosia.traces.verification import owners_of

Line = dict[int, tuple[float, float]]
"""The places of a trace by moment."""


def plain_distance(one: Line, other: Line) -> float:
    common = set(one) & set(other)
    if not common:
        return 1e18
    square = sum((one[m][0] - other[m][0]) ** 2 + (one[m][1] - other[m][1]) ** 2 for m in common)
    share = len(common) / max(len(one), len(other))
    return sqrt(square / len(common)) / share


def plain_mdav(lines: list[Line], k: int) -> list[int]:
    labels = [-1] * len(lines)
    group = 0

    def free() -> list[int]:
        return [one for one, label in enumerate(labels) if label < 0]

    def farthest(line: Line) -> int:
        return max(free(), key=lambda one: (plain_distance(lines[one], line), -one))

    def take(seed: int) -> None:
        nonlocal group
        order = sorted(
            free(),
            key=lambda one: (-inf if one == seed else plain_distance(lines[one], lines[seed]), one),
        )
        for one in order[:k]:
            labels[one] = group
        group += 1

    while len(free()) >= 2 * k:
        mean: Line = {}
        for moment in sorted({m for one in free() for m in lines[one]}):
            present = [lines[one][moment] for one in free() if moment in lines[one]]
            mean[moment] = (
                sum(x for x, _ in present) / len(present),
                sum(y for _, y in present) / len(present),
            )
        first = farthest(mean)
        take(first)
        if len(free()) >= 2 * k:
            take(farthest(lines[first]))
    return [group if label < 0 else label for label in labels]


@pytest.mark.parametrize("seed", range(5))
def test_the_groups_of_twelve_traces_are_those_of_a_plain_twin(seed: int) -> None:  # check 12
    generator = np.random.Generator(np.random.PCG64(seed))
    moments = 10
    x, y = generator.random((2, 12, moments)) * 100
    low = generator.integers(0, 3, 12)
    high = generator.integers(6, moments + 1, 12)
    lines = [
        {m: (float(x[one, m]), float(y[one, m])) for m in range(int(low[one]), int(high[one]))}
        for one in range(12)
    ]
    found = trace_groups(Resampled(np.arange(moments), x, y, low, high), 3)
    assert found.tolist() == plain_mdav(lines, 3)
    assert np.bincount(found).min() >= 3


@pytest.mark.parametrize("period", ["whole", "day"])
def test_every_mean_trace_is_published_for_k_persons(period: str) -> None:
    options = PublishOptions(pseudonym=period, assess=False)
    method = TraceMicroaggregation(k=4)
    release = publish(small_city().traces, method, options=options, rng=Seeded(1))
    assert verify(release.data, owners_of(release.samples)).holds(4)  # type: ignore[arg-type]


def test_swapped_locations_are_true_and_none_is_made_up() -> None:  # check 12
    traces = small_city().traces
    method = SwapLocations(k=3, metres=3000, seconds=7200)
    release = publish(traces, method, options=PublishOptions(assess=False), rng=Seeded(1))
    samples = release.samples
    assert samples is not None
    before = sorted(zip(traces.time.tolist(), traces.x.tolist(), traces.y.tolist(), strict=True))
    after = sorted(
        zip(
            samples.start.tolist(),
            samples.box[:, 0].tolist(),
            samples.box[:, 1].tolist(),
            strict=True,
        )
    )
    assert after
    remaining = list(before)
    for each in after:  # a sub-multiset of the original points
        remaining.remove(each)
    assert release.outcome.facts["dropped_points"] == len(remaining)


def test_swap_sets_have_one_near_point_of_each_trace() -> None:  # check 12
    generator = np.random.Generator(np.random.PCG64(2))
    trace = np.repeat(np.arange(4), 30)
    time = np.concatenate([np.sort(generator.integers(0, 5000, 30)) for _ in range(4)])
    x, y = generator.random((2, 120)) * 100
    found = swap_sets(trace, time, x, y, 4, 60.0, 600)
    sets = [np.nonzero(found == one)[0] for one in range(found.max() + 1)]
    assert sets
    for rows in sets:
        assert sorted(trace[rows]) == [0, 1, 2, 3]
        first = rows[0]  # each lies near the point that the set was made for
        anchors = [
            row
            for row in rows
            if (np.hypot(x[rows] - x[row], y[rows] - y[row]) <= 60).all()
            and (abs(time[rows] - time[row]) <= 600).all()
        ]
        assert anchors, first
    used = np.concatenate(sets)
    assert np.unique(used).size == used.size


def test_who_keeps_an_own_point_is_left_to_chance() -> None:
    """Of points in sets of three or more, at most a third stay: six standard errors of 1/3."""
    traces = small_city(60, 6).traces
    method = SwapLocations(k=3, metres=20_000, seconds=40_000)
    stayed = total = 0
    for seed in range(3):
        release = publish(traces, method, options=PublishOptions(assess=False), rng=Seeded(seed))
        samples = release.samples
        assert samples is not None
        places = {
            (int(t), int(x), int(y)): int(p)
            for t, x, y, p in zip(traces.time, traces.x, traces.y, traces.person, strict=True)
        }
        for t, box, p in zip(samples.start, samples.box, samples.persons, strict=True):
            stayed += places[int(t), int(box[0]), int(box[1])] == p
            total += 1
    assert total > 1000
    assert stayed / total < 1 / 3 + 6 * sqrt(2 / 9 / total)
