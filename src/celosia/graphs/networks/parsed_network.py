"""Records of a graph file as a network: what its rules keep of directions, weights and times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.graphs.formats.parsed_graph import (
    Counts,
    ParsedGraph,
    Rules,
    check_records,
    labels_of,
    refuse_records,
)
from celosia.graphs.networks.network import SNAPSHOTS, Network


def apart(parsed: ParsedGraph) -> ParsedGraph:
    """The same with the names of both columns told apart: 1 of the first is not 1 of the second."""
    both = np.intersect1d(parsed.sources, parsed.targets)
    if not both.size:
        return parsed
    ones, sources = np.unique(parsed.sources, return_inverse=True)
    others, targets = np.unique(parsed.targets, return_inverse=True)
    texts = parsed.names.cast(pl.String)
    names = pl.concat(["1:" + texts.gather(ones), "2:" + texts.gather(others)])
    return replace(
        parsed, names=names.alias("vertex"), sources=sources, targets=targets + len(ones)
    )


def network_of(parsed: ParsedGraph, rules: Rules) -> tuple[Network, Counts]:
    """A network, and what was done to get there.

    Raises:
        InputError: as `simplify` says; CEL-G034 a weight or a time that is none, or edges that
            do not join two sides.
    """
    loop = check_records(parsed, rules)
    sides = _sides(parsed) if rules.bipartite else None
    keep = np.flatnonzero(~loop)
    one_sided = parsed.directed[keep]
    ends = np.stack([parsed.sources[keep], parsed.targets[keep]], axis=1)
    weights = _weights(parsed, rules.weight)[keep] if rules.weight else None
    times = _snapshots(parsed, rules, keep) if rules.time else None
    directed = rules.directed == "keep"
    if directed and not one_sided.all():  # an edge without a direction is two arcs
        back = np.flatnonzero(~one_sided)
        ends = np.concatenate([ends, ends[back][:, ::-1]])
        weights = None if weights is None else np.concatenate([weights, weights[back]])
        times = None if times is None else np.concatenate([times, times[back]])
    table = parsed.edge_attributes
    taken = {rules.weight, rules.time}
    network = Network.of(
        ends,
        order=len(parsed.names),
        directed=directed,
        weights=weights,
        snapshots=times,
        periods=1 if times is None else rules.snapshots or SNAPSHOTS,
        sides=sides,
        labels=labels_of(parsed.names),
        attributes=parsed.attributes,
        unprotected=tuple(
            name for name in ([] if table is None else table.columns) if name not in taken
        ),
    )
    repeated = len(ends) - network.size
    refuse_records(rules.repeated == "refuse", "CEL-G007", np.arange(repeated) >= 0)
    lost = 0 if directed or rules.bipartite else int(one_sided.sum())
    return network, Counts(
        records=len(loop), loops=int(loop.sum()), repeated=repeated, both_ways=0, one_way=lost
    )


def _column(parsed: ParsedGraph, name: str) -> pl.Series:
    table = parsed.edge_attributes
    columns = [] if table is None else table.columns
    if table is None or name not in columns:
        raise InputError("CEL-G034.no_column", column=name, columns=columns or ["-"])
    if missing := table.get_column(name).null_count():
        raise InputError("CEL-G034.missing", column=name, count=missing)
    return table.get_column(name)


def _weights(parsed: ParsedGraph, name: str) -> NDArray[np.float64]:
    column = _column(parsed, name)
    if not column.dtype.is_numeric():
        raise InputError("CEL-G034.not_numbers", column=name)
    values = column.cast(pl.Float64).to_numpy()
    wrong = int((~(np.isfinite(values) & (values > 0))).sum())
    if wrong:
        raise InputError("CEL-G034.not_positive", column=name, count=wrong)
    return np.asarray(values)


def _snapshots(parsed: ParsedGraph, rules: Rules, keep: NDArray[np.int64]) -> NDArray[np.int64]:
    """The snapshot of each record, by periods of equal length from the first time to the last."""
    column = _column(parsed, rules.time or "")
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        raise InputError("CEL-G034.no_times", column=rules.time)
    values = column.to_physical().cast(pl.Float64).to_numpy()[keep]
    count = rules.snapshots or SNAPSHOTS
    if not np.isfinite(values).all():
        raise InputError("CEL-G034.no_times", column=rules.time)
    if not values.size:
        return np.empty(0, dtype=np.int64)
    first, span = values.min(), np.ptp(values)
    if span == 0:
        return np.zeros(values.size, dtype=np.int64)
    found: NDArray[np.int64] = np.minimum((values - first) / span * count, count - 1).astype(int)
    return found


def _sides(parsed: ParsedGraph) -> NDArray[np.bool_]:
    """The side of each vertex: of its column, else by walking from side to side."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    order = len(parsed.names)
    second = np.zeros(order, dtype=np.bool_)
    second[parsed.targets] = True
    if not second[parsed.sources].any():
        return second
    ones = np.ones(len(parsed.sources))
    matrix = coo_array((ones, (parsed.sources, parsed.targets)), shape=(order, order)).tocsr()
    _, parts = connected_components(matrix, directed=False)
    _, roots = np.unique(parts, return_index=True)
    second[:] = False
    for root in roots[np.bincount(parts) > 1].tolist():
        walk, before = breadth_first_order(matrix, root, directed=False)
        for vertex in walk[1:]:
            second[vertex] = not second[before[vertex]]
    if (second[parsed.sources] == second[parsed.targets]).any():
        raise InputError("CEL-G034.same_side")
    return second
