"""Unicity: how few known points single a person out, on average and in the worst case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source, System
from celosia.traces.attacks.method import AttackedTraces, TraceAttackMethod
from celosia.traces.attacks.result import TraceAttack
from celosia.traces.points import Traces
from celosia.traces.samples import Samples, segmented
from celosia.traces.zones import floor_times

CAP = 20
"""Candidates up to which they are counted."""
MOST_BOXED = 500
"""Targets of an attack on boxes, each of which is compared with all boxes."""
HOUR = 3600


class _Index(NamedTuple):
    """Which trace holds which key (cell and window), both ways."""

    keys: NDArray[np.int64]
    starts: NDArray[np.int64]
    holders: NDArray[np.int64]
    key_starts: NDArray[np.int64]


def _index(
    trace: NDArray[np.int64], codes: NDArray[np.int64], traces: int, keys: int | None = None
) -> _Index:
    """The index of samples by their codes; keys are the codes, or their ranks where not given.

    Pairs of a code and a trace are sorted as one number each, which is many times faster than an
    order of rows.
    """
    if keys is None:
        codes = codes - codes.min(initial=0)
        if (int(codes.max(initial=0)) + 1) * max(traces, 1) >= 2**62:
            codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    pairs = distinct(codes * np.int64(max(traces, 1)) + trace)
    held, holders = np.divmod(pairs, max(traces, 1))
    if keys is None:
        held = np.cumsum(np.diff(held, prepend=held[:1]) != 0)
        keys = int(held[-1]) + 1 if held.size else 0
    key_starts = np.searchsorted(held, np.arange(keys + 1)).astype(np.int64)
    owned = np.sort(holders * np.int64(max(keys, 1)) + held) % max(keys, 1)
    starts = np.concatenate([[0], np.cumsum(np.bincount(holders, minlength=traces))])
    return _Index(owned, starts.astype(np.int64), holders, key_starts)


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different values, sorted; NumPy's own way hashes them, and takes ten times as long."""
    ordered: NDArray[np.int64] = np.sort(values)
    kept: NDArray[np.int64] = ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0]
    return kept


def sample_codes(
    samples: Samples, traces: Traces, *, cell: float, hours: float | None
) -> NDArray[np.int64]:
    """A key for each sample: its cell of so many metres, and its window of so many hours."""
    x, y = samples.centres
    west, south, east, north = traces.plane.bounds
    factor = max(1, round(cell / traces.plane.step))
    wide, high = (east - west) // factor + 1, (north - south) // factor + 1
    codes = (y.astype(np.int64) - south) // factor * wide + (x.astype(np.int64) - west) // factor
    if hours is None:
        return codes
    windows = floor_times(samples.moments, _window(hours), traces.declaration.zone)
    return windows // 60 * (wide * high) + codes


def _window(hours: float) -> int:
    return max(1, round(hours * HOUR))


def _known(index: _Index, points: int, rng: Source) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """At most so many random keys of each trace, in random order, and where those of each begin."""
    from celosia.traces.attacks import _kernels as kernels

    traces = index.starts.size - 1
    sizes = np.minimum(np.diff(index.starts), points)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    coins = rng.integers(2**31, traces * points).reshape(traces, points)
    return kernels.random_keys(index.keys, index.starts, starts, coins), starts


def unicity(
    original: Traces,
    release: Samples | None = None,
    *,
    cell: float = 1000.0,
    hours: float = 1.0,
    points: int = 4,
    period: str = "whole",
    rng: Source | None = None,
) -> TraceAttack:
    """The share of people that a few random points of the original single out in a release.

    Args:
        original: the points that the attacker knows some of.
        release: the samples that are attacked; the original itself where there is none.
        cell: side of the cells in which a point is known, in metres.
        hours: length of the windows in which its time is known.
        points: how many are known.
        period: how long a pseudonym of the release lasts; known points are of one such period.
        rng: where known points are drawn from.

    Reference: de Montjoye, Hidalgo, Verleysen, Blondel 2013.

    >>> from celosia.datasets import city
    >>> attack = unicity(city(people=50, days=3).traces, points=4)
    >>> attack.targets
    50
    """
    rng = System() if rng is None else rng
    base = segmented(original, period)
    if release is not None and release.shows_box:
        return _on_boxes(original, base, release, cell, hours, points, rng)
    attacked = base if release is None else release
    known_codes = sample_codes(base, original, cell=cell, hours=hours)
    codes = sample_codes(attacked, original, cell=cell, hours=hours)
    known = distinct(np.concatenate([known_codes, codes]))
    index = _index(attacked.trace, np.searchsorted(known, codes), attacked.traces, known.size)
    mine = _index(base.trace, np.searchsorted(known, known_codes), base.traces, known.size)
    from celosia.traces.attacks import _kernels as kernels

    sizes, which = kernels.candidates(*_known(mine, points, rng), points, *index, CAP)
    asked = sizes >= 0
    # One candidate that is another's misleads the attacker.
    alone = sizes == 1
    found = int((attacked.owner[which[alone]] == base.owner[alone]).sum())
    return _result(sizes[asked], found, attacked.traces, int((~asked).sum()), cell, hours, points)


def _result(  # noqa: PLR0917 - the figures of one attack
    sizes: NDArray[np.int64],
    found: int,
    traces: int,
    left_out: int,
    cell: float,
    hours: float,
    points: int,
) -> TraceAttack:
    return TraceAttack(
        name=Message("traces.attack.unicity", points=points, cell=cell, hours=hours),
        assumption=Message("traces.attack.unicity_knows", points=points, cell=cell, hours=hours),
        mitigation=Message("traces.attack.unicity_prevent"),
        targets=int(sizes.size),
        found=found,
        chance=1 / max(traces, 1),
        smallest=int(sizes.min()) if sizes.size else None,
        left_out=left_out,
        facts={"unique": float(np.mean(sizes == 1)) if sizes.size else 0.0},
    )


