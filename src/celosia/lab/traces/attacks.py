"""What few known points and averaging find in an invented city, beside what others measured.

The figures were measured by another program on six cities of the same description: a mean agrees
if it lies between the least and the greatest of the six.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded
from celosia.datasets import city
from celosia.lab.findings import Row, compare
from celosia.lab.tolerance import Tolerance, at_least
from celosia.traces import PlanarLaplace, PublishOptions, Traces, publish
from celosia.traces.attacks import AttackedTraces, ByAveraging, unicity_curve

SEEDS = range(100, 106)
MEASURED = {
    (200, 1): ((0.839, 0.789, 0.858), (0.989, 0.986, 0.994), (1.0, 0.999, 1.0)),
    (1000, 1): ((0.256, 0.176, 0.295), (0.841, 0.786, 0.872), (0.996, 0.990, 0.999)),
    (1000, 6): ((0.063, 0.032, 0.079), (0.570, 0.494, 0.618), (0.865, 0.801, 0.886)),
    (2000, 6): ((0.014, 0.007, 0.020), (0.304, 0.183, 0.354), (0.686, 0.576, 0.723)),
    (5000, 24): ((0.001, 0.0, 0.002), (0.012, 0.009, 0.017), (0.128, 0.076, 0.159)),
}
"""Mean, least and greatest unicity by metres and hours, for 1, 2 and 4 known points."""
FRESH = (44.0, 35.0, 55.0)
"""Median error of the home in metres with fresh noise at every point: middle and bounds."""
STICKY = 200.0
SIX = Message("lab.tolerance.six_cities")


def rows(progress: Progress = silent) -> Iterator[Row]:
    """Unicity at five resolutions, and the home found by averaging."""
    cities = []
    for done, seed in enumerate(SEEDS):
        progress(Step(Message("lab.traces.making"), done, len(SEEDS)))
        cities.append(city(seed=seed).traces)
    for (cell, hours), figures in MEASURED.items():
        curves = [
            unicity_curve(each, cell=cell, hours=hours, most=4, rng=Seeded(1)) for each in cities
        ]
        means = np.mean(curves, axis=0)
        run = Message("lab.traces.unicity", cell=cell, hours=hours)
        for points, (mean, least, most) in zip((1, 2, 4), figures, strict=True):
            found = float(means[points - 1])
            near = Tolerance(least=least, most=most, why=SIX)
            name = Message("lab.traces.known", points=points)
            yield compare(run, name, mean, round(found, 4), near, kind="simulation")
    run = Message("lab.traces.averaging")
    middle, least, most = FRESH
    fresh = _home_error(cities[0], PlanarLaplace(4, 200, repeat="independent", draws=1000))
    near = Tolerance(least=least, most=most, why=SIX)
    name = Message("lab.traces.fresh")
    yield compare(run, name, middle, round(fresh, 1), near, kind="simulation")
    sticky = _home_error(cities[0], PlanarLaplace(4, 200))
    name = Message("lab.traces.sticky")
    yield compare(run, name, STICKY, round(sticky, 1), at_least(STICKY), kind="theory")


def _home_error(traces: Traces, method: PlanarLaplace) -> float:
    """The median distance of the averaged home from the true one, in metres."""
    options = PublishOptions(pseudonym="whole", assess=False)
    release = publish(traces, method, options=options, rng=Seeded(1))
    attacked = AttackedTraces(original=traces, release=release.samples)
    return float(ByAveraging().run(attacked, rng=Seeded(1)).facts["median_error_metres"])
