"""Glove: traces merged into groups of k that share one trace of boxes; truthful and k-anonymous."""

from __future__ import annotations

import heapq
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
from celosia.traces.resampling import resample
from celosia.traces.samples import Samples, segmented
from celosia.traces.strata import Stratum, strata_of

CANDIDATES = 48
"""Other traces that a trace is compared with: those that are nearest at a few common moments."""
MOMENTS = 16
"""Common moments at which traces are compared to find them."""


@dataclass(frozen=True, slots=True)
class Glove(TraceMethod):
    """Traces are merged pair by pair, cheapest first, until each group has at least `k` persons.

    All persons of a group get the same trace of boxes in space and time, which holds all their
    points; boxes that would grow beyond the limits are suppressed for the whole group.

    Guarantee: every published trace is published for at least k persons, so that any knowledge of
    points of one person fits at least k of the published traces.

    Reference: Gramaglia and Fiore 2015; Gramaglia, Fiore, Tarable, Banchs 2017.
    """

    method_name: ClassVar[str] = "glove"
    periods: ClassVar[tuple[str, ...]] = ("day", "week", "whole")

    k: int = parameter(least=2, start=5, is_main=True)
    max_metres: float = parameter(5000.0, above=0, unit="m", is_main=True)
    max_minutes: float = parameter(360.0, above=0, unit="min", is_main=True)
    space_weight: float = parameter(0.5, least=0, most=1)

    def apply(
        self, traces: Traces, period: str, *, rng: Source, progress: Progress = silent
    ) -> MethodResult:
        check_people(traces.people, self.k)
        base = segmented(traces, period)
        found = _Groups(base, self, traces.plane.step)
        strata = strata_of(traces, base, period)
        small = 0
        for done, stratum in enumerate(strata):
            progress(Step(Message("traces.stage.merge"), done, len(strata)))
            if stratum.traces.size < self.k:
                small += found.drop(stratum)
            else:
                found.merge(stratum, progress)
        samples, boxes = found.samples()
        return MethodResult(
            samples=samples,
            facts={
                "groups": found.count,
                "smallest_group": found.smallest,
                "suppressed_points": found.lost + small,
                "median_box_metres": boxes[0],
                "median_box_minutes": boxes[1],
            },
            kept=Message("traces.kept.boxes"),
            promise=Message("traces.promise.glove", k=self.k),
        )

    def protects(self) -> str:
        return Message("traces.protects.alike", k=self.k)

    def leaves_open(self, period: str) -> tuple[str, ...]:
        """What a whole group shares, and periods that may be joined."""
        found: tuple[str, ...] = (Message("traces.open.group_shares"),)
        return found if period == "whole" else (*found, Message("traces.open.periods"))


