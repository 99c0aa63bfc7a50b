"""Nodes of a lattice: those of a height, and those below or above a node."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from celosia.core.errors import InputError
from celosia.tables.recoding.roll_up import Node

MOST_NODES, MOST_COLUMNS = 100_000, 32
"""A trace with more nodes is too long to read; the exact search takes far more."""

Region = tuple[slice, ...]
"""Part of an array that has one place for each node."""


def bottom(shape: Node) -> Node:
    """The raw table."""
    return (0,) * len(shape)


def top(shape: Node) -> Node:
    """Every column at its root."""
    return tuple(levels - 1 for levels in shape)


def every(shape: Node) -> Iterator[Node]:
    """All nodes, later columns first."""
    return product(*(range(levels) for levels in shape))


def of_height(height: int, low: Node, high: Node) -> Iterator[Node]:
    """The nodes from `low` to `high` that are `height` steps above the raw table.

    >>> list(of_height(2, (0, 0), (1, 2)))
    [(0, 2), (1, 1)]
    """
    if not low:
        if height == 0:
            yield ()
        return
    least, most = sum(low[1:]), sum(high[1:])
    # The columns after the first one must be able to make up the rest.
    for level in range(max(low[0], height - most), min(high[0], height - least) + 1):
        for rest in of_height(height - level, low[1:], high[1:]):
            yield (level, *rest)


def between(low: Node, high: Node) -> Region:
    """All nodes that generalise one and are generalised by the other."""
    return tuple(slice(lo, hi + 1) for lo, hi in zip(low, high, strict=True))


def below(node: Node) -> Region:
    """The node and all that it generalises."""
    return tuple(slice(0, level + 1) for level in node)


def above(node: Node) -> Region:
    """The node and all that generalise it."""
    return tuple(slice(level, None) for level in node)


def predecessors(node: Node) -> Iterator[Node]:
    """The nodes one step below."""
    for column, level in enumerate(node):
        if level > 0:
            yield (*node[:column], level - 1, *node[column + 1 :])


def check_size(nodes: int, shape: Node) -> None:
    """Refuse what would take too long to enumerate.

    Raises:
        InputError: CEL-P051 too many nodes or columns.
    """
    if nodes > MOST_NODES or len(shape) > MOST_COLUMNS:
        raise InputError(
            "CEL-P051",
            columns=len(shape),
            most_nodes=MOST_NODES,
            most_columns=MOST_COLUMNS,
            nodes=nodes,
        )


def check_node(node: Node, shape: Node) -> None:
    """Refuse what is no node of the lattice.

    Raises:
        InputError: CEL-P052.
    """
    if len(node) != len(shape) or not all(
        0 <= level < levels for level, levels in zip(node, shape, strict=True)
    ):
        raise InputError("CEL-P052.not_a_node", node=node, columns=len(shape), top=top(shape))
