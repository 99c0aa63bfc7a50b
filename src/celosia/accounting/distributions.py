"""Distributions of the privacy loss on a grid, always rounded against us.

A distribution has a mass at each multiple of a step and a mass at infinity. Its curve is
delta(e) = infinity + sum of mass * (1 - exp(e - loss)) over the losses above e. Two facts carry
everything here:

- A piece of mass may be split over two losses so that its mass and its mass times exp(-loss) are
  kept: the curve can only rise (it is the reverse of merging two outputs, which is
  post-processing). Losses are moved to the grid, and to a coarser one, in this way.
- More mass anywhere, and mass at a higher loss, can only raise the curve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, exp, expm1, floor, inf, isfinite, log, log2
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

Vector = NDArray[np.float64]
MOST_POINTS = 2**20
"""Of one distribution on a grid: 8 MB."""
TRIMMED = 1e-17
"""Mass that may be moved to infinity at the upper end in one step."""
SPARSE = 12
"""Up to so many points a distribution is convolved point by point, without rounding errors."""
ROUNDING = 2.0**-53
LARGEST = 700.0
"""Of an exponent: beyond it e^x is not a float."""


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """The mass of each loss (lowest + i) * step, and that of an infinite loss."""

    step: float
    lowest: int
    mass: Vector
    infinity: float

    def delta(self, epsilon: float) -> float:
        """The height of the curve at an epsilon."""
        place = min(epsilon / self.step, float(self.lowest + len(self.mass)))
        first = max(floor(place) + 1 - self.lowest, 0)
        above = self.mass[first:]
        losses = (self.lowest + first + np.arange(len(above))) * self.step
        gone = -np.expm1(np.minimum(epsilon - losses, 0.0))
        return float(min(1.0, self.infinity + (gone * above).sum()))

    def epsilon(self, delta: float) -> float:
        """The least epsilon of at least 0 with at most a delta; infinite where there is none."""
        if self.infinity > delta:
            return inf
        first = max(1 - self.lowest, 0)  # losses of at most 0 do not count from epsilon 0 on
        mass = self.mass[first:]
        losses = (self.lowest + first + np.arange(len(mass))) * self.step
        upper = np.cumsum(mass[::-1])[::-1] + self.infinity
        lower = np.cumsum((mass * np.exp(-losses))[::-1])[::-1]
        # On the interval that ends at losses[i] the curve is upper[i] - exp(e) * lower[i].
        below = losses - self.step
        # An exponential that would overflow is taken smaller, which makes the height larger.
        heights = upper - np.exp(np.minimum(below, LARGEST)) * lower
        high = np.flatnonzero(heights > delta)
        if not len(high):
            return max(0.0, float(below[0])) if len(mass) else 0.0
        last = int(high[-1])
        if lower[last] <= 0:
            return float(losses[last])
        found = max(0.0, log((upper[last] - delta) / lower[last]))
        return min(float(losses[last]), found + 8 * ROUNDING * (1 + found))

    def coarsen(self) -> LossDistribution:
        """The same on a grid of twice the step.

        A mass between two coarser losses goes to the lower one with the weight 1 / (1 + e^step),
        which keeps its mass under both neighbours.
        """
        low = self.lowest - self.lowest % 2
        padded = np.zeros(len(self.mass) + 3)
        start = self.lowest - low
        padded[start : start + len(self.mass)] = self.mass
        size = (start + len(self.mass) + 1) // 2 + 1
        even = padded[0 : 2 * size : 2][:size].copy()
        odd = padded[1 : 2 * size - 1 : 2][: size - 1]
        even = np.append(even, np.zeros(size - len(even)))
        weight = 1 / (1 + exp(min(self.step, LARGEST)))
        even[: len(odd)] += weight * odd
        even[1 : len(odd) + 1] += (1 - weight) * odd
        return LossDistribution(2 * self.step, low // 2, even, self.infinity).trim()

    def trim(self, most: float = TRIMMED) -> LossDistribution:
        """Without ends of next to no mass: the upper goes to infinity, the lower moves up."""
        rising = np.cumsum(self.mass)
        falling = np.cumsum(self.mass[::-1])
        first = min(int(np.searchsorted(rising, most, side="right")), len(self.mass) - 1)
        last = len(self.mass) - int(np.searchsorted(falling, most, side="right"))
        last = max(last, first + 1)
        kept = self.mass[first:last].copy()
        kept[0] += self.mass[:first].sum()
        lost = float(self.mass[last:].sum())
        return LossDistribution(self.step, self.lowest + first, kept, self.infinity + lost)

    def compose(self, other: LossDistribution) -> LossDistribution:
        """The composition with another one on the same grid."""
        assert self.step == other.step
        small, large = sorted((self, other), key=lambda each: int(np.count_nonzero(each.mass)))
        points = np.flatnonzero(small.mass)
        error = 0.0
        if len(points) <= SPARSE:
            mass = np.zeros(len(self.mass) + len(other.mass) - 1)
            for point in points:
                mass[point : point + len(large.mass)] += small.mass[point] * large.mass
        else:
            mass, error = _convolve(small.mass, large.mass)
        infinity = self.infinity + other.infinity - self.infinity * other.infinity
        done = LossDistribution(
            self.step, self.lowest + other.lowest, mass, min(1.0, infinity + error)
        )
        # Rounding errors fill both ends with as much mass; kept, they would widen every grid.
        return done.trim(max(TRIMMED, error))


Directions = tuple[LossDistribution, LossDistribution]
"""Of neighbours in one order and in the other: twice the same object where they do not differ.

