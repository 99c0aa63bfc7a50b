"""A graph of super-vertices: groups of vertices, and how many edges lie within and between."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.messages import say_of
from celosia.core.numbers import whole
from celosia.core.randomness import Source
from celosia.frames.formats import check_readable, open_bytes, unreadable
from celosia.frames.writers import open_output
from celosia.graphs.graph import MOST_VERTICES, Graph


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GeneralisedGraph:
    """Sizes of groups and numbers of edges; it holds neither the members of a group nor any edge.

    Arrays are read-only.

    >>> graph = GeneralisedGraph.of(sizes=[3, 2], internal=[2, 1], between={(0, 1): 4})
    >>> print(graph)
    2 super-vertices for 5 vertices and 7 edges
    """

    sizes: NDArray[np.int64]
    """How many vertices each super-vertex stands for."""
    internal: NDArray[np.int64]
    """How many edges lie within each."""
    super_edges: NDArray[np.int32]
    """Pairs of super-vertices with an edge between them, the smaller first, sorted."""
    between: NDArray[np.int64]
    """How many edges each of these pairs has."""
    attributes: pl.DataFrame | None = None
    """What the vertices of each super-vertex have in common, one row each, as texts."""

    def __post_init__(self) -> None:
        for array in (self.sizes, self.internal, self.super_edges, self.between):
            array.flags.writeable = False

    @classmethod
    def of(
        cls,
        *,
        sizes: list[int] | NDArray[np.integer],
        internal: list[int] | NDArray[np.integer],
        between: dict[tuple[int, int], int],
        attributes: pl.DataFrame | None = None,
    ) -> GeneralisedGraph:
        """A generalised graph from plain values, checked.

        Raises:
            InputError: CEL-G210 the numbers contradict each other.
        """
        pairs = sorted(
            (min(pair), max(pair), count) for pair, count in between.items() if count != 0
        )
        table = np.array(pairs, dtype=np.int64).reshape(-1, 3)
        count = len(sizes)
        inside = table[:, :2].min(initial=0) >= 0 and table[:, :2].max(initial=-1) < count
        if not inside or (table[:, 0] == table[:, 1]).any() or len(internal) != count:
            raise InputError("CEL-G210.no_super_vertex")
        made = cls(
            sizes=np.array(sizes, dtype=np.int64),
            internal=np.array(internal, dtype=np.int64),
            super_edges=table[:, :2].astype(np.int32),
            between=table[:, 2].copy(),
            attributes=attributes,
        )
        made.check()
        return made

    def check(self) -> None:
        """Refuse numbers that no graph has.

        Raises:
            InputError: CEL-G210 a size below 1, or more edges than pairs.
        """
        outside = (self.sizes < 1) | (self.sizes > MOST_VERTICES)  # then the sum cannot overflow
        if outside.any() or self.sizes.sum() > MOST_VERTICES:
            raise InputError("CEL-G210.sizes")
        numbers = np.concatenate([self.internal, self.between])
        if (numbers < 0).any() or (numbers > self.capacities()).any():
            raise InputError("CEL-G210.too_many_edges")
        keys = self.super_edges[:, 0].astype(np.int64) * len(self.sizes) + self.super_edges[:, 1]
        if (np.diff(keys) <= 0).any():
            raise InputError("CEL-G210.repeated")
        if self.attributes is not None and len(self.attributes) != len(self.sizes):
            raise InputError("CEL-G210.attributes")

    @property
    def order(self) -> int:
        """How many vertices it stands for: n."""
        return int(self.sizes.sum())

    @property
    def size(self) -> int:
        """How many edges it stands for: m."""
        return int(self.internal.sum() + self.between.sum())

    def capacities(self) -> NDArray[np.int64]:
        """How many pairs of vertices lie within each super-vertex, then along each super-edge.

        Sizes are below 2**31, so that products of two fit 64 bits.
        """
        one, other = self.sizes[self.super_edges].reshape(-1, 2).T
        return np.concatenate([self.sizes * (self.sizes - 1) // 2, one * other])

    def densities(self) -> NDArray[np.float64]:
        """The share of pairs with an edge, within each super-vertex, then along each super-edge.

        A single vertex has no pair, and density 0.

        >>> graph = GeneralisedGraph.of(sizes=[3, 2], internal=[2, 1], between={(0, 1): 3})
        >>> graph.densities().round(3).tolist()
        [0.667, 1.0, 0.5]
        """
        edges = np.concatenate([self.internal, self.between])
        return np.asarray(edges / np.maximum(self.capacities(), 1))

    def to_graph(self) -> Graph:
        """The super-vertices as a plain graph, with sizes and numbers of edges as attributes.

        It is what a drawing shows; its edges are super-edges, not edges of anybody.
        """
        inside, across = np.split(self.densities(), [len(self.sizes)])
        shown = pl.DataFrame(
            {"size": self.sizes, "internal edges": self.internal, "density": inside}
        )
        if self.attributes is not None:
            shown = shown.hstack(self.attributes.select(pl.exclude(shown.columns)))
        return Graph(
            order=len(self.sizes),
            edges=self.super_edges,
            attributes=shown,
            edge_attributes=pl.DataFrame({"edges": self.between, "density": across}),
        )

    def sample_world(self, rng: Source) -> Graph:
        """One graph with these numbers, each that has them equally likely.

        Vertices are numbered super-vertex by super-vertex.
        """
        return sample_world(self, rng)

    def __str__(self) -> str:
        return say_of("graphs.graph.generalised", self, super_vertices=len(self.sizes))


def shuffle_super_vertices(graph: GeneralisedGraph, rng: Source) -> GeneralisedGraph:
    """The same with super-vertices of equal size and edges in random order, the larger first.

    Equal ones would otherwise stand in the order in which they were found, and that tells who is
    in them.
    """
    shuffled = rng.permutation(len(graph.sizes))
    order = shuffled[np.lexsort((-graph.internal[shuffled], -graph.sizes[shuffled]))]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ends = np.sort(place[graph.super_edges].reshape(-1, 2), axis=1)
    sorted_ends = np.lexsort((ends[:, 1], ends[:, 0]))
    return GeneralisedGraph(
        sizes=graph.sizes[order],
        internal=graph.internal[order],
        super_edges=ends[sorted_ends].astype(np.int32),
        between=graph.between[sorted_ends],
        attributes=None if graph.attributes is None else graph.attributes[order],
    )


FORMAT = "celosia generalised graph 1"


def as_plain(graph: GeneralisedGraph) -> dict[str, Any]:
    """The graph as JSON has it."""
    rows = [{}] * len(graph.sizes) if graph.attributes is None else graph.attributes.to_dicts()
    numbers = zip(graph.sizes.tolist(), graph.internal.tolist(), rows, strict=True)
    return {
        "format": FORMAT,
        "vertices": graph.order,
        "edges": graph.size,
        "super_vertices": [
            {"size": size, "internal_edges": internal, **({"attributes": row} if row else {})}
            for size, internal, row in numbers
        ],
        "super_edges": [
            {"between": pair, "edges": count}
            for pair, count in zip(graph.super_edges.tolist(), graph.between.tolist(), strict=True)
        ],
    }


def write_generalised(graph: GeneralisedGraph, path: str | Path, *, overwrite: bool = True) -> None:
    """Write a generalised graph; a name that ends in .gz is compressed."""
    text = json.dumps(as_plain(graph), indent=1, ensure_ascii=False)
    with replacing(Path(path), overwrite=overwrite) as draft, open_output(draft) as stream:
        stream.write(text.encode() + b"\n")


def read_generalised(path: str | Path) -> GeneralisedGraph:
    """Read a file that `write_generalised` wrote.

    Raises:
        InputError: CEL-G213 it is no such file; CEL-G210 its numbers contradict each other.
    """
    file = Path(path)
    check_readable(file)
    try:
        with open_bytes(file) as stream:
            plain = json.loads(stream.read())
    except (OSError, EOFError, zlib.error):
        raise unreadable("CEL-F014.damaged", file) from None
    except (ValueError, RecursionError):
        raise _no_graph(file) from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise _no_graph(file)
    try:
        vertices, edges = plain["super_vertices"], plain["super_edges"]
        sizes = [_number(each["size"]) for each in vertices]
        internal = [_number(each["internal_edges"]) for each in vertices]
        between = {
            (_number(one), _number(other)): _number(each["edges"])
            for each in edges
            for one, other in [each["between"]]
        }
        rows = [each.get("attributes", {}) for each in vertices]
        columns = list(rows[0]) if rows else []
        table = {name: [_text(row[name]) for row in rows] for name in columns}
        whole_rows = all(len(row) == len(columns) for row in rows)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _no_graph(file) from None
    if not whole_rows or len(between) != len(edges):
        raise _no_graph(file)
    frame = pl.DataFrame(table, schema=dict.fromkeys(columns, pl.String)) if columns else None
    made = GeneralisedGraph.of(sizes=sizes, internal=internal, between=between, attributes=frame)
    if (plain.get("vertices"), plain.get("edges")) != (made.order, made.size):
        raise _no_graph(file)
    return made


def _number(value: object) -> int:
    number = whole(value)
    if number is None or not 0 <= number < 2**62:  # so that sums and arrays hold it
        raise ValueError
    return number


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError
    return value


def _no_graph(file: Path) -> InputError:
    return InputError("CEL-G213", file=file, path=str(file))


def sample_world(graph: GeneralisedGraph, rng: Source) -> Graph:
    """One of the graphs with the published numbers, each equally likely.

    Each super-vertex and super-edge is a box of pairs of vertices, of which as many are chosen as
    it has edges, uniformly and independent of the other boxes.
    """
    boxes = graph.capacities()
    wanted = np.concatenate([graph.internal, graph.between])
    few = np.minimum(wanted, boxes - wanted)
    starts = np.cumsum(boxes) - boxes  # the sum is n (n - 1) / 2 at most, below 2**61
    chosen = _distinct(boxes, starts, few, rng)
    turned = np.flatnonzero(few < wanted)  # there it is the pairs without an edge that were drawn
    box = np.searchsorted(starts, chosen, side="right") - 1
    if turned.size:
        whole = _ranges(starts[turned], boxes[turned])
        left_out = np.isin(box, turned)
        chosen = np.concatenate(
            [chosen[~left_out], np.setdiff1d(whole, chosen[left_out], assume_unique=True)]
        )
        box = np.searchsorted(starts, chosen, side="right") - 1
    ends = _vertices(graph, box, chosen - starts[box])
    return Graph.of(ends, order=graph.order)


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers start .. start + length - 1 of each, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - offsets, lengths))


def _distinct(
    boxes: NDArray[np.int64], starts: NDArray[np.int64], wanted: NDArray[np.int64], rng: Source
) -> NDArray[np.int64]:
    """Different places in each box, sorted.

    No round draws more than a box still lacks, so nothing is dropped but repetitions, and each
    set of places is equally likely.
    """
    found = np.empty(0, dtype=np.int64)
    missing = wanted
    while missing.any():
        box = np.repeat(np.arange(len(boxes)), missing)
        drawn = starts[box] + _below(boxes[box], rng)
        found = np.unique(np.concatenate([found, drawn]))
        have = np.bincount(np.searchsorted(starts, found, side="right") - 1, minlength=len(boxes))
        missing = wanted - have
    return found


def _below(bounds: NDArray[np.int64], rng: Source) -> NDArray[np.int64]:
    """An exactly uniform number below each bound; words in the last, partial run are redrawn."""
    found = np.empty(bounds.size, dtype=np.int64)
    left = np.arange(bounds.size)
    while left.size:
        bound = bounds[left].astype(np.uint64)
        words = rng.words(left.size)
        surplus = (np.uint64(2**64 - 1) % bound + np.uint64(1)) % bound  # 2**64 mod bound
        fits = words <= np.uint64(2**64 - 1) - surplus
        found[left[fits]] = (words[fits] % bound[fits]).astype(np.int64)
        left = left[~fits]
    return found


def _vertices(
    graph: GeneralisedGraph, box: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The two vertices of each place of a box."""
    first = np.cumsum(graph.sizes) - graph.sizes
    count = len(graph.sizes)
    ends = np.empty((box.size, 2), dtype=np.int64)
    inside = box < count
    # Place t of the pairs (0,1), (0,2), (1,2), (0,3), ... has j (j - 1) / 2 <= t: a root finds j,
    # and rounding is put right by a step either way.
    of, at = box[inside], place[inside]
    high = ((1 + np.sqrt(8.0 * at + 1)) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > at
    high += (high + 1) * high // 2 <= at
    ends[inside, 0] = first[of] + at - high * (high - 1) // 2
    ends[inside, 1] = first[of] + high
    one, other = graph.super_edges[box[~inside] - count].reshape(-1, 2).astype(np.int64).T
    row, column = np.divmod(place[~inside], graph.sizes[other])
    ends[~inside, 0], ends[~inside, 1] = first[one] + row, first[other] + column
    return ends
