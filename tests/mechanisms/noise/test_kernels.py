"""The kernels equal their plain twins unit for unit, and cannot be made to overflow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.mechanisms.noise import twin

from celosia.core.errors import PrivacyError
from celosia.core.randomness import Seeded, Source
from celosia.mechanisms.noise import _kernels, laws
from celosia.mechanisms.noise.bernoulli import bernoulli_exp
from celosia.mechanisms.noise.laws import REACH, Proposal

UNITS = Seeded(2026).words(40_000).view(np.uint32)
SCALES = [
    Fraction(1, 1000),
    Fraction(1, 3),
    Fraction(1),
    Fraction(20, 3),
    Fraction(2000),
    Fraction(2**31 + 1),
    Fraction(2**50 + 1),
    Fraction(REACH),
    Fraction(REACH - 1, 2**61),
]
PARAMETERS = [
    Fraction(1, 2500),
    Fraction(2, 7),
    Fraction(1),
    Fraction(2),
    Fraction(49, 4),
    Fraction(12345, 7),
    Fraction(2**51 - 1),
    Fraction(2**100),
    Fraction(REACH - 1, 2**40) ** 2,
]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_equals_its_twin(scale: Fraction) -> None:
    found = np.empty(300, dtype=np.int64)
    done, at = _kernels.laplace(UNITS, scale.numerator, scale.denominator, found, 0)
    stream = twin.Stream(UNITS)
    assert done == 300
    assert found.tolist() == [twin.laplace(stream, scale) for _ in range(300)]
    assert at == stream.read


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
def test_gaussian_equals_its_twin(parameter: Fraction) -> None:
    way = Proposal.of(parameter)
    found = np.empty(300, dtype=np.int64)
    numbers = way.top, way.bottom, way.factor, way.centre, way.low, way.high
    done, at = _kernels.gaussian(UNITS, *numbers, found, 0)
    stream = twin.Stream(UNITS)
    assert done == 300
    assert found.tolist() == [twin.gaussian(stream, parameter) for _ in range(300)]
    assert at == stream.read


@given(
    st.lists(st.integers(0, 3 * 10**18), min_size=1, max_size=20),
    st.sampled_from([1, 7, 2**31, 2**31 + 1, 2**62, 2**63 - 1]),
)
def test_coins_equal_their_twin(numerators: list[int], denominator: int) -> None:
    found = np.empty(len(numerators), dtype=np.bool_)
    tops = np.array(numerators, dtype=np.int64)
    done, at = _kernels.exponential_coins(UNITS, tops, denominator, found, 0)
    stream = twin.Stream(UNITS)
    expected = [twin.exponential_coin(stream, top, denominator) for top in numerators]
    assert (done, at, found.tolist()) == (len(numerators), stream.read, expected)


@given(st.integers(1, 2**63 - 1), st.lists(st.integers(0, 2**32 - 1), min_size=8, max_size=8))
def test_uniform_numbers_equal_their_twin_on_extreme_units(bound: int, units: list[int]) -> None:
    # Half of them at the ends of the range, where products overflow and remainders are rejected.
    extreme = [(0, 2**32 - 1, unit, unit)[unit % 4] for unit in units]
    number, at = _kernels.below(np.array(extreme, dtype=np.uint32), 0, bound)
    stream = twin.Stream(extreme)
    try:
        expected = stream.below(bound)
    except IndexError:
        assert at == _kernels.OUT
    else:
        assert (number, at) == (expected, stream.read)


@given(st.lists(st.sampled_from([0, 1, 2**20, 2**28, 2**31, 2**32 - 1]), max_size=60))
def test_the_kernels_equal_their_twins_on_hostile_streams(units: list[int]) -> None:
    # A unit of 0 passes every step of a coin's table; the largest is always drawn again.
    array = np.array(units, dtype=np.uint32)
    stream, expected, used = twin.Stream(units), [], 0
    try:
        while True:
            expected.append(twin.gaussian(stream, Fraction(3)))
            used = stream.read
    except IndexError:
        pass
    way = Proposal.of(Fraction(3))
    found = np.empty(len(expected) + 1, dtype=np.int64)
    numbers = way.top, way.bottom, way.factor, way.centre, way.low, way.high
    done, at = _kernels.gaussian(array, *numbers, found, 0)
    assert found[:done].tolist() == expected
    assert used <= at <= len(units)  # after the last draw it may have dropped proposals


@pytest.mark.parametrize("table", [_kernels.WHOLES, _kernels.HALVES], ids=["whole", "half"])
def test_a_coin_goes_on_beyond_its_table(table: NDArray[np.int64]) -> None:
    halved = table.size == _kernels.HALVES.size
    for more in range(8):
        units = [0, *[2**20] * more, 3 * 10**9]  # 2^20 times a small bound has a high half of 0
        stream = twin.Stream(units)
        expected = twin.coin(stream, [], halved=halved)
        array = np.array(units, dtype=np.uint32)
        assert _kernels.coin(array, 0, table, 1, 1, 1, 1) == (expected, stream.read)
        assert stream.read == more + 2
        if not halved:
            assert _kernels.whole_coin(array, 0) == (expected, stream.read)


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**31 - 1, 2**31])
def test_every_uniform_number_has_the_same_count_of_units(bound: int) -> None:
    # Value v gets the units u with v 2^32 <= u bound < (v + 1) 2^32 whose low half is accepted.
    threshold = 2**32 % bound
    for value in {0, 1 % bound, bound // 2, bound - 1}:
        first = -(-(value * 2**32 + threshold) // bound)
        last = -(-(value + 1) * 2**32 // bound) - 1
        assert last - first + 1 == 2**32 // bound
        for unit in (first, last):
            assert _kernels.below(np.array([unit], dtype=np.uint32), 0, bound) == (value, 1)
        if threshold and value:
            assert _kernels.below(np.array([first - 1], dtype=np.uint32), 0, bound) != (value, 1)


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 50])
def test_where_the_stream_is_cut_does_not_change_the_draws(cut: int) -> None:
    whole = np.empty(200, dtype=np.int64)
    _kernels.laplace(UNITS, 7, 2, whole, 0)
    pieces = np.empty(200, dtype=np.int64)
    done, left, start = 0, UNITS[:0], 0
    while done < 200:
        units = np.concatenate([left, UNITS[start : start + cut]])
        start += cut
        done, at = _kernels.laplace(units, 7, 2, pieces, done)
        left = units[at:]
    assert pieces.tolist() == whole.tolist()


class _Heads(Source):
    """A broken source: every coin of chance 1/e falls heads."""

    simulation = True

    def raw(self, count: int) -> bytes:
        unit = int(_kernels.WHOLES[3])
        return unit.to_bytes(4, "little") * (count // 4)


def test_a_draw_that_does_not_fit_into_64_bits_is_refused_not_wrapped() -> None:
    with pytest.raises(PrivacyError) as caught:
        laws.draw_laplace(Fraction(1), 1, _Heads())
    assert caught.value.code == "CEL-M021"


def test_the_farthest_draws_within_reach_fit_into_64_bits() -> None:
    top, turns = REACH, _kernels.MOST_TURNS
    assert top - 1 + top * (turns - 1) < 2**62
    for parameter in PARAMETERS:
        way = Proposal.of(parameter)
        farthest = (way.top - 1 + way.top * (turns - 1)) // way.bottom
        assert way.factor * farthest + way.centre < 2**63


def test_no_draws_and_no_coins_are_empty() -> None:
    assert laws.draw_laplace(Fraction(3), 0, Seeded(1)).size == 0
    assert bernoulli_exp(np.empty(0, dtype=np.int64), 1, Seeded(1)).size == 0


def test_a_large_vector_equals_itself_and_is_drawn_in_chunks() -> None:
    first, again = (laws.draw_gaussian(Fraction(50), 100_000, Seeded(5)) for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, laws.draw_gaussian(Fraction(50), 100_000, Seeded(6)))
