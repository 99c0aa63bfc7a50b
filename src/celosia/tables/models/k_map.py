"""k-map: every class of the release fits at least k people of the population."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import (
    ANOTHER_RELEASE,
    GROUP_SIZE,
    HOMOGENEITY,
    KNOWN_MEMBER,
    LEAST,
    OTHER_POPULATION,
    RANDOM_SAMPLE,
    Model,
    Verdict,
    all_or_none,
    population_of,
)

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

    method_name: ClassVar[str] = "k-map"

    k: int = parameter(like=GROUP_SIZE)
    sampling_fraction: float | None = parameter(None, least=LEAST, most=1, start=0.1)
    confidence: float = parameter(0.95, above=0, below=1)

    def check(self) -> None:
        """Refuse an estimate that would take too long."""
        if self.sampling_fraction is not None and self.k > MOST_ESTIMATED:
            raise InputError("CEL-P010", most_estimated=MOST_ESTIMATED, k=self.k)

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
            return Message("models.k_map.small_population", k=self.k)
        return Message("models.k_map.small_table", smallest=self.smallest, promise=self.promise())

    def promise(self) -> str:
        if self.sampling_fraction is None:
            return Message("models.k_map.promise", k=self.k)
        return Message.of("models.k_map.estimated", self)

    def protects(self) -> str:
        return Message("models.k_map.protects", k=self.k)

    def leaves_open(self) -> tuple[str, ...]:
        basis = OTHER_POPULATION if self.sampling_fraction is None else RANDOM_SAMPLE
        return (KNOWN_MEMBER, HOMOGENEITY, basis, ANOTHER_RELEASE)


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
