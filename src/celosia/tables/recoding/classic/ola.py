"""Optimal Lattice Anonymisation: halve stretches of the lattice, and tag what each look settles."""

from __future__ import annotations

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.tables.models import KAnonymity
from celosia.tables.recoding.classic import _walk as lattice_nodes
from celosia.tables.recoding.classic._walk import Walk, as_k_anonymity
from celosia.tables.recoding.classic.search_trace import SearchTrace, Visit
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import allowance

OPEN, WORKS, FAILS = 0, 1, 2


def ola(
    lattice: Lattice,
    k: int | KAnonymity,
    *,
    suppression: float = 0.0,
    progress: Progress = silent,
) -> SearchTrace:
    """All k-minimal nodes, the one of least loss first.

    Each stretch between a node and one above it is cut at half its height. A node there that works
    tags all above it, and the search goes on below; one that fails tags all below it, and the
    search goes on above. Every way up the lattice (generalisation strategy) is halved so, and ends
    at its own lowest node that works.

    Least loss among minimal nodes is least loss of all only if going up never lowers the loss. That
    holds with no suppression; a suppressed record is a loss as well, and going up saves some.

    Raises:
        InputError: CEL-I060 and CEL-P011 a parameter out of range, CEL-P050 another model,
            CEL-P051 a lattice too large to walk through.
        PrivacyError: CEL-P001 the table has fewer than k records.

    Reference: El Emam et al. 2009.
    """
    model = as_k_anonymity(k, "OLA")
    allowed = allowance(suppression, lattice.rows)
    walk = Walk("OLA", lattice, model, allowed, progress)
    lattice_nodes.check_size(lattice.nodes, lattice.shape)
    tags = _Tags(walk)
    top = lattice_nodes.top(lattice.shape)
    tags.check(top, Message("tables.trace.top"))
    _halve(tags, lattice_nodes.bottom(lattice.shape), top)
    return walk.trace(tags.lowest(), guarantee=Message("tables.trace.ola"))


class _Tags:
    """What is known of each node, looked at or not."""

    def __init__(self, walk: Walk):
        self._walk = walk
        self._known = np.full(walk.lattice.shape, OPEN, dtype=np.int8)

    def any_open(self, low: Node, high: Node) -> bool:
        """Whether a stretch has a node of which nothing is known."""
        return bool((self._known[lattice_nodes.between(low, high)] == OPEN).any())

    def check(self, node: Node, why: str) -> bool:
        """Whether a node works, from its tag if it has one."""
        if self._known[node] == OPEN:
            walk = self._walk
            suppressed = walk.suppressed(node)
            works = suppressed <= walk.allowed
            if works:
                others = self._tag(lattice_nodes.above(node), WORKS)
                decision = Message("tables.trace.tag_above", nodes=others)
            else:
                others = self._tag(lattice_nodes.below(node), FAILS)
                decision = Message("tables.trace.tag_below", nodes=others)
            walk.record(Visit(walk.columns, node, why, suppressed, works, decision, others))
        return bool(self._known[node] == WORKS)

    def lowest(self) -> list[Node]:
        """The nodes that work and have none below them that does; every node has its tag now."""
        working = (
            tuple(int(level) for level in node) for node in np.argwhere(self._known == WORKS)
        )
        return [
            node
            for node in working
            if all(self._known[lower] == FAILS for lower in lattice_nodes.predecessors(node))
        ]

    def _tag(self, region: lattice_nodes.Region, tag: int) -> int:
        """Tag the open nodes of a region; how many, the node looked at apart."""
        part = self._known[region]
        still_open = part == OPEN
        part[still_open] = tag
        return int(still_open.sum()) - 1


def _halve(tags: _Tags, low: Node, high: Node) -> None:
    """Settle every node from `low` to `high`, where `high` is known to work.

    A node in the lower half has one of the middle height above it. If that works, the node is
    settled on the way down from there; if not, the node has been tagged with it. The same holds
    upwards, so nothing stays open.
    """
    if not tags.any_open(low, high):
        return
    height = sum(high) - sum(low)
    if height <= 1:
        tags.check(low, Message("tables.trace.last_step", high=high))
        return
    why = Message("tables.trace.half_way", low=low, high=high)
    for node in lattice_nodes.of_height(sum(low) + height // 2, low, high):
        if tags.check(node, why):
            _halve(tags, low, node)
        else:
            _halve(tags, node, high)
