"""Graph methods by their names on the command line and in certificates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from celosia.core.methods import build
from celosia.core.notation import method_from_text as from_text
from celosia.graphs.method import GraphMethod


def methods() -> dict[str, type[GraphMethod[Any]]]:
    """Every method by its name, sorted.

    >>> {"k-degree", "random-switch", "k-obfuscation", "sangreea"} <= set(methods())
    True
    """
    # Here and not above: most of them load compiled kernels.
    from celosia.graphs import (
        automorphism,
        generalisation,
        kdegree,
        neighbourhood,
        perturbation,
        private,
        relabelling,
        uncertain,
    )

    packages = (
        automorphism,
        generalisation,
        kdegree,
        relabelling,
        neighbourhood,
        perturbation,
        private,
        uncertain,
    )
    found: dict[str, type[GraphMethod[Any]]] = {
        each.method_name: each for package in packages for each in package.METHODS
    }
    return dict(sorted(found.items()))


def method_from(name: Any, parameters: Mapping[str, Any]) -> GraphMethod[Any]:
    """A method by its name with its parameters.

    Raises:
        InputError: as `core.methods.build` says.

    >>> method_from("k-degree", {"k": 5}).as_dict()
    {'method': 'k-degree', 'k': 5}
    """
    return build(methods(), name, parameters)


def method_from_text(text: str) -> GraphMethod[Any]:
    """A method in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> method_from_text("random-switch:amount=0.2")
    RandomSwitch(amount=0.2)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return from_text(methods(), text)


def makes(method: type[GraphMethod[Any]]) -> type:
    """What a method makes: `Graph`, `UncertainGraph` or `GeneralisedGraph`, as its class says.

    >>> makes(methods()["k-obfuscation"]).__name__
    'UncertainGraph'
    """
    for base in getattr(method, "__orig_bases__", ()):
        for made in get_args(base):
            if isinstance(made, type):
                return made
    raise TypeError(f"{method.__name__} does not say what it makes")
