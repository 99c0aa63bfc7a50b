"""Geo-indistinguishability: places with exact planar Laplace noise on the lattice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, log, sqrt
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia import frames
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.pseudonyms.keys import Key
from celosia.core.randomness import Source
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.statistics.contributions import at_most
from celosia.traces.method import MethodResult, TraceMethod
from celosia.traces.planar.law import DiscretePlanarLaplace, rate_of
from celosia.traces.planar.remapping import check_prior
from celosia.traces.planar.repeats import keyed_draws, predictive_draws
from celosia.traces.plane import Plane
from celosia.traces.points import Traces
from celosia.traces.samples import segmented
from celosia.traces.zones import floor_times

CHUNK = 4096
"""Places that are remapped at once."""
MOST_PRIOR = 1000
"""Cells of a prior: each output is compared with all of them, each weighed by all."""
SAME_SHARE = 1e-4
"""Weights of a prior that differ by less from the shares of the points were counted on them."""

Prior = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Cells on the lattice, and their weights."""


class _Drawn(NamedTuple):
    """Noisy places by their number, and what they cost."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    number: NDArray[np.int64]
    """The place of each point."""
    kept: NDArray[np.bool_]
    charged: int
    """The most draws of one person."""
    draws: int
    side: float
    """Metres of the cells that points were rounded to before the noise."""


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
    repeat: Literal["sticky", "independent", "predictive"] = parameter("sticky", is_main=True)
    sticky_cell: float = parameter(200.0, above=0, unit="m")
    draws: int | None = parameter(None, least=1)
    window: Literal["1min", "5min", "15min", "1h", "3h", "6h", "day"] = parameter("15min")
    prior: str | None = parameter(None)
    noise_key: str | None = parameter(None)
    threshold: float = parameter(600.0, above=0, unit="m")
    tests: int = parameter(100, least=1)
    test_share: float = parameter(0.1, above=0, most=1)

    def check(self) -> None:
        """Refuse draws without a budget, and a key where it would keep nothing."""
        if self.repeat != "sticky" and self.draws is None:
            raise InputError("CEL-J022.draws", repeat=self.repeat)
        if self.repeat != "sticky" and self.noise_key is not None:
            raise InputError("CEL-J022.key", repeat=self.repeat)

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
        prior = None
        if self.prior is not None:
            prior = read_prior(self.prior, plane)
            check_not_measured(traces, *prior)
        progress(Step(Message("traces.stage.noise"), 0))
        if self.repeat == "predictive":
            drawn = self._predicted(traces, rng)
        elif self.noise_key is not None:
            drawn = self._kept(traces, Key.load(self.noise_key), rng)
        else:
            drawn = self._drawn(traces, rng)
        places = plane.clamp(drawn.x, drawn.y)
        if prior is not None:
            # Remapping weighs places by the noise itself, so that it sees the unclamped output.
            places = self._remapped(drawn.x, drawn.y, plane, prior)
        moved = traces.select(drawn.kept)
        known = drawn.number[drawn.kept]
        noisy = replace(
            moved,
            x=places[0][known],
            y=places[1][known],
            time=floor_times(moved.time, self.window, traces.declaration.zone),
        )
        return MethodResult(
            samples=_sorted(noisy, moved, period),
            facts={
                "draws": drawn.draws,
                "distinct_cells_charged": drawn.charged,
                "dropped_points": int((~drawn.kept).sum()),
                "epsilon_per_metre": self.epsilon,
            },
            kept=Message("traces.kept.noise"),
            promise=self._promise(drawn.side, drawn.charged),
        )

    def _drawn(self, traces: Traces, rng: Source) -> _Drawn:
        """One draw for each point, or for each person and cell, around the first point there."""
        if self.repeat == "independent":
            number = first = np.arange(traces.size, dtype=np.int64)
        else:
            number, first, _ = self._cells(traces)
        kept, charged = self._within_budget(traces, number, first, rng)
        east, north = self.law(traces.plane.step).draw(first.size, rng)
        x, y = traces.x[first] + east, traces.y[first] + north
        return _Drawn(x, y, number, kept, charged, int(first.size), traces.plane.step)

    def _kept(self, traces: Traces, key: Key, rng: Source) -> _Drawn:
        """The draws that a key keeps over all releases: around the centre of each cell.

        Two points of a cell must have one centre, also in two releases: the difference of two
        outputs with the same noise would be the difference of the points.
        """
        number, first, cells = self._cells(traces)
        kept, charged = self._within_budget(traces, number, first, rng)
        plane, factor = traces.plane, self._factor(traces.plane)
        west, south, _, _ = plane.bounds
        row, column = np.divmod(cells[first], 2**31)
        side = plane.region
        grid = (side.south, side.west, side.north, side.east, plane.step, factor)
        region = ",".join(map(str, grid))
        names = traces.names.gather(traces.person[first]).cast(pl.String).to_list()
        labels = [
            (region, name, f"{place}")
            for name, place in zip(names, cells[first].tolist(), strict=True)
        ]
        east, north = keyed_draws(self.law(plane.step), key, labels)
        x = west + column * factor + factor // 2 + east
        y = south + row * factor + factor // 2 + north
        return _Drawn(x, y, number, kept, charged, int(first.size), factor * plane.step)

    def _predicted(self, traces: Traces, rng: Source) -> _Drawn:
        """Draws only where a private test finds that the last place does not serve any more."""
        assert self.draws is not None, "checked"
        tested = at_most(traces.person.astype(np.int64), self.tests, rng=rng)
        step, law = traces.plane.step, self.law(traces.plane.step)
        found = predictive_draws(
            traces.person[tested].astype(np.int64),
            traces.x[tested].astype(np.int64),
            traces.y[tested].astype(np.int64),
            law=law,
            test=DiscreteLaplace(1 / (law.rate * Fraction(str(self.test_share)))),
            reach=round(self.threshold / step),
            draws=self.draws,
            rng=rng,
        )
        number, kept = np.zeros(traces.size, dtype=np.int64), np.zeros(traces.size, dtype=np.bool_)
        number[tested], kept[tested] = np.arange(found.x.size), found.shown
        return _Drawn(found.x, found.y, number, kept, self.draws, found.draws, step)

    def _factor(self, plane: Plane) -> int:
        return max(1, round(self.sticky_cell / plane.step))

    def _cells(
        self, traces: Traces
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The draw of each point, the first point of each draw, and the cell of each point."""
        factor = self._factor(traces.plane)
        west, south, _, _ = traces.plane.bounds
        cells = ((traces.y.astype(np.int64) - south) // factor) * 2**31 + (
            traces.x.astype(np.int64) - west
        ) // factor
        _, numbers = np.unique(cells, return_inverse=True)
        pairs = traces.person.astype(np.int64) * (int(numbers.max()) + 1) + numbers
        _, first, key = np.unique(pairs, return_index=True, return_inverse=True)
        return key.astype(np.int64), first.astype(np.int64), cells

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
        self, x: NDArray[np.int64], y: NDArray[np.int64], plane: Plane, prior: Prior
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Outputs moved to the cell of the prior with the least mean distance to the true one."""
        places, weights = prior
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
        tested = {"tests": self.tests, "share": self.test_share}
        is_tested = self.repeat == "predictive"
        return Message(
            "traces.promise.predictive" if is_tested else "traces.promise.planar",
            **(tested if is_tested else {}),
            times=self.times,
            within=self.within,
            step=step,
            rounding=sqrt(2) * step,
            factor=exp(self.epsilon * sqrt(2) * step),
            cells=charged,
        )

    def protects(self) -> str:
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
        if self.repeat != "independent":
            found = (Message("traces.open.returns"), *found)
        return found


def read_prior(path: str, plane: Plane) -> Prior:
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


def check_not_measured(
    traces: Traces, places: NDArray[np.float64], weights: NDArray[np.float64]
) -> None:
    """Refuse a prior whose weights are the shares of these very points.

    A prior that was measured in another way on the same data is not noticed: that it is public
    stays an assumption of the promise.

    Raises:
        PrivacyError: CEL-J008 the prior was measured on these points.
    """
    from scipy.spatial import cKDTree  # slow to load, and few ask for a prior

    if np.ptp(weights) < SAME_SHARE:
        return  # all cells alike say nothing about anybody
    nearest = cKDTree(places).query(np.stack([traces.x, traces.y], axis=1))[1]
    visits = np.unique(nearest * np.int64(traces.people) + traces.person) // traces.people
    for counted in (nearest, visits):
        shares = np.bincount(counted, minlength=len(places)) / len(counted)
        if np.abs(shares - weights).max() < SAME_SHARE:
            raise PrivacyError("CEL-J008.measured")


def _sorted(noisy: Traces, moved: Traces, period: str) -> Any:
    """Samples of the noisy points; traces are cut by the true times, not by the rounded ones."""
    base = segmented(moved, period)
    box = np.stack([noisy.x, noisy.y, noisy.x, noisy.y], axis=1)
    return replace(base, start=noisy.time, end=noisy.time, box=box)
