"""Graph methods by name."""

from __future__ import annotations

import pytest

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import help_of, parameters
from celosia.core.notation import notation
from celosia.graphs import GeneralisedGraph, Graph, UncertainGraph, method_from, methods
from celosia.graphs.method import makes, method_from_text


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
        assert kind.method_name == name
        assert all(help_of(name, each.name).endswith(".") for each in parameters(kind))
        assert Message(f"methods.{name}.title")
        assert Message(f"methods.{name}.summary").endswith(".")
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
    known = {each.name for each in parameters(methods()[name])}
    method = method_from(name, {key: value for key, value in given.items() if key in known})
    told = method.as_dict()
    assert method_from(told.pop("method"), told) == method
    assert method_from_text(notation(method)) == method


def test_the_notation_tells_one_edge_from_all_edges() -> None:
    for amount in (1, 1.0):
        method = method_from("random-switch", {"amount": amount})
        read = method_from_text(notation(method))
        assert type(read.as_dict()["amount"]) is type(amount)


@pytest.mark.parametrize(
    ("name", "parameters", "code"),
    [
        ("k-degre", {"k": 3}, "CEL-I061"),
        (None, {}, "CEL-I061"),
        ("k-degree", {}, "CEL-I063"),
        ("k-degree", {"k": 3, "l": 2}, "CEL-I062"),
        ("k-degree", {"k": "three"}, "CEL-I060"),
    ],
)
def test_what_is_no_method_is_refused(
    name: object, parameters: dict[str, object], code: str
) -> None:
    with pytest.raises(InputError) as error:
        method_from(name, parameters)
    assert error.value.code == code
