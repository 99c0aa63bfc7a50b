"""The graph of a shop, as the WatDiv test suite has it, for SPARQL; with queries and policies."""

from celosia.datasets.watdiv.graph import ShopGraph, watdiv
from celosia.datasets.watdiv.policies import policy
from celosia.datasets.watdiv.queries import QUERIES, Query

__all__ = ["QUERIES", "Query", "ShopGraph", "policy", "watdiv"]
