"""A (k, delta) tube: traces moved until they lie near each other. Named, because it is broken.

Never wait alone, and its kin, move the points of k traces into a tube of diameter delta and call
the result (k, delta)-anonymous. For every delta above 0 the k traces stay different, so that an
attacker who knows points of one finds it: being near k - 1 others makes nobody alike
(Trujillo-Rasúa and Domingo-Ferrer 2013). It is here to fail the verifier, and in no registry.
"""

from __future__ import annotations

import numpy as np

from celosia.traces.microaggregation import trace_groups
from celosia.traces.points import Traces
from celosia.traces.resampling import resample_at
from celosia.traces.samples import Samples, segmented
from celosia.traces.strata import strata_of


def tube(traces: Traces, *, k: int, metres: float, minutes: float = 60) -> Samples:
    """Traces in groups of k, each point moved towards the mean until it lies within the tube.

    Reference: Abul, Bonchi, Nanni 2008, with MDAV for the groups.
    """
    base = segmented(traces, "whole")
    (stratum,) = strata_of(traces, base, "whole")
    step = int(minutes * 60)
    first = -(-int(base.start.min()) // step) * step
    moments = np.arange(first, int(base.start.max()), step, dtype=np.int64)
    lines = resample_at(base, stratum, moments)
    labels = trace_groups(lines, k)
    reach = metres / 2 / traces.plane.step
    x, y = lines.x.copy(), lines.y.copy()
    for group in range(int(labels.max()) + 1):
        rows = labels == group
        centre_x, centre_y = x[rows].mean(axis=0), y[rows].mean(axis=0)
        away = np.hypot(x[rows] - centre_x, y[rows] - centre_y)
        pull = np.minimum(1.0, reach / np.maximum(away, 1e-9))
        x[rows] = centre_x + (x[rows] - centre_x) * pull
        y[rows] = centre_y + (y[rows] - centre_y) * pull
    places = np.stack([x, y], axis=2).astype(np.int32).reshape(-1, 2)
    times = np.tile(moments, stratum.traces.size)
    return Samples(
        trace=np.repeat(stratum.traces, moments.size),
        start=times,
        end=times,
        box=np.concatenate([places, places], axis=1),
        owner=base.owner,
    )