class _Groups:
    """The arena of samples, and which traces have been merged."""

    def __init__(self, base: Samples, method: Glove, step: float) -> None:
        self.base, self.method, self.step = base, method, step
        size = base.traces
        self.offset = np.searchsorted(base.trace, np.arange(size)).astype(np.int64)
        self.length = np.bincount(base.trace, minlength=size).astype(np.int64)
        self.times = np.stack([base.start, base.end], axis=1).astype(np.int64)
        self.boxes = base.box.astype(np.int64)
        self.weights = np.ones(base.size, dtype=np.int64)
        self.group = np.arange(size, dtype=np.int64)
        """The trace in whose place the merged trace of each trace lies."""
        self.members: dict[int, list[int]] = {}
        self.lost = 0
        self.done: list[int] = []

    @property
    def _limits(self) -> tuple[float, float, float]:
        chosen = self.method
        return chosen.max_metres / self.step, chosen.max_minutes * 60, chosen.space_weight

    def drop(self, stratum: Stratum) -> int:
        """Suppress the traces of a stratum with too few persons; how many points they had."""
        gone = int(self.length[stratum.traces].sum())
        self.length[stratum.traces] = 0
        return gone

    def merge(self, stratum: Stratum, progress: Progress) -> None:
        """Merge the traces of one stratum, in which every person has one trace."""
        from celosia.traces import _glove_kernels as kernels

        k = self.method.k
        near = self._near(stratum)
        active: dict[int, set[int]] = {}
        for place, trace in enumerate(stratum.traces.tolist()):
            self.members[trace] = [trace]
            active[trace] = set(stratum.traces[near[place]].tolist()) - {trace}
        for trace, others in list(active.items()):  # being near is mutual
            for other in others:
                active[other].add(trace)
        heap: list[tuple[float, int, int, int, int]] = []
        version = dict.fromkeys(active, 0)

        def push(trace: int, others: set[int]) -> None:
            asked = np.array(sorted(others), dtype=np.int64)
            costs = kernels.merge_costs(
                self.times, self.boxes, self.weights, self.offset, self.length, trace, asked,
                *self._limits,
            )  # fmt: skip
            for other, cost in zip(asked.tolist(), costs.tolist(), strict=True):
                heapq.heappush(heap, (cost, trace, other, version[trace], version[other]))

        for trace, others in active.items():
            push(trace, {other for other in others if other > trace})
        finished: list[int] = []
        while heap:
            _, one, other, first, second = heapq.heappop(heap)
            stale = one not in active or other not in active
            if stale or version[one] != first or version[other] != second:
                continue
            kept = self._merge(one, other)
            gone = other if kept == one else one
            others = (active.pop(one) | active.pop(other)) - {one, other}
            version[kept] += 1
            if len(self.members[kept]) >= k:
                finished.append(kept)
                continue
            alive = {each for each in others if each in active}
            for each in alive:
                active[each] -= {gone}
                active[each].add(kept)
            active[kept] = alive
            push(kept, alive)
            progress(Step(Message("traces.stage.merge"), len(finished)))
        self._rest(sorted(active), finished, k)

    def _rest(self, left: list[int], finished: list[int], k: int) -> None:
        """Merge small groups that have no neighbour left, with each other or with a whole group."""
        while left:
            one = left.pop()
            others = np.array([*left, *finished], dtype=np.int64)
            if not others.size:
                break  # a single group, of all persons of the stratum
            best = int(others[self._cheapest(one, others)])
            kept = self._merge(one, best)
            if best in left:
                left.remove(best)
            else:
                finished.remove(best)
            (finished if len(self.members[kept]) >= k else left).append(kept)
        self.done += finished

    def _cheapest(self, one: int, others: NDArray[np.int64]) -> int:
        from celosia.traces import _glove_kernels as kernels

        costs = kernels.merge_costs(
            self.times, self.boxes, self.weights, self.offset, self.length, one, others,
            *self._limits,
        )  # fmt: skip
        return int(costs.argmin())

    def _merge(self, one: int, other: int) -> int:
        from celosia.traces import _glove_kernels as kernels

        metres, seconds, _ = self._limits
        kept, lost = kernels.merge_into(
            self.times, self.boxes, self.weights, self.offset, self.length, one, other, metres,
            seconds,
        )  # fmt: skip
        self.lost += int(lost)
        kept = int(kept)
        gone = other if kept == one else one
        self.members[kept] = self.members[kept] + self.members.pop(gone)
        return kept

    def _near(self, stratum: Stratum) -> NDArray[np.int64]:
        """For each trace of a stratum, the places of those that are nearest at common moments."""
        from scipy.spatial import cKDTree

        size = stratum.traces.size
        if size <= CANDIDATES + 1:
            return np.tile(np.arange(size), (size, 1))
        places = resample(self.base, stratum, MOMENTS).filled()
        return np.asarray(cKDTree(places).query(places, k=CANDIDATES + 1)[1])

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.done)

    @property
    def smallest(self) -> int:
        """The persons of the smallest group."""
        sizes = [len({int(self.base.owner[each]) for each in self.members[g]}) for g in self.done]
        return min(sizes, default=0)

    def samples(self) -> tuple[Samples, tuple[float, float]]:
        """The trace of its group for each person; and the median side and time of a box."""
        parts: dict[str, list[Any]] = {"trace": [], "row": []}
        for group in self.done:
            rows = np.arange(self.offset[group], self.offset[group] + self.length[group])
            for member in sorted(self.members[group]):
                parts["trace"].append(np.full(rows.size, member, dtype=np.int64))
                parts["row"].append(rows)
        empty = np.zeros(0, dtype=np.int64)
        trace = np.concatenate([empty, *parts["trace"]])
        row = np.concatenate([empty, *parts["row"]])
        order = np.argsort(trace, kind="stable")
        trace, row = trace[order], row[order]
        box = self.boxes[row].astype(np.int32)
        found = Samples(
            trace=trace,
            start=self.times[row, 0],
            end=self.times[row, 1],
            box=box,
            owner=self.base.owner,
            shows_box=True,
        )
        if not row.size:
            return found, (0.0, 0.0)
        side = np.maximum(box[:, 2] - box[:, 0], box[:, 3] - box[:, 1]) + 1
        return found, (
            float(np.median(side) * self.step),
            float(np.median(found.end - found.start) / 60),
        )
