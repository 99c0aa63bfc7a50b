"""A total whose cap is chosen privately, from how many people contribute how much."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np

from celosia.accounting.losses import ComposedLoss, Loss, PureLoss
from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole
from celosia.mechanisms.values import from_zero
from celosia.queries.bounds.cap_ladder import CapChoice
from celosia.queries.bounds.caps import (
    capped_totals,
    check_share,
    ladder,
    people_by_level,
    read_levels,
    read_totals,
    split_failure,
)

MOST_GROUPS = 2**20


@dataclass(frozen=True, slots=True, repr=False)
class ContributionSummary:
    """What an engine returns of a private table: nothing of it may be shown.

    Args:
        levels: how many people contribute, in size, more than the cap before, up to this cap.
        totals: for every cap the sum of all contributions, cut off at the cap; for an answer by
            groups a list of sums, each person cut off at the cap in sum over all groups.
    """

    levels: Any
    totals: Any

    @classmethod
    def of(cls, contributions: Any, *, most: int) -> ContributionSummary:
        """The same from one whole number for each person.

        >>> people = ContributionSummary.of([3, 1, 9], most=8)
        >>> people.levels, people.totals
        ((1, 0, 1, 1), (3, 5, 8, 12))
        """
        caps = ladder(most)
        return cls(people_by_level(contributions, caps), capped_totals(contributions, caps))

    def __repr__(self) -> str:
        return "People(...)"  # exact numbers of private data stay out of logs


@dataclass(frozen=True, slots=True, repr=False)
class ChosenCap:
    """A cap that was chosen privately, and the noise of the answer under it, which stays secret."""

    mechanism: PrivateCap
    place: int
    people: tuple[int, ...]
    """The noisy numbers of people, which are released."""
    noise: tuple[int, ...]
    """Of each group: drawn before the totals are known, and never shown."""

    @property
    def cap(self) -> int:
        """The cap: a function of noisy numbers, so the totals under it may be asked for."""
        return self.mechanism.caps[self.place]

    def release(self, totals: Any) -> Measurement[Any]:
        """The totals of all groups under the cap, with noise.

        Raises:
            InputError: CEL-Q081 not a total for each group.
        """
        exact = read_totals(totals, self.mechanism.groups)
        values = [total + each for total, each in zip(exact, self.noise, strict=True)]
        return Measurement(
            values[0] if self.mechanism.groups == 1 else np.array(values, dtype=np.int64),
            {
                "cap": self.cap,
                "caps": self.mechanism.caps,
                "people": self.people,
                "error": self.mechanism.laws[self.place].bound(0.95, size=self.mechanism.groups),
            },
        )


@dataclass(frozen=True, kw_only=True)
class PrivateCap(CapChoice[ContributionSummary, Any]):
    """A total cut off at a cap that is chosen inside epsilon, for rows of one person each.

    A share of epsilon buys the numbers of people at each level of contribution. Levels whose noisy
    number may be nothing but noise are left out from the top: noise alone passes the `thresholds`
    with a chance of at most `failure`, and the higher the level, the smaller its part of that
    chance, because the error of a needlessly high cap grows with it. For what is left, the cap with
    the least sum of squares of what it takes away (people at a level contributing the middle of it)
    and of the noise is taken; the rest of epsilon buys the total under this cap with fresh noise.

    With `groups` the answer is a list. A person then counts up to the cap in sum over all groups
    (see `grouped_totals`), the level of a person is that of the sum of sizes, and each group gets
    noise for the whole cap: a person in any number of groups moves the list by at most the cap in
    sum.

    Guarantee: epsilon-DP with delta 0 for one person with all their rows, added or removed.
    (1) Each person is at exactly one level, and so moves one number by one: with discrete Laplace
    noise of scale 1 / (share * epsilon) the numbers are (share * epsilon)-DP. (2) For each cap a
    person moves the total, or all groups in sum, by at most the cap: (1 - share) * epsilon. (3) The
    cap is a function of (1), so both compose (Dwork & Roth 2014, Thm 3.16). Contributions below 0
    are cut off at minus the cap and change nothing in this. It assumes that each row belongs to one
    person, that `ContributionSummary` is what it says and that the list of groups is public.

    Reference: Dwork & Roth 2014, Thm 3.6 (histogram); the trade-off of noise and truncation is that
    of Amin, Kulesza, Munoz Medina & Vassilvitskii, Bounding user contributions, ICML 2019.

    >>> from celosia.core.randomness import Seeded
    >>> mechanism = PrivateCap(epsilon=1, most=2**20)
    >>> people = ContributionSummary.of([7] * 5000, most=2**20)
    >>> mechanism.measure(people, rng=Seeded(1)).parts["cap"]
    8
    """

    share: float = 0.3
    failure: float = 0.02
    groups: int = 1
    signed: bool = False
    """Whether contributions may be below 0: what a cap takes away may then be of either sign."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.groups, name=Message("queries.bounds.number_of_groups"), most=MOST_GROUPS)
        _ = self.level_noise, self.laws  # a scale out of reach is refused here

    @cached_property
    def level_noise(self) -> DiscreteLaplace:
        """The noise of each number of people."""
        return DiscreteLaplace(1 / self.epsilon_shares[0])

    @cached_property
    def laws(self) -> tuple[DiscreteLaplace, ...]:
        """The noise of the answer under each cap."""
        return tuple(DiscreteLaplace(cap / self.epsilon_shares[1]) for cap in self.caps)

    @cached_property
    def thresholds(self) -> tuple[int, ...]:
        """What a noisy number of people must exceed to be taken for more than noise."""
        chances = split_failure(float(check_share(self.failure, name="failure")), len(self.caps))
        # The chance of noise above a bound is half of that of noise larger in size.
        return tuple(self.level_noise.bound(1 - 2 * chance) for chance in chances)

    def privacy_loss(self) -> Loss:
        """Epsilon: one number of people moves by one, then the answer is paid."""
        # For every cap, however it is spread over groups.
        answer = PureLoss(self.epsilon_shares[1])
        return ComposedLoss((LaplaceLoss(self.level_noise.scale, 1), answer))

    def measure(self, x: ContributionSummary, *, rng: Source) -> Measurement[Any]:
        """Choose the cap and answer under it.

        Raises:
            InputError: CEL-Q081 not a total for each cap; CEL-Q081 not a number of people for each.
        """
        levels = read_levels(x.levels, len(self.caps))
        totals = self._read(x.totals)
        chosen = self.choose(levels, rng=rng)
        return chosen.release(totals[chosen.place])

    def choose(self, levels: Any, *, rng: Source) -> ChosenCap:
        """Choose the cap, and draw the noise of the answer: the totals may be asked for then.

        Args:
            levels: how many people contribute up to each cap, see `ContributionSummary`.
            rng: where randomness comes from.
        """
        exact = read_levels(levels, len(self.caps))
        noise = self.level_noise.draw(len(self.caps), rng).tolist()
        noisy = [level + each for level, each in zip(exact, noise, strict=True)]
        place = self.choose_cap(noisy)
        law = self.laws[place]
        return ChosenCap(self, place, tuple(noisy), tuple(law.draw(self.groups, rng).tolist()))

    def choose_cap(self, noisy: list[int]) -> int:
        """The place of the cap for noisy numbers of people: a function of released numbers only.

        >>> PrivateCap(epsilon=1, most=16).choose_cap([1000, 900, 800, 4, -3])
        2
        """
        seen = [i for i, threshold in enumerate(self.thresholds) if noisy[i] > threshold]
        top = max(seen, default=0)
        return min(range(top + 1), key=lambda place: self._cost(noisy, place, top))

    def _cost(self, noisy: list[int], place: int, top: int) -> Fraction:
        """Squares of what a cap takes away and of the noise, four times each."""
        # A level from c' to c has about (c' + c) / 2 each, of which a cap takes what is above it;
        # Laplace noise of scale s has the variance 2 s^2. Both are functions of released numbers.
        cap = self.caps[place]
        lost = sum(
            noisy[i] * max(0, self.caps[i - 1] + self.caps[i] - 2 * cap)
            for i in range(place + 1, top + 1)
        )
        return max(0, lost) ** 2 + 8 * (cap / self.epsilon_shares[1]) ** 2

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that is not exceeded whatever the data are, in terms of the largest cap.

        With chance 1 - (1 - confidence) / 2 no number of people is off by more than some b. Levels
        that passed no threshold then hold at most threshold + b people. Those below the top one
        have an estimated loss of at most sqrt(2) most / epsilon, or the top would have been chosen;
        the loss is at most twice the estimate (a level ends at most twice as far above the cap as
        its middle is), and b people a level more.
        """
        doubt = (
            (1 - check_confidence(confidence))
            / 2
            / check_whole(size, name=Message("queries.bounds.size"))
        )
        off = self.level_noise.bound(1 - doubt, size=len(self.caps))
        noise = self.laws[-1].bound(1 - doubt, size=self.groups)
        estimated = 2 * (isqrt(int(2 * (self.caps[-1] / self.epsilon_shares[1]) ** 2)) + 1)
        unseen = sum(
            cap * (threshold + 2 * off)
            for cap, threshold in zip(self.caps, self.thresholds, strict=True)
        )
        return float(noise + estimated + unseen)

    def interval(self, measurement: Measurement[Any], confidence: float = 0.95) -> tuple[Any, Any]:
        """Bounds of the exact total, if no person contributes more than `most`.

        A cap can only take away, so the lower bound is that of the noise alone. The upper bound
        adds all that the people above the cap may have, by their noisy numbers: it is far away,
        because no private answer can rule out a few people with the largest contribution.
        """
        doubt = (1 - check_confidence(confidence)) / 2
        cap = measurement.parts["cap"]
        place = self.caps.index(cap)
        noise = self.laws[place].bound(1 - doubt, size=self.groups)
        off = self.level_noise.bound(1 - doubt, size=len(self.caps))
        beyond = sum(
            max(0, people + off) * (limit - cap)
            for people, limit in zip(measurement.parts["people"], self.caps, strict=True)
            if limit > cap
        )
        low = measurement.value - noise - (beyond if self.signed else 0)
        high = measurement.value + noise + beyond
        return (low, high) if self.signed else from_zero(low, measurement.value, high)

    def _read(self, totals: Any) -> list[list[int]]:
        if self.groups == 1:
            return [[total] for total in read_totals(totals, len(self.caps))]
        rows = totals.tolist() if isinstance(totals, np.ndarray) else totals
        if not isinstance(rows, (list, tuple)) or len(rows) != len(self.caps):
            read_totals(None, len(self.caps))
        return [read_totals(list(row), self.groups) for row in rows]
