"""Minimal nodes by definition, and two numbers that a lattice is introduced with."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.tables.models import Model
from celosia.tables.recoding.classic import _walk as lattice_nodes
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import allowance


def minimal_nodes(
    lattice: Lattice,
    models: Sequence[Model],
    *,
    suppression: float = 0.0,
    most_suppressed: int | None = None,
    progress: Progress = silent,
) -> tuple[Node, ...]:
    """The nodes that meet the models within the limit while none below them does.

    What is above a node that works is not minimal, whatever the model, and is skipped. So is what
    is below a node where more records than allowed must go however its classes are split. With
    k-anonymity these are all that are in too small a class, so that a node either works or settles
    everything below it; with other models fewer nodes can be skipped. At least one class must be
    kept.

    Args:
        lattice: the table.
        models: what every kept class must meet.
        suppression: share of the records that may be suppressed,
        most_suppressed: or their number (MaxSup); it takes the place of the share.
        progress: called after each node.

    Returns:
        The minimal nodes in ascending order; none if no node works.

    Raises:
        InputError: CEL-P011 and CEL-P053 a limit out of range, CEL-P051 a lattice too large to walk
            through.

    Reference: Samarati and Sweeney 1998.
    """
    lattice_nodes.check_size(lattice.nodes, lattice.shape)
    allowed = min(_most(lattice, suppression, most_suppressed), lattice.rows - 1)
    covered = np.zeros(lattice.shape, dtype=np.bool_)  # at or above a node that works
    ruled_out = np.zeros(lattice.shape, dtype=np.bool_)
    # Where to look first decides how many looks are saved: the middle settles most.
    middle = sum(lattice_nodes.top(lattice.shape)) // 2
    order = sorted(lattice_nodes.every(lattice.shape), key=lambda node: abs(sum(node) - middle))
    for done, node in enumerate(order, 1):
        if covered[node] or ruled_out[node]:
            continue
        outcome = lattice.evaluate(node, models)
        if outcome.suppressed <= allowed:
            covered[lattice_nodes.above(node)] = True
        elif outcome.must_go > allowed:
            ruled_out[lattice_nodes.below(node)] = True
        progress(Step(Message("tables.stage.minimal_nodes"), done, lattice.nodes))
    return tuple(
        node
        for node in (tuple(int(level) for level in place) for place in np.argwhere(covered))
        if not any(covered[lower] for lower in lattice_nodes.predecessors(node))
    )


def strategies(shape: Sequence[int]) -> int:
    """How many ways lead up a lattice one step at a time, from the raw table to the top.

    They are the orders of all steps, where steps of the same column cannot be swapped.

    Args:
        shape: levels of each column, the raw one included.

    Raises:
        InputError: CEL-P052 a column without levels.

    >>> strategies((2, 3))
    3
    """
    ways, steps = 1, 0
    for given in shape:
        levels = whole(given)
        if levels is None or levels < 1:
            raise InputError("CEL-P052.bad_shape", given=given)
        steps += levels - 1
        ways *= comb(steps, levels - 1)
    return ways


def largest_k(lattice: Lattice, node: Node) -> int:
    """The largest k that a node reaches with nothing suppressed: its smallest class.

    Raises:
        InputError: CEL-P052 not a node of the lattice.
    """
    lattice_nodes.check_node(node, lattice.shape)
    sizes = lattice.class_table(node).sizes
    return int(sizes[sizes > 0].min())  # a population has classes without a record of the table


def _most(lattice: Lattice, suppression: float, most_suppressed: int | None) -> int:
    if most_suppressed is None:
        return allowance(suppression, lattice.rows)
    most = whole(most_suppressed)
    if most is None or most < 0:
        raise InputError("CEL-P053", most_suppressed=most_suppressed)
    return most
