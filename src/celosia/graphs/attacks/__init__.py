"""Attacks on published graphs: candidates of each person, and re-identified people.

Each compares what the attacker knows, from the original, with a release.
"""

from celosia.graphs.attacks.active import (
    ActiveAttack,
    ByPlantedAccounts,
    accounts_needed,
    active,
    plant,
    recover,
)
from celosia.graphs.attacks.hubs import ByHubs, fingerprints, hub_fingerprint, top_hubs
from celosia.graphs.attacks.isomorphism import neighbourhood_classes
from celosia.graphs.attacks.links import (
    ByLinks,
    LinkAttack,
    LinkPosterior,
    link_posterior,
    link_prediction,
    simulated_posterior,
)
from celosia.graphs.attacks.method import ATTACKS, AttackedGraph, AttackMethod, attack_from_text
from celosia.graphs.attacks.percolation import ByPercolation, percolation
from celosia.graphs.attacks.propagation import ByPropagation, Propagation, propagation
from celosia.graphs.attacks.result import GraphAttack, candidate_sizes, classes, groups
from celosia.graphs.attacks.seedless import Seedless, seedless
from celosia.graphs.attacks.structural import (
    ByDegree,
    ByNeighbourhood,
    ByRefinement,
    degree,
    neighbourhood,
    refinement,
    refinement_classes,
)
from celosia.graphs.attacks.subgraph import BySubgraph, subgraph

__all__ = [
    "ATTACKS",
    "ActiveAttack",
    "AttackMethod",
    "AttackedGraph",
    "ByDegree",
    "ByHubs",
    "ByLinks",
    "ByNeighbourhood",
    "ByPercolation",
    "ByPlantedAccounts",
    "ByPropagation",
    "ByRefinement",
    "BySubgraph",
    "GraphAttack",
    "LinkAttack",
    "LinkPosterior",
    "Propagation",
    "Seedless",
    "accounts_needed",
    "active",
    "attack_from_text",
    "candidate_sizes",
    "classes",
    "degree",
    "fingerprints",
    "groups",
    "hub_fingerprint",
    "link_posterior",
    "link_prediction",
    "neighbourhood",
    "neighbourhood_classes",
    "percolation",
    "plant",
    "propagation",
    "recover",
    "refinement",
    "refinement_classes",
    "seedless",
    "simulated_posterior",
    "subgraph",
    "top_hubs",
]
