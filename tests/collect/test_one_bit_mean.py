"""1BitMean: what its bit gives away, its errors, and rounding that a device keeps."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isclose, log, sqrt
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.collect.scripted_sources import MemoryInProcess, ScriptedSource

from celosia.collect.coins import WHOLE
from celosia.collect.memory import Memory
from celosia.collect.numbers.one_bit_mean import GRID, MeanEstimate, OneBitMean
from celosia.collect.reports import Reports
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded


@pytest.mark.parametrize("epsilon", [0.01, 1, 5])
def test_a_bit_is_as_private_as_it_says(epsilon: float) -> None:
    protocol = OneBitMean(epsilon=epsilon, levels=4)
    truth = Fraction(protocol.coin.heads, WHOLE)
    ones = [Fraction(at, 4) * truth + Fraction(4 - at, 4) * (1 - truth) for at in range(5)]
    largest = max(max(one / other, (1 - one) / (1 - other)) for one in ones for other in ones)
    assert float(largest) <= exp(epsilon)
    assert isclose(float(largest), exp(epsilon), rel_tol=1e-6)


def test_a_bit_is_one_exactly_as_often_as_stated() -> None:
    protocol = OneBitMean(epsilon=1)
    heads = protocol.coin.heads
    # The first words are compared with the value, the last units with the coin.
    words = np.array([1, 2, 1, 2], dtype=np.uint64).view(np.uint32)
    units = [*words.tolist(), heads - 1, heads - 1, heads, heads]
    said = protocol.draw_bits(np.array([2, 2, 2, 2]), 4, ScriptedSource(units))
    assert said.tolist() == [True, False, False, True]


@pytest.mark.parametrize("value", [0, 6, 18, 24])
def test_the_share_of_ones_follows_the_value(value: float) -> None:
    protocol = OneBitMean(epsilon=1, lower=0, upper=24)
    made = protocol.client(rng=Seeded(1)).privatise(np.full(40_000, value))
    share = protocol.server().absorb(made).ones[0] / 40_000
    expected = 1 / (exp(1) + 1) + value / 24 * (exp(1) - 1) / (exp(1) + 1)
    assert abs(share - expected) < 4 * sqrt(0.25 / 40_000)


def test_means_are_unbiased_with_errors_that_hold() -> None:
    protocol = OneBitMean(epsilon=1.5, lower=-10, upper=30)
    values = np.random.default_rng(1).normal(5, 6, 1_000).clip(-10, 30)
    rng = Seeded(2)
    runs = 400
    found = [
        protocol.server().absorb(protocol.client(rng=rng).privatise(values)).mean()
        for _ in range(runs)
    ]
    errors = np.array([each.mean - values.mean() for each in found])
    truth = exp(1.5) / (exp(1.5) + 1)
    ones = 1 - truth + (values + 10) / 40 * (2 * truth - 1)
    exact = 40**2 * float((ones * (1 - ones)).sum()) / (1_000 * (2 * truth - 1)) ** 2
    assert abs(errors.mean()) < 4 * sqrt(exact / runs)
    # 400 squares are known to 7 percent.
    assert abs(float((errors**2).mean()) / exact - 1) < 4 * sqrt(2 / runs)
    stated = float(np.mean([each.error**2 for each in found]))
    assert exact <= stated <= protocol.variance(1_000)
    assert stated < 1.05 * exact
    held = [low <= values.mean() <= high for low, high in (each.interval() for each in found)]
    assert np.mean(held) > 0.95 - 3 * sqrt(0.05 * 0.95 / runs)
    assert np.mean(np.abs(errors) <= protocol.largest_error(1_000)) >= 0.95


def test_the_bound_is_that_of_the_paper() -> None:
    protocol = OneBitMean(epsilon=1, lower=0, upper=24)
    paper = 24 / sqrt(2 * 5_000) * (exp(1) + 1) / (exp(1) - 1) * sqrt(log(2 / 0.05))
    assert isclose(protocol.largest_error(5_000), paper, rel_tol=1e-6)


@given(st.floats(-5, 30), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_rounding_with_alpha_goes_to_a_neighbouring_level(
    value: float, levels: int, seed: int
) -> None:
    protocol = OneBitMean(epsilon=1, lower=0, upper=24, levels=levels)
    memory = MemoryInProcess(Seeded(seed))
    protocol.client(memory=cast("Any", memory)).privatise([value])
    answers = [key[8:] for key in memory.answers]
    level = next(int.from_bytes(each[5:], "little") for each in answers if each[:5] == b"level")
    exact = min(max(value, 0), 24) / 24 * levels
    assert abs(level - exact) < 1 + 1e-6
    assert 0 <= level <= levels


@pytest.mark.parametrize("levels", [1, 3])
def test_devices_with_a_memory_estimate_the_same_mean(levels: int) -> None:
    protocol = OneBitMean(epsilon=2, lower=0, upper=10, levels=levels)
    values = np.random.default_rng(4).uniform(0, 10, 4_000)
    rng = Seeded(5)
    server = protocol.server()
    for value in values.tolist():
        memory = cast("Any", MemoryInProcess(rng))
        server.absorb(protocol.client(memory=memory).privatise([value]))
    found = server.mean()
    assert abs(found.mean - values.mean()) < 4 * found.error
    assert found.error < 0.25


def test_a_device_keeps_its_bits_and_small_moves_change_nothing(tmp_path: Path) -> None:
    protocol = OneBitMean(epsilon=1, lower=0, upper=24, levels=2)
    memory = Memory.open(tmp_path / "device", budget=9)
    client = protocol.client(memory=memory)
    first = client.privatise([5.0] * 20).packed
    assert np.all(first == first[0])
    assert memory.spent == 1
    sweep = client.privatise(np.linspace(0, 24, 50)).packed
    assert np.array_equal(client.privatise(np.linspace(0, 24, 50)).packed, sweep)
    # From one end to the other all levels are visited, and each only once.
    assert float(memory.spent) == protocol.lasting_epsilon == 3
    assert np.count_nonzero(np.diff(sweep[:, 0].astype(int))) <= 2


def test_values_beyond_the_range_count_as_its_ends_and_single_ones_are_taken() -> None:
    protocol = OneBitMean(epsilon=1, lower=0, upper=24)
    assert protocol.on_grid([-5, 0, 12, 24, 99]).tolist() == [0, 0, GRID // 2, GRID, GRID]
    assert len(protocol.client(rng=Seeded(1)).privatise(3.5)) == 1
    with pytest.raises(InputError) as refusal:
        protocol.client(rng=Seeded(1)).privatise([float("nan")])
    assert refusal.value.code == "CEL-R035"


def test_merging_and_saving_keep_all_counts() -> None:
    protocol = OneBitMean(epsilon=1)
    made = protocol.client(rng=Seeded(3)).privatise(np.linspace(0, 1, 500)).packed
    assert made.shape == (500, protocol.report_bits)
    parts = [Reports(protocol.fingerprint, made[each]) for each in (slice(99), slice(99, None))]
    one, other = (protocol.server().absorb(each.to_bytes()) for each in parts)
    other.merge(one)
    again = protocol.server().load(other.to_bytes())
    assert other.users == again.users == 500
    assert other.ones[0] == again.ones[0] == made.sum()
    with pytest.raises(InputError) as refusal:
        OneBitMean(epsilon=2).server().absorb(parts[0])
    assert refusal.value.code == "CEL-R004"
    with pytest.raises(InputError) as refusal:
        other.estimate([1])
    assert refusal.value.code == "CEL-R041"


def test_a_mean_is_told_in_plain_values() -> None:
    assert str(MeanEstimate(2.5, 0.5, 1_000)) == "2.5 ± 0.5 from 1,000 reports (one-bit-mean)"
    said = MeanEstimate(2.5, 0.5, 1_000).as_dict()
    assert (round(said["low"], 2), round(said["high"], 2)) == (1.52, 3.48)
    assert OneBitMean(epsilon=1).server().mean().as_dict()["mean"] is None
