"""The key of a release: the number of each vertex of the original. Keep it secret."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.frames.readers import read as read_table
from celosia.graphs.graph import Graph

COLUMNS = ("vertex", "number")


def names_of(graph: Graph) -> pl.Series:
    """The name of each vertex as a text; its number where it has none.

    >>> names_of(Graph.of([(0, 1)])).to_list()
    ['0', '1']
    """
    names = graph.labels
    if names is None:
        names = pl.Series(np.arange(graph.order, dtype=np.int64))
    return names.cast(pl.String).alias(COLUMNS[0])


@contextmanager
def write_key(
    graph: Graph, numbers: NDArray[np.int64], path: Path, *, overwrite: bool = False
) -> Iterator[None]:
    """Write a key as CSV that only its owner can read; it takes its name if the block ends well."""
    with replacing(path, overwrite=overwrite) as draft:
        table = pl.DataFrame([names_of(graph), pl.Series(COLUMNS[1], numbers)])
        table.sort(COLUMNS[1]).write_csv(draft)
        yield
    path.chmod(0o600)


def read_key(path: Path, original: Graph) -> pl.Series:
    """The published number of each vertex of the original, as a text, in its order.

    Raises:
        InputError: CEL-G027 the key is not one of this graph.
    """
    table = read_table(path, types=dict.fromkeys(COLUMNS, "string"))
    if tuple(table.columns) != COLUMNS:
        raise InputError("CEL-G027.columns", path=path)
    asked = pl.DataFrame([names_of(original)])
    found = asked.join(table, on=COLUMNS[0], how="left", maintain_order="left")
    numbers = found.get_column(COLUMNS[1])
    if table.height != original.order or numbers.null_count() or not numbers.is_unique().all():
        raise InputError("CEL-G027.numbers", path=path, vertices=original.order)
    return numbers
