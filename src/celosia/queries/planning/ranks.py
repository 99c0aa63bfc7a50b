"""MIN, MAX and quantiles by the exponential mechanism, where each unit has one row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.loss import Loss
from celosia.accounting.losses import BoundedRange, Pure
from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms.selection.scores import sampling_rate, shortfall
from celosia.mechanisms.statistics.quantile import check_share
from celosia.mechanisms.statistics.ranks import Segments, rank_steps
from celosia.queries.algebra import Question
from celosia.queries.emission import FixedPoint, histogram_query
from celosia.queries.planning.plan import Part
from celosia.queries.planning.ranges import fixed_for
from celosia.queries.planning.step import Ask, Bounds, Known, Measured, Scene, Step
from celosia.queries.planning.texts import key_text
from celosia.queries.planning.totals import Recipe

MOST_POINTS = 2**18
"""Points between the bounds that an answer is chosen from."""
EXTREME = Fraction(1, 100)
"""The share that stands for the minimum, and one minus it for the maximum: the least value of all
is that of one unit, and no private answer can be near it."""


@dataclass(frozen=True, kw_only=True)
class RankStep(Step):
    """A point of a grid whose rank is near the wanted one, for each group.

    The engine returns how many rows have each point; a point is chosen with a chance that falls
    exponentially with the number of rows by which its rank misses the target, as in `Quantile`.

    Guarantee: epsilon-DP, delta 0, where each unit has at most one row. Added or removed, the row
    is in one group, and groups are disjoint (parallel composition). Changed, it may leave one group
    for another: with groups each gets half the epsilon.
    """

    scene: Scene
    recipe: Recipe
    epsilon: Fraction
    relation: Relation

    def __post_init__(self) -> None:
        _ = self.rate  # out of reach is refused here

    @property
    def names(self) -> tuple[str, ...]:  # noqa: D102 - as in Step
        return (self.recipe.aggregate.name,)

    @cached_property
    def share(self) -> Fraction:
        """The wanted share of rows below the answer."""
        kind = self.recipe.aggregate.kind
        share = check_share(self.recipe.aggregate.share) if kind == "quantile" else None
        if kind == "minimum" or share == 0:
            return EXTREME
        return 1 - EXTREME if share is None or share == 1 else share

    @cached_property
    def fixed(self) -> FixedPoint:
        """The grid of the answer."""
        assert self.recipe.bounds is not None
        scene, argument = self.scene, self.recipe.aggregate.argument
        declared = scene.target.declared(argument, scene.question.source)
        low, high = self.recipe.bounds
        grid = None if declared is None else declared.grid
        is_whole = declared is not None and declared.type == "integer"
        made = fixed_for((low, high), grid=grid, is_whole=is_whole)
        step = made.step
        while (high - low) / step > MOST_POINTS:
            step *= 10
        return fixed_for((low, high), grid=step, is_whole=False)

    @cached_property
    def rate(self) -> Fraction:
        """Of the exponential mechanism, per step of rank."""
        both = self.relation is Relation.CHANGE_ONE and bool(self.scene.width)
        relation = Relation.ADD_REMOVE if both else self.relation
        price = self.epsilon / 2 if both else self.epsilon
        return sampling_rate(price, rank_steps(self.share, relation))

    @property
    def parts(self) -> tuple[Part, ...]:  # noqa: D102
        kind = self.recipe.aggregate.kind
        words = "the exponential mechanism over ranks"
        if kind != "quantile":
            words += f": the {float(self.share):g} quantile stands for the {kind}"
        points = self.fixed.high - self.fixed.low + 1
        off = shortfall(0.5, rate=self.rate, size=points) / self.share.denominator
        return (
            Part(
                name=self.recipe.label,
                mechanism=words,
                bound=f"one row each; the rank misses by about {off:.0f} rows or less",
                epsilon=self.epsilon,
            ),
        )

    def unit(self, number: int) -> Fraction:  # noqa: D102
        return self.fixed.step

    def losses(self, groups: int) -> tuple[Loss, ...]:  # noqa: D102
        return (Pure(self.epsilon) if self.scene.width else BoundedRange(self.epsilon),)

    def measure(self, ask: Ask, *, known: Known | None, rng: Source) -> tuple[Measured, ...]:  # noqa: D102
        scene = self.scene
        question = Question(scene.question.source, (self.recipe.aggregate,), scene.question.keys)
        if not all(known or ()):
            return (Measured(()),)
        lists = known if scene.width else None
        rows = ask(
            histogram_query(
                question, fixed=self.fixed, target=scene.target, owned=scene.owned, known=lists
            )
        )
        by_group: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for row in rows:
            group = tuple(map(key_text, row[: scene.width]))
            by_group.setdefault(group, []).append((int(row[-2]), int(row[-1])))
        groups = [tuple(map(key_text, each)) for each in product(*(lists or ()))]
        return (Measured(tuple(self._point(by_group.get(group, []), rng) for group in groups)),)

    def _point(self, counted: list[tuple[int, int]], rng: Source) -> int:
        table = np.array(sorted(counted), dtype=np.int64).reshape(len(counted), 2)
        found = _segments(table[:, 0], table[:, 1], self.fixed, self.share)
        return found.draw(self.rate, rng)

    def bounds(  # noqa: D102
        self, number: int, measured: Measured, confidence: float
    ) -> tuple[Bounds | None, ...]:
        # How far a rank is in the unit of the values depends on how densely they lie.
        return (None,) * len(measured.values)


def _segments(
    values: NDArray[np.int64], counts: NDArray[np.int64], fixed: FixedPoint, share: Fraction
) -> Segments:
    """The same as `statistics.ranks.segments`, from points with the number of their rows.

    At most 2^40 rows are counted, times a denominator of at most 10^6: below 2^60.
    """
    upto = np.minimum(np.cumsum(counts), 2**40)
    below = np.concatenate([[0], upto])
    starts = np.concatenate([values, [fixed.low], values + 1])
    gaps = np.append(values, fixed.high + 1) - starts[-below.size :]
    sizes = np.concatenate([np.ones_like(values), gaps])
    lower = np.concatenate([below[:-1], below])
    upper = np.concatenate([upto, below])
    target = share.numerator * int(below[-1])
    misses = np.maximum(lower * share.denominator - target, target - upper * share.denominator)
    some = sizes > 0
    return Segments(starts[some], sizes[some], np.maximum(misses, 0)[some])
