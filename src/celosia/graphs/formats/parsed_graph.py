"""The records of a graph file, and the rules that make a simple graph of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypedDict, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import PlainValues
from celosia.core.numbers import real, whole
from celosia.frames.columns import parse
from celosia.graphs.graph import Graph

Value = object


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)  # names are private
class ParsedGraph:
    """Vertices with names, and records that join two of them."""

    names: pl.Series
    """The vertices, each once."""
    sources: NDArray[np.int64]
    """For each record the place of its first vertex in `names`."""
    targets: NDArray[np.int64]
    directed: NDArray[np.bool_]
    """Which records have a direction."""
    attributes: pl.DataFrame | None = None
    edge_attributes: pl.DataFrame | None = None
    ignored: tuple[str, ...] = ()
    """What the file has that a graph cannot hold, in words."""
    columns: tuple[str, ...] = ()
    """The names of the columns, where the first line of an edge list was taken for them."""


@dataclass(slots=True, eq=False, repr=False)
class GraphBuilder:
    """Takes vertices and edges as a parser meets them, in any order."""

    path: Path
    _places: dict[str | int, int] = field(default_factory=dict)
    _vertices: list[Mapping[str, Value]] = field(default_factory=list)
    _ends: list[tuple[str | int, str | int]] = field(default_factory=list)
    _directed: list[bool] = field(default_factory=list)
    _edges: list[Mapping[str, Value]] = field(default_factory=list)
    _lines: list[int] = field(default_factory=list)
    _ignored: dict[str, int] = field(default_factory=dict)

    def vertex(self, name: str | int, values: Mapping[str, Value], line: int) -> None:
        """Take a vertex that was not met before."""
        if name in self._places:
            raise declared_twice(self.path, line)
        self._places[name] = len(self._places)
        self._vertices.append(values)

    def edge(
        self,
        source: str | int,
        target: str | int,
        *,
        directed: bool,
        values: Mapping[str, Value],
        line: int,
    ) -> None:
        """Take an edge; its vertices may follow later."""
        self._ends.append((source, target))
        self._directed.append(directed)
        self._edges.append(values)
        self._lines.append(line)

    def ignore(self, what: str, count: int = 1) -> None:
        """Note something that a graph cannot hold."""
        self._ignored[what] = self._ignored.get(what, 0) + count

    def finish(self) -> ParsedGraph:
        """All that was taken."""
        if len({type(name) for name in self._places}) > 1:  # 1 and "1" in JSON are one name
            written = [str(name) for name in self._places]
            if len(set(written)) < len(written):
                again = next(row for row, name in enumerate(written) if name in written[:row])
                raise declared_twice(self.path, -again - 1)
        find = self._places.get
        pairs = [(find(one), find(other)) for one, other in self._ends]
        lost = next((row for row, pair in enumerate(pairs) if None in pair), None)
        if lost is not None:
            raise InputError(
                "CEL-G005.undeclared",
                path=self.path,
                place=line_name(self._lines[lost]),
                line=self._lines[lost],
            )
        ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return ParsedGraph(
            names=names_of(list(self._places)),
            sources=ends[:, 0],
            targets=ends[:, 1],
            directed=np.array(self._directed, dtype=np.bool_),
            attributes=table_of(self._vertices),
            edge_attributes=table_of(self._edges),
            ignored=describe_counts(self._ignored),
        )


def describe_counts(counts: Mapping[str, int]) -> tuple[str, ...]:
    """What was ignored, in words, each with its count.

    >>> describe_counts({"comment lines": 1200, "blank lines": 0})
    ('comment lines (1,200)',)
    """
    return tuple(
        Message("graphs.ignored.counted", what=what, count=count)
        for what, count in counts.items()
        if count
    )


def names_of(names: Sequence[str | int]) -> pl.Series:
    """Names of vertices: whole numbers where all are written as such, else text."""
    if all(isinstance(name, int) and -(2**63) <= name < 2**63 for name in names):
        return pl.Series("vertex", names, dtype=pl.Int64)
    text = pl.Series("vertex", [str(name) for name in names], dtype=pl.String)
    numbers = parse(text, "integer") if len(text) else None
    return text if numbers is None else numbers


def table_of(records: Sequence[Mapping[str, Value]]) -> pl.DataFrame | None:
    """Attributes as columns; a record without one has an empty cell. None without any."""
    columns = dict.fromkeys(name for record in records for name in record)
    if not columns:
        return None
    return pl.DataFrame(
        [_series(name, [record.get(name) for record in records]) for name in columns]
    )


def _series(name: str, values: Sequence[Value]) -> pl.Series:
    """A column of one type; numbers meet as decimals, anything else as text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):  # type: ignore[operator]
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds and kinds <= {int, float} and all(_fits(value) for value in values):
        return pl.Series(name, [None if value is None else float(value) for value in values])  # type: ignore[arg-type]
    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    return pl.Series(name, [_text(value) for value in values], dtype=pl.String)


