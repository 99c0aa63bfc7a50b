"""Geo-indistinguishability: places with exact planar Laplace noise on the lattice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, log, sqrt
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from celosia import frames
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.mechanisms.statistics.contributions import at_most
from celosia.traces.method import MethodResult, TraceMethod
from celosia.traces.planar.law import DiscretePlanarLaplace, rate_of
from celosia.traces.planar.remapping import check_prior
from celosia.traces.plane import Plane
from celosia.traces.points import Traces
from celosia.traces.samples import segmented
from celosia.traces.zones import floor_times

CHUNK = 4096
"""Places that are remapped at once."""
MOST_PRIOR = 1000
"""Cells of a prior: each output is compared with all of them, each weighed by all."""


@dataclass(frozen=True, slots=True)
class PlanarLaplace(TraceMethod):
    """Every place is moved by planar noise: places near each other are hard to tell apart.

    Guarantee: for two places at distance d, no output is more than e^(epsilon (d + sqrt(2) step))
    times as likely from one as from the other, epsilon = ln(times) / within, for one draw. Several
    draws of a person multiply. Noise is drawn on the unbounded lattice, and what falls outside the
    region is moved to its edge afterwards.

    Reference: Andrés, Bordenabe, Chatzikokolakis, Palamidessi 2013, on a lattice.
    """

    method_name: ClassVar[str] = "planar-laplace"
    default_period: ClassVar[str] = "day"

    times: float = parameter(above=1, most=1e6, start=4, is_main=True)
    within: float = parameter(above=0, most=1e6, start=200, unit="m", is_main=True)
    repeat: Literal["sticky", "independent"] = parameter("sticky", is_main=True)
    sticky_cell: float = parameter(200.0, above=0, unit="m")
    draws: int | None = parameter(None, least=1)
    window: Literal["1min", "5min", "15min", "1h", "3h", "6h", "day"] = parameter("15min")
    prior: str | None = parameter(None)

    def check(self) -> None:
        """Refuse a budget that is missing where every point is drawn anew."""
        if self.repeat == "independent" and self.draws is None:
            raise InputError("CEL-J022")

    @property
    def epsilon(self) -> float:
        """The level for each metre."""
        return log(self.times) / self.within

    def law(self, step: float) -> DiscretePlanarLaplace:
        """The noise on a lattice of so many metres."""
        return DiscretePlanarLaplace(
            rate_of(Fraction(str(self.times)), Fraction(str(self.within)), step)
        )

    def apply(
        self, traces: Traces, period: str, *, rng: Source, progress: Progress = silent
    ) -> MethodResult:
        plane = traces.plane
        progress(Step(Message("traces.stage.noise"), 0))
        key, first = self._places(traces)
        kept, charged = self._within_budget(traces, key, first, rng)
        east, north = self.law(plane.step).draw(first.size, rng)
        x, y = traces.x[first] + east, traces.y[first] + north
        places = plane.clamp(x, y)
        if self.prior is not None:
            # Remapping weighs places by the noise itself, so that it sees the unclamped output.
            places = self._remapped(x, y, plane)
        moved = traces.select(kept)
        known = key[kept]
        noisy = replace(
            moved,
            x=places[0][known],
            y=places[1][known],
            time=floor_times(moved.time, self.window, traces.declaration.zone),
        )
        return MethodResult(
            samples=_sorted(noisy, moved, period),
            facts={
                "draws": int(first.size),
                "distinct_cells_charged": charged,
                "dropped_points": int((~kept).sum()),
                "epsilon_per_metre": self.epsilon,
            },
            kept=Message("traces.kept.noise"),
            promise=self._promise(plane.step, charged),
        )

    def _places(self, traces: Traces) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of the draw of each point, and the point that each draw is made for."""
        if self.repeat == "independent":
            every = np.arange(traces.size, dtype=np.int64)
            return every, every
        factor = max(1, round(self.sticky_cell / traces.plane.step))
        west, south, _, _ = traces.plane.bounds
        cells = ((traces.y.astype(np.int64) - south) // factor) * 2**31 + (
            traces.x.astype(np.int64) - west
        ) // factor
        _, numbers = np.unique(cells, return_inverse=True)
        pairs = traces.person.astype(np.int64) * (int(numbers.max()) + 1) + numbers
        _, first, key = np.unique(pairs, return_index=True, return_inverse=True)
        return key.astype(np.int64), first.astype(np.int64)

    def _within_budget(
        self, traces: Traces, key: NDArray[np.int64], first: NDArray[np.int64], rng: Source
    ) -> tuple[NDArray[np.bool_], int]:
        """Which points are published, and how many draws a person is charged at most."""
        owners = traces.person[first]
        if self.draws is None:
            return np.ones(traces.size, dtype=np.bool_), int(np.bincount(owners).max())
        chosen = at_most(owners.astype(np.int64), self.draws, rng=rng)
        return chosen[key], self.draws

    def _remapped(
        self, x: NDArray[np.int64], y: NDArray[np.int64], plane: Plane
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Outputs moved to the cell of the prior with the least mean distance to the true one."""
        places, weights = read_prior(str(self.prior), plane)
        metres = places * plane.step
        apart = np.sqrt(((metres[:, None] - metres[None]) ** 2).sum(axis=2))
        packed = np.stack([x, y], axis=1)
        distinct, inverse = np.unique(packed, axis=0, return_inverse=True)
        rate = float(self.law(plane.step).rate)
        best = np.empty(len(distinct), dtype=np.int64)
        for start in range(0, len(distinct), CHUNK):
            part = distinct[start : start + CHUNK].astype(np.float64)
            radius = np.sqrt(((part[:, None] - places[None]) ** 2).sum(axis=2))
            chance = np.exp(-rate * (radius - radius.min(axis=1, keepdims=True))) * weights
            best[start : start + CHUNK] = (chance @ apart).argmin(axis=1)
        found = places[best[inverse.ravel()]].astype(np.int32)
        return found[:, 0], found[:, 1]

    def _promise(self, step: float, charged: int) -> str:
        return Message(
            "traces.promise.planar",
            times=self.times,
            within=self.within,
            step=step,
            rounding=sqrt(2) * step,
            factor=exp(self.epsilon * sqrt(2) * step),
            cells=charged,
        )

    def protects(self) -> str:
        """What an attacker cannot do."""
        return Message("traces.protects.planar", times=self.times, within=self.within)

    def assumes(self) -> tuple[str, ...]:
        """A declared region; a prior that is public."""
        found = TraceMethod.assumes(self)
        return found if self.prior is None else (*found, Message("traces.assumes.prior"))

    def leaves_open(self, period: str) -> tuple[str, ...]:
        """Draws that add up, returns that are seen, times that stay."""
        found: tuple[str, ...] = (
            Message("traces.open.draws_add_up"),
            Message("traces.open.times_stay"),
        )
        if self.repeat == "sticky":
            found = (Message("traces.open.returns"), *found)
        return found


def read_prior(path: str, plane: Plane) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The cells of a public prior, and their weights: a table of latitude, longitude, weight.

    Raises:
        InputError: CEL-J008 the table is none; it sums to something else than 1.
    """
    frame = frames.read(Path(path))
    if not {"latitude", "longitude", "weight"} <= set(frame.columns):
        raise InputError("CEL-J008.columns")
    if not 1 <= frame.height <= MOST_PRIOR:
        raise InputError("CEL-J008.cells", most=MOST_PRIOR)
    x, y = plane.cells(
        frame["latitude"].cast(float).to_numpy(), frame["longitude"].cast(float).to_numpy()
    )
    weights = check_prior(frame["weight"].cast(float).to_numpy(), frame.height)
    return np.stack([x, y], axis=1).astype(np.float64), weights


def _sorted(noisy: Traces, moved: Traces, period: str) -> Any:
    """Samples of the noisy points; traces are cut by the true times, not by the rounded ones."""
    base = segmented(moved, period)
    box = np.stack([noisy.x, noisy.y, noisy.x, noisy.y], axis=1)
    return replace(base, start=noisy.time, end=noisy.time, box=box)
