"""Everything that a choice of mechanisms depends on; all of it public."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from celosia.core.neighbours import Neighbours, Relation
from celosia.queries.algebra import Question
from celosia.queries.emission import Target
from celosia.queries.emission.kinds import kind_of
from celosia.queries.ownership import Owned
from celosia.queries.planning.facts import PublicFacts
from celosia.queries.planning.keys import Keys
from celosia.queries.planning.keysteps import KeyStep
from celosia.queries.planning.ranks import RankStep
from celosia.queries.planning.refusals import fractions_as_keys, no_keys, not_one_row
from celosia.queries.planning.step import Scene, Step
from celosia.queries.planning.totals import Needs, Recipe, Total
from celosia.queries.policy.values import Policy

MOST_SPLIT = 16
"""Groups over which an epsilon may be split where nothing better is known."""
TYPICAL = 64
"""Rows that a person is taken to have in an answer where nothing tells: most have fewer."""


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

        Raises:
            QueryRefused: CEL-Q145 a unit may have several rows.
        """
        if self.needs.ranks and rows != 1:
            raise not_one_row(self.needs.ranks[0].label, self.policy.unit.name)
        return [
            RankStep(scene=scene, recipe=each, epsilon=self.share, relation=self.policy.relation)
            for each in self.needs.ranks
        ]

    def key_steps(self, scene: Scene, per_unit: int, delta: Fraction) -> list[Step]:
        """The step that finds the groups, where they are not public."""
        if not self.finds_keys:
            return []
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
