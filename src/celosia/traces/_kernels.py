"""Kernels over points: stops and merged traces. Plain twins are in `tests/traces/`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def stop_runs(person: Array, time: Array, x: Array, y: Array, radius: float, seconds: int) -> Array:
    """The number of the stop of each point, -1 where it belongs to none.

    From an anchor on, points join while they lie within the radius of it; a run that lasts long
    enough is a stop, and the next anchor comes after it.
    """
    size = person.size
    found = np.full(size, -1, dtype=np.int64)
    stops = 0
    anchor = 0
    limit = radius * radius
    while anchor < size:
        last = anchor
        while last + 1 < size and person[last + 1] == person[anchor]:
            east, north = x[last + 1] - x[anchor], y[last + 1] - y[anchor]
            if east * east + north * north > limit:
                break
            last += 1
        if time[last] - time[anchor] >= seconds:
            found[anchor : last + 1] = stops
            stops += 1
            anchor = last + 1
        else:
            anchor += 1
    return found
