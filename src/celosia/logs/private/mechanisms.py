"""Mechanisms that choose which keys of a log may be named; the privacy unit is a person."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, erfc, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ApproximateLoss
from celosia.core.messages import Message
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.randomness import Source
from celosia.logs.private.data import KeyData, bounded_pairs
from celosia.logs.private.thresholds import (
    LEAST_DEVIATION,
    MOST_KEYS,
    MOST_ROUNDS,
    SLACK,
    STEPS,
    WORD,
    gaussian_deviation,
    gaussian_threshold,
    release_chances,
    weights,
)
from celosia.mechanisms.mechanism import ExactEpsilon, Measurement, Mechanism
from celosia.mechanisms.noise import DiscreteGaussian, DiscreteLaplace
from celosia.mechanisms.parameters import (
    DELTA,
    EPSILON,
    check_confidence,
    check_delta,
    field_of,
    whole_number,
)
from celosia.mechanisms.statistics.key_histogram import KeyHistogram

ONE_PERSON = Neighbours(Relation.ADD_REMOVE, unit="person")
"""One person more or less, with all records: the number of persons is private."""

Released = dict[str, float]

FEW = 5
"""Keys of a person from which on weighted Gaussian noise names more keys than Laplace noise."""


@dataclass(frozen=True, kw_only=True)
class KeyMechanism(ExactEpsilon, Mechanism[KeyData, Released]):
    """Which keys may be named, where the keys themselves are private.

    Each person keeps at most `per_person` distinct keys, chosen uniformly at random; repeated
    records count once. The bound must be declared, not taken from the data.
    """

    epsilon: float = field_of(EPSILON)
    delta: float = field_of(DELTA)
    per_person: int = field_of(whole_number(most=MOST_KEYS), 1)
    neighbours: Neighbours = field(default=ONE_PERSON, init=False)

    has_counts: ClassVar[bool] = True
    """Whether numbers are released with the names."""

    @property
    def question(self) -> str:
        """What is asked, in a few words."""
        return Message("logs.private.question")

    def privacy_loss(self) -> ApproximateLoss:
        return ApproximateLoss(self.price, check_delta(self.delta))

    def measure(self, x: KeyData, *, rng: Source) -> Measurement[Released]:
        """The keys that may be named, sorted by name, with their numbers."""
        people, codes = bounded_pairs(x, self.per_person, rng)
        places, numbers = self.choose(people, codes, x.size, rng)
        names = x.labels.gather(places).to_list()
        found = dict(zip(names, numbers, strict=True))
        return Measurement(dict(sorted(found.items())))

    @abstractmethod
    def choose(
        self, people: NDArray[np.int64], codes: NDArray[np.int64], size: int, rng: Source
    ) -> tuple[NDArray[np.intp], list[float]]:
        """The chosen keys and their numbers, from distinct pairs of a person and a key."""

    @abstractmethod
    def chance(self, persons: int) -> float:
        """The chance that a key of so many persons is named."""

    @property
    @abstractmethod
    def least_persons(self) -> int:
        """How many persons a key needs to be named with a chance of a half."""

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """Persons that a key may have and still not be named."""
        check_confidence(confidence)
        return float(self.least_persons)


@dataclass(frozen=True, kw_only=True)
class LaplaceKeys(KeyMechanism):
    """Keys with noisy counts of persons: discrete Laplace noise and a threshold.

    Guarantee: (epsilon, delta)-DP for one person; the proof is in the source of `KeyHistogram`.

    Reference: Korolova, Kenthapadi, Mishra and Ntoulas 2009; Wilson et al. 2020, for m keys.

    >>> LaplaceKeys(epsilon=1, delta=1e-5).threshold
    13
    """

    method_name: ClassVar[str] = "laplace-keys"

    @cached_property
    def histogram(self) -> KeyHistogram:
        """The mechanism of counts whose proof this one uses."""
        return KeyHistogram(epsilon=self.epsilon, delta=self.delta, keys_per_unit=self.per_person)

    @property
    def threshold(self) -> int:
        """The least noisy count that is released."""
        return self.histogram.threshold + 1

    @property
    def law(self) -> DiscreteLaplace:
        """The noise of each count."""
        return self.histogram.noise

    @property
    def least_persons(self) -> int:
        return self.threshold

    def chance(self, persons: int) -> float:
        return self.law.tail(self.threshold - persons) if persons else 0.0

    def choose(
        self, people: NDArray[np.int64], codes: NDArray[np.int64], size: int, rng: Source
    ) -> tuple[NDArray[np.intp], list[float]]:
        counts = np.bincount(codes, minlength=size)
        present = np.flatnonzero(counts)
        noisy = counts[present] + self.law.draw(present.size, rng)
        is_named = noisy >= self.threshold
        return present[is_named], noisy[is_named].tolist()

    def interval(
        self, measurement: Measurement[Released], confidence: float = 0.95
    ) -> tuple[Any, Any] | None:
        """Bounds of the number of persons of each released key, after bounding."""
        error = self.law.bound(check_confidence(confidence))
        value = measurement.value
        return (
            {key: max(1, count - error) for key, count in value.items()},
            {key: max(1, count + error) for key, count in value.items()},
        )


@dataclass(frozen=True, kw_only=True)
class OptimalKeys(KeyMechanism):
    """Names of keys only, each with the largest chance that (epsilon, delta) allows.

    Guarantee: (epsilon, delta)-DP for one person. For one key the chances of n and n + 1 persons
    keep both inequalities of (epsilon / m, delta_1)-DP by construction; a person changes at most m
    keys, which are chosen independently: m-fold composition.

    Reference: Desfontaines, Voss, Gipson and Mandayam 2022, Thm 1.

    >>> OptimalKeys(epsilon=1, delta=1e-5).least_persons
    12
    """

    method_name: ClassVar[str] = "optimal-keys"
    has_counts: ClassVar[bool] = False

    @cached_property
    def chances(self) -> NDArray[np.uint64]:
        """The chance for n = 0, 1, ... persons in units of 2^-64; the last is certainty."""
        return release_chances(self.price, check_delta(self.delta), self.per_person)

    def chance(self, persons: int) -> float:
        if persons >= len(self.chances) - 1:
            return 1.0
        return float(self.chances[persons]) / WORD

    @property
    def least_persons(self) -> int:
        return int(np.argmax(self.chances >= np.uint64(WORD // 2)))

    @property
    def certain_persons(self) -> int:
        """From how many persons on a key is always named."""
        return len(self.chances) - 1

    def choose(
        self, people: NDArray[np.int64], codes: NDArray[np.int64], size: int, rng: Source
    ) -> tuple[NDArray[np.intp], list[float]]:
        counts = np.bincount(codes, minlength=size)
        present = np.flatnonzero(counts)
        last = self.certain_persons
        chance = self.chances[np.minimum(counts[present], last)]
        is_named = (counts[present] >= last) | (rng.words(present.size) < chance)
        return present[is_named], [1] * int(is_named.sum())


@dataclass(frozen=True, kw_only=True)
class GaussianKeys(KeyMechanism):
    """Keys by weighted Gaussian set union: a person with r items adds 1 / sqrt(r) to each.

    Guarantee: (epsilon, delta)-DP for one person. On keys that others have too, one person moves
    the weights by a length of at most 1: Gaussian noise from the exact curve at (epsilon, delta /
    2). Of t keys that only this person has, none is released but for a chance of delta / 2: each
    has a weight of at most 1 / sqrt(t), and the threshold is the largest that any t needs. The
    released numbers are noisy weights, which the same noise pays for.

    Reference: Gopi et al. 2020, Thm 5.1; the proof for noise on a grid is with `SLACK`.

    >>> gaussian = GaussianKeys(epsilon=1, delta=1e-5, per_person=20)
    >>> round(gaussian.sigma, 3), round(gaussian.threshold, 3)
    (3.884, 19.747)
    """

    method_name: ClassVar[str] = "gaussian-keys"

    @cached_property
    def sigma(self) -> float:
        """The deviation of the noise, for weights of at most 1."""
        return gaussian_deviation(float(self.price) / SLACK, check_delta(self.delta) / 2 / SLACK)

    @cached_property
    def law(self) -> DiscreteGaussian:
        """The noise in steps."""
        return noise_of(self.sigma)

    @property
    def threshold(self) -> float:
        """What a noisy weight must exceed."""
        return self.threshold_steps / STEPS

    @cached_property
    def threshold_steps(self) -> int:
        """The same in steps."""
        return steps_above(self.law, check_delta(self.delta) / 2, self.per_person)

    @property
    def least_persons(self) -> int:
        return ceil(self.threshold * sqrt(self.per_person))

    def chance(self, persons: int) -> float:
        if not persons:
            return 0.0
        gap = (self.threshold - persons) / self.sigma
        return erfc(gap / sqrt(2)) / 2

    def choose(
        self, people: NDArray[np.int64], codes: NDArray[np.int64], size: int, rng: Source
    ) -> tuple[NDArray[np.intp], list[float]]:
        sums = summed_weights(people, codes, size, self.per_person)
        present = np.flatnonzero(sums)
        noisy = sums[present] + self.law.draw(present.size, rng)
        is_named = noisy > self.threshold_steps
        return present[is_named], (noisy[is_named] / STEPS).tolist()


@dataclass(frozen=True, kw_only=True)
class SipsKeys(GaussianKeys):
    """Names of keys by weighted Gaussian set union in rounds, each with three times the budget.

    What a round names is taken out of every person's list, so that the weight of the next round
    goes to keys that are not named yet.

    Guarantee: (epsilon, delta)-DP for one person. Round i draws noise of deviation s / sqrt(w_i),
    where the shares w_i sum to 1 and s is that of `GaussianKeys`. Gaussian noise of adaptive rounds
    composes to that of deviation s (Dong, Roth and Su 2022, Cor. 3.3), which is (epsilon, delta /
    2)-DP. A key that only this person has is named in round i with a chance of w_i delta / 2 at
    most, together delta / 2.

    Reference: Swanberg, Desfontaines and Haney 2023, DP-SIPS.

    >>> SipsKeys(epsilon=1, delta=1e-5, per_person=20).shares
    (Fraction(1, 13), Fraction(3, 13), Fraction(9, 13))
    """

    method_name: ClassVar[str] = "sips-keys"
    has_counts: ClassVar[bool] = False

    rounds: int = field_of(whole_number(most=MOST_ROUNDS), 3)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The part of the budget of each round, the largest last."""
        total = sum(_GROWTH**place for place in range(self.rounds))
        return tuple(Fraction(_GROWTH**place, total) for place in range(self.rounds))

    @cached_property
    def laws(self) -> tuple[tuple[DiscreteGaussian, int], ...]:
        """The noise of each round, and the steps that a noisy weight must exceed."""
        found = []
        for share in self.shares:
            law = noise_of(self.sigma / sqrt(share))
            half = check_delta(self.delta) / 2 * float(share)
            found.append((law, steps_above(law, half, self.per_person)))
        return tuple(found)

    @property
    def threshold(self) -> float:
        """What a noisy weight must exceed in the last round."""
        return self.laws[-1][1] / STEPS

    def chance(self, persons: int) -> float:
        missed = 1.0
        for share, (_, steps) in zip(self.shares, self.laws, strict=True):
            gap = (steps / STEPS - persons) / (self.sigma / sqrt(share))
            missed *= 1 - erfc(gap / sqrt(2)) / 2
        return 1 - missed if persons else 0.0

    def measure(self, x: KeyData, *, rng: Source) -> Measurement[Released]:
        """The keys that may be named, sorted by name."""
        is_named = np.zeros(x.size, dtype=bool)
        for law, threshold in self.laws:
            is_left = ~is_named[x.codes]
            left = KeyData(x.people[is_left], x.codes[is_left], x.labels)
            people, codes = bounded_pairs(left, self.per_person, rng)
            sums = summed_weights(people, codes, x.size, self.per_person)
            present = np.flatnonzero(sums)
            noisy = sums[present] + law.draw(present.size, rng)
            is_named[present[noisy > threshold]] = True
        return Measurement(dict.fromkeys(sorted(x.labels.filter(is_named).to_list()), 1))


_GROWTH = 3
"""How much more budget each round has than the one before."""


def noise_of(deviation: float) -> DiscreteGaussian:
    """Gaussian noise in steps, of a deviation in weights, rounded up."""
    return DiscreteGaussian(Fraction(ceil(max(deviation, LEAST_DEVIATION) * SLACK * STEPS)) ** 2)


def steps_above(law: DiscreteGaussian, delta: float, per_person: int) -> int:
    """The threshold in steps, rounded up: half a step more covers the grid of the noise."""
    deviation = float(law.parameter) ** 0.5 / STEPS
    return ceil(gaussian_threshold(deviation, delta / SLACK, per_person) * STEPS) + 2


def summed_weights(
    people: NDArray[np.int64], codes: NDArray[np.int64], size: int, per_person: int
) -> NDArray[np.int64]:
    """The weights of all persons for each key, in steps, from distinct pairs."""
    items = np.bincount(people) if len(people) else np.empty(0, dtype=np.int64)
    # Whole steps: float sums of them are exact below 2^53, which 2^27 persons do not reach.
    own = weights(per_person)[items[people]].astype(np.float64)
    return np.bincount(codes, weights=own, minlength=size).astype(np.int64)
