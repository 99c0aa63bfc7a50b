"""What a vertex of a network shows: its degrees in each snapshot, and its weighted degrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.graphs.networks.network import Network

NO_BIN = -(2**31)
"""The bin of a vertex without any weight."""


def degree_columns(network: Network) -> NDArray[np.int64]:
    """One row a vertex; of each snapshot its degree, or its out-degree and its in-degree."""
    return np.stack(
        [
            np.bincount(column, minlength=network.order)
            for places in network.layers()
            for column in _ends(network, places)
        ],
        axis=1,
    ).astype(np.int64)


def strength_columns(network: Network) -> NDArray[np.float64]:
    """As `degree_columns`, with the sums of the weights in place of the numbers of edges."""
    weights = network.weights
    if weights is None:
        return np.empty((network.order, 0))
    columns = []
    for places in network.layers():
        for column in _ends(network, places):
            repeat = len(column) // max(len(places), 1) if len(places) else 1
            added = np.tile(weights[places], repeat)
            columns.append(np.bincount(column, weights=added, minlength=network.order))
    return np.stack(columns, axis=1)


def _ends(network: Network, places: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    ends = network.edges[places]
    return [ends[:, 0], ends[:, 1]] if network.has_ends else [ends.T.ravel()]


def bins(strengths: NDArray[np.float64], ratio: float) -> NDArray[np.int64]:
    """The power of the ratio that each weighted degree reaches: bin i is ratio**i to ratio**(i+1).

    >>> bins(np.array([0.0, 1.0, 3.9, 4.0]), 2.0).tolist()[1:]
    [0, 1, 2]
    """
    found = np.full(strengths.shape, NO_BIN, dtype=np.int64)
    there = strengths > 0
    # A hair above, so that 8 is in bin 3 whatever its logarithm was rounded to.
    found[there] = np.floor(np.log(strengths[there]) / np.log(ratio) + 1e-9)
    return found


def profiles(network: Network, ratio: float) -> NDArray[np.int64]:
    """What k-degree anonymity of a network is about, one row a vertex.

    The columns are its side, its degrees, and the bins of its weighted degrees.
    """
    side = np.zeros(network.order, dtype=np.int64) if network.sides is None else network.sides
    parts = [np.asarray(side, dtype=np.int64)[:, None], degree_columns(network)]
    if network.weights is not None:
        parts.append(bins(strength_columns(network), ratio))
    return np.concatenate(parts, axis=1)


def class_sizes(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row how many rows are equal to it."""
    _, inverse, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse.ravel()], dtype=np.int64)
