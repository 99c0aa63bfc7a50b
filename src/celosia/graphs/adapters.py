"""Graphs of other libraries, recognised by their interfaces and not by their types.

Nothing is imported here but what the caller has imported already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from celosia.core.errors import EngineError, InputError
from celosia.core.messages import Message
from celosia.graphs.formats.parsed_graph import GraphBuilder, ParsedGraph, table_of
from celosia.graphs.formats.rules import (
    Counts,
    DirectionRule,
    LoopRule,
    RepeatedEdgeRule,
    Rules,
    simplify,
)
from celosia.graphs.graph import Graph
from celosia.graphs.readers import ReadResult

_HERE = Path("the given graph")


def as_graph(
    given: Any,
    *,
    loops: LoopRule = "drop",
    repeated: RepeatedEdgeRule = "merge",
    directed: DirectionRule = "undirect",
) -> ReadResult:
    """A graph from another library's, with a report as that of `read`.

    Takes graphs of NetworkX and igraph, sparse matrices of SciPy, an array or a list of pairs of
    vertex numbers, and Polars frames whose first two columns are the ends of edges. Arrays, lists
    and frames say nothing of directions: see `read`, whose result is returned as it is.

    >>> print(as_graph([(0, 1), (1, 0), (2, 2)]))
    3 vertices, 1 edges from 3 records: 1 loops dropped, 1 repeated edges merged; vertices without \
an edge: 1

    Raises:
        InputError: CEL-G012 this is no graph that is known here; others as for `read`.
    """
    rules = Rules(loops=loops, repeated=repeated, directed=directed)
    if isinstance(given, ReadResult):
        return given
    if isinstance(given, Graph) and given.order and bool((np.diff(given.keys) > 0).all()):
        counts = Counts(records=given.size, loops=0, repeated=0, both_ways=0, one_way=0)
        return ReadResult(graph=given, counts=counts, rules=rules)  # it is simple and sorted
    parsed = _parse(given, arcs=directed == "mutual")
    graph, counts = simplify(parsed, rules)
    return ReadResult(graph=graph, counts=counts, rules=rules, ignored=parsed.ignored)


def _parse(given: Any, *, arcs: bool) -> ParsedGraph:
    if isinstance(given, Graph):
        parsed = _of_pairs(given.edges, arcs=False, order=given.order, edges=given.edge_attributes)
        names = parsed.names if given.labels is None else given.labels
        return replace(parsed, names=names, attributes=given.attributes)
    if hasattr(given, "nodes") and hasattr(given, "is_directed") and hasattr(given, "adj"):
        return _of_networkx(given)
    if hasattr(given, "get_edgelist") and hasattr(given, "vcount"):
        return _of_igraph(given)
    if hasattr(given, "tocoo") and hasattr(given, "shape"):
        return _of_sparse(given)
    if isinstance(given, pl.DataFrame):
        return _of_frame(given, arcs=arcs)
    if isinstance(given, np.ndarray | list | tuple):
        return _of_pairs(_numbers(given), arcs=arcs)
    raise InputError("CEL-G012.type")


def _of_networkx(given: Any) -> ParsedGraph:
    """Its vertices may be anything that has a name; edges of a multigraph are repeated edges."""
    builder = GraphBuilder(_HERE)
    names = {vertex: place for place, vertex in enumerate(given.nodes)}
    for place, (_, values) in enumerate(given.nodes(data=True), 1):
        builder.vertex(place - 1, _plain(values), -place)
    way = bool(given.is_directed())
    for place, (one, other, values) in enumerate(given.edges(data=True), 1):
        builder.edge(
            names[one],
            names[other],
            directed=way,
            values=_plain(values),
            line=-place,
        )
    builder.ignore(Message("graphs.ignored.graph_attributes"), len(getattr(given, "graph", {})))
    if given.is_multigraph():  # a number is which of several edges it is
        named = sum(isinstance(key, str) for _, _, key in given.edges(keys=True))
        builder.ignore(Message("graphs.ignored.edge_keys"), named)
    return replace(builder.finish(), names=_names(list(names)))


def _plain(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Attributes under names, NumPy's numbers as Python's."""
    return {
        str(key): value.item() if isinstance(value, np.generic) else value
        for key, value in values.items()
    }


