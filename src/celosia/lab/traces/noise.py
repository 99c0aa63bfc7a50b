"""Constants of planar noise: quantiles, normalisers, errors of small maps, shares of a quadtree."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import log

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.lab.findings import Row, compare
from celosia.lab.tolerance import Tolerance
from celosia.traces.planar import (
    DiscretePlanarLaplace,
    OptimalKernel,
    clamped_kernel,
    continuous_quantile,
    expected_error,
    remap,
)
from celosia.traces.planar.remapping import distances, remapped
from celosia.traces.private import Quadtree

EPSILON = log(4) / 200
"""The level 4 within 200 m."""

QUANTILES = {0.5: 242.13, 0.9: 561.17, 0.95: 684.39, 0.99: 957.71}
NORMALISERS = {Fraction(1, 10): 628.3414, Fraction(1, 2): 25.246545, Fraction(1): 6.507242}
MAPS = {4: (145.66, 129.79, 125.70), 5: (169.23, 151.84, 145.35)}
"""Expected errors in metres of maps of 16 and 25 cells: clamped, remapped, optimal."""
SHARES = (0.0866, 0.1092, 0.1375, 0.1733, 0.2183, 0.2751)


def _row(run: str, cell: str, stated: float, computed: float, absolute: float) -> Row:
    near = Tolerance(absolute=absolute, why=Message("lab.tolerance.last_digit"))
    return compare(run, cell, stated, round(computed, 6), near, kind="program")


def rows(progress: Progress = silent) -> Iterator[Row]:
    """Every constant, computed again."""
    run = Message("lab.traces.continuous")
    for share, metres in QUANTILES.items():
        yield _row(run, f"{share:.0%}", metres, continuous_quantile(share, EPSILON), 0.01)
    run = Message("lab.traces.discrete")
    for rate, total in NORMALISERS.items():
        found = DiscretePlanarLaplace(rate).normaliser
        yield _row(run, f"Z({float(rate):g})", total, found, 1e-4)
    yield _row(run, "P(0, 0 | 1)", 0.153675, DiscretePlanarLaplace(Fraction(1)).mass(0, 0), 1e-6)
    radius = DiscretePlanarLaplace(Fraction(2)).mean_radius
    yield _row(run, Message("lab.traces.radius"), 0.698125, radius, 1e-6)
    for side, errors in MAPS.items():
        yield from _map(side, errors)
    run = Message("lab.traces.quadtree")
    for level, part in enumerate(Quadtree(epsilon=1, height=5).shares):
        yield _row(run, str(level), SHARES[level], float(part), 5e-5)
    yield from _redraw()


def _map(side: int, errors: tuple[float, float, float]) -> Iterator[Row]:
    cells = side * side
    places = np.array([(100.0 * (cell % side), 100.0 * (cell // side)) for cell in range(cells)])
    apart, prior = distances(places), np.full(cells, 1 / cells)
    kernel = clamped_kernel(side, side, EPSILON * 100)
    moved = remapped(kernel, remap(kernel, prior, apart))
    run = Message("lab.traces.map", cells=cells)
    found = (
        (Message("lab.traces.clamped"), expected_error(kernel, prior, apart)),
        (Message("lab.traces.remapped"), expected_error(moved, prior, apart)),
        (Message("lab.traces.optimal"), OptimalKernel.solve(places, prior, EPSILON).error),
    )
    for (cell, error), published in zip(found, errors, strict=True):
        yield _row(run, cell, published, error, 0.05)


def _redraw() -> Iterator[Row]:
    """Noise that is drawn again until it falls inside a quadrant: the promise does not hold."""
    rate, axis = 0.1, np.arange(121)
    chances = []
    for a, b in ((0, 0), (40, 40)):
        weight = np.exp(-rate * np.hypot(axis[:, None] - a, axis[None, :] - b))
        chances.append(weight / weight.sum())
    loss = float(np.abs(np.log(chances[0] / chances[1])).max())
    run = Message("lab.traces.redraw")
    yield _row(run, Message("lab.traces.promised"), 5.657, rate * float(np.hypot(40, 40)), 0.001)
    yield _row(run, Message("lab.traces.loss"), 6.946, loss, 0.005)
