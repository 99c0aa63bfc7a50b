"""Trace methods by their names on the command line and in certificates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.core.methods import build
from celosia.core.notation import method_from_text as from_text
from celosia.traces.method import TraceMethod


def methods() -> dict[str, type[TraceMethod]]:
    """Every method by its name, sorted.

    >>> sorted(methods())[:2]
    ['generalisation', 'glove']
    """
    from celosia.traces.generalisation import Generalisation
    from celosia.traces.glove import Glove
    from celosia.traces.microaggregation import SwapLocations, TraceMicroaggregation
    from celosia.traces.planar_laplace import PlanarLaplace

    known = (Generalisation, Glove, PlanarLaplace, SwapLocations, TraceMicroaggregation)
    return {each.method_name: each for each in known}


def method_from(name: Any, parameters: Mapping[str, Any]) -> TraceMethod:
    """A method by its name with its parameters.

    Raises:
        InputError: as `core.methods.build` says.

    >>> method_from("glove", {"k": 5}).as_dict()
    {'method': 'glove', 'k': 5}
    """
    return build(methods(), name, parameters)


def method_from_text(text: str) -> TraceMethod:
    """A method in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> method_from_text("planar-laplace:times=4,within=200").repeat
    'sticky'

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return from_text(methods(), text)
