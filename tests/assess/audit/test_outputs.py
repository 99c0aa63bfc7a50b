"""Outputs of any shape become tables, and events of every kind are found in them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from celosia.assess.audit import audit
from celosia.assess.audit.outputs import (
    NUMBER,
    Encoder,
    MappingPattern,
    SequencePattern,
    pattern_words,
)
from celosia.assess.audit.views import LastBitView
from celosia.core.randomness import Seeded, Source


class Colour(Enum):
    RED = "red"


@dataclass
class Told:
    label: str
    amount: float


@pytest.mark.parametrize(
    ("output", "pattern", "numbers"),
    [
        (3, NUMBER, {(): 3.0}),
        (Fraction(1, 2), NUMBER, {(): 0.5}),
        (Decimal("0.25"), NUMBER, {(): 0.25}),
        (np.int64(7), NUMBER, {(): 7.0}),
        (10**400, NUMBER, {(): np.inf}),
        (float("nan"), "not a number", {}),
        (True, True, {}),
        (np.True_, True, {}),
        ("yes", "yes", {}),
        (None, None, {}),
        (Colour.RED, Colour.RED, {}),
        (("below", 2.5), SequencePattern(("below", NUMBER)), {(1,): 2.5}),
        (np.array([1, 2]), SequencePattern((NUMBER, NUMBER)), {(0,): 1.0, (1,): 2.0}),
        (np.array(4.0), NUMBER, {(): 4.0}),
        (
            {"b": 1, "a": 2},
            MappingPattern((("b", NUMBER), ("a", NUMBER))),
            {("b",): 1.0, ("a",): 2.0},
        ),
        (Told("x", 1.5), MappingPattern((("label", "x"), ("amount", NUMBER))), {("amount",): 1.5}),
        ({1, 2}, "{1, 2}", {}),
    ],
    ids=str,
)
def test_an_output_is_a_pattern_and_its_numbers(
    output: Any, pattern: Any, numbers: dict[Any, float]
) -> None:
    table = Encoder().encode([output])
    assert table.patterns == [pattern]
    assert {path: column[0] for path, column in table.columns.items()} == numbers


def test_codes_mean_the_same_in_every_batch() -> None:
    encoder = Encoder()
    first, second = encoder.encode(["a", "b"]), encoder.encode(["b", "c"])
    assert first.codes.tolist() == [0, 1]
    assert second.codes.tolist() == [1, 2]
    assert np.isnan(second.column((9,))).all()


def test_arrays_and_lists_of_numbers_are_the_same_table() -> None:
    values = np.array([1.0, np.nan, 3.0])
    quick, plain = Encoder().encode(values), Encoder().encode(values.tolist())
    assert quick.codes.tolist() == plain.codes.tolist()
    np.testing.assert_array_equal(quick.column(()), plain.column(()))


def test_patterns_read_as_one_would_write_them() -> None:
    table = Encoder().encode([("below", "below", 3.0), {"a": 1}])
    assert [pattern_words(p) for p in table.patterns] == ["(below x2, number)", "{a: number}"]


def test_the_last_binary_digit_of_a_float_is_found() -> None:
    numbers = np.array([1.0, 0.75, -6.0, 2.0**-1074, 0.1, 0.0, np.inf])
    found = LastBitView.at(()).values(Encoder().encode(numbers))
    # 0.1 is 3602879701896397 / 2**55, an odd numerator.
    np.testing.assert_array_equal(found, [0, -2, 1, -1074, -55, np.nan, np.nan])


def among(weights: dict[int, list[float]], outputs: list[Any]) -> Any:
    """A mechanism that gives outputs with these chances."""

    def draw(data: int, rng: Source, size: int) -> list[Any]:
        numpy = np.random.default_rng(rng.words(2))
        return [outputs[i] for i in numpy.choice(len(outputs), p=weights[data], size=size)]

    return draw


@pytest.mark.parametrize(
    ("outputs", "event"),
    [
        (["no", "maybe", "yes"], "output is yes"),
        ([0, 1, 5], "output is above 1"),
        ([0, 5, 1], "output is 1"),
        ([("a", 1), ("b", 1), ("b", 2)], "output[1] is above 1"),
        ([{"a": 1}, {"b": 1}, {"a": 1, "b": 1}], "output is {a: number, b: number}"),
        ([None, "x", ("x", "y")], "output is (x, y)"),
        ([0.0, float("nan"), float("inf")], "output is above 0"),
        ([{"a": 1, "b": 2}, {"a": 1}, {"b": 2, "a": 1}], "output is {b: number, a: number}"),
    ],
    ids=str,
)
def test_the_telling_output_is_named(outputs: list[Any], event: str) -> None:
    chances = {0: [0.6, 0.39, 0.01], 1: [0.5, 0.3, 0.2]}
    found = audit(among(chances, outputs), 0, 1, samples=10_000, rng=Seeded(4))
    assert found.event == event
    assert found.swapped
    assert 2 < found.lower <= np.log(20)
    reverse = audit(among(chances, outputs), 1, 0, samples=10_000, rng=Seeded(4))
    assert not reverse.swapped


def test_a_value_among_very_many_is_found() -> None:
    def leak(data: int, rng: Source, size: int) -> Any:
        numpy = np.random.default_rng(rng.words(2))
        values = numpy.integers(0, 10**6, size).astype(float)
        values[numpy.random(size) < 0.005 * data] = 123_456.0
        return values

    found = audit(leak, 0, 1, samples=40_000, rng=Seeded(4))
    assert found.event == "output is 123456"
    assert found.lower > 0.5


def test_a_long_stream_is_told_apart_by_how_it_begins() -> None:
    def stream(data: float, rng: Source, size: int) -> list[Any]:
        numpy = np.random.default_rng(rng.words(2))
        bits = numpy.random((size, 30)) < 0.5
        bits[:, 2] = numpy.random(size) < data
        return [tuple("above" if bit else "below" for bit in row) for row in bits.tolist()]

    found = audit(stream, 0.1, 0.9, samples=4000, rng=Seeded(4))
    assert "the first" in found.event
    assert found.lower > 0.5


def test_dependent_coordinates_are_told_apart_by_a_sum() -> None:
    def shared(data: float, rng: Source, size: int) -> Any:
        numpy = np.random.default_rng(rng.words(2))
        common = numpy.normal(scale=20, size=size)
        own = numpy.laplace(size=size)
        return np.round(np.column_stack([common, common + own + data]) * 64) / 64

    found = audit(shared, 0.0, 1.0, claim=1, samples=40_000, rng=Seeded(4))
    assert "linear score" in found.event
    assert 0.8 < found.lower <= 1
