"""Attacks on published graphs: candidates of each person, and re-identified people.

Each compares what the attacker knows, from the original, with a release.
"""

from celosia.graphs.attacks.active import ActiveAttack, accounts_needed, active, plant, recover
from celosia.graphs.attacks.candidates import candidate_sizes, classes, groups
from celosia.graphs.attacks.hubs import fingerprints, hub_fingerprint, top_hubs
from celosia.graphs.attacks.isomorphism import neighbourhood_classes
from celosia.graphs.attacks.links import (
    LinkAttack,
    LinkPosterior,
    link_posterior,
    link_prediction,
    simulated_posterior,
)
from celosia.graphs.attacks.propagation import Propagation, propagation
from celosia.graphs.attacks.result import GraphAttack
from celosia.graphs.attacks.structural import (
    degree,
    neighbourhood,
    refinement,
    refinement_classes,
)
from celosia.graphs.attacks.subgraph import subgraph

__all__ = [
    "ActiveAttack",
    "GraphAttack",
    "LinkAttack",
    "LinkPosterior",
    "Propagation",
    "accounts_needed",
    "active",
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
    "plant",
    "propagation",
    "recover",
    "refinement",
    "refinement_classes",
    "simulated_posterior",
    "subgraph",
    "top_hubs",
]
