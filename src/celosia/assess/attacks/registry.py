"""Attacks on classes by their names on the command line."""

from __future__ import annotations

from collections.abc import Mapping

from celosia.assess.attacks.background import WorstBackground
from celosia.assess.attacks.homogeneity import Homogeneity
from celosia.assess.attacks.method import ClassAttack
from celosia.assess.attacks.skewness import Skewness
from celosia.core.notation import method_from_text

ATTACKS: Mapping[str, type[ClassAttack]] = {
    each.method_name: each for each in (Homogeneity, WorstBackground, Skewness)
}
"""The attacks by their names."""

STANDARD: tuple[ClassAttack, ...] = (Homogeneity(), WorstBackground(), Skewness())
"""Attacks that are run where none is named."""


def attack_from_text(text: str) -> ClassAttack:
    """An attack in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> attack_from_text("skewness:gain=0.3")
    Skewness(gain=0.3)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return method_from_text(ATTACKS, text, what="attack")
