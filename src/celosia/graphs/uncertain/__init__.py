"""Uncertain graphs: a probability for each edge, so that a known degree fits k vertices."""

from celosia.graphs.uncertain.entropy import (
    Obfuscation,
    degree_distribution,
    degree_distributions,
    obfuscation,
    recounted_failures,
)
from celosia.graphs.uncertain.graph import UncertainGraph, read_uncertain, write_uncertain
from celosia.graphs.uncertain.method import KObfuscation
from celosia.graphs.uncertain.statistics import (
    ExpectedStatistics,
    SampledMean,
    expected_statistics,
    sampled_statistics,
)

__all__ = [
    "ExpectedStatistics",
    "KObfuscation",
    "Obfuscation",
    "SampledMean",
    "UncertainGraph",
    "degree_distribution",
    "degree_distributions",
    "expected_statistics",
    "obfuscation",
    "read_uncertain",
    "recounted_failures",
    "sampled_statistics",
    "write_uncertain",
]
