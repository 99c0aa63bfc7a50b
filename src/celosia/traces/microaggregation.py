"""Microaggregation of traces, and locations swapped within groups of traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.traces.method import MethodResult, TraceMethod, check_people
from celosia.traces.points import Traces
from celosia.traces.resampling import Resampled, resample_at
from celosia.traces.samples import Samples, segmented
from celosia.traces.strata import Stratum, strata_of


def _moments(base: Samples, stratum: Stratum, minutes: float) -> NDArray[np.int64]:
    """Common moments of a stratum, every so many minutes."""
    inside = np.isin(base.trace, stratum.traces)
    step = max(1, int(minutes * 60))
    first = -(-int(base.start[inside].min()) // step) * step
    return np.arange(first, int(base.start[inside].max()) + 1, step, dtype=np.int64)


def trace_groups(lines: Resampled, k: int) -> NDArray[np.int64]:
    """The group of each resampled trace, by MDAV."""
    from celosia.traces import _grouping_kernels as kernels

    return kernels.mdav(lines.x, lines.y, lines.low, lines.high, k)


@dataclass(frozen=True, slots=True)
class TraceMicroaggregation(TraceMethod):
    """Similar traces in groups of `k` or more are replaced by their mean trace, for each of them.

    Guarantee: every published trace is published for at least k persons, identically.

    Reference: Domingo-Ferrer, Sramka, Trujillo-Rasúa 2010; MDAV of Domingo-Ferrer and Torra 2005.
    """

    method_name: ClassVar[str] = "trace-microaggregation"
    periods: ClassVar[tuple[str, ...]] = ("day", "week", "whole")

    k: int = parameter(least=2, start=5, is_main=True)
    minutes: float = parameter(30.0, above=0, unit="min", is_main=True)

    def apply(
        self, traces: Traces, period: str, *, rng: Source, progress: Progress = silent
    ) -> MethodResult:
        check_people(traces.people, self.k)
        base = segmented(traces, period)
        parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]] = []
        groups = gone = 0
        strata = strata_of(traces, base, period)
        for done, stratum in enumerate(strata):
            progress(Step(Message("traces.stage.group"), done, len(strata)))
            moments = _moments(base, stratum, self.minutes)
            if stratum.traces.size < self.k or not moments.size:
                gone += stratum.traces.size
                continue
            lines = resample_at(base, stratum, moments)
            labels = trace_groups(lines, self.k)
            for group in range(int(labels.max()) + 1):
                members = np.nonzero(labels == group)[0]
                shared = _mean(lines, members)
                groups += 1
                gone += members.size if not shared[0].size else 0
                parts += [
                    (np.full(shared[0].size, stratum.traces[one]), *shared) for one in members
                ]
        return MethodResult(
            samples=_collected(parts, base.owner),
            facts={"groups": groups, "traces_without_common_time": gone},
            kept=Message("traces.kept.means"),
            promise=Message("traces.promise.microaggregation", k=self.k),
        )

    def protects(self) -> str:
        return Message("traces.protects.alike", k=self.k)

    def leaves_open(self, period: str) -> tuple[str, ...]:
        """Means that are nobody's, and periods that may be joined."""
        found: tuple[str, ...] = (
            Message("traces.open.means"),
            Message("traces.open.group_shares"),
        )
        return found if period == "whole" else (*found, Message("traces.open.periods"))


