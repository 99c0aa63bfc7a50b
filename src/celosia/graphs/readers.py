"""Graphs from files and from other libraries, with stated rules and a count of their use.

Objects of other libraries are recognised by their interfaces and not by their types: nothing is
imported here but what the caller has imported already.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, Unpack, cast, get_args

import numpy as np
import polars as pl

from celosia.core.errors import EngineError, InputError
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step, silent
from celosia.frames.codes import encode
from celosia.frames.formats import check_readable, open_bytes, unreadable
from celosia.frames.readers import read as read_table
from celosia.graphs.formats import parsed_graph
from celosia.graphs.formats.edge_list import read_edge_list
from celosia.graphs.formats.gexf import read_gexf
from celosia.graphs.formats.gml import read_gml
from celosia.graphs.formats.graphml import read_graphml
from celosia.graphs.formats.konect import read_konect
from celosia.graphs.formats.matrix_market import read_matrix_market
from celosia.graphs.formats.metis import read_metis
from celosia.graphs.formats.node_link import read_node_link
from celosia.graphs.formats.pajek import read_pajek
from celosia.graphs.graph import Graph
from celosia.graphs.networks.method import refusal
from celosia.graphs.networks.network import Network
from celosia.graphs.networks.parsed_network import apart, network_of

Format = Literal[
    "edges", "csv", "tsv", "graphml", "gml", "pajek", "json", "metis", "mtx", "gexf", "konect"
]
"""The kinds of file: `edges` is an edge list separated by spaces, `mtx` MatrixMarket."""

SUFFIXES: dict[str, Format] = {
    ".edges": "edges",
    ".edgelist": "edges",
    ".txt": "edges",
    ".csv": "csv",
    ".tsv": "tsv",
    ".graphml": "graphml",
    ".xml": "graphml",
    ".gml": "gml",
    ".net": "pajek",
    ".json": "json",
    ".graph": "metis",
    ".metis": "metis",
    ".mtx": "mtx",
    ".gexf": "gexf",
    ".konect": "konect",
}
"""What each ending of a file name means; `.gz` may follow."""

_PARSERS = {
    "graphml": read_graphml,
    "gml": read_gml,
    "pajek": read_pajek,
    "json": read_node_link,
    "metis": read_metis,
    "mtx": read_matrix_market,
    "gexf": read_gexf,
    "konect": read_konect,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadResult:
    """A simple graph, and a report of what its reading changed."""

    content: Graph | Network
    """A simple graph; or a network, where the rules keep directions, weights, sides or times."""
    counts: parsed_graph.Counts
    rules: parsed_graph.Rules
    ignored: tuple[str, ...] = ()
    """What a graph cannot hold, in words, with counts."""
    columns: tuple[str, ...] = ()
    """The columns of an edge list whose first line was taken for their names."""

    @property
    def graph(self) -> Graph:
        """The simple graph.

        Raises:
            InputError: CEL-G035 it is a network: what was asked of it takes simple graphs only.
        """
        if isinstance(self.content, Network):
            raise refusal(say("graphs.reading.asked"), self.content.kinds)
        return self.content

    @property
    def edge_attributes(self) -> tuple[str, ...]:
        """The names of what is known of the edges, such as a weight or a time, and is not kept."""
        if isinstance(self.content, Network):
            return self.content.unprotected
        return self.content.edge_attribute_names

    @property
    def isolated(self) -> int:
        """How many vertices have no edge."""
        return self.simple.isolated

    @property
    def simple(self) -> Graph:
        """The simple graph, or that below a network: who is joined with whom."""
        return self.content.simple if isinstance(self.content, Network) else self.content

    @property
    def changed(self) -> bool:
        """Whether some record became no edge of its own, lost its direction, or was ignored."""
        counts = self.counts
        used = counts.loops, counts.repeated, counts.both_ways, counts.one_way
        return any(used) or bool(self.ignored)

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values, without the graph."""
        return {
            "vertices": self.content.order,
            "edges": self.content.size,
            "isolated": self.isolated,
            "kinds": list(self.content.kinds) if isinstance(self.content, Network) else [],
            "columns": list(self.columns),
            "edge_attributes": list(self.edge_attributes),
            **self.counts.as_dict(),
            "rules": asdict(self.rules),
            "ignored": list(self.ignored),
        }

    def __str__(self) -> str:
        counts = self.counts
        dropped = self.rules.directed == "mutual"
        one_way = "graphs.reading.one_way_dropped" if dropped else "graphs.reading.undirected"
        changes = [
            say(key, count=count)
            for count, key in (
                (counts.loops, "graphs.reading.loops"),
                (counts.repeated, "graphs.reading.repeated"),
                (counts.both_ways, "graphs.reading.mutual"),
                (counts.one_way, one_way),
            )
            if count
        ]
        changes = changes or [say("graphs.reading.unchanged")]
        parts = [
            say(
                "graphs.reading.records",
                graph=str(self.content),
                records=counts.records,
                changes=changes,
            )
        ]
        if counts.differing:
            parts.append(say("graphs.reading.differing", count=counts.differing))
        if self.isolated:
            parts.append(say("graphs.reading.isolated", count=self.isolated))
        if self.columns:
            parts.append(say("graphs.reading.columns", names=self.columns))
        if self.edge_attributes:
            parts.append(say("graphs.reading.edge_attributes", names=self.edge_attributes))
        if self.ignored:
            parts.append(say("graphs.reading.ignored", what=self.ignored))
        return "; ".join(parts)


