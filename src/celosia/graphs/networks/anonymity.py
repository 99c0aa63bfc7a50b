"""k-anonymity of what each vertex of a network shows: groups, their targets, and new edges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.rewiring import rewire
from celosia.graphs.kdegree.sequence import Rounding, check_k
from celosia.graphs.networks.network import Network
from celosia.graphs.networks.profiles import (
    class_sizes,
    degree_columns,
    profiles,
    strength_columns,
)
from celosia.graphs.networks.rewiring import rewire_arcs
from celosia.graphs.networks.weights import fit_weights

Whole = NDArray[np.int64]

BLOCK = 20_000
"""Vertices that are grouped together; more are cut into blocks first."""


@dataclass(frozen=True, slots=True, eq=False)
class AnonymousNetwork:
    """A network in which each profile is that of at least k vertices."""

    network: Network
    equal_weights: float
    """The share of an equal weight that was mixed into the weights."""


def anonymise(
    network: Network, k: int, *, ratio: float, rng: Source, progress: Progress = silent
) -> AnonymousNetwork:
    """Change edges and weights until each profile is shared by at least k vertices.

    A profile is the side of a vertex, its degree (or its out- and in-degree) in each snapshot, and
    the bins of its weighted degrees; see `profiles`. Vertices whose profile is shared already form
    groups as they are; the others are grouped by microaggregation. Each group gets its mean
    degrees, rounded so that a network can have them, and edge ends are moved to reach them.

    Raises:
        InputError: CEL-G100 k is below 2 or above the vertices (of the smaller side).
        PrivacyError: CEL-G103 or G104 no network with such degrees was found.
    """
    _check(network, k)
    rows = profiles(network, ratio)
    if class_sizes(rows).min() >= k:
        return AnonymousNetwork(network, 0.0)
    refusals: list[PrivacyError] = []
    for least in range(k, min(2 * k, _smaller_side(network)) + 1):
        progress(Step(Message("graphs.stage.degrees"), least - k, k))
        groups = _groups(network, rows, least)
        try:
            made = _realise(network, groups, rng, progress)
        except PrivacyError as refusal:
            refusals.append(refusal)
            continue
        if network.weights is None:
            return AnonymousNetwork(made, 0.0)
        weights, share = fit_weights(made, network, groups, k, ratio)
        return AnonymousNetwork(replace(made, weights=weights), share)
    raise refusals[0]


def _check(network: Network, k: int) -> None:
    check_k(k, network.order)
    if _smaller_side(network) < k:
        raise InputError("CEL-G100.too_large", k=k, vertices=_smaller_side(network))


def _smaller_side(network: Network) -> int:
    if network.sides is None:
        return network.order
    return int(np.bincount(network.sides, minlength=2).min())


def _groups(network: Network, rows: Whole, k: int) -> Whole:
    """The group of each vertex, at least k in each, never of both sides."""
    shown = np.concatenate([degree_columns(network), np.log1p(strength_columns(network))], axis=1)
    found = np.empty(network.order, dtype=np.int64)
    count = 0
    for side in np.unique(rows[:, 0]):
        members = np.flatnonzero(rows[:, 0] == side)
        found[members] = _group_side(rows[members], shown[members], k) + count
        count = int(found[members].max()) + 1
    return found


def _group_side(rows: Whole, shown: NDArray[np.float64], k: int) -> Whole:
    from celosia.tables.masking.microaggregation.multivariate import mdav_groups

    _, inverse, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.ravel()
    rare = counts[inverse] < k
    if 0 < rare.sum() < k:  # too few to be a group: the nearest class joins them
        centre = shown[rare].mean(axis=0)
        far = np.square(shown - centre).sum(axis=1)
        near = np.argsort(np.where(rare, -1.0, far), kind="stable")
        for vertex in near:
            if rare.sum() >= k:
                break
            if not rare[vertex]:
                rare |= inverse == inverse[vertex]
    groups = np.empty(len(rows), dtype=np.int64)
    kept, groups[~rare] = np.unique(inverse[~rare], return_inverse=True)
    if rare.any():
        groups[rare] = len(kept) + mdav_groups(shown[rare], k, standardise=False, block=BLOCK)
    return groups


def _realise(network: Network, groups: Whole, rng: Source, progress: Progress) -> Network:
    """A network in which the vertices of each group have the same degrees."""
    degrees = degree_columns(network)
    edges, snapshots = [], []
    layers = network.layers()
    for number, places in enumerate(layers):
        progress(Step(Message("graphs.stage.rotate"), number, len(layers)))
        ends = network.edges[places]
        if network.has_ends:
            both = degrees[:, 2 * number : 2 * number + 2]
            made: NDArray[Any] = _arcs(ends, both, groups, network, rng)
        else:
            made = _edges(ends, degrees[:, number], groups, network.order, rng)
        edges.append(made)
        snapshots.append(np.full(len(made), number, dtype=np.int32))
    return Network.of(
        np.concatenate(edges),
        order=network.order,
        directed=network.directed,
        snapshots=None if network.snapshots is None else np.concatenate(snapshots),
        periods=network.periods,
        sides=network.sides,
        labels=network.labels,
        attributes=network.attributes,
    )


def _edges(
    ends: NDArray[np.int32], degrees: Whole, groups: Whole, order: int, rng: Source
) -> NDArray[np.int32]:
    rounding = Rounding.of(degrees, groups)
    sums = rounding.sums[rounding.sums % 2 == 0]
    if not sums.size:
        anyone = np.ones(len(rounding.sizes), dtype=np.bool_)
        rounding = Rounding.of(degrees, groups, more=anyone)
        sums = rounding.sums[rounding.sums % 2 == 0]
    if not sums.size:
        raise PrivacyError("CEL-G103", k=int(rounding.sizes.min()))
    targets = rounding.targets(rounding.nearest(sums, int(degrees.sum())))
    return rewire(Graph.of(ends, order=order), targets, rng=rng).edges


def _may_have_more(groups: Whole, network: Network, *, second: int) -> NDArray[np.bool_]:
    """The groups that arcs may begin (or end) at: all, or those of the right side."""
    found = np.ones(int(groups.max()) + 1, dtype=np.bool_)
    if network.sides is not None:
        found[groups] = network.sides == bool(second)
    return found


def _arcs(
    ends: NDArray[np.int32], degrees: Whole, groups: Whole, network: Network, rng: Source
) -> NDArray[np.int64]:
    both = [Rounding.of(column, groups) for column in degrees.T]
    sums = np.intersect1d(both[0].sums, both[1].sums)
    if not sums.size:
        both = [
            Rounding.of(column, groups, more=_may_have_more(groups, network, second=second))
            for second, column in enumerate(degrees.T)
        ]
        sums = np.intersect1d(both[0].sums, both[1].sums)
    if not sums.size:
        raise PrivacyError("CEL-G103", k=int(both[0].sizes.min()))
    cost = both[0].cost(sums) + both[1].cost(sums)
    total = int(sums[np.lexsort((cost, np.abs(sums - len(ends))))[0]])
    keys = ends[:, 0].astype(np.int64) * network.order + ends[:, 1]
    out, inward = (each.targets(total) for each in both)
    return np.stack(np.divmod(rewire_arcs(keys, network.order, out, inward, rng), network.order), 1)
