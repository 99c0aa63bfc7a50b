"""Membership inference against a synthetic table, by the distance to its records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.alignment import align
from celosia.assess.linkage.distance import nearest, standardise
from celosia.core.errors import InputError
from celosia.core.messages import Message, say_of
from celosia.core.methods import PlainValues, derived
from celosia.core.numbers import real
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.frames import TableLike, as_frame

FEWEST = 10
"""Members and outsiders needed to say anything."""

Synthesiser = Callable[[pl.DataFrame], TableLike]
"""Makes a synthetic table from a real one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership(PlainValues):
    """How well an attacker infers membership from the distance to the synthetic table."""

    members: int
    outsiders: int
    auc: float
    """The chance that a member is nearer than an outsider; 0.5 is a coin."""
    auc_low: float
    auc_high: float
    advantage: float
    """The greatest difference of true and false alarms over all limits of the distance, as seen;
    by chance alone it is above 0."""
    advantage_low: float
    """A lower bound: the limit is chosen on one half of the people and measured on the other."""
    confidence: float
    """The confidence of the interval of the AUC, and that of the lower bound."""

    @property
    @derived
    def is_shown(self) -> bool:
        """Whether the attack distinguishes members better than chance."""
        return self.advantage_low > 0 or self.auc_low > 0.5

    def __str__(self) -> str:
        return say_of("assess.line.membership", self)


def membership(
    members: TableLike,
    outsiders: TableLike,
    synthetic: TableLike,
    columns: Sequence[str] | None = None,
    *,
    nominal: Collection[str] = (),
    confidence: float = 0.95,
    rng: Source | None = None,
    progress: Progress = silent,
) -> Membership:
    """Tell those a synthetic table was made from and others apart by the distance to it.

    The attacker takes a person for a member if the closest synthetic record is near enough.
    Distances are as in `distance_linkage`, amounts in standard deviations of the synthetic table;
    an empty cell is left out of a comparison. The people outside must be of the same population
    and unknown to the maker of the table: a holdout.

    Raises:
        InputError: CEL-A220 fewer than ten members or outsiders, CEL-A221 a confidence out of
            range, and those of `align`.

    Reference: Hilprecht, Härterich & Bernau 2019; DeLong, DeLong & Clarke-Pearson 1988.
    """
    from celosia.assess.audit.bounds import normal_quantile

    level = _checked_confidence(confidence)
    inside, outside = as_frame(members), as_frame(outsiders)
    if min(inside.height, outside.height) < FEWEST:
        raise InputError(
            "CEL-A220", inside_height=inside.height, outside_height=outside.height, fewest=FEWEST
        )
    made = as_frame(synthetic)
    if columns is None:
        columns = [
            name for name in inside.columns if {name} <= {*outside.columns} & {*made.columns}
        ]
    near = [_closeness(made, people, columns, nominal, progress) for people in (inside, outside)]
    auc, deviation = _auc(*near)
    reach = normal_quantile((1 - level) / 2) * deviation
    return Membership(
        members=inside.height,
        outsiders=outside.height,
        auc=auc,
        auc_low=max(0.0, auc - reach),
        auc_high=min(1.0, auc + reach),
        advantage=_advantage(*near)[0],
        advantage_low=_advantage_low(*near, error=1 - level, rng=rng or System()),
        confidence=level,
    )


def membership_of(
    table: TableLike,
    synthesiser: Synthesiser,
    columns: Sequence[str] | None = None,
    *,
    share: float = 0.5,
    nominal: Collection[str] = (),
    confidence: float = 0.95,
    rng: Source | None = None,
    progress: Progress = silent,
) -> Membership:
    """Hold back some records, make a synthetic table from the others, and attack it.

    Args:
        table: the real table.
        synthesiser: makes a synthetic table from a part of it.
        columns: what the attacker knows of people; by default every column.
        share: the share of the records that the synthetic table is made from.
        nominal: columns of numbers that are only names.
        confidence: of the interval and of the bound.
        rng: draws who is held back.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: CEL-A222 a share that is not between 0 and 1, and those of `membership`.
    """
    part = real(share)
    if part is None or not 0 < part < 1:
        raise InputError("CEL-A222", share=share)
    frame, source = as_frame(table), rng or System()
    order = source.permutation(frame.height)
    cut = round(part * frame.height)
    members, outsiders = frame[order[:cut]], frame[order[cut:]]
    progress(Step(Message("assess.stage.synthesise"), 0, 1))
    made = synthesiser(members)
    return membership(
        members,
        outsiders,
        made,
        columns,
        nominal=nominal,
        confidence=confidence,
        rng=source,
        progress=progress,
    )


def _closeness(
    made: pl.DataFrame,
    people: pl.DataFrame,
    columns: Sequence[str] | None,
    nominal: Collection[str],
    progress: Progress,
) -> NDArray[np.float64]:
    """How near the closest synthetic record is to each person; greater is nearer."""
    tables = align(people, made, columns, nominal=nominal, synthetic=True)
    points, queries = standardise(tables.after, tables.before, tables.nominal)
    found = nearest(
        queries, points, tables.nominal, progress=progress, stage=Message("assess.stage.closest")
    )
    return -found.squared


def _auc(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> tuple[float, float]:
    """The area under the curve of true and false alarms, and its standard deviation."""
    ordered_out, ordered_in = np.sort(outside), np.sort(inside)
    # For each person, the share of the other side that is farther, equal ones by half.
    of_member = _below(ordered_out, inside)
    of_outsider = 1 - _below(ordered_in, outside)
    auc = float(of_member.mean())
    variance = of_member.var(ddof=1) / inside.size + of_outsider.var(ddof=1) / outside.size
    return auc, sqrt(variance)


def _below(line: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = np.searchsorted(line, values), np.searchsorted(line, values, side="right")
    return np.asarray((low + high) / (2 * line.size))


def _advantage(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> tuple[float, float]:
    """The greatest difference of alarms, and the closeness at which it is reached."""
    limits = np.unique(np.concatenate([inside, outside]))
    true = 1 - np.searchsorted(np.sort(inside), limits) / inside.size
    false = 1 - np.searchsorted(np.sort(outside), limits) / outside.size
    best = int(np.argmax(true - false))
    return max(0.0, float((true - false)[best])), float(limits[best])


def _advantage_low(
    inside: NDArray[np.float64], outside: NDArray[np.float64], *, error: float, rng: Source
) -> float:
    from celosia.assess.audit.bounds import clopper_pearson

    halves = []
    for side in (inside, outside):
        mixed = side[rng.permutation(side.size)]
        halves.append((mixed[: side.size // 2], mixed[side.size // 2 :]))
    (learn_in, test_in), (learn_out, test_out) = halves
    _, limit = _advantage(learn_in, learn_out)
    # Both bounds hold together with the confidence asked for.
    true = clopper_pearson(int((test_in >= limit).sum()), test_in.size, error=error / 2)
    false = clopper_pearson(int((test_out >= limit).sum()), test_out.size, error=error / 2)
    return max(0.0, true.low - false.high)


def _checked_confidence(confidence: float) -> float:
    level = real(confidence)
    if level is None or not 0 < level < 1:
        raise InputError("CEL-A221", confidence=confidence)
    return level
