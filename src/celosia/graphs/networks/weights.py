"""Weights that give the vertices of one group weighted degrees in one bin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.graphs.networks.network import Network
from celosia.graphs.networks.profiles import bins, class_sizes, profiles, strength_columns

PASSES = 200
"""Rounds of scaling; most networks need a few dozen."""
MIXTURES = np.linspace(0.0, 1.0, 9)
"""Shares of an equal weight for all that are tried: with 1 equal degrees are equal sums."""
DIGITS = 4
"""Digits of a published weight."""


def fit_weights(
    network: Network, known: Network, groups: NDArray[np.int64], k: int, ratio: float
) -> tuple[NDArray[np.float64], float]:
    """A weight for each edge of `network`, and the share of an equal weight in it.

    Edges of the known network begin with their weights, new ones with the median; the weights are
    scaled until the weighted degrees of each group are in the middle of one bin (iterative
    proportional fitting). Where that does not come out, an equal weight for all is mixed in, more
    and more of it: with nothing else, vertices with equal degrees have equal weighted degrees.
    """
    first = _first_weights(network, known)
    targets = _targets(strength_columns(known), groups, ratio)
    fitted = _scale(network, first, targets)
    equal = float(np.median(first)) if len(first) else 1.0
    for share in MIXTURES:
        made = _rounded((1 - share) * fitted + share * equal)
        if class_sizes(profiles(_with(network, made), ratio)).min(initial=k) >= k:
            return made, float(share)
    raise AssertionError("equal weights give equal degrees equal sums")


def _first_weights(network: Network, known: Network) -> NDArray[np.float64]:
    assert known.weights is not None
    places = np.searchsorted(known.keys, network.keys)
    inside = np.minimum(places, max(known.size - 1, 0))
    there = known.keys[inside] == network.keys if known.size else np.zeros(network.size, bool)
    found = np.full(network.size, float(np.median(known.weights)) if known.size else 1.0)
    found[there] = known.weights[inside[there]]
    return found


def _targets(
    strengths: NDArray[np.float64], groups: NDArray[np.int64], ratio: float
) -> NDArray[np.float64]:
    """The middle of the bin of the mean of each group, for each of its vertices."""
    sizes = np.bincount(groups)
    means = [np.bincount(groups, weights=column) / sizes for column in strengths.T]
    middle = np.stack(means, axis=1)
    there = middle > 0
    middle[there] = ratio ** (bins(middle, ratio)[there] + 0.5)
    return np.asarray(middle[groups])


def _scale(
    network: Network, first: NDArray[np.float64], targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    made = first.copy()
    layers = network.layers()
    for number, places in enumerate(layers):
        ends = network.edges[places]
        wanted = targets[:, 2 * number : 2 * number + 2] if network.has_ends else None
        for _ in range(PASSES):
            here = made[places]
            if wanted is None:
                sums = np.bincount(ends.T.ravel(), np.tile(here, 2), minlength=network.order)
                scale = np.sqrt(_over(targets[:, number], sums))
                made[places] = here * scale[ends[:, 0]] * scale[ends[:, 1]]
                continue
            for side in (0, 1):
                sums = np.bincount(ends[:, side], made[places], minlength=network.order)
                made[places] *= _over(wanted[:, side], sums)[ends[:, side]]
    return np.maximum(made, 1e-9)


def _over(wanted: NDArray[np.float64], sums: NDArray[Any]) -> NDArray[np.float64]:
    found = np.ones(len(sums))
    there = (sums > 0) & (wanted > 0)
    found[there] = wanted[there] / sums[there]
    return found


def _rounded(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    digits = DIGITS - 1 - np.floor(np.log10(weights))
    power = 10.0**digits
    return np.asarray(np.round(weights * power) / power)


def _with(network: Network, weights: NDArray[np.float64]) -> Network:
    return replace(network, weights=weights)
