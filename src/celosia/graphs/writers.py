"""Writers of graph files; each file is written atomically."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import check_writable, replacing
from celosia.core.messages import Message
from celosia.frames.writers import open_output
from celosia.frames.writers import write as write_table
from celosia.graphs.formats.edge_list import check_edge_list, write_edge_list
from celosia.graphs.formats.gml import check_gml, write_gml
from celosia.graphs.formats.graphml import check_graphml, write_graphml
from celosia.graphs.formats.node_link import check_node_link, write_node_link
from celosia.graphs.formats.pajek import check_pajek, write_pajek
from celosia.graphs.graph import Graph
from celosia.graphs.readers import Format, format_of

_SEPARATORS = {"edges": " ", "csv": ",", "tsv": "\t"}
_CHECKS = {
    "graphml": check_graphml,
    "gml": check_gml,
    "pajek": check_pajek,
    "json": check_node_link,
}
_WRITERS = {
    "graphml": write_graphml,
    "gml": write_gml,
    "pajek": write_pajek,
    "json": write_node_link,
}


def write(
    graph: Graph,
    path: str | Path,
    *,
    format: Format | None = None,
    vertices: str | Path | None = None,
    partial: bool = False,
    overwrite: bool = True,
) -> None:
    """Write a graph; the ending of the name says the format, and `.gz` compresses.

    Args:
        graph: what to write.
        path: the file.
        format: as for `read`, where the ending does not say it.
        vertices: for edge lists, a table of all vertices with their attributes beside it.
        partial: write what the format can hold, and leave the rest out.
        overwrite: whether a file of that name may be replaced.

    Raises:
        InputError: CEL-G013 a name does not fit the format; CEL-G014 something would be lost.
    """
    file = Path(path)
    kind = format_of(file, format)
    if kind not in {*_SEPARATORS, *_WRITERS}:
        raise InputError("CEL-G002.read_only", kind=kind, formats=[*_SEPARATORS, *_WRITERS])
    separator = _SEPARATORS.get(kind)
    if graph.labels is not None and graph.labels.null_count():
        raise InputError("CEL-G013.unnamed", unnamed=graph.labels.null_count())
    if not partial:
        _refuse_loss(graph, kind, with_vertices=separator is not None and vertices is not None)
    if separator is None:
        _CHECKS[kind](graph)
    else:
        check_edge_list(graph, separator)
    beside = None if vertices is None or separator is None else Path(vertices)
    if beside is not None:
        check_writable(beside, overwrite=overwrite)
    with (
        replacing(file, overwrite=overwrite) as draft,
        nullcontext() if beside is None else replacing(beside, overwrite=overwrite) as table,
    ):
        if table is not None:
            write_table(_vertex_table(graph), table)
        with open_output(draft) as stream:
            if separator is None:
                _WRITERS[kind](graph, stream)
            else:
                write_edge_list(graph, stream, separator=separator, with_isolated=beside is None)


def _vertex_table(graph: Graph) -> pl.DataFrame:
    names = graph.labels
    if names is None:
        names = pl.Series("vertex", np.arange(graph.order, dtype=np.int64))
    rest = graph.attributes
    return pl.DataFrame([names, *([] if rest is None else rest.get_columns())])


def _refuse_loss(graph: Graph, kind: Format, *, with_vertices: bool) -> None:
    lost: list[Message] = []
    if kind in _SEPARATORS and not with_vertices and not graph.size and graph.order:
        lost.append(Message("graphs.lost.isolated", count=graph.order))  # a list without any edge
    if (kind in _SEPARATORS and not with_vertices) or kind == "pajek":
        lost += [Message("graphs.lost.attributes")] if graph.attributes is not None else []
    if kind == "pajek" and graph.edge_attributes is not None:
        extra = [name for name in graph.edge_attributes.columns if name != "weight"]
        lost += [Message("graphs.lost.edge_attributes", count=len(extra))] if extra else []
    if lost:
        both = Message("graphs.lost.both", one=lost[0], other=lost[-1])
        raise InputError("CEL-G014.lost", kind=kind, lost=both if len(lost) > 1 else lost[0])
