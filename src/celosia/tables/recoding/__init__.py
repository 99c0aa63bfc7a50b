"""Recoding: which generalisation of a table meets its models at the least loss."""

from celosia.tables.recoding.certificate import Certificate, SearchResult, allowance
from celosia.tables.recoding.greedy import descend
from celosia.tables.recoding.lattice import Lattice, Outcome
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import is_searchable, optimum

__all__ = [
    "Certificate",
    "Lattice",
    "Node",
    "Outcome",
    "SearchResult",
    "allowance",
    "descend",
    "is_searchable",
    "optimum",
]