def _fits(value: Value) -> bool:
    """Whether a number is none, or not beyond all decimals."""
    return value is None or real(value) is not None


def _text(value: Value) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, default=str)


def line_name(line: int) -> Message:
    """A line of a file for a message; JSON has records in place of lines."""
    if line >= 0:
        return Message("graphs.reading.line", line=line)
    return Message("graphs.reading.record", record=-line)


def declared_twice(path: Path, line: int) -> InputError:
    """The error for a vertex that was declared before."""
    return InputError("CEL-G011.declared_twice", path=path, place=line_name(line), line=line)


def malformed(path: Path, line: int, key: str, **fields: object) -> InputError:
    """The error for a place of a file that cannot be read: a variant of CEL-G003."""
    return InputError(key, path=path, place=line_name(line), line=line, **fields)


def utf8(data: bytes, path: Path) -> str:
    """The text of a file without its byte order mark."""
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise malformed(path, line, "CEL-G003.not_utf8") from None


LoopRule = Literal["drop", "refuse"]
RepeatedEdgeRule = Literal["merge", "refuse"]
DirectionRule = Literal["undirect", "mutual", "keep", "refuse"]


class RuleKeywords(TypedDict, total=False):
    """The fields of `Rules`, as keywords."""

    loops: LoopRule
    repeated: RepeatedEdgeRule
    directed: DirectionRule
    weight: str | None
    time: str | None
    snapshots: int | None
    bipartite: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What becomes of records that a simple undirected graph has no place for."""

    loops: LoopRule = "drop"
    """An edge from a vertex to itself."""
    repeated: RepeatedEdgeRule = "merge"
    """The same edge again: one remains, with the attributes of its first record."""
    directed: DirectionRule = "undirect"
    """Edges with a direction: `undirect` forgets it, `mutual` keeps pairs that point both ways,
    `keep` keeps all directions."""
    weight: str | None = None
    """The edge attribute that is a weight, and is kept; repeated edges add theirs up."""
    time: str | None = None
    """The edge attribute that is a time: edges are cut into snapshots of equal length."""
    snapshots: int | None = None
    """How many snapshots; 4 where there is a time and no number."""
    bipartite: bool = False
    """Whether the vertices have two sides, and edges join one with the other only."""

    def __post_init__(self) -> None:
        allowed = {"loops": LoopRule, "repeated": RepeatedEdgeRule, "directed": DirectionRule}
        for name, kind in allowed.items():
            value = getattr(self, name)
            if value not in get_args(kind):
                raise InputError(
                    "CEL-G002.unknown_rule", rule=name, value=value, allowed=get_args(kind)
                )
        number = 1 if self.snapshots is None else whole(self.snapshots)
        if number is None or number < 1 or (self.snapshots is not None and self.time is None):
            raise InputError("CEL-G002.snapshots")
        sided = self.bipartite and self.directed == "keep"
        if self.keeps and (self.directed == "mutual" or sided):
            raise InputError("CEL-G002.together", directed=self.directed)

    @property
    def keeps(self) -> bool:
        """Whether anything is kept that a simple graph has no place for."""
        return self.directed == "keep" or self.bipartite or bool(self.weight or self.time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts(PlainValues):
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
    """A simple undirected graph, and what was done to get there."""
    order = len(parsed.names)
    loop = check_records(parsed, rules)
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
    refuse_records(rules.repeated == "refuse", "CEL-G007", np.arange(repeated) >= 0)
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
        keys, order=order, labels=labels_of(parsed.names), attributes=parsed.attributes
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


def check_records(parsed: ParsedGraph, rules: Rules) -> NDArray[np.bool_]:
    """Which records are loops; refuse what the rules refuse."""
    if not len(parsed.names):
        raise InputError("CEL-G009.no_vertex")
    refuse_records(rules.directed == "refuse", "CEL-G008", parsed.directed)
    loop: NDArray[np.bool_] = parsed.sources == parsed.targets
    refuse_records(rules.loops == "refuse", "CEL-G006", loop)
    return loop


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


def labels_of(names: pl.Series) -> pl.Series | None:
    """The names, unless they are the numbers that the vertices have anyway."""
    if names.dtype == pl.Int64 and np.array_equal(names.to_numpy(), np.arange(len(names))):
        return None
    return names


def refuse_records(asked: bool, code: str, found: NDArray[np.bool_]) -> None:
    """Refuse records that were found, where that was asked for."""
    if asked and found.any():
        raise InputError(code, count=int(found.sum()))
