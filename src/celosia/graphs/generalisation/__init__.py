"""Generalisation: groups of vertices, published with the numbers of their edges."""

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.graphs.generalisation.attributes import Attributes, code_attributes
    from celosia.graphs.generalisation.clustering import SaNGreeA, greedy_blocks
    from celosia.graphs.generalisation.graph import (
        GeneralisedGraph,
        read_generalised,
        write_generalised,
    )
    from celosia.graphs.generalisation.partition import (
        StructuralLoss,
        blocks,
        count_worlds,
        log2_worlds,
        members,
        structural_loss,
        summarise,
    )
    from celosia.graphs.generalisation.partition_search import PartitionSearch, anneal_partition
    from celosia.graphs.generalisation.verification import agrees, violations

__all__ = [
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

__getattr__, __dir__ = on_first_use(__name__)
