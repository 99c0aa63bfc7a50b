"""Privacy amplification by shuffling: local reports are shuffled before they are read.

Neighbours here change one report; that there are n of them is public.

Two bounds are worked out, and the lesser one is told. *Clones* hold for any local randomiser. The
*blanket* is for a known one (`blankets.py`). Most protocols have two levels: what a report can be
is either likely by the value of its sender, or e^epsilon_0 times less so. They differ in the share
of blanket reports that one value makes likelier (`hits`), and that two values do (`overlap`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log, log1p, sqrt
from typing import Any

import numpy as np

from celosia.accounting import amounts
from celosia.accounting.blankets import Blanket
from celosia.accounting.derived_loss import Vector
from celosia.accounting.losses import TAIL, CurveLoss, PureLoss
from celosia.core.messages import Message
from celosia.core.methods import Parameter, bad_parameter

MOST_LOCAL = 100
"""Beyond it a report hides nothing, and floats overflow."""
SIDE = 12.0
"""Standard deviations of the number of clones that are looked at; the rest is added to delta."""
RUNS = 4000
"""Numbers of clones that are looked at one by one; of more, only every second or so."""
KNOTS = 200
"""Points at which the curve is worked out where it is wanted at many."""
GRID, LARGEST_GRID = 2**14, 2**21
"""Points of the sums of blanket reports; more only where the steps would be longer than a hit."""
FINE = 16
"""Steps of a standard deviation of one term, at least, where a randomiser has many levels."""
OUTSIDE = 1e-18
"""The chance of a sum beyond the grid, at most; it is added."""


def amplify_by_shuffling(
    local: float | Fraction,
    *,
    reports: int,
    choices: int | None = None,
    hits: float | Fraction | None = None,
    overlap: float | Fraction = 0,
    blanket: Blanket | None = None,
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
        hits: of a randomiser of two levels, the share of its blanket that one value makes likelier;
            1 / k for k-ary randomised response. `Protocol.shuffled` knows that of every protocol.
        overlap: the share that two values make likelier, or less.
        blanket: of a randomiser of other levels; `hits` and `overlap` are not given then.

    Raises:
        InputError: CEL-I060 the epsilon, or the number of reports or choices is wrong.
    """
    amount = amounts.epsilon_amount(local, name="local", most=MOST_LOCAL)
    reports = amounts.count_amount(reports, name="number of reports")
    if choices is not None:
        hits = Fraction(1, amounts.count_amount(choices, name="number of choices", least=2))
    if hits is None:
        return ShuffledLoss(amount, reports, blanket=blanket)
    hits = amounts.share_amount(hits, name="hits")
    both = Fraction(overlap)
    if not max(Fraction(0), 2 * hits - 1) <= both <= hits:
        raise bad_parameter(
            amounts.WORD,
            Parameter(name="overlap", kind="exact", least=0, most=float(hits)),
            overlap,
        )
    return ShuffledLoss(amount, reports, hits, both)


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

    With `hits` every randomiser is one of two levels, with `blanket` one that has it; it is chosen
    beforehand.

    Reference: Feldman, McMillan & Talwar 2021, section 3; Balle, Bell, Gascon & Nissim 2019, "The
    Privacy Blanket of the Shuffle Model", lemma 5.3.
    """

    local: Fraction
    reports: int
    hits: Fraction | None = None
    overlap: Fraction = Fraction(0)
    blanket: Blanket | None = None

    @property
    def pure(self) -> float:
        """The local epsilon: with delta 0 shuffling gains nothing."""
        return amounts.round_up(self.local)

    def delta(self, epsilon: float) -> float:
        """The exact hockey-stick divergence of the clone counts or of the blanket, rounded up."""
        epsilon = amounts.check_epsilon(epsilon)
        if epsilon >= self.pure:
            return 0.0
        found = _clones(self.pure, self.reports, epsilon)
        law = self.blanket
        if self.hits is not None:
            shares = {"hits": float(self.hits), "overlap": float(self.overlap)}
            law = Blanket.of_two_levels(self.pure, **shares)
        return found if law is None else min(found, _blanket(law, self.reports, epsilon))

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
        while high - low > 1e-7 * high:
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
            "hits": None if self.hits is None else float(self.hits),
            "overlap": float(self.overlap),
        } | ({} if self.blanket is None else {"blanket": self.blanket.share})

    def __str__(self) -> str:
        return Message("accounting.loss.shuffled", reports=self.reports, epsilon=float(self.local))


@lru_cache(maxsize=4096)
def _clones(local: float, reports: int, epsilon: float) -> float:
    """The hockey-stick divergence at e^epsilon between the two laws of clone counts.

    The changed report is randomised response between two laws Q0 and Q1 with
    R(x) + R(x') = Q0 + Q1 (Kairouz, Oh & Viswanath 2015), and every other report is at least
    p (Q0 + Q1) with 2p = e^-epsilon_0, because it is at least e^-epsilon_0 R(x) and the same of x'.
    So C ~ Bin(n-1, 2p) of the others are fair coins between Q0 and Q1, and what an observer sees
    follows from A ~ Bin(C, 1/2) plus the changed report's own 0 or 1.
    """
    from scipy.stats import binom

    share = exp(-local)
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
    return min(1.0, amounts.raised(total))


@lru_cache(maxsize=4096)
def _blanket(law: Blanket, reports: int, epsilon: float) -> float:
    """The hockey-stick divergence of shuffled reports that share a blanket, rounded up.

    Every report is drawn from w with chance g at least. Whoever is told which of the others are not
    is left with M reports, and the divergence is E[(L_1 + ... + L_M)+] / n with M ~ Bin(n, g), and
    L = a(W) - c b(W), W ~ w, c = e^epsilon (Balle et al., lemma 5.3; see `Blanket`).

    Of two levels, g = 1 / (1 + hits (p - 1)) with p = e^epsilon_0, and a and b are p where x and x'
    make the outcome likelier and 1 elsewhere. A convex function of a - c b has the larger mean the
    less often a and b are p together, for the same chances of each: so a lesser `overlap` gives a
    larger bound. Chances between the two levels are mixtures of them with the blanket, and a lesser
    p is, too; neither is ever worse.
    """
    values, chances = _atoms(law, exp(epsilon))
    grid, masses = _on_grid(values, chances, reports, is_aligned=law.is_two_levels)
    step, places = grid
    tilt, scale, spread = _tilt(places * step, masses)
    tilted = masses * np.exp(tilt * step * places) / scale
    reach = _reach_of_sums(reports, spread, step * float(np.max(np.abs(places))))
    size = 1 << max(10, ceil(log(2 * reach / step + 2, 2)))
    density = np.zeros(size)
    np.add.at(density, places.astype(np.int64) % size, tilted)
    powers = np.fft.rfft(density) ** reports
    sums = np.maximum(0.0, np.fft.irfft(powers, size)[1 : size // 2])
    # What rounding may add to each: that of a power of n, and of the transforms themselves.
    fault = 1e-15 * (
        8 * reports * float(np.mean(np.abs(powers))) + float(sums.max(initial=0)) + 1e-3
    )
    heights = step * np.arange(1, size // 2)
    weights = heights * np.exp(-tilt * heights)
    beyond = OUTSIDE * reports * step * float(np.max(np.abs(places)))
    total = float(weights @ (sums + fault)) + beyond
    return min(1.0, amounts.raised(total * exp(reports * log(scale)) * (1 + 1e-9) / reports))


def _atoms(law: Blanket, factor: float) -> tuple[Vector, Vector]:
    """The values of one term and their chances; of two levels, only the first is above 0."""
    chances, one, other = np.array(law.outcomes).T
    rest = max(0.0, 1 - float(chances.sum()))
    return np.append(one - factor * other, 0.0), np.append(chances, rest)


def _on_grid(
    values: Vector, chances: Vector, reports: int, *, is_aligned: bool
) -> tuple[tuple[float, Vector], Vector]:
    """Terms on whole multiples of a step: each value is split between its two neighbours.

    The split keeps the mean, so a convex function of the sum can only grow. Of two levels, a hit is
    a whole number of steps; everything else is either nearly minus a hit, or nearly 0. Of more
    levels, steps are so short that what the splits add to the spread does not count.
    """
    spread = sqrt(float(chances @ values**2))
    reach = _reach_of_sums(reports, spread, float(np.max(np.abs(values))))
    if is_aligned:
        is_far = values[0] < -values[1] / 4  # epsilon is near the local one, delta next to nothing
        hit = values[0] / max(1, int(GRID * values[0] / (2 * reach)))
        step = max(hit, 2 * reach / (GRID if is_far else LARGEST_GRID))
    else:
        step = max(min(2 * reach / GRID, spread / FINE), 2 * reach / LARGEST_GRID)
    low = np.floor(values / step)
    upper = values / step - low
    masses = np.concatenate([chances * (1 - upper), chances * upper])
    return (step, np.concatenate([low, low + 1])), masses


def _reach_of_sums(reports: int, spread: float, largest: float) -> float:
    """What the sum exceeds with chance `OUTSIDE` at most (Bernstein), or never."""
    room = log(1 / OUTSIDE)
    reach = room * largest / 3
    far = reach + sqrt(reach**2 + 2 * room * reports * spread**2)
    return min(far, reports * largest) + largest


def _tilt(values: Vector, masses: Vector) -> tuple[float, float, float]:
    """The exponent under which the mean is 0, what the masses then add up to, and the spread.

    The sum is mostly below 0; tilted to 0, what is above is computed with a small relative error.
    """
    top = float(values.max())
    low, high = 0.0, 1.0 / top

    def mean(tilt: float) -> float:
        return float((masses * np.exp(tilt * (values - top))) @ values)

    while mean(high) < 0 and high < 500 / top:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < 0 else (low, middle)
    scale = float(masses @ np.exp(low * values))
    spread = sqrt(float((masses * np.exp(low * values)) @ values**2) / scale)
    return low, scale, spread
