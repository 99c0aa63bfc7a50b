"""A bound on the estimated share of people who are alone in their class in the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from celosia.assess.risk.uniqueness import population_unique_share
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    ANOTHER_RELEASE,
    HOMOGENEITY,
    KNOWN_MEMBER,
    LEAST,
    RANDOM_SAMPLE,
    Model,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class PopulationUniqueness(Model):
    """At most a share `most` of the population is estimated to be alone in its class.

    Where the estimate is higher, records that are alone in their class are suppressed: without them
    it is 0, because a person who is unique in the population is unique in every sample of it.

    Guarantee: by the estimate of Dankar et al. at most `most` of the population can be found for
    certain by an attacker who knows it all.

    Reference: Dankar, El Emam, Neisa & Roffey 2012.
    """

    method_name: ClassVar[str] = "population-uniqueness"
    judges_table = True
    """The estimate is from all classes together."""

    most: float = parameter(least=LEAST, below=1, start=0.01)
    sampling_fraction: float = parameter(least=LEAST, most=1, start=0.1)

    def judge(self, classes: Classes) -> Verdict:
        """Keep all classes, or those of more than one record."""
        sizes, counts = np.unique(classes.sizes, return_counts=True)
        share = population_unique_share((sizes, counts), self.sampling_fraction)
        satisfied = np.full(classes.sizes.size, share <= self.most) | (classes.sizes > 1)
        return Verdict(satisfied, np.zeros(satisfied.size, dtype=np.int64))

    def why_infeasible(self, one_class: Classes) -> str | None:
        """One record alone cannot meet it."""
        return (
            None
            if self.holds(one_class).all()
            else Message("models.population_uniqueness.single_record")
        )

    def promise(self) -> str:
        return Message.of("models.population_uniqueness.promise", self)

    def protects(self) -> str:
        return Message("models.population_uniqueness.protects", most=self.most)

    def leaves_open(self) -> tuple[str, ...]:
        return (
            Message("models.population_uniqueness.small_classes"),
            KNOWN_MEMBER,
            RANDOM_SAMPLE,
            HOMOGENEITY,
            ANOTHER_RELEASE,
        )
