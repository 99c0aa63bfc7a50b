"""Samarati's search: halve the heights of the lattice until the least one that works is found."""

from __future__ import annotations

from celosia.core.progress import Progress, silent
from celosia.tables.models import KAnonymity
from celosia.tables.recoding.certificate import allowance
from celosia.tables.recoding.classic._nodes import bottom, check_size, of_height, top
from celosia.tables.recoding.classic._walk import Walk, as_k_anonymity
from celosia.tables.recoding.classic.search_trace import SearchTrace, Visit
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node

GUARANTEE = (
    "All k-anonymous nodes of least height; no node with fewer generalisation steps is "
    "k-anonymous within the limit. Fewest steps is not least loss, and a minimal node may be "
    "higher up."
)


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
        if heights.some_node_works(middle, f"heights {low} to {high} are open"):
            high = middle
        else:
            low = middle + 1
    return walk.trace(heights.all_that_work(low), guarantee=GUARANTEE)


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
            fails = f"no node of height {height} works, go higher" if last else "try the next"
            if self._check(node, why, f"height {height} works, try lower", fails):
                return True
        return False

    def all_that_work(self, height: int) -> list[Node]:
        """Every node of a height that works."""
        least = f"of the least height, {height}"
        return [
            node for node in self._of(height) if self._check(node, least, "an answer", "no answer")
        ]

    def _of(self, height: int) -> list[Node]:
        shape = self._walk.lattice.shape
        return list(of_height(height, bottom(shape), top(shape)))

    def _check(self, node: Node, why: str, works: str, fails: str) -> bool:
        if node not in self._works:
            walk = self._walk
            suppressed = walk.suppressed(node)
            holds = self._works[node] = suppressed <= walk.allowed
            decision = f"at most {walk.allowed}: {works}" if holds else f"too many: {fails}"
            walk.record(Visit(walk.columns, node, why, suppressed, holds, decision))
        return self._works[node]
