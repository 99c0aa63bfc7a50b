"""A sweep: every point of a grid is simulated, each run is kept as soon as it is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from celosia.collect.protocol import Protocol
from celosia.collect.recommendations.designs import server_cost
from celosia.collect.simulation.protocol_fit import fit_protocol
from celosia.collect.simulation.run import (
    SimulationOptions,
    as_list,
    histogram,
    run_key,
    simulate_collection,
)
from celosia.collect.sweeps.options import PIECES, Setting, SweepOptions, SweepPoint
from celosia.collect.sweeps.results import LeftOut, Measures, PointResult, Sweep, measures
from celosia.collect.sweeps.state import SweepState
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded

FEW = 500
"""Users of a search that is not timed."""
MOST_BARS = 30
"""Values of a histogram."""


def sweep(
    values: Mapping[str, Any],
    options: SweepOptions,
    *,
    state: str | Path | None = None,
    progress: Progress = silent,
) -> Sweep:
    """Simulate a collection at every point of a grid, several times, and compare errors and times.

    Args:
        values: for each data set its name and its values, one for each user. A point with fewer
            users takes some of them, the same in every run.
        options: the grid.
        state: a file with every finished run, made if it is not there. A sweep that was stopped
            goes on with the runs that are missing.
        progress: called now and then; may raise `Cancelled`.

    Raises:
        InputError: CEL-R107 more users than values, CEL-R108 the state is of another sweep; what a
            protocol refuses, where it refuses every point.

    >>> grid = SweepOptions(protocol=("grr", "oue"), epsilon=(1, 4), seed=1)
    >>> print(sweep({"letters": ["a"] * 80 + ["b"] * 20}, grid))
    4 points, 4 runs
    """
    listed = {name: _shuffled(as_list(each)) for name, each in values.items()}
    points = options.points({name: len(each) for name, each in listed.items()})
    path = None if state is None else Path(state)
    results: list[PointResult] = []
    left_out: list[LeftOut] = []
    refusal: InputError | None = None
    with SweepState(path, source=_source(listed, options.seed)) as kept:
        work = _Work(listed, options, kept, progress, len(points))
        for point in points:
            try:
                results.append(work.result(point))
            except InputError as error:
                refusal = error
                left_out.append(LeftOut(point, error.code, error.what))
    if refusal is not None and not results:
        raise refusal
    return Sweep(
        options=options,
        points=tuple(results),
        left_out=tuple(left_out),
        histograms={name: _most_common(each) for name, each in listed.items()},
        resumed=work.resumed,
    )


@dataclass(slots=True)
class _Work:
    """What all runs share, and how far they have come."""

    values: Mapping[str, Any]
    options: SweepOptions
    state: SweepState
    progress: Progress
    points: int
    done: int = 0
    resumed: int = 0
    warm: set[str] = field(default_factory=set)
    """Protocols whose kernels are compiled already, so that their times are those of work."""

    def result(self, point: SweepPoint) -> PointResult:
        """All runs of a point; those that the state has are not done again."""
        total = self.points * self.options.repeats
        runs = []
        for repeat in range(self.options.repeats):
            self.progress(Step(Message("collect.stage.sweeping"), self.done, total))
            self.done += 1
            known = self.state.result(point, repeat)
            if known is None:
                made = self._run(point, repeat)
                self.state.keep(point, repeat, asdict(made))
            else:
                made = Measures(**known)
                self.resumed += 1
            runs.append(made)
        return PointResult(point, tuple(runs))

    def _run(self, point: SweepPoint, repeat: int) -> Measures:
        values = self.values[point.data][: point.users]
        settings: dict[str, Setting] = dict(point.settings)
        pieces = settings.pop(PIECES, None)
        protocol = fit_protocol(point.protocol, values, epsilon=point.epsilon, settings=settings)
        asked = SimulationOptions(
            protocol=_other_hashes(protocol, repeat),
            seed=_run_seed(self.options.seed, point, repeat),
            pieces=None if pieces is None else int(pieces),
        )
        is_warm = point.protocol in self.warm
        if not is_warm and protocol.server().finds:
            simulate_collection(values[:FEW], asked)  # a search is not part of the usual warm-up
        found = simulate_collection(values, asked, is_warm=is_warm, progress=self._tick)
        self.warm.add(point.protocol)
        different = len(histogram(values))
        cost = server_cost(protocol, point.users, different)
        return measures(found, server_bytes=cost.bytes, different=different)

    def _tick(self, _step: Step) -> None:
        """A step inside a run tells how far the sweep has come, and may end it there."""
        total = self.points * self.options.repeats
        self.progress(Step(Message("collect.stage.sweeping"), self.done - 1, total))


def _other_hashes(protocol: Protocol, repeat: int) -> Protocol:
    return replace(protocol, key=run_key(protocol.key, repeat)) if repeat else protocol


def _run_seed(seed: int | None, point: SweepPoint, repeat: int) -> int | None:
    """A seed of its own for each run, whatever the order and the rest of the grid."""
    if seed is None:
        return None
    told = json.dumps([seed, point.coordinates(), repeat], sort_keys=True)
    return int.from_bytes(hashlib.blake2b(told.encode(), digest_size=7).digest(), "little")


def _shuffled(values: Any) -> Any:
    """The same values in another order, always the same: the first ones are any users."""
    order = np.argsort(Seeded(0).integers(2**62, len(values)), kind="stable")
    return values[order] if isinstance(values, np.ndarray) else [values[at] for at in order]


def _source(values: Mapping[str, Any], seed: int | None) -> str:
    """A fingerprint of data and seed."""
    digest = hashlib.blake2b(json.dumps(seed).encode(), digest_size=16)
    for name, each in values.items():
        plain = each.tolist() if isinstance(each, np.ndarray) else each
        digest.update(json.dumps([name, plain]).encode())
    return digest.hexdigest()


def _most_common(values: Any) -> tuple[tuple[str, int], ...]:
    pairs = list(histogram(values).items())[:MOST_BARS]
    return tuple((str(value), int(users)) for value, users in pairs)
