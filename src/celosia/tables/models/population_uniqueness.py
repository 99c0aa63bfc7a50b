"""A bound on the estimated share of people who are alone in their class in the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.assess.risk.uniqueness import population_unique_share
from celosia.tables.models.average_risk import largest_share
from celosia.tables.models.classes import Classes
from celosia.tables.models.gaps import ANOTHER_RELEASE, HOMOGENEITY
from celosia.tables.models.model import Model, Verdict
from celosia.tables.models.parameters import plain, put, sampling_share


@dataclass(frozen=True, slots=True)
class PopulationUniqueness(Model):
    """At most a share `most` of the population is estimated to be alone in its class.

    Where the estimate is higher, records that are alone in their class are suppressed: without them
    it is 0, because a person who is unique in the population is unique in every sample of it.

    Guarantee: by the estimate of Dankar et al. at most `most` of the population can be found for
    certain by an attacker who knows it all.

    Reference: Dankar, El Emam, Neisa & Roffey 2012.
    """

    most: float
    sampling_fraction: float

    def __post_init__(self) -> None:
        put(
            self,
            most=largest_share("most", self.most, "share of unique people"),
            sampling_fraction=sampling_share(self.sampling_fraction),
        )

    @property
    def judges_table(self) -> bool:
        """The estimate is from all classes together."""
        return True

    @property
    def smallest(self) -> int:
        """A few records may be alone in their class."""
        return 1

    def judge(self, classes: Classes) -> Verdict:
        """Keep all classes, or those of more than one record."""
        sizes, counts = np.unique(classes.sizes, return_counts=True)
        share = population_unique_share((sizes, counts), self.sampling_fraction)
        satisfied = np.full(classes.sizes.size, share <= self.most) | (classes.sizes > 1)
        return Verdict(satisfied, np.zeros(satisfied.size, dtype=np.int64))

    def why_infeasible(self, one_class: Classes) -> str | None:
        """One record alone cannot meet it."""
        return None if self.holds(one_class).all() else "The table has a single record."

    def promise(self) -> str:
        """The model in words."""
        return (
            f"at most {self.most:g} of the population unique by estimate "
            f"(sampling fraction {self.sampling_fraction:g})"
        )

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            "an attacker who knows the whole population can find for certain at most a share of "
            f"{self.most:.3g} of it, as far as can be estimated"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        return (
            "people who share their class with one or two others: only those who are alone count",
            "an attacker who knows that a person is in the table may find the person's record "
            "alone in its class",
            "the estimate takes the table for a simple random sample of the population",
            HOMOGENEITY,
            ANOTHER_RELEASE,
        )

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "population-uniqueness")
