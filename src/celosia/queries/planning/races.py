"""Totals under a ladder of caps that race: methods "race" and "race-cap", also for self-joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Any

from sqlglot import exp

from celosia.accounting.loss import Loss
from celosia.accounting.losses import Composed, Pure
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.queries.bounds.certificate import load_solvers
from celosia.queries.bounds.race import RaceToTop, rounding
from celosia.queries.bounds.race_cap import RaceCap
from celosia.queries.bounds.race_program import GRAIN
from celosia.queries.emission import truncated_totals_query
from celosia.queries.planning.amounts import caps
from celosia.queries.planning.plan import Part
from celosia.queries.planning.programs import Side
from celosia.queries.planning.step import (
    Ask,
    Bounds,
    Known,
    Measured,
    Rows,
    Scene,
    Step,
    fixed_of,
    within,
)
from celosia.queries.planning.totals import Total


@dataclass(frozen=True, kw_only=True)
class RaceStep(Step):
    """One total for each group, under the cap that wins a race.

    Where a row can belong to several people (`sides`), the totals are optima of linear programs
    that share rows out among their owners (Dong et al. 2022), one race for each program; else sums
    of clipped contributions.

    Guarantee: that of `RaceToTop` or `RaceCap`, delta 0, once for each race and for each group that
    a person can be in (`per_unit`): each pays its part of epsilon, and groups without the person do
    not change. Where a person is changed instead of added or removed, `halved` stands for one
    removal and one addition.
    """

    scene: Scene
    total: Total
    most: int
    epsilon: Fraction
    """Of the total, all groups together."""
    groups: int
    per_unit: int
    """Groups that one person can be in."""
    to_top: bool = False
    """Whether all candidates are released ("race")."""
    sides: tuple[Side, ...] = ()
    """The rows of linear programs; none where each row belongs to one person."""
    halved: bool = False
    typical: int

    def __post_init__(self) -> None:
        _ = self.mechanism  # parameters out of range are refused here

    @property
    def passes(self) -> int:
        """Many where a linear program shares rows out."""
        return 16 if self.sides else 2

    @property
    def names(self) -> tuple[str, ...]:  # noqa: D102 - as in Step
        return (self.total.name,)

    @cached_property
    def mechanism(self) -> RaceToTop | RaceCap:
        """Of one race in one group."""
        price: Any = self.epsilon / self.per_unit / len(self.signs) / (2 if self.halved else 1)
        kind = RaceToTop if self.to_top else RaceCap
        return kind(epsilon=price, most=self.most, grain=GRAIN if self.sides else 1)

    @property
    def signs(self) -> tuple[int, ...]:
        """Whether the total of each race is added or taken away."""
        return tuple(sign for side in self.sides for sign in side.signs) or (1,)

    @property
    def parts(self) -> tuple[Part, ...]:  # noqa: D102
        shares = "rows shared out by a linear program, " if self.sides else ""
        if len(self.signs) > 1:
            shares = f"rows shared out by {len(self.signs)} linear programs, "
        words = "a race of totals under caps" if self.to_top else "the cap that wins a race"
        total = self.total
        typical = self.mechanism.typical_error(self.typical * total.reach)
        typical *= len(self.signs) ** 0.5
        return (
            Part(
                name=total.label,
                mechanism=f"{words}, with discrete Laplace noise",
                bound=f"{shares}{caps(self.most, total.step)}",
                epsilon=self.epsilon,
                error=typical * float(total.step),
            ),
        )

    def unit(self, number: int) -> Fraction:  # noqa: D102
        return self.total.step

    def losses(self, groups: int) -> tuple[Loss, ...]:  # noqa: D102
        if self.halved:
            return (Pure(self.epsilon),)
        count = self.per_unit * len(self.signs)
        return (Composed(tuple(self.mechanism.privacy_loss() for _ in range(count))),)

    def measure(self, ask: Ask, *, known: Known | None, rng: Source) -> tuple[Measured, ...]:  # noqa: D102
        totals = self._programs(ask, known) if self.sides else self._sums(ask, known)
        found = [[self.mechanism.measure(each, rng=rng) for each in group] for group in totals]
        values = tuple(
            sum(sign * each.value for sign, each in zip(self.signs, group, strict=True))
            for group in found
        )
        names = ("cap", "candidates") if self.to_top else ("cap",)
        released: dict[str, Any] = {
            name: [self._each([_plain(one.parts[name]) for one in group]) for group in found]
            for name in names
        }
        if len(self.signs) > 1:
            released["races"] = [[one.value for one in group] for group in found]
        if self.groups == 1:
            released["cap"] = released["cap"][0]
        return (Measured(values, released),)

    def _each(self, listed: list[Any]) -> Any:
        """One for each race, or the only one."""
        return listed[0] if len(self.signs) == 1 else listed

    def _races(self, measured: Measured) -> list[list[Measurement[float]]]:
        """What was released of each race, group by group."""
        found = []
        for place, value in enumerate(measured.values):
            values = measured.released["races"][place] if len(self.signs) > 1 else [value]
            parts = {
                name: measured.released[name]
                if self.groups == 1 and name == "cap"
                else measured.released[name][place]
                for name in measured.released
                if name != "races"
            }
            found.append(
                [
                    Measurement(
                        each,
                        {
                            name: listed if len(self.signs) == 1 else listed[number]
                            for name, listed in parts.items()
                        },
                    )
                    for number, each in enumerate(values)
                ]
            )
        return found

    def queries(self, known: Known | None) -> Iterator[exp.Expr]:  # noqa: D102
        if self.sides:
            yield from (side.query for side in self.sides)
            return
        assert self.scene.owned is not None
        yield truncated_totals_query(
            self.scene.asked([self.total]),
            self.scene.owned,
            thresholds=self.mechanism.caps,
            target=self.scene.target,
            fixed=fixed_of([self.total]),
            known=known if self.scene.width else None,
        )

    def prepare(self) -> None:  # noqa: D102 - as in Step
        if self.sides:
            load_solvers()

    def empty_rows(self, query: exp.Expr, *, known: Known | None) -> Rows:  # noqa: D102
        if self.sides:
            return []  # only rows that belong to somebody are told
        return super().empty_rows(query, known=known)

    def _sums(self, ask: Ask, known: Known | None) -> list[list[list[int]]]:
        (query,) = self.queries(known)
        rows = ask(query)
        return [[[within(each) for each in row[self.scene.width :]]] for row in rows]

    def _programs(self, ask: Ask, known: Known | None) -> list[list[list[int]]]:
        sides = [side.totals(ask, known, self.mechanism.caps) for side in self.sides]
        return [[each for part in group for each in part] for group in zip(*sides, strict=True)]

    def bounds(  # noqa: D102
        self, number: int, measured: Measured, confidence: float
    ) -> tuple[Bounds | None, ...]:
        # All races of a group keep to their bounds together.
        each = 1 - (1 - confidence) / len(self.signs)
        found: list[Bounds | None] = []
        for group in self._races(measured):
            low = high = 0.0
            for sign, one in zip(self.signs, group, strict=True):
                ends = self.mechanism.interval(one, each)
                low += float(ends[0] if sign > 0 else -ends[1])
                high += float(ends[1] if sign > 0 else -ends[0])
            found.append((low, high) if isfinite(low) else None)
        return tuple(found)

    def noise(self, number: int, measured: Measured, confidence: float) -> tuple[int | None, ...]:  # noqa: D102
        mechanism = self.mechanism
        each = 1 - (1 - confidence) / len(self.signs)
        # A race is won by noise as well, so all candidates keep to their bounds together; the cap
        # of `RaceCap` is chosen before the noise of its answer is drawn.
        size = len(mechanism.caps) if self.to_top else 1
        found = []
        for group in self._races(measured):
            caps = [one.parts["cap"] for one in group]
            parts = sum(
                mechanism.laws[mechanism.caps.index(cap)].bound(each, size=size)
                + rounding(cap, mechanism.grain)
                for cap in caps
            )
            found.append(-(-parts // mechanism.grain))
        return tuple(found)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