def read(
    path: str | Path,
    *,
    format: Format | None = None,
    loops: parsed_graph.LoopRule = "drop",
    repeated: parsed_graph.RepeatedEdgeRule = "merge",
    directed: parsed_graph.DirectionRule = "undirect",
    weight: str | None = None,
    time: str | None = None,
    snapshots: int | None = None,
    bipartite: bool = False,
    vertices: str | Path | None = None,
    header: bool | None = None,
    ends: Sequence[str | int] | None = None,
    progress: Progress = silent,
) -> ReadResult:
    """A graph from a file, gzip included, with a report of what its rules did.

    An edge list says nothing of directions: its lines are edges, but arcs under
    `directed="mutual"`, which keeps the pairs that are there both ways, and under
    `directed="keep"`. With `directed="keep"`, a weight, a time or two sides the content is a
    `Network`, else a `Graph`.

    Args:
        path: the file; its ending says the format where `format` does not.
        format: `edges`, `csv`, `tsv`, `graphml`, `gml`, `pajek`, `json`, `metis`, `mtx`
            (MatrixMarket), `gexf` or `konect`.
        loops: what becomes of an edge from a vertex to itself.
        repeated: what becomes of an edge that comes again.
        directed: what becomes of directions.
        weight: the edge attribute that is a weight and is kept.
        time: the edge attribute that is a time and is kept, as a number of a snapshot.
        snapshots: how many snapshots of equal length the times are cut into; 4 if not given.
        bipartite: keep two sides: those of the first and of the second column of an edge list,
            whose names are then told apart; in other formats, found from the edges.
        vertices: for edge lists, a table whose first column names every vertex; the others are
            attributes.
        header: whether the first line of an edge list names its columns; guessed if not given.
        ends: the two columns of an edge list that hold the vertices of an edge, by name or by
            number from 1; if not given, those that are called so, or the first two.
        progress: called when a stage begins.

    Raises:
        InputError: CEL-G002 to G011, with the line of the fault.
    """
    file = Path(path)
    rules = parsed_graph.Rules(
        loops=loops,
        repeated=repeated,
        directed=directed,
        weight=weight,
        time=time,
        snapshots=snapshots,
        bipartite=bipartite,
    )
    parsed = parse_file(
        file,
        format=format,
        arcs=directed in ("mutual", "keep"),
        bipartite=bipartite,
        vertices=vertices,
        header=header,
        ends=ends,
        progress=progress,
    )
    progress(Step(Message("graphs.stage.sort"), 0, None))
    return by_rules(parsed, rules)


def by_rules(parsed: parsed_graph.ParsedGraph, rules: parsed_graph.Rules) -> ReadResult:
    """The graph of parsed records, with a report of what the rules did."""
    content, counts = content_of(parsed, rules)
    return ReadResult(
        content=content,
        counts=counts,
        rules=rules,
        ignored=parsed.ignored,
        columns=parsed.columns,
    )


def parse_file(
    file: Path,
    *,
    format: Format | None = None,
    arcs: bool = False,
    bipartite: bool = False,
    vertices: str | Path | None = None,
    header: bool | None = None,
    ends: Sequence[str | int] | None = None,
    progress: Progress = silent,
) -> parsed_graph.ParsedGraph:
    """The records of a file, before any rule; arguments as those of `read`."""
    kind = format_of(file, format)
    check_readable(file)
    progress(Step(Message("graphs.stage.read"), 0, None))
    try:
        with open_bytes(file) as stream:
            data = stream.read()
    except (OSError, EOFError, zlib.error):
        raise unreadable("CEL-F014.damaged", file) from None
    progress(Step(Message("graphs.stage.find"), 0, None))
    if kind in _PARSERS:
        parsed = _PARSERS[kind](data, file)
        if vertices is not None:
            raise InputError("CEL-G002.vertices_beside", kind=kind)
        if ends is not None:
            raise InputError("CEL-G002.ends_beside", kind=kind)
    else:
        parsed = read_edge_list(data, file, header=header, ends=ends, arcs=arcs)
        parsed = parsed if not bipartite else apart(parsed)
        parsed = parsed if vertices is None else _with_vertices(parsed, Path(vertices))
    return parsed


def content_of(
    parsed: parsed_graph.ParsedGraph, rules: parsed_graph.Rules
) -> tuple[Graph | Network, parsed_graph.Counts]:
    """What the rules make of records: a simple graph or a network, and how often each was used."""
    return (network_of if rules.keeps else parsed_graph.simplify)(parsed, rules)


