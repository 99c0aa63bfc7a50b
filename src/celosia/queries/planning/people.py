"""Totals under a cap that is chosen privately, for rows of one person each: "chosen-cap"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from sqlglot import exp

from celosia.accounting.loss import Loss
from celosia.accounting.losses import Pure
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.queries.bounds.private_cap import People, PrivateCap
from celosia.queries.emission import (
    cut_totals_query,
    people_levels_query,
    people_totals_query,
)
from celosia.queries.planning.amounts import caps
from celosia.queries.planning.plan import Part
from celosia.queries.planning.step import (
    Ask,
    Bounds,
    Known,
    Measured,
    Rows,
    Scene,
    Step,
    fixed_of,
    group_count,
    within,
)
from celosia.queries.planning.totals import Total


@dataclass(frozen=True, kw_only=True)
class PeopleStep(Step):
    """Totals in which nobody counts for more than a cap chosen inside epsilon.

    Guarantee: that of `PrivateCap` for each total: epsilon times their number, delta 0, for one
    person with all their rows, added or removed. Where a person is changed instead, `halved` stands
    for one removal and one addition, each at half the epsilon.
    """

    scene: Scene
    totals: tuple[Total, ...]
    most: tuple[int, ...]
    """For each total the most that one person may add, in steps."""
    epsilon: Fraction
    """Of each total."""
    halved: bool = False
    typical: int
    """Rows that a person is taken to add, to predict the error."""

    def __post_init__(self) -> None:
        _ = self.mechanisms(1)  # parameters out of range are refused here

    @property
    def passes(self) -> int:  # noqa: D102 - as in Step
        return 4  # rows are added up by person

    @property
    def names(self) -> tuple[str, ...]:  # noqa: D102 - as in Step
        return tuple(each.name for each in self.totals)

    def mechanisms(self, groups: int) -> tuple[PrivateCap, ...]:
        """The mechanism of each total."""
        if groups not in self._made:
            price: Any = self.epsilon / 2 if self.halved else self.epsilon
            self._made[groups] = tuple(
                PrivateCap(epsilon=price, most=most, groups=groups, signed=total.is_signed)
                for total, most in zip(self.totals, self.most, strict=True)
            )
        return self._made[groups]

    @cached_property
    def _made(self) -> dict[int, tuple[PrivateCap, ...]]:
        return {}

    @property
    def parts(self) -> tuple[Part, ...]:  # noqa: D102
        return tuple(
            Part(
                name=total.label,
                mechanism="discrete Laplace noise for a cap that is chosen privately",
                bound=caps(most, total.step),
                epsilon=self.epsilon,
                error=mechanism.typical_error(self.typical * total.reach) * float(total.step),
            )
            for total, mechanism, most in zip(
                self.totals, self.mechanisms(1), self.most, strict=True
            )
        )

    def unit(self, number: int) -> Fraction:  # noqa: D102
        return self.totals[number].step

    def losses(self, groups: int) -> tuple[Loss, ...]:  # noqa: D102
        if self.halved:
            return tuple(Pure(self.epsilon) for _ in self.totals)
        return tuple(each.privacy_loss() for each in self.mechanisms(groups))

    def measure(self, ask: Ask, *, known: Known | None, rng: Source) -> tuple[Measured, ...]:  # noqa: D102
        groups = group_count(known)
        if not groups:  # no key was chosen
            return tuple(Measured(()) for _ in self.totals)
        return tuple(
            _released(mechanism.measure(people, rng=rng))
            for mechanism, people in zip(
                self.mechanisms(groups), self._people(ask, known), strict=True
            )
        )

    def queries(self, known: Known | None) -> Iterator[exp.Expr]:  # noqa: D102
        by_group, apart = self._split(known)
        if by_group and known is not None:
            yield self._levels_query(by_group, known)
            yield from (self._cut_query(each, self._caps(each)[-1], known) for each in by_group)
        yield from (self._totals_query(totals, known) for totals in apart)

    def _split(self, known: Known | None) -> tuple[list[Total], list[list[Total]]]:
        """The totals that are asked for by group and cap, and those of other queries."""
        owned = self.scene.owned
        assert owned is not None
        own = [
            each
            for each in self.totals
            if each.kind != "distinct" or owned.is_told_by(each.argument)
        ]
        # Apart for distinct values that people share.
        shared = [[each] for each in self.totals if each not in own]
        if own and self.scene.width and known is not None:
            return own, shared
        return [], [own, *shared] if own else shared

    def _people(self, ask: Ask, known: Known | None) -> list[People]:
        """Exact numbers."""
        found: dict[str, People] = {}
        by_group, apart = self._split(known)
        if by_group and known is not None:
            found |= self._by_group(by_group, ask, known)
        for totals in apart:
            rows, start = ask(self._totals_query(totals, known)), self.scene.width
            for total, ladder in zip(totals, map(self._caps, totals), strict=True):
                found[total.name] = _read(rows, start, len(ladder))
                start += 2 * len(ladder)
        return [found[each.name] for each in self.totals]

    def _by_group(self, totals: list[Total], ask: Ask, known: Known) -> dict[str, People]:
        """People by level now, and totals of groups when a cap was chosen: under this cap only."""
        ((*numbers,),) = ask(self._levels_query(totals, known))

        def under(total: Total, cap: int) -> list[int]:
            rows = ask(self._cut_query(total, cap, known))
            return [within(row[self.scene.width]) for row in rows]

        found = {}
        for total, ladder in zip(totals, map(self._caps, totals), strict=True):
            levels, numbers = numbers[: len(ladder)], numbers[len(ladder) :]
            found[total.name] = People([int(each) for each in levels], partial(under, total))
        return found

    def _totals_query(self, totals: list[Total], known: Known | None) -> exp.Expr:
        assert self.scene.owned is not None
        return people_totals_query(
            self.scene.asked(totals),
            self.scene.owned,
            caps=[self._caps(each) for each in totals],
            target=self.scene.target,
            fixed=fixed_of(totals),
            known=known if self.scene.width else None,
        )

    def _levels_query(self, totals: list[Total], known: Known) -> exp.Expr:
        assert self.scene.owned is not None
        return people_levels_query(
            self.scene.asked(totals),
            self.scene.owned,
            caps=[self._caps(each) for each in totals],
            target=self.scene.target,
            known=known,
            fixed=fixed_of(totals),
        )

    def _cut_query(self, total: Total, cap: int, known: Known) -> exp.Expr:
        assert self.scene.owned is not None
        return cut_totals_query(
            self.scene.asked([total]),
            self.scene.owned,
            cap=cap,
            target=self.scene.target,
            known=known,
            fixed=fixed_of([total]),
        )

    def _caps(self, total: Total) -> tuple[int, ...]:
        return self.mechanisms(1)[self.totals.index(total)].caps

    def bounds(  # noqa: D102
        self, number: int, measured: Measured, confidence: float
    ) -> tuple[Bounds | None, ...]:
        groups = len(measured.values)
        if not groups:
            return ()
        mechanism = self.mechanisms(groups)[number]
        value: Any = np.array(measured.values) if groups > 1 else measured.values[0]
        low, high = mechanism.interval(Measurement(value, measured.released), confidence)
        lows, highs = np.atleast_1d(low).tolist(), np.atleast_1d(high).tolist()
        return tuple(zip(map(float, lows), map(float, highs), strict=True))

    def noise(self, number: int, measured: Measured, confidence: float) -> tuple[int | None, ...]:  # noqa: D102
        groups = len(measured.values)
        if not groups:
            return ()
        mechanism = self.mechanisms(groups)[number]
        # The noise of the answer is drawn after the choice of the cap, so that choice does not
        # change its law.
        law = mechanism.laws[mechanism.caps.index(measured.released["cap"])]
        return (law.bound(confidence),) * groups


def _read(rows: Rows, start: int, size: int) -> People:
    levels = [sum(int(row[start + place]) for row in rows) for place in range(size)]
    totals = [[within(row[start + size + place]) for row in rows] for place in range(size)]
    return People(levels, totals if len(rows) > 1 else [each[0] for each in totals])


def _released(measurement: Measurement[Any]) -> Measured:
    values = np.atleast_1d(measurement.value).tolist()
    parts = dict(measurement.parts)
    kept = {"cap": parts["cap"], "people": list(parts["people"])}
    return Measured(tuple(values), kept)
