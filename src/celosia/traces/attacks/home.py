"""Home and work: where people live, from the release; and by averaging away noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.traces.attacks.method import AttackedTraces, TraceAttackMethod
from celosia.traces.attacks.result import TraceAttack
from celosia.traces.points import Traces
from celosia.traces.samples import Samples, segmented
from celosia.traces.stops import Places, home_and_work, night


def places_of(samples: Samples, traces: Traces, *, by_trace: bool = True) -> tuple[Places, Places]:
    """Home and work of each trace of a release (or of each person), in metres."""
    x, y = samples.centres
    step = traces.plane.step
    who = samples.trace if by_trace else samples.persons
    return home_and_work(
        who,
        samples.moments,
        (x.astype(np.float64) + 0.5) * step,
        (y.astype(np.float64) + 0.5) * step,
        people=samples.traces if by_trace else traces.people,
        zone=traces.declaration.zone,
    )


def home_errors(original: Traces, release: Samples) -> NDArray[np.float64]:
    """Metres between the home found in each trace of the release and its owner's true one.

    The true home is what the original shows; NaN where one of the two is unknown.
    """
    truth, _ = places_of(segmented(original, "whole"), original, by_trace=False)
    guess, _ = places_of(release, original)
    owner = release.owner
    known = owner >= 0
    errors = np.full(owner.size, np.nan)
    errors[known] = np.hypot(
        guess.x[known] - truth.x[owner[known]], guess.y[known] - truth.y[owner[known]]
    )
    return errors


@dataclass(frozen=True, slots=True)
class ByHome(TraceAttackMethod):
    """An attacker looks where each trace spends the night, and so finds the home."""

    method_name: ClassVar[str] = "home-work"

    metres: float = parameter(100.0, above=0, unit="m", is_main=True)
    pair_cell: float = parameter(1000.0, above=0, unit="m")

    def run(
        self, attacked: AttackedTraces, *, rng: Source, progress: Progress = silent
    ) -> TraceAttack:
        original = attacked.original
        release = segmented(original, "whole") if attacked.release is None else attacked.release
        errors = home_errors(original, release)
        known = errors[np.isfinite(errors)]
        region = original.plane.region
        wide, high = original.plane.metres(np.array([region.north]), np.array([region.east]))
        area = 4 * abs(float(wide[0]) * float(high[0]))
        return TraceAttack(
            name=Message("traces.attack.home", metres=self.metres),
            assumption=Message("traces.attack.home_knows"),
            mitigation=Message("traces.attack.home_prevent"),
            targets=int(errors.size),
            found=int((known <= self.metres).sum()),
            chance=min(1.0, np.pi * self.metres**2 / area),
            left_out=0,
            facts={
                "median_error_metres": float(np.median(known)) if known.size else float("nan"),
                "within_500_metres": float((known <= 500).sum() / max(errors.size, 1)),
                "unique_home_work_pairs": pair_uniqueness(original, release, self.pair_cell),
            },
        )


def pair_uniqueness(original: Traces, release: Samples, cell: float) -> float:
    """The share of traces whose pair of home and work cell no other has; of those with both."""
    home, work = places_of(release, original)
    both = np.isfinite(home.x) & np.isfinite(work.x)
    if not both.any():
        return 0.0
    pairs = np.stack(
        [np.floor(each[both] / cell) for each in (home.x, home.y, work.x, work.y)], axis=1
    ).astype(np.int64)
    _, inverse, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    return float(np.mean(counts[inverse.ravel()] == 1))


def averaged_homes(release: Samples, original: Traces) -> tuple[NDArray[np.float64], ...]:
    """The coordinate-wise median of the points of the night of each trace, in metres."""
    x, y = release.centres
    dark = night(release.moments, original.declaration.zone)
    step = original.plane.step
    found = np.full((2, release.traces), np.nan)
    trace = release.trace[dark]
    starts = np.searchsorted(trace, np.arange(release.traces + 1))
    east, north = (x[dark] + 0.5) * step, (y[dark] + 0.5) * step
    for one in np.nonzero(np.diff(starts))[0].tolist():
        rows = slice(starts[one], starts[one + 1])
        found[0, one], found[1, one] = np.median(east[rows]), np.median(north[rows])
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class ByAveraging(TraceAttackMethod):
    """An attacker takes the median of a trace's noisy points of the night: noise averages away."""

    method_name: ClassVar[str] = "averaging"

    metres: float = parameter(100.0, above=0, unit="m", is_main=True)

    def run(
        self, attacked: AttackedTraces, *, rng: Source, progress: Progress = silent
    ) -> TraceAttack:
        original = attacked.original
        release = segmented(original, "whole") if attacked.release is None else attacked.release
        truth, _ = places_of(segmented(original, "whole"), original, by_trace=False)
        x, y = averaged_homes(release, original)
        owner = release.owner
        errors = np.where(owner >= 0, np.hypot(x - truth.x[owner], y - truth.y[owner]), np.nan)
        known = errors[np.isfinite(errors)]
        return TraceAttack(
            name=Message("traces.attack.averaging", metres=self.metres),
            assumption=Message("traces.attack.averaging_knows"),
            mitigation=Message("traces.attack.averaging_prevent"),
            targets=int(errors.size),
            found=int((known <= self.metres).sum()),
            chance=0.0,
            left_out=int(errors.size - known.size),
            facts={"median_error_metres": float(np.median(known)) if known.size else float("nan")},
        )
