"""Totals under a ladder of caps that race: methods "race" and "race-cap", also for self-joins."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import isfinite
from typing import Any

import numpy as np

from celosia.accounting.loss import Loss
from celosia.accounting.losses import Composed, Pure
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.queries.bounds.race import RaceToTop
from celosia.queries.bounds.race_cap import RaceCap
from celosia.queries.bounds.race_program import GRAIN, Incidence, program_totals
from celosia.queries.emission import incidence_query, truncated_totals_query
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
    within,
)
from celosia.queries.planning.texts import key_text
from celosia.queries.planning.totals import Total


@dataclass(frozen=True, kw_only=True)
class RaceStep(Step):
    """One total for each group, under the cap that wins a race.

    Where a row can belong to several people (`several`), the totals are optima of a linear program
    that shares rows out among their owners (Dong et al. 2022); else sums of clipped contributions.

    Guarantee: that of `RaceToTop` or `RaceCap`, delta 0, once for each group: a person may be in
    all of them, so each group pays its part of epsilon. Where a person is changed instead of added
    or removed, `halved` stands for one removal and one addition.
    """

    scene: Scene
    total: Total
    most: int
    epsilon: Fraction
    """Of the total, all groups together."""
    groups: int = 1
    to_top: bool = False
    """Whether all candidates are released ("race")."""
    several: bool = False
    halved: bool = False
    typical: int

    def __post_init__(self) -> None:
        _ = self.mechanism  # parameters out of range are refused here

    @property
    def names(self) -> tuple[str, ...]:  # noqa: D102 - as in Step
        return (self.total.name,)

    @cached_property
    def mechanism(self) -> RaceToTop | RaceCap:
        """Of one group."""
        price: Any = self.epsilon / self.groups / (2 if self.halved else 1)
        kind = RaceToTop if self.to_top else RaceCap
        return kind(epsilon=price, most=self.most, grain=GRAIN if self.several else 1)

    @property
    def parts(self) -> tuple[Part, ...]:  # noqa: D102
        shares = "rows shared out by a linear program, " if self.several else ""
        words = "a race of totals under caps" if self.to_top else "the cap that wins a race"
        total = self.total
        typical = self.mechanism.typical_error(self.typical * total.reach)
        return (
            Part(
                name=total.label,
                mechanism=f"{words}, with discrete Laplace noise",
                bound=f"{shares}caps 1, 2, 4, ... up to {self.most}",
                epsilon=self.epsilon,
                error=typical * float(total.step),
            ),
        )

    def unit(self, number: int) -> Fraction:  # noqa: D102
        return self.total.step

    def losses(self, groups: int) -> tuple[Loss, ...]:  # noqa: D102
        if self.halved:
            return (Pure(self.epsilon),)
        return (Composed(tuple(self.mechanism.privacy_loss() for _ in range(self.groups))),)

    def measure(self, ask: Ask, *, known: Known | None, rng: Source) -> tuple[Measured, ...]:  # noqa: D102
        found = [
            self.mechanism.measure(totals, rng=rng)
            for totals in (self._programs(ask, known) if self.several else self._sums(ask, known))
        ]
        values = tuple(each.value for each in found)
        names = ("cap", "candidates") if self.to_top else ("cap",)
        released = {name: [_plain(each.parts[name]) for each in found] for name in names}
        if self.groups == 1:
            released["cap"] = released["cap"][0]
        return (Measured(values, released),)

    def _sums(self, ask: Ask, known: Known | None) -> list[list[int]]:
        assert self.scene.owned is not None
        rows = ask(
            truncated_totals_query(
                self.scene.asked([self.total]),
                self.scene.owned,
                thresholds=self.mechanism.caps,
                target=self.scene.target,
                fixed=fixed_of([self.total]),
                known=known if self.scene.width else None,
            )
        )
        return [[within(each) for each in row[self.scene.width :]] for row in rows]

    def _programs(self, ask: Ask, known: Known | None) -> list[list[int]]:
        owned = self.scene.owned
        assert owned is not None
        query = incidence_query(
            self.scene.asked([self.total]),
            owned,
            target=self.scene.target,
            fixed=fixed_of([self.total]),
        )
        width = self.scene.width
        by_group: dict[tuple[Any, ...], list[Any]] = {}
        for row in ask(query):
            by_group.setdefault(tuple(map(key_text, row[:width])), []).append(row[width:])
        groups = [tuple(map(key_text, each)) for each in product(*(known or ()))]
        return [
            [
                within(total)
                for total in program_totals(
                    _incidence(by_group.get(group, []), owned.tables), self.mechanism.caps
                )
            ]
            for group in groups
        ]

    def bounds(  # noqa: D102
        self, number: int, measured: Measured, confidence: float
    ) -> tuple[Bounds | None, ...]:
        found: list[Bounds | None] = []
        for place, value in enumerate(measured.values):
            parts = {
                name: listed if self.groups == 1 and name == "cap" else listed[place]
                for name, listed in measured.released.items()
            }
            low, high = self.mechanism.interval(Measurement(value, parts), confidence)
            found.append((float(low), float(high)))
        return tuple(each if each and isfinite(each[0]) else None for each in found)


def _incidence(rows: Rows, tables: tuple[str, ...]) -> Incidence:
    """Rows of numbers of people and a weight, as pairs; people of different tables are different.

    Numbers start from 0 in each table, so the n-th of k tables takes n, n + k, n + 2 k, ...
    """
    spaces = list(dict.fromkeys(tables))
    width = len(tables)
    table = np.array([[int(each) for each in row] for row in rows], dtype=np.int64)
    table = table.reshape(len(rows), width + 1)
    people = [
        table[:, place] * len(spaces) + spaces.index(space) for place, space in enumerate(tables)
    ]
    pairs = np.tile(np.arange(len(rows), dtype=np.int64), width)
    return Incidence(pairs, np.concatenate(people), table[:, width])


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
