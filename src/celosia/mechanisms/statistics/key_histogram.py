"""How many rows each key has, where the keys themselves are not known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, expm1, log, log1p
from typing import ClassVar

import numpy as np

from celosia.accounting.losses import ApproximateLoss
from celosia.core.randomness import Source
from celosia.mechanisms import parameters
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.statistics.columns import Key, Rows, key_counts
from celosia.mechanisms.statistics.statistic import Statistic, laplace_hiding

SLACK = 1 + 2**-40
"""More than floats can err in a tail: what is promised is rounded up by it."""


@dataclass(frozen=True, kw_only=True)
class KeyHistogram(Statistic[dict[Key, int]]):
    """The keys with many rows and their noisy counts, sorted by key.

    Only keys that have rows get noise, and only noisy counts above a threshold are released, so
    that a key which a single unit brings stays hidden but for a chance of delta. Nothing tells how
    many keys were left out.

    Guarantee: (epsilon, delta)-DP under either relation, for units that have at most one row of
    each key and rows of at most `keys_per_unit` keys (`contributions` sees to both). The proof is
    in the source.

    Reference: Korolova, Kenthapadi, Mishra and Ntoulas 2009; Wilson et al. 2020, for m keys.

    >>> KeyHistogram(epsilon=1, delta=1e-6).threshold
    14
    """

    method_name: ClassVar[str] = "key-histogram"

    # Proof. Let m = keys_per_unit, b the scale, p = P(1 + Z > threshold) = P(Z >= threshold), and
    # let D, D' be neighbours. Keys are independent. Call a key old if it has rows in both, new if
    # only in D', gone if only in D: a new or gone key has the one row of the unit. Let a, n, g be
    # the numbers of old keys whose count differs (by 1), of new and of gone ones. Add-remove has
    # a + n + g <= m and b >= m / epsilon; change-one has a <= 2m, n <= m, g <= m and
    # b >= 2m / epsilon; so a / b <= epsilon and n, g <= m.
    # Take a set S of outputs; let q, q' be the chances that D, D' release a member of S if only
    # old keys are looked at. By the Laplace mechanism q' <= e^(a/b) q <= e^epsilon q. Outputs of D'
    # hold no gone key and outputs of D no new key, so
    #     P(D' in S) <= P(a new key is released) + P(no new key is, and the rest is in S)
    #                <= 1 - (1-p)^n + (1-p)^n q',
    #     P(D in S)  >= (1-p)^g q >= (1-p)^g e^-epsilon q',
    # hence P(D' in S) - e^epsilon P(D in S) <= 1 - (1-p)^n + q' ((1-p)^n - (1-p)^g). If g <= n the
    # bracket is not positive and the whole at most 1 - (1-p)^n; else it is at most 1 - (1-p)^g, as
    # q' <= 1. Both are at most 1 - (1-p)^m = delta. The relation is symmetric, so the other
    # direction is the same statement.

    delta: float = parameters.field_of(parameters.DELTA)
    keys_per_unit: int = parameters.field_of(parameters.whole_number(most=2**20), 1)

    @property
    def sensitivity(self) -> float:
        """The most by which all counts together move."""
        return float(self._moved)

    @property
    def _moved(self) -> int:
        return self.keys_per_unit * (2 if self.counts_are_public else 1)

    @cached_property
    def noises(self) -> tuple[DiscreteLaplace]:
        """The law of the noise of each count."""
        return (laplace_hiding(self._moved, self.price),)

    @cached_property
    def threshold(self) -> int:
        """What a noisy count must exceed to be released: the least, from 1, that keeps delta."""
        # P(Z >= t) = e^(-t/b) / (1 + e^(-1/b)), which is at most e^(-t/b): a start from above.
        start = ceil(float(self.noise.scale) * (log(self.keys_per_unit) - log(self.delta)))
        found = max(1, start)
        while self.failure(found) > self.delta:
            found += 1
        # The start is at most ln(2) b + 1 too high, which may be many steps: halve them.
        low = 0
        while found - low > 1:
            middle = (low + found) // 2
            low, found = (low, middle) if self.failure(middle) <= self.delta else (middle, found)
        return found

    def failure(self, threshold: int) -> float:
        """The chance that a key which only one unit has is released, at a threshold."""
        chance = min(self.noise.tail(threshold) * SLACK, 1 - 2**-53)
        return min(1.0, -expm1(self.keys_per_unit * log1p(-chance)) * SLACK)

    def privacy_loss(self) -> ApproximateLoss:
        """Epsilon, and the delta of the threshold, which is at most the given one."""
        return ApproximateLoss(self.price, self.failure(self.threshold))

    def measure(self, x: Rows, *, rng: Source) -> Measurement[dict[Key, int]]:
        """The keys whose noisy counts exceed the threshold.

        Raises:
            InputError: CEL-M080 not one column; CEL-M082 no rows; CEL-M083 rows without a key.
        """
        counts, _ = key_counts(x)
        self.check_filled(len(counts))
        # Draws are below 2**62 (a thousand times the largest scale), and so are counts.
        noisy = np.fromiter(counts.values(), np.int64, len(counts))
        noisy = noisy + self.noise.draw(noisy.size, rng)
        found = {
            key: count
            for key, count in zip(counts, noisy.tolist(), strict=True)
            if count > self.threshold
        }
        return Measurement(found)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that none of `size` keys exceeds with this confidence; missing keys are 0."""
        return float(
            self.threshold + self.noise.bound(parameters.check_confidence(confidence), size=size)
        )

    def interval(
        self, measurement: Measurement[dict[Key, int]], confidence: float = 0.95
    ) -> tuple[dict[Key, int], dict[Key, int]]:
        """Lower and upper bounds of each released count.

        For each key by itself: it is released with bounds that miss its exact count with a chance
        of at most 1 - confidence. How many keys there are is private, so no more can be said.
        """
        error = self.noise.bound(parameters.check_confidence(confidence))
        return (
            {key: max(1, count - error) for key, count in measurement.value.items()},
            {key: max(1, count + error) for key, count in measurement.value.items()},
        )
