"""Random perturbation of edges: fast, for graphs of any size, without a formal guarantee."""

from celosia.graphs.perturbation.deletion import RandomPerturbation, RandomSparsification
from celosia.graphs.perturbation.exchange import (
    RandomAddDelete,
    RandomSwitch,
    SpectralAddDelete,
    SpectralSwitch,
)
from celosia.graphs.perturbation.relevance import Relevance, neighbourhood_centrality

__all__ = [
    "RandomAddDelete",
    "RandomPerturbation",
    "RandomSparsification",
    "RandomSwitch",
    "Relevance",
    "SpectralAddDelete",
    "SpectralSwitch",
    "neighbourhood_centrality",
]
