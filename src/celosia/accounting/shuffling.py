"""Privacy amplification by shuffling: local reports are shuffled before they are read.

Neighbours here change one report; that there are n of them is public.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, log, log1p, sqrt
from typing import Any

import numpy as np

from celosia.accounting import amounts
from celosia.accounting.derived_loss import Vector
from celosia.accounting.losses import TAIL, CurveLoss, PureLoss
from celosia.core.messages import Message

MOST_LOCAL = 100
"""Beyond it a report hides nothing, and floats overflow."""
SIDE = 12.0
"""Standard deviations of the number of clones that are looked at; the rest is added to delta."""
RUNS = 4000
"""Numbers of clones that are looked at one by one; of more, only every second or so."""
KNOTS = 200
"""Points at which the curve is worked out where it is wanted at many."""


def amplify_by_shuffling(
    local: float | Fraction, *, reports: int, choices: int | None = None
) -> ShuffledLoss:
    """The loss of shuffling reports that are each protected by a local epsilon.

    >>> loss = amplify_by_shuffling(1.0, reports=10_000)
    >>> print(f"{loss.epsilon(1e-6):.3f}")
    0.053

    Args:
        local: the local epsilon of each report.
        reports: how many are shuffled together.
        choices: of how many answers there are, where every report is a k-ary randomised response:
            it hides better than an arbitrary local randomiser.

    Raises:
        InputError: CEL-I060 the epsilon, or the number of reports or choices is wrong.
    """
    amount = amounts.epsilon_amount(local, name="local", most=MOST_LOCAL)
    reports = amounts.count_amount(reports, name="number of reports")
    if choices is not None:
        choices = amounts.count_amount(choices, name="number of choices", least=2)
    return ShuffledLoss(amount, reports, choices)


def closed_form(local: float, *, reports: int, delta: float) -> float:
    """The formula of Feldman, McMillan & Talwar 2021 ("Hiding among the clones"), Thm 3.1.

    It needs epsilon_0 <= ln(n / (16 ln(2/delta))); elsewhere the local epsilon itself is returned.
    """
    epsilon = float(amounts.epsilon_amount(local, name="local", most=MOST_LOCAL))
    count, failure = (
        amounts.count_amount(reports, name="number of reports"),
        float(amounts.delta_amount(delta)),
    )
    room = count / (16 * log(2 / failure))
    if room <= 1 or epsilon > log(room):
        return epsilon
    size = exp(epsilon)
    gain = 8 * sqrt(size * log(4 / failure)) / sqrt(count) + 8 * size / count
    return min(epsilon, amounts.raised(log1p((size - 1) / (size + 1) * gain)))


@dataclass(frozen=True, slots=True)
class ShuffledLoss(CurveLoss):
    """Shuffled local reports.

    Guarantee: (epsilon, delta)-DP when one report changes, for any reports of local epsilon
    `local`, also when each randomiser is chosen by what the earlier ones answered. Every other
    report is, with some probability, a copy of what the changed report might have been.

    Reference: Feldman, McMillan & Talwar 2021, section 3; for randomised response with the share of
    copies of their paper of 2023.
    """

    local: Fraction
    reports: int
    choices: int | None = None

    @property
    def pure(self) -> float:
        """The local epsilon: with delta 0 shuffling gains nothing."""
        return amounts.round_up(self.local)

    def delta(self, epsilon: float) -> float:
        """The exact hockey-stick divergence of the pair of clone counts, rounded up."""
        epsilon = amounts.check_epsilon(epsilon)
        if epsilon >= self.pure:
            return 0.0
        found = _clones(self.pure, self.reports, None, epsilon)
        if self.choices is None:
            return found
        # With many choices fewer reports are clones, and what holds for any randomiser is better.
        return min(found, _clones(self.pure, self.reports, self.choices, epsilon))

    def curve(self, epsilon: Vector) -> Vector:
        """The same at many points: chords in e^epsilon, above the curve because it is convex."""
        if len(epsilon) <= KNOTS:
            return np.array([self.delta(float(each)) for each in epsilon])
        knots = np.append(np.linspace(0.0, self.reach(), KNOTS), self.pure)
        heights = np.array([self.delta(float(knot)) for knot in knots])
        heights = np.minimum.accumulate(heights)
        # In units of e^pure, so that nothing overflows.
        places = np.exp(knots - self.pure)
        wanted = np.exp(np.minimum(epsilon, self.pure) - self.pure)
        return np.asarray(np.interp(wanted, places, heights))

    def epsilon(self, delta: float) -> float:
        """The least of the numerical bound, the closed form and the local epsilon."""
        wanted = amounts.check_chance(delta)
        if not 0 < wanted < 1:
            return 0.0 if wanted else self.pure
        return min(self._reach(wanted), closed_form(self.pure, reports=self.reports, delta=wanted))

    def reach(self) -> float:
        """The epsilon with a delta that does not count."""
        return self._reach(TAIL)

    def _reach(self, delta: float) -> float:
        if self.delta(0.0) <= delta:
            return 0.0
        low, high = 0.0, self.pure
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high

    def renyi(self, order: float) -> float:
        """That of the local epsilon: shuffled reports are at least as safe as bare ones."""
        return PureLoss(self.local).renyi(order)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "shuffled",
            "local_epsilon": float(self.local),
            "reports": self.reports,
            "choices": self.choices,
        }

    def __str__(self) -> str:
        return Message("accounting.loss.shuffled", reports=self.reports, epsilon=float(self.local))


@lru_cache(maxsize=4096)
def _clones(local: float, reports: int, choices: int | None, epsilon: float) -> float:
    """The hockey-stick divergence at e^epsilon between the two laws of clone counts.

    The changed report is randomised response between two laws Q0 and Q1 with
    R(x) + R(x') = Q0 + Q1 (Kairouz, Oh & Viswanath 2015), and every other report is at least
    p (Q0 + Q1) with 2p = e^-epsilon_0, because it is at least e^-epsilon_0 R(x) and the same of x'.
    So C ~ Bin(n-1, 2p) of the others are fair coins between Q0 and Q1, and what an observer sees
    follows from A ~ Bin(C, 1/2) plus the changed report's own 0 or 1.

    k-ary randomised response: with p = 1 / (e^epsilon_0 + k - 1) the changed report is x with
    probability p e^epsilon_0, x' with p, and any other answer with the same probability on both
    sides; whoever is told that it was another answer learns nothing, so delta is
    p (e^epsilon_0 + 1) times that of the two-sided case, and the others send x or x' with at least
    2p.
    """
    from scipy.stats import binom

    share, weight = exp(-local), 1.0
    if choices is not None:
        p = 1 / (exp(local) + choices - 1)
        share, weight = 2 * p, min(1.0, p * (exp(local) + 1))
    truth = 1 / (1 + exp(-local))
    others = reports - 1
    spread = SIDE * sqrt(others * share * (1 - share)) + SIDE**2
    low = max(0, int(others * share - spread))
    high = min(others, int(others * share + spread) + 1)
    # One more clone is one more fair coin that an observer could toss without knowing anything, so
    # the divergence falls with the number of clones: a run of numbers is bounded by its first.
    stride = 1 + (high - low) // RUNS
    every = binom.pmf(np.arange(low, high + 1), others, share)
    mass = np.add.reduceat(every, np.arange(0, len(every), stride))
    counts = np.arange(low, high + 1, stride)
    outside = binom.cdf(low - 1, others, share) + binom.sf(high, others, share)
    # Given C = c the ratio of the two laws of a rises with a / (c + 1 - a), so the worst event is
    # a tail; at a tie of the rounding below the term is 0 either way.
    lie = 1 - truth
    top, bottom = truth * exp(epsilon) - lie, truth - lie * exp(epsilon)
    fraction = top / (top + bottom)
    least = np.ceil(fraction * (counts + 1))
    one_more, as_many = binom.sf(least - 2, counts, 0.5), binom.sf(least - 1, counts, 0.5)
    first = truth * one_more + lie * as_many
    second = lie * one_more + truth * as_many
    terms = np.maximum(0.0, first - exp(epsilon) * second)
    # The rounding of the two tails does not cancel as they do: add it.
    total = float(mass @ (terms + 1e-13 * first)) + float(outside)
    return min(1.0, amounts.raised(weight * total))
