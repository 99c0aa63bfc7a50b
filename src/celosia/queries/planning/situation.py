"""Everything that a choice of mechanisms depends on; all of it public."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from celosia.core.neighbours import Neighbours, Relation
from celosia.queries.algebra import Question
from celosia.queries.emission import Target
from celosia.queries.emission.kinds import kind_of
from celosia.queries.ownership import Owned
from celosia.queries.planning.facts import PublicFacts
from celosia.queries.planning.keys import MOST_GROUPS, Keys
from celosia.queries.planning.refusals import fractions_as_keys, no_keys, unbounded_rows, unfit
from celosia.queries.planning.step import Scene, Step, group_count
from celosia.queries.planning.totals import Needs, Recipe, Total
from celosia.queries.policy.values import Policy

if TYPE_CHECKING:
    from celosia.queries.planning.rank_rows import RankRows

TYPICAL = 64
"""Rows that a person is taken to have in an answer where nothing tells: most have fewer."""
TYPICAL_GROUPS = 8
"""Groups that a person is taken to be in, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A question under a policy, with what may be spent on it."""

    question: Question
    target: Target
    needs: Needs
    keys: Keys
    epsilon: Fraction
    delta: Fraction
    method: str | None
    facts: PublicFacts

    @property
    def policy(self) -> Policy:
        """What is declared."""
        return self.target.policy

    @property
    def neighbours(self) -> Neighbours:
        """Whom the answer protects."""
        return Neighbours(self.policy.relation, unit=self.policy.unit.name)

    @property
    def changes(self) -> bool:
        """Whether a unit is changed rather than added or removed."""
        return self.policy.relation is Relation.CHANGE_ONE

    @property
    def finds_keys(self) -> bool:
        """Whether groups have to be found in the data."""
        return bool(self.keys.unknown)

    @property
    def share(self) -> Fraction:
        """The epsilon of each total, rank and choice of groups."""
        count = len(self.needs.totals) + len(self.needs.ranks) + int(self.finds_keys)
        return self.epsilon / count

    def check_keys(self) -> None:
        """Refuse groups that have to be found without a delta.

        Raises:
            QueryRefused: CEL-Q146, and CEL-Q154 for keys that are fractions.
        """
        if self.finds_keys and not self.delta:
            raise no_keys(self.keys.unknown[0])
        for key in self.question.keys if self.finds_keys else ():
            if kind_of(key.expression, self.question.source, target=self.target) == "number":
                raise fractions_as_keys(key.name)

    def shift(self, total: Total, rows: int) -> int:
        """The most that a unit with so many rows moves a total, over all groups, in steps.

        A changed unit takes its rows out and puts others in. Of one number of at least 0 a row that
        leaves and one that comes work against each other; groups, and values of either sign, feel
        both.
        """
        both = self.changes and (bool(self.question.keys) or total.is_signed)
        return rows * total.reach * (2 if both else 1)

    def rank_steps(self, scene: Scene, rows: int | None) -> list[Step]:
        """The steps of MIN, MAX and quantiles.

        Args:
            scene: the question, with owners where there are such.
            rows: the most rows that a unit has or moves, if declared caps tell it.

        Raises:
            QueryRefused: CEL-Q145 nothing bounds the rows that a row moves, CEL-Q143 nor those of
                a person, for the method `capped`.
        """
        if not self.needs.ranks:
            return []
        from celosia.queries.planning.ranks import RankStep  # noqa: PLC0415 - only where the plan needs it

        groups = MOST_GROUPS if self.keys.known is None else group_count(self.keys.known)
        return [
            RankStep(
                scene=scene,
                recipe=each,
                epsilon=self.share,
                relation=self.policy.relation,
                rows=self._rank_rows(each, scene, rows, groups),
                groups=groups,
            )
            for each in self.needs.ranks
        ]

    def _rank_rows(self, recipe: Recipe, scene: Scene, rows: int | None, groups: int) -> RankRows:
        from celosia.queries.planning.rank_rows import (  # noqa: PLC0415 - as above
            CAP_SHARE,
            MOST_ROWS,
            RankRows,
        )
        from celosia.queries.planning.ranks import share_of  # noqa: PLC0415 - as above

        if rows is not None and rows <= 1:
            return RankRows()
        if scene.owned is None:
            if rows is None:
                raise unbounded_rows(recipe.label)
            return RankRows(most=rows, is_paired=False)
        is_reduced = share_of(recipe.aggregate) in (0, 1)
        most, typical = rows, TYPICAL
        if is_reduced:  # a person is in at most as many groups as they have rows
            most = groups if rows is None else min(rows, groups)
            typical = TYPICAL_GROUPS
        is_chosen = most is None or most > typical / (1 - CAP_SHARE)
        if self.method == "capped":
            if most is None:
                raise unfit(
                    "capped",
                    "No declared caps bound the rows of one person.",
                    "Let the owner declare `most` or `unique` of the columns that lead to them.",
                )
            is_chosen = False
        elif self.method == "chosen-cap":
            is_chosen = most is None or most > 1
        if is_chosen:
            limit = min(self.policy.most_per_unit, MOST_ROWS)
            most = limit if most is None else min(most, limit)
        assert most is not None, "without a bound a cap is chosen"
        return RankRows(most=most, is_chosen=is_chosen, is_reduced=is_reduced)

    def key_steps(self, scene: Scene, per_unit: int, delta: Fraction) -> list[Step]:
        """The step that finds the groups, where they are not public."""
        if not self.finds_keys:
            return []
        from celosia.queries.planning.keysteps import KeyStep  # noqa: PLC0415 - only where the plan needs it

        return [
            KeyStep(
                scene=scene,
                per_unit=per_unit,
                epsilon=self.share,
                delta=delta,
                neighbours=self.neighbours,
            )
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the planner has decided."""

    method: str
    steps: list[Step]
    recipes: list[Recipe]
    owned: Owned | None = None
