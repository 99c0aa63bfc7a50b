"""Strata: traces of one period, in which every person has one; only these are made alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.traces.points import Traces
from celosia.traces.samples import Samples
from celosia.traces.zones import floor_times


class Stratum(NamedTuple):
    """The traces of one period."""

    traces: NDArray[np.int64]


def strata_of(traces: Traces, base: Samples, period: str) -> list[Stratum]:
    """The traces of each day, each week, or all of them; empty traces are in none."""
    filled = np.unique(base.trace)
    if period == "whole":
        return [Stratum(filled)]
    first = np.searchsorted(base.trace, filled)
    windows = floor_times(base.start[first], period, traces.declaration.zone)
    return [Stratum(filled[windows == window]) for window in np.unique(windows)]
