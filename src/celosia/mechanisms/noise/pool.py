"""Noise that is drawn before it is needed, so that the time of a call does not tell the noise.

An exact sampler takes longer for some numbers than for others (on OpenDP's the rank correlation of
time and size of the noise is about 0.2). Each law therefore has a stock that is filled in batches
of one fixed size. A call takes from the stock what earlier calls have left and then, if too little
is left for the next one, draws a new batch: how long it takes depends on draws that others get, and
whether it draws at all on how many were asked for before. Only the first call of a law in a process
waits for the batch that its own draws come from, together with hundreds of others.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from fractions import Fraction
from math import inf, nextafter, sqrt
from threading import Lock

import numpy as np
from numpy.typing import NDArray

LARGEST = 256
"""Draws that one call may take from the pool; larger vectors are drawn for themselves."""

BATCH = 512
LAWS = 64
"""Laws with a stock; the one that was not used for longest makes room."""

Refill = Callable[[int], NDArray[np.int64]]


class Pool:
    """Stocks of ready draws, each handed out once and erased here."""

    def __init__(self) -> None:
        self._stocks: OrderedDict[Hashable, NDArray[np.int64]] = OrderedDict()
        self._lock = Lock()
        self._process = os.getpid()

    def take(self, law: Hashable, size: int, refill: Refill) -> NDArray[np.int64]:
        """`size` draws of a law, at most `LARGEST`, from its stock.

        Args:
            law: what tells the stocks apart.
            size: how many.
            refill: draws so many numbers of the law.
        """
        if os.getpid() != self._process:  # forked by something that runs no hooks
            self.forget()
        with self._lock:
            stock = self._stocks.pop(law, None)
            if stock is None or stock.size < size:
                stock = refill(BATCH)
            taken = stock[:size].copy()
            stock[:size] = 0
            stock = stock[size:]
            if stock.size < LARGEST:
                fresh = np.concatenate([stock, refill(BATCH)])
                stock[:] = 0
                stock = fresh
            self._stocks[law] = stock
            while len(self._stocks) > LAWS:
                _, oldest = self._stocks.popitem(last=False)
                oldest[:] = 0
            return taken

    def forget(self) -> None:
        """Drop every stock; in a forked child also the lock, which another thread may hold.

        The stocks are left behind and not overwritten: two threads of a child may both find that
        they must forget, and zeros in a stock that the first has begun anew would be handed out as
        noise.
        """
        self._lock = Lock()
        self._stocks = OrderedDict()
        self._process = os.getpid()


POOL = Pool()
"""The stocks of this process: shared, because a pool for each caller would never be warm."""

if hasattr(os, "register_at_fork"):  # two processes must never hand out the same noise
    os.register_at_fork(after_in_child=POOL.forget)


def opendp_laplace(scale: Fraction, size: int) -> NDArray[np.int64]:
    """`size` draws of discrete Laplace noise, of the float at or just above the scale.

    OpenDP reads the float as the exact binary number that it is; rounding it up adds noise.
    """
    rounded = float(scale)
    if Fraction(rounded) < scale:
        rounded = nextafter(rounded, inf)
    return _noise("make_laplace", "l1_distance", "i64", rounded, size)


def opendp_gaussian(parameter: Fraction, size: int) -> NDArray[np.int64]:
    """`size` draws of discrete Gaussian noise, of the float at or just above sigma."""
    rounded = sqrt(parameter)
    while Fraction(rounded) ** 2 < parameter:
        rounded = nextafter(rounded, inf)
    return _noise("make_gaussian", "l2_distance", "f64", rounded, size)


def _noise(make: str, metric: str, unit: str, scale: float, size: int) -> NDArray[np.int64]:
    # Not opendp.prelude, which loads scikit-learn, pandas and Polars with it: two seconds more.
    from opendp import domains, measurements, metrics, mod  # a tenth of a second

    mod.enable_features("contrib")
    space = domains.vector_domain(domains.atom_domain(T="i64")), getattr(metrics, metric)(T=unit)
    measurement = getattr(measurements, make)(*space, scale=scale)
    return np.array(measurement(np.zeros(size, dtype=np.int64)), dtype=np.int64)
