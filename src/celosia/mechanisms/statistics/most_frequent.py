"""The most frequent of some declared categories, chosen by their private counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from celosia.accounting.losses import ComposedLoss, Loss
from celosia.core.errors import InputError
from celosia.core.methods import Parameter
from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms import parameters
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.selection.exponential import Exponential
from celosia.mechanisms.selection.permute_and_flip import PermuteAndFlip
from celosia.mechanisms.selection.top_selection import NoisyMax
from celosia.mechanisms.statistics.columns import Key, Rows
from celosia.mechanisms.statistics.histogram import Histogram

METHODS: dict[str, type[PermuteAndFlip | Exponential | NoisyMax]] = {
    "permute-and-flip": PermuteAndFlip,
    "exponential": Exponential,
    "noisy-max": NoisyMax,
}


SELECTION = Parameter(kind="choice", choices=tuple(METHODS))


@dataclass(frozen=True, kw_only=True)
class MostFrequent(Mechanism[Rows, tuple[Key, ...]]):
    """The `count` categories with the most rows, the first one first; not how many they have.

    Each choice costs epsilon / count and is made among the categories that are left. Rows that
    belong to no category are not counted.

    Guarantee: epsilon-DP under `neighbours`, for the chosen categories and their order, if the
    categories were not taken from the data. A row more or less moves one count by 1, all counts in
    one direction (monotone); a changed row moves two counts, and twice the noise is drawn.

    Reference: McKenna & Sheldon 2020 for permute-and-flip; McSherry & Talwar 2007 for the
    exponential mechanism; Dwork & Roth 2014, Thm 3.14 for several choices.

    Args:
        epsilon: from 1e-9 to 100, for all choices together.
        categories: texts, whole numbers or truth values.
        count: how many to choose.
        selection: permute-and-flip, exponential or noisy-max.
        may_be_empty: whether an empty table gets an answer, which is then uniform.

    >>> from celosia.core.randomness import Seeded
    >>> wards = ["a"] * 90 + ["b"] * 70 + ["c"]
    >>> top = MostFrequent(epsilon=20, categories=["a", "b", "c"], count=2)
    >>> top.release(wards, rng=Seeded(1))
    ('a', 'b')
    """

    method_name: ClassVar[str] = "most-frequent"

    epsilon: float = parameters.field_of(parameters.EPSILON)
    categories: Sequence[Key]
    count: int = parameters.field_of(parameters.whole_number(), 1)
    selection: str = parameters.field_of(SELECTION, "permute-and-flip")
    may_be_empty: bool = False

    def check(self) -> None:
        """Refuse categories that are none, more choices than categories, too small an epsilon."""
        object.__setattr__(self, "categories", tuple(self._bins.categories or ()))
        if self.count > len(self.categories):
            raise InputError("CEL-M065", count=self.count, candidates=len(self.categories))
        _ = self._one  # refuses an epsilon that is too small for so many choices

    @property
    def sensitivity(self) -> float:
        """The most by which one row moves any one count: 1."""
        return 1.0

    @cached_property
    def _bins(self) -> Histogram:
        """What counts the rows; its own noise is never drawn."""
        return Histogram(
            epsilon=self.epsilon,
            categories=self.categories,
            may_be_empty=self.may_be_empty,
            neighbours=self.neighbours,
        )

    @cached_property
    def _one(self) -> Mechanism[ArrayLike, int]:
        """One choice with its share of epsilon."""
        settings: dict[str, Any] = {
            "epsilon": parameters.check_epsilon(self.epsilon) / int(self.count),
            "monotone": self.neighbours.relation is Relation.ADD_REMOVE,
            "neighbours": self.neighbours,
        }
        return METHODS[self.selection](**settings)

    def privacy_loss(self) -> Loss:
        """One loss of epsilon / count a choice."""
        each = self._one.privacy_loss()
        return each if self.count == 1 else ComposedLoss((each,) * int(self.count))

    def measure(self, x: Rows, *, rng: Source) -> Measurement[tuple[Key, ...]]:
        """Choose categories by how many rows they have.

        Raises:
            InputError: as of `Histogram.measure` with categories.
        """
        counts = self._bins.counts(x)
        left = np.arange(counts.size)
        chosen: list[Key] = []
        for _ in range(self.count):
            place = self._one.release(counts[left], rng=rng)
            chosen.append(self.categories[int(left[place])])
            left = np.delete(left, place)
        return Measurement(tuple(chosen))

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """Rows by which no choice falls short: the k-th one of the k-th most frequent category.

        The k-th choice is made among categories of which the best is at least the k-th best of all;
        the chances of too large a shortfall are summed over the choices.

        Args:
            confidence: between 0 and 1.
            size: not looked at; all categories are meant.
        """
        each = 1 - (1 - parameters.check_confidence(confidence)) / int(self.count)
        return self._one.accuracy(each, size=len(self.categories))
