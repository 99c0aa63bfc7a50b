"""Attacks on classes by name."""

from __future__ import annotations

import pytest
from tests.assess.attacks.test_classes_attacked import QI

from celosia.assess.attacks import ATTACKS, attack_from_text
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import help_of, method_from_dict, parameters
from celosia.core.notation import notation
from celosia.datasets import weak_releases


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_run_by_its_name_and_comes_back_from_its_description(name: str) -> None:
    attack = attack_from_text(name)
    assert method_from_dict(ATTACKS, attack.as_dict()) == attack
    assert attack_from_text(notation(attack)) == attack
    found = attack.run(weak_releases.one_problem(), QI, "problem")
    assert found.name == Message(f"methods.{name}.title")
    assert all(help_of(name, each.name).endswith(".") for each in parameters(ATTACKS[name]))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("skewed", "CEL-I061"),
        ("skewness:gain=0", "CEL-I060"),
        ("background:exclusions=-1", "CEL-I060"),
        ("homogeneity:gain=1", "CEL-I062"),
    ],
)
def test_what_is_no_attack_is_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        attack_from_text(text)
    assert caught.value.code == code
