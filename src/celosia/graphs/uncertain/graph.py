"""An uncertain graph: pairs of vertices, each with the probability of an edge."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
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

GRID = 10**6
"""Chances are multiples of one millionth unless said otherwise."""

FINEST = 2**30
"""The finest grid: a sum of chances in steps then fits 64 bits for any number of pairs."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class UncertainGraph:
    """Vertices 0 .. n-1 and pairs of them with a chance each; every other pair has chance 0.

    Chances are whole numbers of steps on a declared grid, so that what is checked, published,
    read back and drawn from is the same number everywhere. Arrays are read-only.

    >>> graph = UncertainGraph.of({(0, 1): 0.7, (2, 1): 0.25}, grid=100)
    >>> print(graph)
    3 vertices, 2 pairs with a chance, 0.95 edges expected
    >>> graph.pairs.tolist(), graph.steps.tolist()
    ([[0, 1], [1, 2]], [70, 25])
    """

    order: int
    """How many vertices: n."""
    pairs: NDArray[np.int32]
    """One row a pair, the smaller vertex first, sorted."""
    steps: NDArray[np.int64]
    """The chance of each pair in steps of the grid: 0 .. grid."""
    grid: int = GRID
    """Into how many steps the chances from 0 to 1 are divided."""
    labels: pl.Series | None = None
    """The names of the vertices where they have any; otherwise they are their numbers."""

    @classmethod
    def of(
        cls,
        chances: Mapping[tuple[int, int], float] | Iterable[tuple[int, int, float]],
        *,
        order: int | None = None,
        grid: int = GRID,
        labels: pl.Series | None = None,
    ) -> UncertainGraph:
        """An uncertain graph from pairs with their chances, which are rounded to the grid.

        Raises:
            InputError: CEL-G200 as for `from_arrays`.
        """
        rows = (
            [(one, other, chance) for (one, other), chance in chances.items()]
            if isinstance(chances, Mapping)
            else [tuple(row) for row in chances]
        )
        ends = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
        values = np.array([row[2] for row in rows], dtype=np.float64)
        return cls.from_arrays(ends, values, order=order, grid=grid, labels=labels)

    @classmethod
    def from_arrays(
        cls,
        pairs: NDArray[np.integer],
        chances: NDArray[np.float64],
        *,
        order: int | None = None,
        grid: int = GRID,
        labels: pl.Series | None = None,
    ) -> UncertainGraph:
        """An uncertain graph from an array of pairs and one of chances.

        Raises:
            InputError: CEL-G200 a loop, a pair given twice, a vertex that is not in 0 .. n-1,
                a chance that is not in 0 .. 1, or a grid that is none.
        """
        number = whole(grid)
        top = int(pairs.max(initial=-1)) + 1
        count = top if order is None else order
        given = pairs.astype(np.int64).reshape(-1, 2)
        fits = given.min(initial=0) >= 0 and top <= count <= MOST_VERTICES
        if not fits or bool((given[:, 0] == given[:, 1]).any()):
            raise InputError("CEL-G200.no_pair")
        if not bool(((chances >= 0) & (chances <= 1)).all()):  # also refuses NaN
            raise InputError("CEL-G200.chance")
        if number is None or not 1 <= number <= FINEST:
            raise InputError("CEL-G200.grid", grid=grid)
        keys = given.min(axis=1, initial=count) * max(count, 1) + given.max(axis=1, initial=0)
        in_order = np.argsort(keys, kind="stable")  # keys are below 2**62: no overflow
        keys = keys[in_order]
        if bool((keys[1:] == keys[:-1]).any()):
            raise InputError("CEL-G200.repeated")
        steps = np.rint(chances[in_order] * number).astype(np.int64)
        return cls.from_keys(keys, steps, order=count, grid=number, labels=labels)

    @classmethod
    def from_keys(
        cls,
        keys: NDArray[np.int64],
        steps: NDArray[np.int64],
        *,
        order: int,
        grid: int = GRID,
        labels: pl.Series | None = None,
    ) -> UncertainGraph:
        """An uncertain graph from sorted, distinct numbers u * n + v with u < v, unchecked."""
        ends = np.empty((keys.size, 2), dtype=np.int32)
        ends[:, 0], ends[:, 1] = np.divmod(keys, max(order, 1))
        ends.flags.writeable = False
        steps.flags.writeable = False
        return cls(order=order, pairs=ends, steps=steps, grid=grid, labels=labels)

    @classmethod
    def certain(cls, graph: Graph, *, grid: int = GRID) -> UncertainGraph:
        """A graph as it is, each edge with chance 1: a way to write it, no protection."""
        steps = np.full(graph.size, grid, dtype=np.int64)
        return cls.from_keys(graph.keys, steps, order=graph.order, grid=grid, labels=graph.labels)

    @property
    def size(self) -> int:
        """How many pairs have a chance."""
        return len(self.pairs)

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The chance of each pair."""
        return self.steps / self.grid

    @property
    def expected_edges(self) -> float:
        """How many edges a world has on average: the sum of all chances."""
        return int(self.steps.sum()) / self.grid  # below 2**33 * 2**30: no overflow

    def renumbered(self, numbers: NDArray[np.integer]) -> UncertainGraph:
        """The same graph without names, vertex v under the number `numbers[v]`."""
        return UncertainGraph.from_arrays(
            numbers[self.pairs], self.probabilities, order=self.order, grid=self.grid
        )

    def without_names(self) -> UncertainGraph:
        """The same graph without names."""
        return replace(self, labels=None)

    def sample_world(self, rng: Source) -> Graph:
        """One possible graph: each pair is an edge with its chance, independent of the others.

        Draws are whole numbers below the grid, so the chances are exactly the published ones.
        """
        there = rng.integers(self.grid, self.size) < self.steps
        keys = self.pairs[there, 0].astype(np.int64) * max(self.order, 1) + self.pairs[there, 1]
        return Graph.from_keys(keys, order=self.order, labels=self.labels)

    def __repr__(self) -> str:
        # Names are private; a representation ends up in logs and tracebacks.
        return f"UncertainGraph({self})"

    def __str__(self) -> str:
        return say_of("graphs.graph.uncertain", self)


_TITLES = ["u", "v", "p"]
_MARK = "# "


def write_uncertain(graph: UncertainGraph, path: str | Path, *, overwrite: bool = True) -> None:
    """Write an uncertain graph; a name that ends in .gz is compressed."""
    about: dict[str, Any] = {"vertices": graph.order, "grid": graph.grid}
    table = pl.DataFrame(graph.pairs, schema=_TITLES[:2])
    if graph.labels is not None:
        about["names"] = graph.labels.to_list()
        names = graph.labels.cast(pl.String)
        table = table.select(names.gather(column).alias(column.name) for column in table)
    table = table.with_columns(pl.Series("p", graph.probabilities))
    with replacing(Path(path), overwrite=overwrite) as draft, open_output(draft) as stream:
        stream.write(f"{_MARK}{json.dumps(about)}\n".encode())
        table.write_csv(stream)


def read_uncertain(path: str | Path) -> UncertainGraph:
    """Read a list that `write_uncertain` wrote, or any list `u,v,p` with vertex numbers.

    Without the first line, vertices are numbered up to the greatest, and chances are rounded to
    millionths.

    Raises:
        InputError: CEL-G205 the file is no such list; CEL-G200 it has no such pairs or chances.
    """
    file = Path(path)
    check_readable(file)
    try:
        with open_bytes(file) as stream:
            data = stream.read()
    except (OSError, EOFError, zlib.error):
        raise unreadable("CEL-F014.damaged", file) from None
    about: dict[str, Any] = {}
    try:
        head, _, _ = data.partition(b"\n")
        if head.startswith(_MARK.encode()):
            about = json.loads(head[len(_MARK) :])
        frame = pl.read_csv(
            io.BytesIO(data), comment_prefix="#", infer_schema=False, raise_if_empty=False
        )
    except (ValueError, pl.exceptions.PolarsError):
        raise _no_list(file) from None
    if not isinstance(about, dict) or frame.columns != _TITLES:
        raise _no_list(file)
    return _graph(file, frame, about)


def _graph(file: Path, frame: pl.DataFrame, about: dict[str, Any]) -> UncertainGraph:
    names, order = about.get("names"), about.get("vertices")
    if order is not None and (whole(order) is None or order < 0):
        raise _no_list(file)
    ends = frame.select("u", "v")
    labels = None
    if names is not None:
        alike = isinstance(names, list) and len({type(name) for name in names}) <= 1
        if not alike or not len({*map(str, names)}) == len(names) == order:
            raise _no_list(file)
        labels = pl.Series("vertex", names)
        known = labels.cast(pl.String)
        number = pl.Series(np.arange(len(names), dtype=np.int64))
        ends = ends.select(
            pl.all().replace_strict(known, number, default=None, return_dtype=pl.Int64)
        )
    ends = ends.select(pl.all().cast(pl.Int64, strict=False))
    chances = frame["p"].cast(pl.Float64, strict=False)
    if chances.null_count() or any(column.null_count() for column in ends):
        raise _no_list(file)
    options = {} if "grid" not in about else {"grid": about["grid"]}
    return UncertainGraph.from_arrays(
        ends.to_numpy().reshape(-1, 2), chances.to_numpy(), order=order, labels=labels, **options
    )


def _no_list(file: Path) -> InputError:
    return InputError("CEL-G205", file=file, path=str(file))