def _of_igraph(given: Any) -> ParsedGraph:
    """By its documented interface: vcount, get_edgelist, is_directed, and attributes of vs, es."""
    ends = np.array(given.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    parsed = _of_pairs(ends, arcs=bool(given.is_directed()), order=int(given.vcount()))
    columns = {name: given.vs[name] for name in given.vs.attributes()}
    labels = columns.pop("name", None)
    return replace(
        parsed,
        names=parsed.names if labels is None else _names(list(labels)),
        attributes=_columns(columns, len(parsed.names)),
        edge_attributes=_columns(
            {name: given.es[name] for name in given.es.attributes()}, len(ends)
        ),
    )


def _of_sparse(given: Any) -> ParsedGraph:
    """A square matrix; entries other than 1 are weights. A symmetric one has no directions."""
    if len(given.shape) != 2 or given.shape[0] != given.shape[1]:
        raise InputError("CEL-G012.not_square")
    matrix = given.tocoo()
    there = matrix.data != 0
    ends = np.stack([matrix.coords[0][there], matrix.coords[1][there]], axis=1).astype(np.int64)
    weights = np.asarray(matrix.data[there])
    symmetric = (given != given.T).nnz == 0
    if symmetric:  # each edge stands there twice
        once = ends[:, 0] <= ends[:, 1]
        ends, weights = ends[once], weights[once]
    plain = bool((weights == 1).all())
    edges = None if plain else pl.DataFrame({"weight": weights})
    return _of_pairs(ends, arcs=not symmetric, order=int(given.shape[0]), edges=edges)


def _of_frame(frame: pl.DataFrame, *, arcs: bool) -> ParsedGraph:
    from celosia.frames.codes import encode

    if frame.width < 2:
        raise InputError("CEL-G012.too_few_columns")
    ends = [frame.to_series(place).alias("vertex") for place in range(2)]
    if ends[0].dtype != ends[1].dtype:
        both = all(each.dtype.is_integer() for each in ends)
        ends = [each.cast(pl.Int64 if both else pl.String) for each in ends]
    found = encode(pl.concat(ends))
    if found.missing:
        raise InputError("CEL-G012.missing_ends", ends=int((found.codes < 0).sum()))
    if found.values.dtype.is_integer() and len(found.values) and found.values[0] < 0:
        raise _negative()
    codes = found.codes.astype(np.int64).reshape(2, -1)
    rest = frame.select(frame.columns[2:])
    integer = found.values.dtype.is_integer()
    return ParsedGraph(
        names=found.values.cast(pl.Int64) if integer else found.values,
        sources=codes[0],
        targets=codes[1],
        directed=np.full(len(frame), arcs, dtype=np.bool_),
        edge_attributes=rest if rest.width else None,
    )


def _of_pairs(
    ends: Any, *, arcs: bool, order: int | None = None, edges: pl.DataFrame | None = None
) -> ParsedGraph:
    given = np.asarray(ends, dtype=np.int64)
    if given.min(initial=0) < 0:
        raise _negative()
    top = int(given.max(initial=-1)) + 1
    count = top if order is None else order
    names = np.arange(count) if count <= 4 * given.size + 1024 or order is not None else None
    if names is None:  # huge numbers, far apart
        names, places = np.unique(given, return_inverse=True)
        given = places.reshape(given.shape)
    return ParsedGraph(
        names=pl.Series("vertex", names),
        sources=given[:, 0].copy(),
        targets=given[:, 1].copy(),
        directed=np.full(len(given), arcs, dtype=np.bool_),
        edge_attributes=edges,
    )


def _numbers(given: Any) -> Any:
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu":
        return array
    if array.size == 0 and array.dtype != object:
        return np.empty((0, 2), dtype=np.int64)
    raise InputError("CEL-G012.no_pairs")


def _names(names: list[Any]) -> pl.Series:
    whole = all(isinstance(name, int | np.integer) for name in names)
    if whole and all(not isinstance(name, bool) and _in_64_bits(name) for name in names):
        return pl.Series("vertex", [int(name) for name in names], dtype=pl.Int64)
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        raise InputError("CEL-G012.same_name")
    return pl.Series("vertex", texts, dtype=pl.String)


def _in_64_bits(number: int) -> bool:
    return -(2**63) <= number < 2**63


def _columns(columns: dict[str, Any], count: int) -> pl.DataFrame | None:
    rows = [{name: column[row] for name, column in columns.items()} for row in range(count)]
    return table_of(rows) if columns else None


def _negative() -> InputError:
    return InputError("CEL-G004.negative")


def to_networkx(graph: Graph) -> Any:
    """The graph as a `networkx.Graph`, with names and attributes; needs NetworkX installed."""
    try:
        import networkx  # not a dependency
    except ImportError:
        raise EngineError("CEL-G015") from None
    names = list(range(graph.order)) if graph.labels is None else graph.labels.to_list()
    made = networkx.Graph()
    known = [{}] * graph.order if graph.attributes is None else graph.attributes.to_dicts()
    made.add_nodes_from(zip(names, known, strict=True))
    edges = [{}] * graph.size if graph.edge_attributes is None else graph.edge_attributes.to_dicts()
    made.add_edges_from(
        (names[one], names[other], values)
        for (one, other), values in zip(graph.edges.tolist(), edges, strict=True)
    )
    return made
