"""The classic algorithms for k-anonymity, as they are taught: each returns a trace of its search.

Use `recoding.find_optimum` for a release. These are here to be read, compared and shown in class:
each returns a `SearchTrace` with its solutions and every node that it visited.
"""

from celosia.tables.recoding.classic.datafly import datafly
from celosia.tables.recoding.classic.incognito import incognito
from celosia.tables.recoding.classic.minimal import largest_k, minimal_nodes, strategies
from celosia.tables.recoding.classic.ola import ola
from celosia.tables.recoding.classic.samarati import samarati
from celosia.tables.recoding.classic.search_trace import (
    LatticeTally,
    NodeSolution,
    SearchTrace,
    Visit,
)

__all__ = [
    "LatticeTally",
    "NodeSolution",
    "SearchTrace",
    "Visit",
    "datafly",
    "incognito",
    "largest_k",
    "minimal_nodes",
    "ola",
    "samarati",
    "strategies",
]
