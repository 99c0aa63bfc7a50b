"""Race to the top (R2T): the best of the totals under every cap, each with the noise of its cap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from celosia.accounting.losses import ComposedLoss, PureLoss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_epsilon, check_whole
from celosia.mechanisms.values import from_zero
from celosia.queries.bounds.cap_ladder import GrainedLadder, in_units, rounding
from celosia.queries.bounds.caps import check_share, read_totals, split_failure


@dataclass(frozen=True, kw_only=True)
class R2T(GrainedLadder[Any, float]):
    """A total whose cap is found by R2T: each candidate is charged for its noise, the best wins.

    For the n caps 1, 2, 4, ..., `most` it draws candidate = total + discrete Laplace noise of scale
    n * cap / epsilon, and subtracts a public `penalty` that this noise exceeds with a chance of at
    most the cap's part of `failure`. The winner is the cap with the largest penalised candidate.
    That penalised candidate is the published answer (`lower` in the parts): with a chance of at
    least 1 - failure it is not above the exact total, and it is below it by at most two penalties
    of the least cap that no person exceeds. The value is the winner's candidate *before* the
    penalty, which is post-processing and, the penalty being several times the noise, nearer to the
    truth. All candidates are private and stand in the parts.

    The parts of `failure` fall with the root of the cap, because a false winner costs in proportion
    to its cap.

    Guarantee: epsilon-DP with delta 0 for one person with all their rows, added or removed. The
    total under a cap moves by at most the cap, so each candidate is (epsilon / n)-DP and all of
    them together epsilon-DP (Dwork & Roth 2014, Thm 3.16); winner and value are functions of them.
    It assumes totals under the caps of `caps` in this order: sums of contributions of at least 0
    cut off at the cap, or optima of `r2t_program`, which are multiples of a step of parts of 1 /
    `grain`, rounded by less than one step on either side (the sensitivities of `shifts`).

    Reference: Dong, Fang, Yi, Tao & Machanavajjhala, R2T: instance-optimal truncation for
    differentially private query evaluation with foreign keys, SIGMOD 2022.

    >>> from celosia.core.randomness import Seeded
    >>> r2t = R2T(epsilon=1, most=8)
    >>> r2t.measure([1000, 1900, 2000, 2000], rng=Seeded(1)).parts["caps"]
    (1, 2, 4, 8)
    """

    failure: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.laws  # a scale out of reach is refused here

    @cached_property
    def laws(self) -> tuple[DiscreteLaplace, ...]:
        """The noise of each candidate, in parts."""
        each = check_epsilon(self.epsilon) / len(self.caps)
        return tuple(DiscreteLaplace(shift / each) for shift in self.shifts)

    @cached_property
    def penalties(self) -> tuple[int, ...]:
        """What is subtracted from each candidate, in parts."""
        chances = split_failure(float(check_share(self.failure, name="failure")), len(self.caps))
        # The chance of noise above a bound is half of that of noise larger in size. By a union
        # bound no candidate exceeds its total by its penalty, but for a chance of `failure`; and no
        # total under a cap exceeds the exact one. So the best penalised candidate is at most the
        # answer. It is at least that of the least cap that takes nothing away, which is below the
        # answer by its noise and penalty (Dong et al. 2022, section 5).
        return tuple(
            law.bound(1 - 2 * chance) for law, chance in zip(self.laws, chances, strict=True)
        )

    def privacy_loss(self) -> ComposedLoss:
        """Epsilon, an equal part for each candidate."""
        each = check_epsilon(self.epsilon) / len(self.caps)
        return ComposedLoss(tuple(PureLoss(each) for _ in self.caps))

    def measure(self, x: Any, *, rng: Source) -> Measurement[float]:
        """Take the best of the noisy totals, from one exact total for each cap.

        Raises:
            InputError: CEL-Q081 not a whole number within 2^50 for each cap.
        """
        totals = read_totals(x, len(self.caps))
        candidates = [
            total + int(law.draw(1, rng)[0]) for total, law in zip(totals, self.laws, strict=True)
        ]
        penalised = [
            candidate - penalty
            for candidate, penalty in zip(candidates, self.penalties, strict=True)
        ]
        winner = penalised.index(max(penalised))
        return Measurement(
            in_units(max(0, candidates[winner]), self.grain),
            {
                "caps": self.caps,
                "candidates": tuple(in_units(each, self.grain) for each in candidates),
                "cap": self.caps[winner],
                "lower": in_units(max(0, penalised[winner]), self.grain),
                "error": in_units(self.laws[winner].bound(0.95), self.grain),
            },
        )

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that is not exceeded whatever the data are, in terms of the largest cap.

        The value is at least the winner's penalised candidate, so at least that of the largest cap,
        which is below the total by its noise and penalty; and above it by noise at most.
        """
        count = check_whole(size, name=Message("queries.bounds.size"))
        bound = self._bounds(1 - (1 - check_confidence(confidence)) / count)[-1]
        return in_units(self.penalties[-1] + bound, self.grain)

    def interval(
        self, measurement: Measurement[float], confidence: float = 0.95
    ) -> tuple[float, float]:
        """Bounds of the exact total, if no person contributes more than `most`.

        The lower one is the best of all candidates. The upper one is that of the largest cap alone
        and far away: no private answer can rule out a few people with the largest contribution.
        """
        bounds = self._bounds(check_confidence(confidence))
        found = [round(each * self.grain) for each in measurement.parts["candidates"]]
        steps = [rounding(cap, self.grain) for cap in self.caps]
        low = max(
            each - bound - step for each, bound, step in zip(found, bounds, steps, strict=True)
        )
        high = found[-1] + bounds[-1] + steps[-1]
        return from_zero(in_units(low, self.grain), measurement.value, in_units(high, self.grain))

    def _bounds(self, confidence: float) -> list[int]:
        """What the noise of no candidate exceeds in size, with this confidence."""
        return [law.bound(confidence, size=len(self.laws)) for law in self.laws]
