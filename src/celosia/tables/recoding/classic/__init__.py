"""The classic algorithms for k-anonymity, as they are taught: each tells how it went.

Use `recoding.optimum` for a release. These are here to be read, compared and shown in class: each
returns a `Story` with what it found, every node that it looked at and what it made of it.
"""

from celosia.tables.recoding.classic.datafly import datafly
from celosia.tables.recoding.classic.incognito import incognito
from celosia.tables.recoding.classic.minimal import largest_k, minimal_nodes, strategies
from celosia.tables.recoding.classic.ola import ola
from celosia.tables.recoding.classic.samarati import samarati
from celosia.tables.recoding.classic.search_trace import Choice, Story, Tally, Visit

__all__ = [
    "Choice",
    "Story",
    "Tally",
    "Visit",
    "datafly",
    "incognito",
    "largest_k",
    "minimal_nodes",
    "ola",
    "samarati",
    "strategies",
]
