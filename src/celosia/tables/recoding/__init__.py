"""Recoding: which generalisation of a table meets its models at the least loss.

A `Lattice` has the equivalence classes of each node. `find_optimum` proves the node of least loss,
`anytime_search` finds a good one in a lattice that is too large, `mondrian` partitions the table in
many dimensions, and `classic` has the algorithms of the literature.
"""

from celosia.tables.recoding.anytime import anytime_search
from celosia.tables.recoding.lattice import Lattice, Outcome
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import (
    Certificate,
    SearchResult,
    allowance,
    find_optimum,
    is_searchable,
)

__all__ = [
    "Certificate",
    "Lattice",
    "Node",
    "Outcome",
    "SearchResult",
    "allowance",
    "anytime_search",
    "find_optimum",
    "is_searchable",
]
