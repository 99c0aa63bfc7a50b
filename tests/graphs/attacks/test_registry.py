"""Attacks by name."""

from __future__ import annotations

import pytest

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import help_of, method_from_dict, parameters
from celosia.core.notation import notation
from celosia.core.randomness import Seeded
from celosia.graphs import examples
from celosia.graphs.attacks import ATTACKS, AttackedGraph, attack_from_text


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_run_by_its_name_and_comes_back_from_its_description(name: str) -> None:
    attack = attack_from_text(name)
    assert method_from_dict(ATTACKS, attack.as_dict()) == attack
    assert attack_from_text(notation(attack)) == attack
    karate = examples.karate()
    found = attack.run(AttackedGraph(original=karate, release=karate), rng=Seeded(1))
    assert found.as_dict()


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_and_parameter_has_words(name: str) -> None:
    assert Message(f"methods.{name}.title")
    assert Message(f"methods.{name}.summary").endswith(".")
    assert all(help_of(name, each.name).endswith(".") for each in parameters(ATTACKS[name]))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("luck", "CEL-I061"),
        ("subgraph:edges=21", "CEL-I060"),
        ("hubs:reach=0", "CEL-I060"),
        ("hubs:hub=3", "CEL-I062"),
        ("degree:1", "CEL-I064"),
    ],
)
def test_what_is_no_attack_is_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        attack_from_text(text)
    assert caught.value.code == code
