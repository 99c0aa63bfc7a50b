"""Mechanisms declare their parameters: names, help in both languages, plain descriptions."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from celosia import mechanisms
from celosia.core.errors import InputError
from celosia.core.messages import read_family
from celosia.core.methods import help_of, parameters
from celosia.core.neighbours import CHANGE_ONE
from celosia.mechanisms import Grid, Laplace, Mechanism, SparseVector

DECLARED = [
    each
    for each in dict.fromkeys(getattr(mechanisms, name) for name in mechanisms.__all__)
    if isinstance(each, type) and issubclass(each, Mechanism) and "method_name" in vars(each)
]


def test_every_mechanism_has_a_name_of_its_own() -> None:
    assert len({each.method_name for each in DECLARED}) == len(DECLARED) > 20


@pytest.mark.parametrize("mechanism", DECLARED, ids=lambda each: str(each.method_name))
def test_every_parameter_says_what_it_is(mechanism: type[Mechanism[object, object]]) -> None:
    known = read_family("methods")[mechanism.method_name]
    assert {"title", "summary"} <= known.keys()
    for each in parameters(mechanism):
        assert help_of(mechanism.method_name, each.name), each.name


def test_numbers_are_kept_as_they_are_written() -> None:
    assert Laplace(epsilon=0.1, sensitivity=1).epsilon == Fraction(1, 10)
    assert str(Laplace(epsilon=0.1, sensitivity=1)) == "Laplace(epsilon=0.1, sensitivity=1)"


def test_a_description_is_plain() -> None:
    third: Any = Fraction(1, 3)
    made = Laplace(epsilon=third, sensitivity=2, grid=Grid(0.5), neighbours=CHANGE_ONE)
    assert json.loads(json.dumps(made.as_dict())) == {
        "method": "laplace",
        "neighbours": {"relation": "change-one", "unit": "row"},
        "grid": 0.5,
        "epsilon": "1/3",
        "sensitivity": 2,
    }


def test_a_parameter_out_of_range_is_named_with_its_mechanism() -> None:
    with pytest.raises(InputError, match="sparse-vector: 'numeric' must be a number of at least 0"):
        SparseVector(1.0, threshold=5, numeric=1)
