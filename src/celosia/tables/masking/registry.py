"""Masking methods by the names that recipes call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.core import notation
from celosia.core.methods import build
from celosia.tables.masking.method import MaskingMethod


def methods() -> dict[str, type[MaskingMethod]]:
    """Every method by its name, sorted.

    >>> {"mdav", "noise", "rank-swap", "pram", "sampling", "copula"} <= set(methods())
    True
    """
    # Here and not above: most of them load compiled kernels.
    from celosia.tables import private, synthesis
    from celosia.tables.masking import (
        coding,
        microaggregation,
        perturbation,
        suppression,
    )

    packages = (coding, microaggregation, perturbation, suppression, synthesis, private)
    found = {each.method_name: each for package in packages for each in package.METHODS}
    return dict(sorted(found.items()))


def method_from(name: Any, parameters: Mapping[str, Any]) -> MaskingMethod:
    """A method by its name with its parameters, as a step of a recipe gives them.

    Raises:
        InputError: as `core.methods.build` says.

    >>> method_from("mdav", {"k": 5}).as_dict()
    {'method': 'mdav', 'k': 5}
    """
    return build(methods(), name, parameters)


def method_from_text(text: str) -> MaskingMethod:
    """A method in the notation of the command line: NAME, or NAME:VALUE,...,KEY=VALUE,...

    Raises:
        InputError: as `core.notation.method_from_text` says.

    >>> method_from_text("microaggregation:5,fixed").as_dict()
    {'method': 'microaggregation', 'k': 5, 'variant': 'fixed'}
    """
    return notation.method_from_text(methods(), text)
