"""Random perturbation of edges: fast, for graphs of any size, without a formal guarantee."""

from celosia.graphs.perturbation.deletion import RandomPerturbation, RandomSparsification
from celosia.graphs.perturbation.random_exchange import RandomAddDelete, RandomSwitch
from celosia.graphs.perturbation.relevance import Relevance, neighbourhood_centrality
from celosia.graphs.perturbation.spectral_exchange import SpectralAddDelete, SpectralSwitch

METHODS = (
    RandomAddDelete,
    RandomSwitch,
    RandomPerturbation,
    RandomSparsification,
    SpectralAddDelete,
    SpectralSwitch,
    Relevance,
)
"""The methods of this folder."""

__all__ = [
    "METHODS",
    "RandomAddDelete",
    "RandomPerturbation",
    "RandomSparsification",
    "RandomSwitch",
    "Relevance",
    "SpectralAddDelete",
    "SpectralSwitch",
    "neighbourhood_centrality",
]
