"""Traces: unicity, worst-case risk, planar noise and groups of traces, beside limits.

scikit-mobility 1.3.1, which has the worst-case risk, needs NumPy and Shapely below 2, and so an
environment of its own:

    python3.11 -m venv peer && peer/bin/pip install scikit-mobility==1.3.1 "numpy<2" "shapely<2"
    SCIKIT_MOBILITY_PYTHON=peer/bin/python python -m bench traces

Without it the worst case is compared with its definition in plain Python only. Both sides get the
same cells, one row for each person and cell, of `PEER_PEOPLE` people; their risks are compared at
5 km too, where they are below 1. The peer tries every pair of cells of a person against every
other person: at 100 people it takes minutes. The noise is compared with NumPy's floats in polar
coordinates, which are no exact noise but a limit that is hard to beat; the rest has a time and a
bar. Times are of the processor, not of the clock. `--rows 13400000` is the city of 100,000 people,
which has a bar of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from celosia.core.randomness import Seeded
from celosia.datasets import city
from celosia.datasets.city import declaration
from celosia.traces import Glove, PublishOptions, TraceMicroaggregation, Traces, publish
from celosia.traces.attacks import unicity_curve, worst_case
from celosia.traces.attacks.unicity import sample_codes
from celosia.traces.planar import DiscretePlanarLaplace, rate_of
from celosia.traces.points import sorted_traces
from celosia.traces.samples import segmented

RESOLUTIONS = ((200, 1), (1000, 1), (1000, 6), (2000, 6), (5000, 24))
PEER_PEOPLE = int(os.environ.get("PEER_PEOPLE", "100"))
DAY_TRACES, SAMPLES = 10_000, 48


def run(*, rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Seconds, rates and ratios; `rows` is the number of points of the large city."""
    worst_case(city(20, 2).traces)  # compiles
    unicity_curve(city(20, 2).traces, rng=Seeded(1))
    seconds: dict[str, float] = {}
    ratios = _worst_case(seconds)
    peers = _scikit_mobility(ratios)
    _unicity(seconds, rows)
    rates = _noise(ratios)
    _groups(seconds)
    return {
        "processor seconds": {name: round(value, 3) for name, value in seconds.items()},
        "draws a second": {name: round(value) for name, value in rates.items()},
        "ratios": {name: round(value, 2) for name, value in ratios.items()},
        "scikit-mobility": peers,
    }


def _timed(work: Any) -> float:
    started = process_time()
    work()
    return process_time() - started


def _worst_case(seconds: dict[str, float]) -> dict[str, float]:
    small, full = city(100, 14).traces, city().traces
    mine = _timed(lambda: worst_case(small, points=2))
    plain = _timed(lambda: _plain_worst_case(small))
    seconds["worst case of 2 cells, 100 people, ours"] = mine
    seconds["worst case of 2 cells, 100 people, plain definition"] = plain
    seconds["worst case of 2 cells, 1,000 people, ours (bar 0.5)"] = _timed(
        lambda: worst_case(full, points=2)
    )
    return {"worst case, 100 people, ours / plain definition": plain / max(mine, 1e-6)}


def _plain_worst_case(traces: Traces) -> list[float]:
    """The location attack by its definition: every pair of cells of every person, over all."""
    base = segmented(traces, "whole")
    codes = sample_codes(base, traces, cell=1000, hours=None)
    sets = [set(codes[base.trace == one].tolist()) for one in range(traces.people)]
    return [
        1 / min(sum(set(pair) <= other for other in sets) for pair in combinations(own, 2))
        for own in sets
        if len(own) > 1
    ]


