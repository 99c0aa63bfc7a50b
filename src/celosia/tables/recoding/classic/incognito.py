"""Incognito: settle small sets of columns first, and let them rule out nodes of larger ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.tables.models import KAnonymity
from celosia.tables.recoding.classic._walk import Walk, as_k_anonymity, check_size, top
from celosia.tables.recoding.classic.search_trace import LatticeTally, SearchTrace, Visit
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import allowance

Subset = tuple[int, ...]
"""Positions of some columns, in ascending order."""


def incognito(
    lattice: Lattice,
    k: int | KAnonymity,
    *,
    suppression: float = 0.0,
    progress: Progress = silent,
) -> SearchTrace:
    """Every node that is k-anonymous within the suppression limit.

    Three facts save looks. *Subset*: fewer columns make larger classes, so a node works only if it
    works on every subset of the columns; subsets are treated by size, and the candidates of one are
    joined from what survived on the subsets one smaller. *Generalisation*: what is above a node
    that works works too, and is marked without a look. *Roll-up*: the classes of a node are counted
    from classes below it, never from records again (the lattice does so for all algorithms).

    All three hold with suppression as well: a record in too small a class on some columns is in
    too small a class on more of them. `tallies` says for each subset how many nodes it has and how
    many were looked at.

    Raises:
        InputError: CEL-I060 and CEL-P011 a parameter out of range, CEL-P050 another model,
            CEL-P051 a lattice too large to walk through.
        PrivacyError: CEL-P001 the table has fewer than k records.

    Reference: LeFevre, DeWitt and Ramakrishnan 2005.
    """
    model = as_k_anonymity(k, "Incognito")
    allowed = allowance(suppression, lattice.rows)
    # Each column takes part at one of its levels or not at all, and some column must.
    most = prod(levels + 1 for levels in lattice.shape) - 1
    walk = Walk("Incognito", lattice, model, allowed, progress)
    check_size(most, lattice.shape)
    columns = range(len(lattice.shape))
    survivors: dict[Subset, set[Node]] = {(): {()}}
    tallies = []
    for size in range(1, len(columns) + 1):
        for subset in combinations(columns, size):
            before = len(walk.visits)
            survivors[subset] = _survivors(
                walk, subset, sorted(_joined(lattice, subset, survivors))
            )
            tallies.append(
                LatticeTally(
                    tuple(walk.columns[column] for column in subset),
                    prod(lattice.shape[column] for column in subset),
                    len(walk.visits) - before,
                )
            )
    found = survivors[tuple(columns)]
    return walk.trace(found, guarantee=Message("tables.trace.incognito"), tallies=tallies)


def _joined(lattice: Lattice, subset: Subset, survivors: dict[Subset, set[Node]]) -> Iterator[Node]:
    """The nodes of a subset of columns that survived on every subset one smaller."""
    *_, last = subset
    smaller = range(len(subset) - 1)
    for node in survivors[subset[:-1]]:
        for level in range(lattice.shape[last]):
            candidate = (*node, level)
            if all(
                _without(candidate, place) in survivors[_without(subset, place)]
                for place in smaller
            ):
                yield candidate


def _survivors(walk: Walk, subset: Subset, candidates: list[Node]) -> set[Node]:
    """The candidates that work, looked at from the lowest up."""
    names = tuple(walk.columns[column] for column in subset)
    among = Message("tables.trace.one_column")
    if len(subset) > 1:
        among = Message("tables.trace.survived", columns=len(subset) - 1)
    working: set[Node] = set()
    for node in sorted(candidates, key=sum):
        if node in working:
            continue
        suppressed = walk.suppressed(_embedded(walk.lattice, subset, node))
        works = suppressed <= walk.allowed
        if works:
            marked = {other for other in candidates if _generalises(other, node)} - working
            working |= marked
            others = len(marked) - 1
            decision = Message("tables.trace.mark_above", nodes=others)
        else:
            others = 0
            decision = Message("tables.trace.drop")
        walk.record(Visit(names, node, among, suppressed, works, decision, others))
    return working


def _embedded(lattice: Lattice, subset: Subset, node: Node) -> Node:
    """The node of the whole lattice with the same classes: a column at its root splits no class."""
    levels = list(top(lattice.shape))
    for column, level in zip(subset, node, strict=True):
        levels[column] = level
    return tuple(levels)


def _without(values: tuple[int, ...], place: int) -> tuple[int, ...]:
    return values[:place] + values[place + 1 :]


def _generalises(node: Node, other: Node) -> bool:
    return all(level >= lower for level, lower in zip(node, other, strict=True))
