"""Datafly: generalise the column with most values until few enough records stand out."""

from __future__ import annotations

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.tables.models import KAnonymity
from celosia.tables.recoding.classic._walk import Walk, as_k_anonymity, bottom
from celosia.tables.recoding.classic.search_trace import SearchTrace, Visit
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import allowance


def datafly(
    lattice: Lattice,
    k: int | KAnonymity,
    *,
    suppression: float | None = None,
    progress: Progress = silent,
) -> SearchTrace:
    """The node that Sweeney's greedy rule ends at.

    While more records than allowed are in classes smaller than k, the column with the most distinct
    values goes up one level (the first of them if several have as many); then what is left of small
    classes is suppressed. At least one class is always kept.

    Args:
        lattice: the table.
        k: records that every class must have.
        suppression: share of the records that may be suppressed; without it, k records, as in the
            original.
        progress: called after each look.

    Raises:
        InputError: CEL-I060 and CEL-P011 a parameter out of range, CEL-P050 another model.
        PrivacyError: CEL-P001 the table has fewer than k records.

    Reference: Sweeney 1997; Sweeney 2002, section 4.
    """
    model = as_k_anonymity(k, "Datafly")
    allowed = model.k if suppression is None else allowance(suppression, lattice.rows)
    walk = Walk("Datafly", lattice, model, allowed, progress)
    node, why = bottom(lattice.shape), Message("tables.trace.raw_table")
    while (suppressed := walk.suppressed(node)) > walk.allowed:
        column, values = _most_varied(lattice, node)
        name = walk.columns[column]
        decision = Message(
            "tables.trace.generalise", allowed=walk.allowed, column=name, values=values
        )
        walk.record(Visit(walk.columns, node, why, suppressed, False, decision))
        why = Message("tables.trace.went_up", column=name)
        node = (*node[:column], node[column] + 1, *node[column + 1 :])
    decision = Message("tables.trace.stop", allowed=walk.allowed)
    walk.record(Visit(walk.columns, node, why, suppressed, True, decision))
    return walk.trace([node], guarantee=Message("tables.trace.datafly"))


def _most_varied(lattice: Lattice, node: Node) -> tuple[int, int]:
    """The column with most values at a node among those below their root, and how many.

    There is one at every node that fails: at the top all records are one class.
    """
    values = [
        np.unique(column.hierarchy.nodes[level][column.leaf_of_row]).size
        if level < column.hierarchy.height
        else 0
        for column, level in zip(lattice.columns, node, strict=True)
    ]
    most = max(values)
    return values.index(most), most