def _scikit_mobility(ratios: dict[str, float]) -> dict[str, Any]:
    """The peer's seconds, and how far its risks are from ours; nothing without its Python."""
    python = os.environ.get("SCIKIT_MOBILITY_PYTHON")
    if python is None:
        return {"not found": "SCIKIT_MOBILITY_PYTHON names no Python with it: nothing is compared"}
    found: dict[str, Any] = {}
    traces = city(PEER_PEOPLE, 14).traces
    for cell in (5000, 1000):
        mine = _timed(lambda cell=cell: worst_case(traces, points=2, cell=cell))
        risks = worst_case(traces, points=2, cell=cell)
        spent, theirs = _location_attack(python, traces, cell)
        label = f"{PEER_PEOPLE} people, {cell:,} m"
        found[f"processor seconds, {label}"] = round(spent, 1)
        found[f"people with a risk below 1, {label}"] = int((risks < 1).sum())
        found[f"largest difference of a risk, {label}"] = float(np.abs(risks - theirs).max())
        ratios[f"worst case, {label}, ours / scikit-mobility (bar 500)"] = spent / max(mine, 1e-6)
    return found


def _location_attack(python: str, traces: Traces, cell: int) -> tuple[float, Any]:
    base = segmented(traces, "whole")
    codes = sample_codes(base, traces, cell=cell, hours=None)
    rows = pl.DataFrame({"uid": base.trace, "cell": codes}).unique(maintain_order=True)
    rows = rows.select("uid", lat=pl.col("cell") % 1000 / 1000, lng=pl.col("cell") // 1000 / 1000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.csv"
        rows.write_csv(path)
        script = Path(__file__).with_name("_scikit_mobility.py")
        command = [python, str(script), str(path)]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    risks = {int(uid): risk for uid, risk in found["risks"].items()}
    return found["seconds"], np.array([risks[one] for one in range(traces.people)])


def _unicity(seconds: dict[str, float], rows: int) -> None:
    for people in (1_000, max(1_000, rows // 132)):
        traces = city(people).traces

        def curves(traces: Traces = traces) -> None:
            for cell, hours in RESOLUTIONS:
                unicity_curve(traces, cell=cell, hours=hours, rng=Seeded(1))

        bar = " (bar 1)" if people == 1_000 else " (bar 60)" if people >= 100_000 else ""
        seconds[f"unicity, 5 resolutions, {traces.size:,} points{bar}"] = _timed(curves)


def _noise(ratios: dict[str, float]) -> dict[str, float]:
    law = DiscretePlanarLaplace(rate_of(4, 200, 10))
    law.draw(1000, Seeded(1))
    size = 2_000_000
    batch = size / _timed(lambda: law.draw(size, Seeded(1)))
    exact = 50_000 / _timed(lambda: law.draw_exactly(50_000, Seeded(1)))
    generator = np.random.Generator(np.random.PCG64(1))

    def floats() -> None:
        radius = generator.gamma(2, 1 / float(law.rate), size)
        angle = generator.random(size) * 2 * np.pi
        _ = np.rint(radius * np.cos(angle)), np.rint(radius * np.sin(angle))

    limit = size / _timed(floats)
    ratios["planar noise, ours / NumPy's floats (a limit)"] = batch / limit
    return {
        "planar noise, batch (bar 1,000,000)": batch,
        "planar noise, exact path alone (bar 20,000)": exact,
        "NumPy's floats in polar coordinates": limit,
    }


def day_traces(count: int = DAY_TRACES, samples: int = SAMPLES) -> Traces:
    """One day of people who walk at random from a home, a point every half hour."""
    generator = np.random.Generator(np.random.PCG64(7))
    home = generator.normal(0, 300, (count, 1, 2))
    walk = home + generator.normal(0, 20, (count, samples, 2)).cumsum(axis=1)
    cells = np.clip(np.rint(walk), -1900, 1900).astype(np.int32).reshape(-1, 2)
    person = np.repeat(np.arange(count), samples)
    time = 1_772_409_600 + np.tile(np.arange(samples) * 1800, count)
    names = pl.Series("person", range(count)).cast(pl.String)
    return sorted_traces(declaration(), names, person, time, (cells[:, 0], cells[:, 1]))


def _groups(seconds: dict[str, float]) -> None:
    options = PublishOptions(assess=False)
    tiny, full = day_traces(50), day_traces()
    for method in (Glove(k=5), TraceMicroaggregation(k=5)):
        publish(tiny, method, options=options, rng=Seeded(1))
        label = f"{method.method_name}, k = 5, 10,000 day traces of 48 samples (bar 120)"
        seconds[label] = _timed(
            lambda method=method: publish(full, method, options=options, rng=Seeded(1))
        )
