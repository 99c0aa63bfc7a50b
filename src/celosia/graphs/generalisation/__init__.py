"""Generalisation: groups of vertices, published with the numbers of their edges."""

from celosia.graphs.generalisation.attributes import Attributes, code_attributes
from celosia.graphs.generalisation.clustering import SaNGreeA, greedy_blocks
from celosia.graphs.generalisation.files import read_generalised, write_generalised
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.generalisation.losses import (
    StructuralLoss,
    count_worlds,
    log2_worlds,
    structural_loss,
)
from celosia.graphs.generalisation.partition import blocks, members, summarise
from celosia.graphs.generalisation.partition_search import PartitionSearch, anneal_partition
from celosia.graphs.generalisation.verification import agrees, violations

METHODS = (SaNGreeA, PartitionSearch)
"""The methods of this folder."""

__all__ = [
    "METHODS",
    "Attributes",
    "GeneralisedGraph",
    "PartitionSearch",
    "SaNGreeA",
    "StructuralLoss",
    "agrees",
    "anneal_partition",
    "blocks",
    "code_attributes",
    "count_worlds",
    "greedy_blocks",
    "log2_worlds",
    "members",
    "read_generalised",
    "structural_loss",
    "summarise",
    "violations",
    "write_generalised",
]
