"""Traces at common moments: positions between points by straight lines, none outside a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.traces.samples import Samples
from celosia.traces.strata import Stratum


@dataclass(frozen=True, eq=False)
class Resampled:
    """Positions of each trace of a stratum at common moments.

    A trace is present from moment `low` to before `high`; elsewhere its position is that of the
    nearest moment at which it is.
    """

    moments: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def filled(self) -> NDArray[np.float64]:
        """One row of coordinates for each trace, for comparisons of all moments."""
        return np.concatenate([self.x, self.y], axis=1)


def resample(base: Samples, stratum: Stratum, moments: int) -> Resampled:
    """The traces of a stratum at so many moments, from their first point to their last."""
    inside = np.isin(base.trace, stratum.traces)
    first, last = int(base.start[inside].min()), int(base.start[inside].max())
    step = max(1, -(-(last - first) // max(moments - 1, 1)))
    return resample_at(base, stratum, first + step * np.arange(moments, dtype=np.int64))


def resample_at(base: Samples, stratum: Stratum, moments: NDArray[np.int64]) -> Resampled:
    """The traces of a stratum at given moments."""
    size = stratum.traces.size
    x = np.zeros((size, moments.size))
    y = np.zeros((size, moments.size))
    low = np.zeros(size, dtype=np.int64)
    high = np.zeros(size, dtype=np.int64)
    starts = np.searchsorted(base.trace, stratum.traces)
    ends = np.searchsorted(base.trace, stratum.traces, side="right")
    middle = (base.box[:, :2].astype(np.float64) + base.box[:, 2:]) / 2
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        time = base.start[start:end]
        x[place] = np.interp(moments, time, middle[start:end, 0])
        y[place] = np.interp(moments, time, middle[start:end, 1])
        low[place] = np.searchsorted(moments, time[0])
        high[place] = np.searchsorted(moments, time[-1], side="right")
    return Resampled(moments, x, y, low, high)
