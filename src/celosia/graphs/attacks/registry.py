"""Attacks by their names on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.core.notation import method_from_text
from celosia.graphs.attacks.active import ByPlantedAccounts
from celosia.graphs.attacks.hubs import ByHubs
from celosia.graphs.attacks.links import ByLinks
from celosia.graphs.attacks.method import AttackMethod
from celosia.graphs.attacks.propagation import ByPropagation
from celosia.graphs.attacks.structural import ByDegree, ByNeighbourhood, ByRefinement
from celosia.graphs.attacks.subgraph import BySubgraph

ATTACKS: Mapping[str, type[AttackMethod[Any]]] = {
    each.method_name: each
    for each in (
        ByDegree,
        ByRefinement,
        ByNeighbourhood,
        BySubgraph,
        ByHubs,
        ByPlantedAccounts,
        ByLinks,
        ByPropagation,
    )
}
"""The attacks by their names."""

STRUCTURAL: tuple[AttackMethod[Any], ...] = (ByDegree(), ByRefinement(), ByNeighbourhood())
"""Attacks that are run where none is named."""


def attack_from_text(text: str) -> AttackMethod[Any]:
    """An attack in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> attack_from_text("subgraph:edges=6")
    BySubgraph(edges=6)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return method_from_text(ATTACKS, text, what="attack")
