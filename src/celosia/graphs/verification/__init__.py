"""Checks of a published graph, written independently of the methods."""

from celosia.graphs.verification.automorphisms import (
    are_automorphisms,
    is_k_automorphic,
    is_k_isomorphic,
)
from celosia.graphs.verification.candidates import Candidates, candidate_sizes
from celosia.graphs.verification.containment import contains
from celosia.graphs.verification.degrees import degree_anonymity
from celosia.graphs.verification.neighbourhoods import (
    neighbourhood_anonymity,
    neighbourhood_classes,
)

__all__ = [
    "Candidates",
    "are_automorphisms",
    "candidate_sizes",
    "contains",
    "degree_anonymity",
    "is_k_automorphic",
    "is_k_isomorphic",
    "neighbourhood_anonymity",
    "neighbourhood_classes",
]