def format_of(path: Path, given: str | None = None) -> Format:
    """The format of a file: the one given, else what its name says.

    >>> format_of(Path("friends.graphml.gz")), format_of(Path("friends"), "gml")
    ('graphml', 'gml')
    """
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ending = "konect" if name.name.startswith("out.") else SUFFIXES.get(name.suffix.lower())
    found = given or ending
    if found not in get_args(Format):
        formats, endings = get_args(Format), tuple(SUFFIXES)
        if given:
            raise InputError(
                "CEL-G002.unknown_format", format=given, formats=formats, endings=endings
            )
        key = "CEL-G002.unknown_ending" if name.suffix else "CEL-G002.no_ending"
        raise InputError(key, path=path, ending=name.suffix, formats=formats, endings=endings)
    return cast(Format, found)


def _with_vertices(parsed: parsed_graph.ParsedGraph, path: Path) -> parsed_graph.ParsedGraph:
    """The same records among the vertices of a table, isolated ones included."""
    table = read_table(path)
    listed = table.to_series(0)
    names = parsed.names
    if listed.dtype != names.dtype:
        listed, names = listed.cast(pl.String), names.cast(pl.String)
    coded = encode(listed)
    if coded.missing or len(coded.values) != len(listed):
        raise InputError(
            "CEL-G011.unnamed_or_twice", path=path, extra=len(listed) - len(coded.values)
        )
    place_of = np.empty(len(listed), dtype=np.int64)
    place_of[coded.codes] = np.arange(len(listed))
    found = coded.values.search_sorted(names, side="left").to_numpy().astype(np.int64)
    inside = np.minimum(found, len(listed) - 1)
    known = (coded.values.gather(inside) == names).to_numpy()
    if not known.all():
        raise InputError("CEL-G005.not_in_table", path=path, count=int((~known).sum()))
    place = place_of[inside]
    rest = table.select(table.columns[1:])
    return replace(
        parsed,
        names=listed.alias("vertex"),
        sources=place[parsed.sources],
        targets=place[parsed.targets],
        attributes=rest if rest.width else None,
    )


_HERE = Path("the given graph")


def as_graph(
    given: Any,
    **keywords: Unpack[parsed_graph.RuleKeywords],
) -> ReadResult:
    """A graph from another library's, with a report as that of `read`, which explains the rules.

    Takes graphs of NetworkX and igraph, sparse matrices of SciPy, an array or a list of pairs of
    vertex numbers, and Polars frames whose first two columns are the ends of edges. Arrays, lists
    and frames say nothing of directions: see `read`, whose result is returned as it is.

    >>> print(as_graph([(0, 1), (1, 0), (2, 2)]))
    3 vertices, 1 edges from 3 records: 1 loops dropped, 1 repeated edges merged; vertices without \
an edge: 1

    Raises:
        InputError: CEL-G012 this is no graph that is known here; others as for `read`.
    """
    rules = parsed_graph.Rules(**keywords)
    if isinstance(given, ReadResult):
        return given
    if isinstance(given, Network):
        return ReadResult(content=given, counts=_no_counts(given.size), rules=rules)
    if (
        isinstance(given, Graph)
        and not rules.keeps
        and given.order
        and bool((np.diff(given.keys) > 0).all())
    ):
        counts = _no_counts(given.size)
        return ReadResult(content=given, counts=counts, rules=rules)  # it is simple and sorted
    parsed = _parse(given, arcs=rules.directed in ("mutual", "keep"))
    content, counts = content_of(parsed, rules)
    return ReadResult(content=content, counts=counts, rules=rules, ignored=parsed.ignored)


def _no_counts(records: int) -> parsed_graph.Counts:
    return parsed_graph.Counts(records=records, loops=0, repeated=0, both_ways=0, one_way=0)


def _parse(given: Any, *, arcs: bool) -> parsed_graph.ParsedGraph:
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


def _of_networkx(given: Any) -> parsed_graph.ParsedGraph:
    """Its vertices may be anything that has a name; edges of a multigraph are repeated edges."""
    builder = parsed_graph.GraphBuilder(_HERE)
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


def _of_igraph(given: Any) -> parsed_graph.ParsedGraph:
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


def _of_sparse(given: Any) -> parsed_graph.ParsedGraph:
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


def _of_frame(frame: pl.DataFrame, *, arcs: bool) -> parsed_graph.ParsedGraph:
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
    return parsed_graph.ParsedGraph(
        names=found.values.cast(pl.Int64) if integer else found.values,
        sources=codes[0],
        targets=codes[1],
        directed=np.full(len(frame), arcs, dtype=np.bool_),
        edge_attributes=rest if rest.width else None,
    )


def _of_pairs(
    ends: Any, *, arcs: bool, order: int | None = None, edges: pl.DataFrame | None = None
) -> parsed_graph.ParsedGraph:
    given = np.asarray(ends, dtype=np.int64)
    if given.min(initial=0) < 0:
        raise _negative()
    top = int(given.max(initial=-1)) + 1
    count = top if order is None else order
    names = np.arange(count) if count <= 4 * given.size + 1024 or order is not None else None
    if names is None:  # huge numbers, far apart
        names, places = np.unique(given, return_inverse=True)
        given = places.reshape(given.shape)
    return parsed_graph.ParsedGraph(
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
    return parsed_graph.table_of(rows) if columns else None


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