One pair of neighbours has one order in all releases, so each direction is composed by itself, and
the larger curve counts at the end (Zhu, Dong & Wang 2022, section 4).
"""


def distinct(directions: Directions) -> tuple[LossDistribution, ...]:
    """The one distribution of both directions, or the two."""
    return directions[:1] if directions[0] is directions[1] else directions


def compose_directions(
    one: Directions,
    two: Directions,
    compose: Callable[[LossDistribution, LossDistribution], LossDistribution],
) -> Directions:
    """The composition of each direction, once where both are the same."""
    first = compose(one[0], two[0])
    if one[0] is one[1] and two[0] is two[1]:
        return first, first
    return first, compose(one[1], two[1])


def for_dp_accounting(directions: Directions) -> PrivacyLossDistribution:
    """The same as a value of dp_accounting."""
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    laws = [
        pld_pmf.DensePLDPmf(each.step, each.lowest, each.mass.copy(), each.infinity, True)
        for each in distinct(directions)
    ]
    return PrivacyLossDistribution(*laws)


def _convolve(one: Vector, two: Vector) -> tuple[Vector, float]:
    from scipy.fft import irfft, next_fast_len, rfft

    size = len(one) + len(two) - 1
    length = next_fast_len(size, real=True)
    mass = irfft(rfft(one, length) * rfft(two, length), length)[:size]
    # The root mean square rounding error of a fast Fourier transform grows with sqrt(log n) units
    # in the last place (Schatzman 1996); a transform of mass at most 1 is at most 1 everywhere, so
    # that of the product is at most the sum of the two Euclidean norms times that, and by
    # Cauchy-Schwarz its sum is below sqrt(n) times it. So much more mass goes to infinity.
    # (Plain sums: threads of a linear algebra library would cost more than they save here.)
    norms = float((one * one).sum() ** 0.5 + (two * two).sum() ** 0.5)
    error = (max(1.0, log2(length)) * length) ** 0.5 * ROUNDING * norms
    return np.maximum(mass, 0.0), error


def distribution_from_curve(
    curve: Callable[[Vector], Vector],
    *,
    reach: float,
    step: float,
    reverse: Callable[[Vector], Vector] | None = None,
) -> LossDistribution:
    """The distribution of the grid with the least curve that is nowhere below that of a release.

    Between two losses of the grid its curve is linear in exp(epsilon), a chord of the given bound,
    which is above the chord of the release's own curve, and that is convex
    (Doroshenko et al. 2022, "Connect the dots", Alg. 1). At -x, below 0, the curve is
    1 - e^-x + e^-x delta(x), where delta is that of the neighbours in the other order.

    Args:
        curve: upper bounds of delta at epsilons of at least 0.
        reach: the largest loss that counts; what the curve says there goes to infinity.
        step: the distance of the losses.
        reverse: upper bounds of delta for the neighbours in the other order; by default the same.
    """
    top = max(1, ceil(reach / step))
    epsilons: Vector = np.arange(top + 1, dtype=np.float64) * step
    right = np.minimum.accumulate(np.clip(curve(epsilons), 0.0, 1.0))
    left = right if reverse is None else np.minimum.accumulate(np.clip(reverse(epsilons), 0.0, 1.0))
    shrink = np.exp(-epsilons[1:])
    # Drops of the curve from one loss of the grid to the next, on both sides of 0. To the left
    # they are taken apart so that nothing cancels: f(-x) - f(-x+step) with f as above.
    drops_right = right[:-1] - right[1:]
    before = np.append(1.0, shrink[:-1])
    drops_left = -np.expm1(-step) * before * (1 - left[:-1]) - shrink * (left[:-1] - left[1:])
    drops = np.concatenate([np.maximum(drops_left[::-1], 0.0), drops_right])
    lowest = 1 - np.exp(-epsilons[-1]) * (1 - left[-1])
    mass = np.zeros(2 * top + 1)
    mass[0] = 1 - lowest
    mass[1:] += drops / -np.expm1(-step)
    mass[:-1] -= drops / np.expm1(min(step, LARGEST))
    # Where the given curve is not quite convex a mass comes out below 0; more mass is allowed.
    return LossDistribution(step, -top, np.maximum(mass, 0.0), float(right[-1])).trim()


def distribution_from_losses(
    losses: list[float], masses: list[float], *, infinity: float, step: float
) -> LossDistribution:
    """The distribution of a few losses, each split over its neighbours on the grid."""
    places = [floor(loss / step) for loss in losses]
    lowest = min(places)
    mass = np.zeros(max(places) - lowest + 2)
    for loss, place, amount in zip(losses, places, masses, strict=True):
        # The lower weight w solves w e^(-place step) + (1 - w) e^(-(place + 1) step) = e^-loss.
        gap = min(max(loss - place * step, 0.0), step)
        weight = _lower_weight(gap, step)
        mass[place - lowest] += weight * amount
        mass[place - lowest + 1] += (1 - weight) * amount
    return LossDistribution(step, lowest, mass, infinity)


def _lower_weight(gap: float, step: float) -> float:
    if step > LARGEST:
        return 1.0 if gap == 0 else 0.0  # all to the upper end, which is allowed
    return expm1(step - gap) / expm1(step)


def fitting_step(step: float, reach: float) -> float:
    """A step, doubled until a distribution with losses up to `reach` fits into memory."""
    if not isfinite(reach):
        return step
    while 2 * reach / step > MOST_POINTS:
        step *= 2
    return step
