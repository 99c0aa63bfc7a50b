"""Published networks as edge lists: source, target, weight and snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.frames.formats import open_bytes
from celosia.frames.writers import open_output
from celosia.graphs.networks.network import Network

SEPARATORS = {"edges": " ", "csv": ",", "tsv": "\t"}
"""The formats of a network, with what stands between their cells."""


def write_network(network: Network, path: Path, kind: str) -> None:
    """Write a network; the first line names its columns."""
    with replacing(path, overwrite=True) as draft, open_output(draft) as stream:
        network.table().write_csv(stream, separator=SEPARATORS[kind])


def network_facts(network: Network) -> dict[str, Any]:
    """What a reader of the file must know beside it."""
    return {
        "directed": network.directed,
        "periods": None if network.snapshots is None else network.periods,
        "first_side": None if network.sides is None else int((~network.sides).sum()),
    }


def read_network(path: Path, kind: str, order: int, facts: dict[str, Any]) -> Network:
    """A network that `write_network` wrote, with what its certificate says of it."""
    with open_bytes(path) as stream:
        table = pl.read_csv(stream.read(), separator=SEPARATORS[kind])
    if not {"source", "target"} <= set(table.columns):
        raise InputError("CEL-G034.no_column", column="source", columns=table.columns)
    labels, ends = None, table.select("source", "target")
    if not all(dtype.is_integer() for dtype in ends.dtypes):
        texts = ends.cast(pl.String)
        labels = pl.concat([texts["source"], texts["target"].alias("source")]).unique().sort()
        ends = texts.select(labels.search_sorted(column).alias(column.name) for column in texts)
        labels = labels.alias("vertex")
    first = facts["first_side"]
    return Network.of(
        ends.to_numpy(),
        order=order if labels is None else len(labels),
        directed=facts["directed"],
        weights=table["weight"].to_numpy() if "weight" in table.columns else None,
        snapshots=None if facts["periods"] is None else table["snapshot"].to_numpy(),
        periods=facts["periods"] or 1,
        sides=None if first is None or labels is not None else np.arange(order) >= first,
        labels=labels,
    )