def _mean(
    lines: Resampled, members: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The mean trace of a group, at the moments at which all its members are present."""
    low, high = int(lines.low[members].max()), int(lines.high[members].min())
    span = slice(low, max(low, high))
    x = np.floor(lines.x[members, span].mean(axis=0) + 0.5).astype(np.int32)
    y = np.floor(lines.y[members, span].mean(axis=0) + 0.5).astype(np.int32)
    return lines.moments[span], np.stack([x, y, x, y], axis=1)


def _collected(parts: list[Any], owner: NDArray[np.int64]) -> Samples:
    parts = sorted((part for part in parts if part[0].size), key=lambda part: int(part[0][0]))
    empty = np.zeros(0, dtype=np.int64)
    times = np.concatenate([empty, *(part[1] for part in parts)])
    return Samples(
        trace=np.concatenate([empty, *(part[0] for part in parts)]),
        start=times,
        end=times,
        box=np.concatenate([np.zeros((0, 4), dtype=np.int32), *(part[2] for part in parts)]),
        owner=owner,
    )


@dataclass(frozen=True, slots=True)
class SwapLocations(TraceMethod):
    """Points of similar traces are exchanged: places and times stay true, traces are mixtures.

    Traces are grouped as in microaggregation. For every point, one point of each other trace of
    the group that is near in space and time is looked for; these points are exchanged at random,
    and a point without such a set is dropped.

    Guarantee: within its swap set, a point is its own trace's with chance 1 in k or less. Parts of
    traces are not k-anonymous.

    Reference: Domingo-Ferrer and Trujillo-Rasúa 2012.
    """

    method_name: ClassVar[str] = "swap-locations"
    periods: ClassVar[tuple[str, ...]] = ("day", "week", "whole")

    k: int = parameter(least=2, start=3, is_main=True)
    metres: float = parameter(1000.0, above=0, unit="m", is_main=True)
    seconds: float = parameter(3600.0, above=0, unit="s", is_main=True)
    minutes: float = parameter(30.0, above=0, unit="min")

    def apply(
        self, traces: Traces, period: str, *, rng: Source, progress: Progress = silent
    ) -> MethodResult:
        check_people(traces.people, self.k)
        base = segmented(traces, period)
        given = base.trace.copy()
        kept = np.zeros(base.size, dtype=np.bool_)
        sets = 0
        strata = strata_of(traces, base, period)
        for done, stratum in enumerate(strata):
            progress(Step(Message("traces.stage.group"), done, len(strata)))
            moments = _moments(base, stratum, self.minutes)
            if stratum.traces.size < self.k or not moments.size:
                continue
            labels = trace_groups(resample_at(base, stratum, moments), self.k)
            for group in range(int(labels.max()) + 1):
                sets += self._swap(
                    base, stratum.traces[labels == group], traces.plane.step, given, kept, rng
                )
        order = np.lexsort((base.start[kept], given[kept]))
        samples = Samples(
            trace=given[kept][order],
            start=base.start[kept][order],
            end=base.start[kept][order],
            box=base.box[kept][order],
            owner=base.owner,
        )
        return MethodResult(
            samples=samples,
            facts={"swap_sets": sets, "dropped_points": int((~kept).sum())},
            kept=Message("traces.kept.swaps"),
            promise=Message("traces.promise.swap", k=self.k),
        )

    def _swap(  # noqa: PLR0917 - one group of a stratum
        self,
        base: Samples,
        members: NDArray[np.int64],
        step: float,
        given: NDArray[np.int64],
        kept: NDArray[np.bool_],
        rng: Source,
    ) -> int:
        """Exchange the points of one group; how many swap sets there were."""
        from celosia.traces import _grouping_kernels as kernels

        rows = np.nonzero(np.isin(base.trace, members))[0]
        local = np.searchsorted(members, base.trace[rows])
        found = kernels.swap_sets(
            local,
            base.start[rows],
            base.box[rows, 0].astype(np.float64),
            base.box[rows, 1].astype(np.float64),
            members.size,
            self.metres / step,
            int(self.seconds),
        )
        inside = np.nonzero(found >= 0)[0]
        if not inside.size:
            return 0
        sets = inside[np.argsort(found[inside], kind="stable")].reshape(-1, members.size)
        # A random order within each set: random words, sorted row by row.
        turns = np.argsort(rng.words(sets.size).reshape(sets.shape), axis=1, kind="stable")
        given[rows[sets]] = members[turns]
        kept[rows[inside]] = True
        return len(sets)

    def protects(self) -> str:
        return Message("traces.protects.swap", k=self.k)

    def leaves_open(self, period: str) -> tuple[str, ...]:
        """Parts of traces that single out a person."""
        return (Message("traces.open.sub_traces"), Message("traces.open.true_places"))
