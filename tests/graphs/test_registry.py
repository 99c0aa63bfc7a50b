"""Graph methods by name."""

from __future__ import annotations

from dataclasses import fields

import pytest

from celosia.core.errors import InputError
from celosia.graphs import GeneralisedGraph, Graph, UncertainGraph, method_from, methods
from celosia.graphs.registry import makes


def test_every_method_of_the_issue_has_a_name() -> None:
    known = methods()
    assert list(known) == sorted(known)
    assert set(known) >= {
        *("random-add-delete", "random-switch", "random-sparsification", "random-perturbation"),
        *("spectral-switch", "spectral-add-delete", "relevance", "relabelling"),
        *("k-degree", "vertex-addition", "k-neighbourhood", "k-automorphism"),
        *("k-obfuscation", "sangreea", "partition-search", "private-graph"),
    }
    for name, kind in known.items():
        assert kind.kind == name
        assert kind.summary
        assert not kind.summary.endswith(".")
        assert isinstance(kind.randomised, bool)


def test_every_method_says_what_it_makes() -> None:
    made = {name: makes(kind) for name, kind in methods().items()}
    assert {name for name, content in made.items() if content is UncertainGraph} == {
        "k-obfuscation"
    }
    groups = {name for name, content in made.items() if content is GeneralisedGraph}
    assert groups == {"sangreea", "partition-search"}
    assert set(made.values()) == {Graph, UncertainGraph, GeneralisedGraph}


def test_only_the_private_methods_say_that_they_are() -> None:
    assert {name for name, kind in methods().items() if kind.is_private} == {"private-graph"}


@pytest.mark.parametrize("name", list(methods()))
def test_a_method_comes_back_from_its_parameters(name: str) -> None:
    given = {"k": 3, "amount": 0.1, "probability": 0.1, "epsilon": 1.0}
    known = {each.name for each in fields(methods()[name])}  # type: ignore[arg-type]
    method = method_from(name, {key: value for key, value in given.items() if key in known})
    told = method.as_dict()
    assert method_from(told.pop("method"), told) == method


@pytest.mark.parametrize(
    ("name", "parameters", "code"),
    [
        ("k-degre", {"k": 3}, "CEL-I061"),
        (None, {}, "CEL-I061"),
        ("k-degree", {}, "CEL-I063"),
        ("k-degree", {"k": 3, "l": 2}, "CEL-I062"),
        ("k-degree", {"k": "three"}, "CEL-G100"),
    ],
)
def test_what_is_no_method_is_refused(
    name: object, parameters: dict[str, object], code: str
) -> None:
    with pytest.raises(InputError) as error:
        method_from(name, parameters)
    assert error.value.code == code
