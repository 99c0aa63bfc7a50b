"""Groups whose keys are not public: those are shown that have many people, but for a delta."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp

from celosia.accounting.losses import Loss
from celosia.core.messages import Message, unit_word, unit_words
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Source
from celosia.queries.emission import people_by_key_query
from celosia.queries.planning import plan
from celosia.queries.planning.context import as_plain_key
from celosia.queries.planning.key_domains import MOST_GROUPS

if TYPE_CHECKING:
    from celosia.mechanisms.statistics.key_histogram import KeyHistogram

Group = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class PartitionSelection(plan.Step):
    """The combinations of keys whose noisy number of people exceeds a threshold.

    Guarantee: (epsilon, delta)-DP as `KeyHistogram` proves it: a person counts once for each of at
    most `per_unit` combinations, which the engine sees to. Which groups are shown, and nothing else
    of them, is released.
    """

    finds_keys: ClassVar[bool] = True

    context: plan.StepContext
    per_unit: int
    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours

    def __post_init__(self) -> None:
        _ = self.mechanism.threshold  # parameters out of range are refused here

    @cached_property
    def mechanism(self) -> KeyHistogram:
        """The noise and the threshold."""
        from celosia.mechanisms.statistics.key_histogram import KeyHistogram  # loads frames

        price: Any = self.epsilon
        return KeyHistogram(
            epsilon=price,
            delta=float(self.delta),
            keys_per_unit=self.per_unit,
            neighbours=self.neighbours,
        )

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    @property
    def parts(self) -> tuple[plan.Part, ...]:
        unit = self.neighbours.unit
        return (
            plan.Part(
                name=Message("queries.part_name.groups"),
                mechanism=Message(
                    "queries.mechanism.groups",
                    least=self.mechanism.threshold,
                    units=unit_words(unit),
                ),
                bound=Message("queries.bound.groups", unit=unit_word(unit), most=self.per_unit),
                epsilon=self.epsilon,
                delta=self.delta,
                error=float(self.mechanism.noise.scale),
            ),
        )

    @property
    def labelled(self) -> tuple[tuple[str, plan.Part], ...]:
        return ()

    def losses(self, groups: int) -> tuple[Loss, ...]:
        return (self.mechanism.privacy_loss(),)

    def queries(self, group_keys: plan.GroupKeys | None) -> Iterator[exp.Expr]:
        context = self.context
        yield plan.limit_rows(
            people_by_key_query(
                context.question, context.owned, groups=self.per_unit, target=context.target
            )
        )

    def find(
        self, execute: plan.Executor, *, rng: Source
    ) -> tuple[plan.GroupKeys, tuple[int, ...]]:
        (query,) = self.queries(None)
        rows = plan.check_row_count(execute(query))
        # Keys that are not in the data get no noise: all keys that only one unit has pass the
        # threshold with a chance of at most delta together (Korolova et al. 2009; `KeyHistogram`).
        noise = self.mechanism.noise.draw(len(rows), rng).tolist()
        found = [
            (plan.clamp_total(row[-1]) + each, tuple(map(as_plain_key, row[:-1])))
            for row, each in zip(rows, noise, strict=True)
        ]
        return _fit_groups([(n, group) for n, group in found if n > self.mechanism.threshold])

    def measure(
        self, execute: plan.Executor, *, group_keys: plan.GroupKeys | None, rng: Source
    ) -> tuple[plan.ReleasedValues, ...]:
        raise AssertionError("groups are found, not measured")

    def empty_rows(self, query: exp.Expr, *, group_keys: plan.GroupKeys | None) -> plan.Rows:
        return []  # only values that occur have a row

    def bounds(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[plan.Bounds | None, ...]:
        raise AssertionError("groups are found, not measured")


def _fit_groups(found: list[tuple[int, Group]]) -> tuple[plan.GroupKeys, tuple[int, ...]]:
    """The values of each key and the places of the groups; the largest ones if there are too many.

    A choice by released numbers only.
    """
    kept = sorted(found, key=lambda each: (-each[0], str(each[1])))[:MOST_GROUPS]
    while True:
        groups = sorted((group for _, group in kept), key=lambda each: tuple(map(_order, each)))
        lists = [sorted(set(values), key=_order) for values in zip(*groups, strict=True)]
        if not kept or prod(map(len, lists)) <= MOST_GROUPS:
            break
        kept = kept[: len(kept) // 2]
    if not kept:
        return ((),), ()
    places = {group: place for place, group in enumerate(product(*lists))}
    return tuple(map(tuple, lists)), tuple(places[group] for group in groups)


def _order(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value