def _on_boxes(  # noqa: PLR0917 - as `unicity`
    original: Traces,
    base: Samples,
    release: Samples,
    cell: float,
    hours: float,
    points: int,
    rng: Source,
) -> TraceAttack:
    """The same where the release has boxes: a known sample fits a box that meets it."""
    from celosia.traces.attacks import _kernels as kernels

    codes = sample_codes(base, original, cell=cell, hours=hours)
    different, first, places = np.unique(codes, return_index=True, return_inverse=True)
    mine = _index(base.trace, places.astype(np.int64), base.traces, different.size)
    enough = np.nonzero(np.diff(mine.starts) >= points)[0]
    few = base.traces - enough.size
    targets = enough[rng.permutation(enough.size)[:MOST_BOXED]]
    known, starts = _known(mine, points, rng)
    rows = known[starts[targets][:, None] + np.arange(points)].ravel()
    sample = first[rows]
    factor = max(1, round(cell / original.plane.step))
    west, south, _, _ = original.plane.bounds
    width = _window(hours)
    sizes, hit = kernels.holders_in_boxes(
        (base.box[sample, 0].astype(np.int64) - west) // factor * factor + west,
        (base.box[sample, 1].astype(np.int64) - south) // factor * factor + south,
        floor_times(base.start[sample], width, original.declaration.zone),
        np.arange(targets.size + 1, dtype=np.int64) * points,
        points,
        factor,
        width,
        release.trace,
        release.box,
        release.start,
        release.end,
        release.traces,
        release.owner,
        base.owner[targets],
    )
    found = int((hit & (sizes == 1)).sum())
    positive = sizes[sizes > 0]
    shown = _result(positive, found, release.traces, few, cell, hours, points)
    return replace(
        shown,
        targets=int(sizes.size),
        facts={
            "unique": float(np.mean(sizes == 1)) if sizes.size else 0.0,
            "no_candidate": float(np.mean(sizes == 0)) if sizes.size else 0.0,
        },
    )


def unicity_curve(
    original: Traces,
    *,
    cell: float = 1000.0,
    hours: float = 1.0,
    most: int = 5,
    rng: Source | None = None,
) -> list[float]:
    """The unicity of the original for 1 to `most` known points, from the same draws."""
    from celosia.traces.attacks import _kernels as kernels

    base = segmented(original, "whole")
    codes = sample_codes(base, original, cell=cell, hours=hours)
    index = _index(base.trace, codes, base.traces)
    known, starts = _known(index, most, System() if rng is None else rng)
    alone = kernels.alone_from(known, starts, most, *index)
    found = []
    for points in range(1, most + 1):
        asked = alone[np.diff(starts) >= points]
        found.append(float(np.mean((asked > 0) & (asked <= points))) if asked.size else 0.0)
    return found


def worst_case(
    original: Traces, *, cell: float = 1000.0, hours: float | None = None, points: int = 2
) -> NDArray[np.float64]:
    """The largest chance of each person that some `points` of their cells give: 1 / candidates.

    The location attack of Pellungrini, Pappalardo, Pratesi and Monreale 2017, on distinct cells;
    NaN for people without points.
    """
    from celosia.traces.attacks import _kernels as kernels

    base = segmented(original, "whole")
    codes = sample_codes(base, original, cell=cell, hours=hours)
    index = _index(base.trace, codes, base.traces)
    sizes = kernels.worst_subset(*index, points)
    risk: NDArray[np.float64] = np.where(sizes > 0, 1 / np.maximum(sizes, 1), np.nan)
    return risk


@dataclass(frozen=True, slots=True)
class ByKnownPoints(TraceAttackMethod):
    """An attacker knows a few points of a person, and looks for traces that hold them all."""

    method_name: ClassVar[str] = "unicity"

    points: int = parameter(4, least=1, most=20, start=4, is_main=True)
    cell: float = parameter(1000.0, above=0, unit="m", is_main=True)
    hours: float = parameter(1.0, above=0, unit="h", is_main=True)

    def run(
        self, attacked: AttackedTraces, *, rng: Source, progress: Progress = silent
    ) -> TraceAttack:
        return unicity(
            attacked.original,
            attacked.release,
            cell=self.cell,
            hours=self.hours,
            points=self.points,
            period=attacked.period,
            rng=rng,
        )


@dataclass(frozen=True, slots=True)
class ByWorstCells(TraceAttackMethod):
    """An attacker knows the cells of a person that few others visit: the worst case."""

    method_name: ClassVar[str] = "worst-cells"

    points: int = parameter(2, least=1, most=4, start=2, is_main=True)
    cell: float = parameter(1000.0, above=0, unit="m", is_main=True)

    def run(
        self, attacked: AttackedTraces, *, rng: Source, progress: Progress = silent
    ) -> TraceAttack:
        risk = worst_case(attacked.original, cell=self.cell, points=self.points)
        known = risk[np.isfinite(risk)]
        return TraceAttack(
            name=Message("traces.attack.worst", points=self.points, cell=self.cell),
            assumption=Message("traces.attack.worst_knows", points=self.points, cell=self.cell),
            mitigation=Message("traces.attack.unicity_prevent"),
            targets=int(known.size),
            found=int((known == 1).sum()),
            chance=1 / max(known.size, 1),
            smallest=round(1 / float(known.max())) if known.size else None,
            left_out=int(risk.size - known.size),
            facts={"mean_risk": float(known.mean()) if known.size else 0.0},
        )
