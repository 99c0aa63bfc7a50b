"""k-map: every class of the release fits at least k people of the population."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from celosia.core.errors import InputError
from celosia.tables.models.classes import Classes
from celosia.tables.models.gaps import ANOTHER_RELEASE, HOMOGENEITY
from celosia.tables.models.model import Model, Verdict, all_or_none
from celosia.tables.models.parameters import group_size, plain, put, real_parameter, sampling_share
from celosia.tables.models.population import population_of

MOST_ESTIMATED = 1_000_000
"""The estimate adds up to k chances one by one."""


@dataclass(frozen=True, slots=True)
class KMap(Model):
    """Each class fits at least `k` people of the population from which the table is drawn.

    With a population table the people are counted. With a `sampling_fraction` instead, they are
    estimated: F people of whom each is in the table with that chance, f of them are; F is then f
    plus a negative binomial number, and a class holds if F >= k with the `confidence` asked for.

    Guarantee: an attacker who does not know whether a person is in the table finds at least `k`
    people who fit the record, so the chance of naming the right one is at most 1/k.

    >>> KMap(5, sampling_fraction=0.1).smallest
    3

    Reference: Sweeney 2002; Benedetti & Franconi 1998 for the estimate.
    """

    k: int
    sampling_fraction: float | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        fraction = self.sampling_fraction
        confidence = real_parameter(
            "CEL-P026",
            "confidence",
            self.confidence,
            lambda share: 0 < share < 1,
            "a number between 0 and 1",
            why="It is the chance with which a class must fit k people.",
            fix="Try 0.95, the default.",
        )
        if fraction is not None and group_size(self.k) > MOST_ESTIMATED:
            raise InputError("CEL-P010", most_estimated=MOST_ESTIMATED, k=self.k)
        put(
            self,
            k=group_size(self.k),
            sampling_fraction=None if fraction is None else sampling_share(fraction),
            confidence=confidence,
        )

    @property
    def needs_population(self) -> bool:
        """Without a sampling fraction people are counted, not estimated."""
        return self.sampling_fraction is None

    @property
    def smallest(self) -> int:
        """By the estimate it is a matter of size; of a counted population one may be enough."""
        if self.sampling_fraction is None:
            return 1
        return smallest_sample(self.k, self.sampling_fraction, self.confidence)

    def judge(self, classes: Classes) -> Verdict:
        """A part of a class fits no more people than the class, and has no more records."""
        if self.sampling_fraction is None:
            satisfied = population_of(classes, self) >= self.k
        else:
            satisfied = classes.sizes >= self.smallest
        return all_or_none(satisfied, classes.sizes)

    def why_infeasible(self, one_class: Classes) -> str | None:
        """The population, or what is estimated of it, may be too small."""
        if self.holds(one_class).all():
            return None
        if self.sampling_fraction is None:
            return f"The population has fewer than k = {self.k} people."
        return f"The table has fewer than the {self.smallest} records that {self.promise()} needs."

    def promise(self) -> str:
        """The model in words."""
        if self.sampling_fraction is None:
            return f"{self.k}-map"
        return (
            f"estimated {self.k}-map (sampling fraction {self.sampling_fraction:g}, "
            f"confidence {self.confidence:g})"
        )

    def protects(self) -> str:
        """What an attacker cannot do."""
        return (
            "an attacker who does not know who is in the table finds at least "
            f"{self.k} people of the population who fit a record"
        )

    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""
        known = (
            "an attacker who knows that a person is in the table may find the person's record "
            "alone in its class"
        )
        counted = (
            "the population table may be out of date, or not the one that the attacker has"
            if self.sampling_fraction is None
            else "the estimate takes the table for a simple random sample of the population"
        )
        return (known, HOMOGENEITY, counted, ANOTHER_RELEASE)

    def as_dict(self) -> dict[str, Any]:
        """Name and parameters as plain values."""
        return plain(self, "k-map")


@lru_cache(maxsize=64)
def smallest_sample(k: int, sampling_fraction: float, confidence: float) -> int:
    """The fewest records from which F >= k people follow with the confidence asked for.

    F | f is the number of draws until the f-th success, so F >= k exactly if fewer than f of k - 1
    draws succeed: a binomial sum, which grows with f and is 1 at f = k.

    >>> smallest_sample(2, 0.05, 0.95), smallest_sample(2, 0.06, 0.95)
    (1, 2)
    """
    if sampling_fraction == 1:
        return k
    draws, below = k - 1, 0.0
    odds = math.log(sampling_fraction), math.log1p(-sampling_fraction)
    for successes in range(draws):
        ways = math.lgamma(draws + 1) - math.lgamma(successes + 1)
        ways -= math.lgamma(draws - successes + 1)
        below += math.exp(ways + successes * odds[0] + (draws - successes) * odds[1])
        if below >= confidence * (1 - 1e-12):
            return successes + 1
    return k
