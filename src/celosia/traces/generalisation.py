"""Generalisation over space and time under k-anonymity that is counted by person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.tables.models import KAnonymity
from celosia.tables.models.classes import Classes, Histogram, SensitiveColumn
from celosia.tables.models.units import unit_classes
from celosia.traces.method import MethodResult, TraceMethod, check_people
from celosia.traces.places.levels import Level, place_levels, time_levels
from celosia.traces.points import Traces
from celosia.traces.samples import Samples, segmented


def person_classes(
    classes: NDArray[np.int64], person: NDArray[Any]
) -> tuple[Classes, NDArray[np.int64]]:
    """Classes as the models of tables see them where persons count, and the class of each record.

    >>> person_classes(np.array([5, 5, 5, 9]), np.array([0, 0, 1, 1]))[0].sizes.tolist()
    [2, 1]
    """
    values, codes = np.unique(classes, return_inverse=True)
    people = SensitiveColumn("", np.ones(int(person.max(initial=0)) + 1, dtype=np.int64))
    members = Histogram.of_rows(people, codes, person.astype(np.int32), values.size)
    return unit_classes(members, (), ()), codes


def is_k_anonymous(classes: NDArray[np.int64], person: NDArray[Any], k: int) -> bool:
    """Whether every class has at least k different persons; ten rows of one person are one."""
    model = KAnonymity(k, per="person")
    return bool(model.holds(person_classes(classes, person)[0]).all())


@dataclass(frozen=True, slots=True)
class Generalisation(TraceMethod):
    """Points become cells of place and windows of time that at least `k` persons share.

    All cells are of one level and all windows of one length: the finest pair at which no more than
    the allowed share of points has to be suppressed.

    Guarantee: every published pair of cell and window holds points of at least k different
    persons. Points under one pseudonym can still be joined, unless pseudonyms are dropped.

    Reference: Samarati 2001, counted by person as in Gruteser and Grunwald 2003.
    """

    method_name: ClassVar[str] = "generalisation"
    default_period: ClassVar[str] = "none"

    k: int = parameter(least=2, start=5, is_main=True)
    places: Literal["grid", "geohash", "h3", "areas", "place"] = parameter("grid", is_main=True)
    finest_place: float | None = parameter(None, above=0, example="200")
    finest_time: Literal["1min", "5min", "15min", "1h", "3h", "6h", "day", "month"] = parameter(
        "15min"
    )
    suppression: float = parameter(0.05, least=0, most=1)

    def apply(
        self, traces: Traces, period: str, *, rng: Source, progress: Progress = silent
    ) -> MethodResult:
        check_people(traces.people, self.k)
        spaces = place_levels(traces, self.places, base=self.finest_place)
        times = time_levels(traces, base=self.finest_time)
        chosen = self._search(traces, spaces, times, progress)
        if chosen is None:
            raise PrivacyError("CEL-J021", k=self.k, suppression=self.suppression)
        where, when, kept = chosen
        base = segmented(traces, period)
        space, time = spaces[where], times[when]
        box = space.boxes[space.codes[kept]].astype(np.int32)
        windows = time.boxes[time.codes[kept]]
        trace = base.trace[kept]
        if period != "none":  # once for each cell and window: how often is not told
            keys = np.stack([trace, windows[:, 0], space.codes[kept]], axis=1)
            once = np.unique(keys, axis=0, return_index=True)[1]
        else:
            once = np.arange(trace.size)
        samples = Samples(
            trace=trace[once],
            start=windows[once, 0],
            end=windows[once, 1],
            box=box[once],
            owner=base.owner,
            label=None if self.places == "grid" else space.codes[kept][once],
            labels=space.names,
            shows_box=True,
        )
        facts = {
            "place_level": space.title,
            "time_level": time.title,
            "suppressed_points": int((~kept).sum()),
            "classes": int(np.unique(space.codes[kept] * len(time.names) + time.codes[kept]).size),
        }
        return MethodResult(
            samples=_present_only(samples, period),
            facts=facts,
            kept=Message("traces.kept.cells"),
            promise=Message("traces.promise.generalisation", k=self.k),
        )

    def _search(
        self, traces: Traces, spaces: list[Level], times: list[Level], progress: Progress
    ) -> tuple[int, int, NDArray[np.bool_]] | None:
        """The finest node that suppresses few enough points; a coarser one never suppresses more.

        Nodes are tried by the sum of the squares of their levels' shares, which prefers a little of
        both to much of one; below a node that fails all fail.
        """
        nodes = sorted(
            ((i / max(len(spaces) - 1, 1)) ** 2 + (j / max(len(times) - 1, 1)) ** 2, i, j)
            for i in range(len(spaces))
            for j in range(len(times))
        )
        model = KAnonymity(self.k, per="person")
        allowed = self.suppression * traces.size
        failed: list[tuple[int, int]] = []
        best: tuple[float, int, int, int, NDArray[np.bool_]] | None = None
        for number, (loss, i, j) in enumerate(nodes):
            if best is not None and loss > best[0] + 1e-12:
                break
            progress(Step(Message("traces.stage.search"), number, len(nodes)))
            if any(i <= a and j <= b for a, b in failed):
                continue
            inside = spaces[i].codes >= 0
            classes = spaces[i].codes * len(times[j].names) + times[j].codes
            shared, codes = person_classes(classes, traces.person)
            kept = inside & model.holds(shared)[codes]
            gone = int((~kept).sum())
            if gone > allowed or gone == traces.size:
                failed.append((i, j))
            elif best is None or gone < best[1]:
                best = (loss, gone, i, j, kept)
        return None if best is None else (best[2], best[3], best[4])

    def protects(self) -> str:
        return Message("traces.protects.generalisation", k=self.k)

    def leaves_open(self, period: str) -> tuple[str, ...]:
        """Points that can be joined, and what all people of a cell share."""
        found = [Message("traces.open.homogeneity")]
        if period != "none":
            found.insert(0, Message("traces.open.joined"))
        return tuple(found)


def _present_only(samples: Samples, period: str) -> Samples:
    """Numbers of traces without gaps, where every point is its own trace."""
    if period != "none":
        return samples
    from dataclasses import replace

    return replace(
        samples,
        trace=np.arange(samples.size, dtype=np.int64),
        owner=samples.owner[samples.trace],
    )
