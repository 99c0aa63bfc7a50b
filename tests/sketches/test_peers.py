"""Beside Apache DataSketches on the same values: estimates agree within both errors."""

from __future__ import annotations

from math import e, exp, sqrt
from typing import Any

import numpy as np
import pytest

from celosia import Seeded
from celosia.sketches import CountMin, HyperLogLog, ThetaSketch

peer = pytest.importorskip("datasketches", reason="the peer is a development dependency only")


def fed(sketch: Any, values: Any) -> Any:
    for each in values.tolist():
        sketch.update(each)
    return sketch


@pytest.mark.statistical
@pytest.mark.parametrize("items", [50, 3000, 60_000])
def test_hyperloglog_agrees_with_the_peer(items: int) -> None:
    values = np.arange(items)
    mine, theirs = HyperLogLog(precision=12).update(values), fed(peer.hll_sketch(12), values)
    both = sqrt(2) * 1.04 / sqrt(4096) * items  # two independent hashes
    assert abs(mine.estimate() - theirs.get_estimate()) < 4 * both


@pytest.mark.statistical
def test_theta_and_its_set_operations_agree_with_the_peer() -> None:
    left, right = np.arange(30_000), np.arange(20_000, 50_000)
    mine = [ThetaSketch(most=4096).update(left), ThetaSketch(most=4096).update(right)]
    theirs = [fed(peer.update_theta_sketch(12), each) for each in (left, right)]
    union = peer.theta_union(12)
    for each in theirs:
        union.update(each)
    both = peer.theta_intersection()
    for each in theirs:
        both.update(each)
    pairs = [
        (mine[0], theirs[0]),
        (mine[0] | mine[1], union.get_result()),
        (mine[0] & mine[1], both.get_result()),
        (mine[0] - mine[1], peer.theta_a_not_b().compute(*theirs)),
    ]
    for ours, other in pairs:
        low, high = ours.interval(0.997)
        below, above = other.get_lower_bound(3), other.get_upper_bound(3)
        assert max(low, below) < min(high, above)


@pytest.mark.statistical
def test_intervals_of_theta_are_those_of_the_peer_where_both_keep_as_many() -> None:
    sketch = ThetaSketch(most=4096).update(np.arange(100_000))
    theirs = fed(peer.update_theta_sketch(12), np.arange(100_000))
    low, high = sketch.interval(0.9545)
    mine = (high - low) / sketch.estimate() * sqrt(sketch.kept)
    span = theirs.get_upper_bound(2) - theirs.get_lower_bound(2)
    other = span / theirs.get_estimate() * sqrt(theirs.num_retained)
    assert mine == pytest.approx(other, rel=0.03)


@pytest.mark.statistical
def test_count_min_agrees_with_the_peer() -> None:
    values = Seeded(11).integers(2000, 60_000)
    truth = np.bincount(values, minlength=2000)
    mine = CountMin(width=272, depth=5).update(values).estimate(np.arange(2000)) - truth
    theirs = fed(peer.count_min_sketch(5, 272), values)
    other = np.array([theirs.get_estimate(each) for each in range(2000)]) - truth
    assert mine.min() >= 0
    assert other.min() >= 0
    # Each is within e / 272 of the total for all but e^-5 of the values, 5 rows being wrong.
    apart = abs(mine - other) > e / 272 * values.size
    assert apart.mean() <= 2 * exp(-5)
