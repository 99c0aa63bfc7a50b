"""Rules that turn the records of a file into a simple graph, with counts of their use."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.graphs.formats.parsed_graph import ParsedGraph
from celosia.graphs.graph import Graph

LoopRule = Literal["drop", "refuse"]
RepeatedEdgeRule = Literal["merge", "refuse"]
DirectionRule = Literal["undirect", "mutual", "refuse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What becomes of records that a simple undirected graph has no place for."""

    loops: LoopRule = "drop"
    """An edge from a vertex to itself."""
    repeated: RepeatedEdgeRule = "merge"
    """The same edge again: one remains, with the attributes of its first record."""
    directed: DirectionRule = "undirect"
    """Edges with a direction: `undirect` forgets it, `mutual` keeps pairs that point both ways."""

    def __post_init__(self) -> None:
        allowed = {"loops": LoopRule, "repeated": RepeatedEdgeRule, "directed": DirectionRule}
        for each in fields(self):
            value = getattr(self, each.name)
            if value not in get_args(allowed[each.name]):
                raise InputError(
                    "CEL-G002.unknown_rule",
                    rule=each.name,
                    value=value,
                    allowed=get_args(allowed[each.name]),
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How often each rule was used."""

    records: int
    """Edges in the file."""
    loops: int
    repeated: int
    both_ways: int
    """Pairs that point both ways, each now one edge."""
    one_way: int
    """Pairs that point one way only: now edges, or dropped by the rule `mutual`."""
    differing: int = 0
    """Merged records with other edge attributes than the record that was kept."""


def simplify(parsed: ParsedGraph, rules: Rules) -> tuple[Graph, Counts]:
    """A simple undirected graph, and what was done to get there.

    Raises:
        InputError: CEL-G006, G007, G008 a rule refuses what is there; CEL-G009 no vertex at all.
    """
    order = len(parsed.names)
    if not order:
        raise InputError("CEL-G009.no_vertex")
    _refuse(rules.directed == "refuse", "CEL-G008", parsed.directed)
    loop = parsed.sources == parsed.targets
    _refuse(rules.loops == "refuse", "CEL-G006", loop)
    keep = np.flatnonzero(~loop) if loop.any() else None
    sources, targets, directed = (
        each if keep is None else each[keep]
        for each in (parsed.sources, parsed.targets, parsed.directed)
    )
    low, high = np.minimum(sources, targets), np.maximum(sources, targets)
    pairs = low * order + high  # below 2**62: no overflow
    arcs = np.where(directed, sources * order + targets, pairs) if directed.any() else pairs
    wanted = parsed.edge_attributes is not None or bool(directed.any())
    sorted_arcs, places = _firsts(arcs, places=wanted)
    repeated = len(arcs) - len(sorted_arcs)
    _refuse(rules.repeated == "refuse", "CEL-G007", np.arange(repeated) >= 0)
    both = one_way = 0
    keys = sorted_arcs
    if places is not None and directed.any():
        places = np.sort(places)
        keys, chosen = _firsts(pairs[places], places=True)
        assert chosen is not None
        twice = np.bincount(np.searchsorted(keys, pairs[places]), minlength=len(keys)) > 1
        plain = np.zeros(len(keys), dtype=np.bool_)  # an edge without a direction is both ways
        plain[np.searchsorted(keys, pairs[~directed])] = True
        single = ~twice & ~plain
        both, one_way = int(twice.sum()), int(single.sum())
        chosen = chosen[~single] if rules.directed == "mutual" else chosen
        keys = keys[~single] if rules.directed == "mutual" else keys
        places = places[chosen]
    graph = Graph.from_keys(
        keys, order=order, labels=_labels(parsed.names), attributes=parsed.attributes
    )
    differing = 0
    if parsed.edge_attributes is not None and places is not None:
        table = parsed.edge_attributes if keep is None else parsed.edge_attributes[keep]
        graph = replace(graph, edge_attributes=table[places])
        differing = _differing(table, pairs, keys, places)
    counts = Counts(
        records=len(loop),
        loops=int(loop.sum()),
        repeated=repeated,
        both_ways=both,
        one_way=one_way,
        differing=differing,
    )
    return graph, counts


def _differing(
    table: pl.DataFrame,
    pairs: NDArray[np.int64],
    keys: NDArray[np.int64],
    places: NDArray[np.int64],
) -> int:
    """How many merged records have other attributes than the record of their edge in `places`."""
    merged = np.ones(len(pairs), dtype=np.bool_)
    merged[places] = False
    others = np.flatnonzero(merged)
    if not others.size or not keys.size:
        return 0
    edge = np.minimum(np.searchsorted(keys, pairs[others]), len(keys) - 1)
    there = keys[edge] == pairs[others]  # the rule `mutual` drops some edges
    mine, kept = table[others[there]], table[places[edge[there]]]
    unlike = np.zeros(len(mine), dtype=np.bool_)
    for one, other in zip(mine.iter_columns(), kept.iter_columns(), strict=True):
        unlike |= one.ne_missing(other).to_numpy()
    return int(unlike.sum())


def _firsts(
    keys: NDArray[np.int64], *, places: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """The distinct keys, sorted, and where each comes first."""
    order = np.argsort(keys, kind="stable") if places else None
    ranked = np.sort(keys) if order is None else keys[order]
    first = np.ones(len(ranked), dtype=np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=first[1:])
    return ranked[first], None if order is None else order[first]


def _labels(names: pl.Series) -> pl.Series | None:
    """The names, unless they are the numbers that the vertices have anyway."""
    if names.dtype == pl.Int64 and np.array_equal(names.to_numpy(), np.arange(len(names))):
        return None
    return names


def _refuse(asked: bool, code: str, found: NDArray[np.bool_]) -> None:
    if asked and found.any():
        raise InputError(code, count=int(found.sum()))
