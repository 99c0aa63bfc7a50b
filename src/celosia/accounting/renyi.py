"""Renyi divergences on a grid of orders, and what they say about epsilon and delta."""

from __future__ import annotations

from functools import lru_cache
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import Loss
from celosia.accounting.noise_losses import FARTHEST

Vector = NDArray[np.float64]

ORDERS: Vector = 1 + np.geomspace(2e-2, 1e6, 129)
"""From 1.02 to a million, each 15 % further from 1 than the one before."""
ORDERS.flags.writeable = False
ROUNDING = 2.0**-50


@lru_cache(maxsize=4096)
def divergences(loss: Loss) -> Vector:
    """The Renyi divergence of a loss at each order of the grid."""
    values = np.array([loss.renyi(float(order)) for order in ORDERS])
    values.flags.writeable = False
    return values


def epsilon_of(values: Vector, delta: float) -> float:
    """The least epsilon that divergences on the grid give.

    Reference: Canonne, Kamath & Steinke 2020, Prop. 12.
    """
    if delta <= 0:
        return inf
    epsilons = values + np.log1p(-1 / ORDERS) - (log(delta) + np.log(ORDERS)) / (ORDERS - 1)
    return max(0.0, float(epsilons.min()) * (1 + ROUNDING))


def delta_of(values: Vector, epsilon: float) -> float:
    """The least delta that divergences on the grid give with an epsilon."""
    epsilon = min(epsilon, FARTHEST)
    exponents = (ORDERS - 1) * (values - epsilon + np.log1p(-1 / ORDERS)) - np.log(ORDERS)
    return float(np.exp(min(0.0, float(exponents.min()))))
