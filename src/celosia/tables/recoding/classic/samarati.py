"""Samarati's search: halve the heights of the lattice until the least one that works is found."""

from __future__ import annotations

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.tables.models import KAnonymity
from celosia.tables.recoding.classic._walk import (
    Walk,
    as_k_anonymity,
    bottom,
    check_size,
    of_height,
    top,
)
from celosia.tables.recoding.classic.search_trace import SearchTrace, Visit
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import allowance


def samarati(
    lattice: Lattice,
    k: int | KAnonymity,
    *,
    suppression: float = 0.0,
    progress: Progress = silent,
) -> SearchTrace:
    """All nodes of least height that are k-anonymous within the suppression limit.

    A step up merges classes, so a node above one that works works too: if some height has a node
    that works, so has every greater height. That is why halving the heights is exact.

    Raises:
        InputError: CEL-I060 and CEL-P011 a parameter out of range, CEL-P050 another model,
            CEL-P051 a lattice too large to walk through.
        PrivacyError: CEL-P001 the table has fewer than k records.

    Reference: Samarati 2001.
    """
    model = as_k_anonymity(k, "Samarati's search")
    allowed = allowance(suppression, lattice.rows)
    walk = Walk("Samarati", lattice, model, allowed, progress)
    check_size(lattice.nodes, lattice.shape)
    heights = _Heights(walk)
    low, high = 0, sum(top(lattice.shape))
    while low < high:
        middle = (low + high) // 2
        why = Message("tables.trace.open_heights", low=low, high=high)
        if heights.some_node_works(middle, why):
            high = middle
        else:
            low = middle + 1
    return walk.trace(heights.all_that_work(low), guarantee=Message("tables.trace.samarati"))


class _Heights:
    """The nodes of a lattice by height; each is looked at once."""

    def __init__(self, walk: Walk):
        self._walk = walk
        self._works: dict[Node, bool] = {}

    def some_node_works(self, height: int, why: str) -> bool:
        """Whether a height has a node that works: it is left at the first one."""
        nodes = self._of(height)
        for number, node in enumerate(nodes, 1):
            last = number == len(nodes)
            fails = "tables.trace.height_fails" if last else "tables.trace.next"
            if self._check(node, why, "tables.trace.height_works", fails):
                return True
        return False

    def all_that_work(self, height: int) -> list[Node]:
        """Every node of a height that works."""
        least = Message("tables.trace.least_height", height=height)
        works, fails = "tables.trace.answer", "tables.trace.no_answer"
        return [node for node in self._of(height) if self._check(node, least, works, fails)]

    def _of(self, height: int) -> list[Node]:
        shape = self._walk.lattice.shape
        return list(of_height(height, bottom(shape), top(shape)))

    def _check(self, node: Node, why: str, works: str, fails: str) -> bool:
        if node not in self._works:
            walk = self._walk
            suppressed = walk.suppressed(node)
            holds = self._works[node] = suppressed <= walk.allowed
            key = works if holds else fails
            decision = Message(key, allowed=walk.allowed, height=sum(node))
            walk.record(Visit(walk.columns, node, why, suppressed, holds, decision))
        return self._works[node]
