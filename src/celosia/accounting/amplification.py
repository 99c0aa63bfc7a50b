"""Privacy amplification by sampling: a release uses only a secret random sample of the units.

The sample must be drawn afresh for every release, independently of the data, and its members must
stay secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, floor, inf, lgamma, log, log1p
from typing import Any

import numpy as np

from celosia.accounting.amounts import above, check_chance, check_order, count_amount, raised
from celosia.accounting.derived_loss import DerivedLoss, Vector, curve_of
from celosia.accounting.distributions import Directions, distribution_from_curve
from celosia.accounting.losses import ApproximateLoss, BoundedRangeLoss, Loss, PureLoss
from celosia.accounting.noise_losses import GaussianLoss, LaplaceLoss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours, Relation
from celosia.core.numbers import exact

ROUNDING = 2.0**-52
MOST_ORDER = 256
"""Up to this order the binomial sum of a sampled Renyi divergence is worked out."""


def amplify_by_poisson_sampling(
    loss: Loss, *, rate: float | Fraction, neighbours: Neighbours = ADD_REMOVE
) -> Loss:
    """The loss of a release on a sample that each unit joins by its own coin.

    Epsilon becomes ln(1 + rate (e^epsilon - 1)) and delta becomes rate * delta (Balle, Barthe &
    Gaboardi 2018, Thm 8).

    >>> print(round(amplify_by_poisson_sampling(PureLoss(Fraction(1)), rate=0.1).pure, 6))
    0.158565

    Args:
        loss: of the release on the sample, under `neighbours`.
        rate: with what probability a unit is in the sample, above 0 and at most 1.
        neighbours: must be an add-remove relation.

    Raises:
        InputError: CEL-B051 the rate is no such probability.
        PrivacyError: CEL-B050 another relation.
    """
    if neighbours.relation is not Relation.ADD_REMOVE:
        raise PrivacyError("CEL-B050.poisson", neighbours=neighbours.message)
    share = exact(rate)
    if share is None or not 0 < share <= 1:
        raise InputError("CEL-B051", rate=rate)
    return _amplify(loss, share, poisson=True)


def amplify_by_sampling_without_replacement(
    loss: Loss, *, sample: int, population: int, neighbours: Neighbours = CHANGE_ONE
) -> Loss:
    """The loss of a release on a sample of a fixed size, each subset being as likely as another.

    The same form as `amplify_by_poisson_sampling` with rate sample / population (Balle, Barthe &
    Gaboardi 2018, Thm 9).

    Args:
        loss: of the release on the sample, under `neighbours`.
        sample: how many units are drawn.
        population: how many units there are; public under change-one.
        neighbours: must be a change-one relation.

    Raises:
        InputError: CEL-I060 not whole numbers, or a sample larger than its population.
        PrivacyError: CEL-B050 another relation.
    """
    if neighbours.relation is not Relation.CHANGE_ONE:
        raise PrivacyError("CEL-B050.fixed_size", neighbours=neighbours.message)
    population = count_amount(population, name="population")
    sample = count_amount(sample, name="sample", most=population)
    return _amplify(loss, Fraction(sample, population), poisson=False)


def _amplify(loss: Loss, rate: Fraction, *, poisson: bool) -> Loss:
    if rate == 1:
        return loss
    if isinstance(loss, PureLoss | BoundedRangeLoss):
        # Losses of a sampled exponential mechanism leave the interval of a BoundedRangeLoss.
        return PureLoss(above(amplified_epsilon(float(loss.value), float(rate))))
    if isinstance(loss, ApproximateLoss):
        epsilon = above(amplified_epsilon(float(loss.value), float(rate)))
        return ApproximateLoss(epsilon, float(above(loss.failure * float(rate))))
    return SampledLoss(loss, rate, poisson=poisson)


def amplified_epsilon(epsilon: float, rate: float) -> float:
    """The epsilon of a sampled release: ln(1 + rate (e^epsilon - 1))."""
    if epsilon < 1:
        return log1p(rate * expm1(epsilon))
    return epsilon + log(rate + (1 - rate) * exp(-epsilon))  # does not overflow


def base_epsilon(epsilon: Vector, rate: float) -> Vector:
    """The epsilon of a release whose sampled epsilon this is; a little less, to be safe."""
    near = np.log1p(np.expm1(np.minimum(epsilon, 1.0)) / rate)
    far = epsilon - log(rate) + np.log1p(-(1 - rate) * np.exp(-np.maximum(epsilon, 1.0)))
    return np.asarray(np.where(epsilon < 1, near, far) * (1 - 1e-12))


@dataclass(frozen=True, slots=True)
class SampledLoss(DerivedLoss):
    """A release on a secret sample, by the whole curve of the release on the sample.

    Guarantee: at every epsilon, delta'(epsilon') = rate * delta(epsilon) with
    epsilon' = ln(1 + rate (e^epsilon - 1)) (Balle, Barthe & Gaboardi 2018, Thms 8 and 9); for a
    Poisson sample that is exact where the curve of `base` is.
    """

    base: Loss
    rate: Fraction
    poisson: bool

    @property
    def pure(self) -> float:
        """The amplified epsilon."""
        return (
            raised(amplified_epsilon(self.base.pure, float(self.rate)))
            if self.base.pure < inf
            else inf
        )

    def curve(self, epsilon: Vector) -> Vector:
        """The rate times the delta of the sample at the larger epsilon."""
        rate = float(self.rate)
        return raised(rate) * curve_of(self.base, base_epsilon(epsilon, rate))

    def epsilon(self, delta: float) -> float:
        """The epsilon of the sample at the larger delta, amplified."""
        larger = check_chance(delta) / float(self.rate) * (1 - 1e-12)
        if larger >= 1:
            return 0.0
        return min(
            self.pure, raised(amplified_epsilon(self.base.epsilon(larger), float(self.rate)))
        )

    def renyi(self, order: float) -> float:
        """The least of the three bounds that hold.

        From the pure epsilon; by joint convexity, ln(1 - q + q e^((a-1) R(a))) / (a-1); and for
        noise that is symmetric on a Poisson sample, the binomial sum of Mironov, Talwar & Zhang
        2019 (section 3.3), of which the other order of the neighbours is the lesser (Thm 5 there).
        """
        q, found = float(self.rate), self.base.renyi(check_order(order))
        # Joint convexity of sum P^a Q^(1-a): with probability 1 - q both samples are the same.
        bounds = [_log_mean_exp(q, (order - 1) * found) / (order - 1), found]
        if self.pure < inf:
            bounds.append(PureLoss(above(self.pure)).renyi(order))
        if self.poisson and isinstance(self.base, LaplaceLoss | GaussianLoss):
            bounds.append(self._binomial(order))
        return raised(min(bounds))

    def _binomial(self, order: float) -> float:
        """The bound of a whole order; between two of them (a-1) R(a) is convex in the order."""
        low, high = floor(order), ceil(order)
        if high > MOST_ORDER:
            return inf
        upper = self._log_moment(high)
        if low == high:
            return upper / (order - 1)
        lower = self._log_moment(low)
        return ((high - order) * lower + (order - low) * upper) / (order - 1)

    def _log_moment(self, order: int) -> float:
        """(a-1) R(a) = ln of the sum over k of binomial(a, k) (1-q)^(a-k) q^k E_Q[(P/Q)^k].

        The weights add up to 1, and the means of k = 0 and 1 are 1. So the sum less 1 is that of
        the weights times what the other means exceed 1 by, in which nothing cancels.
        """
        q = float(self.rate)
        logs = [-inf]
        for k in range(2, order + 1):
            size = (k - 1) * self.base.renyi(k)
            ways = lgamma(order + 1) - lgamma(k + 1) - lgamma(order - k + 1)
            weight = ways + (order - k) * log1p(-q) + k * log(q)
            gain = size + log(-expm1(-size)) if size else -inf  # ln(e^size - 1)
            logs.append(weight + gain)
        return float(np.logaddexp(0.0, np.logaddexp.reduce(logs)))

    def directions(self, step: float) -> Directions:
        """Of the sample with the unit against the one without it, and the other way round.

        A Poisson sample without the unit is never more than 1 / (1 - rate) times as likely, so the
        second has much smaller losses, and composing the larger curve of both would give up a lot.
        """
        if not self.poisson:
            return super(SampledLoss, self).directions(step)
        curves = self.curve, self._reverse_curve
        reach = self.reach()
        with_unit = distribution_from_curve(curves[0], reverse=curves[1], reach=reach, step=step)
        without = distribution_from_curve(curves[1], reverse=curves[0], reach=reach, step=step)
        return with_unit, without

    def _reverse_curve(self, epsilon: Vector) -> Vector:
        """Delta of the sample without the unit, Q, against M = (1 - q) Q + q P.

        Q - e^epsilon M = w Q - e^epsilon q P with w = 1 - e^epsilon (1 - q): that is w times the
        delta of Q against P at ln(e^epsilon q / w), and 0 where w is not above 0.
        """
        rate = float(self.rate)
        # Rounded so that the weight is too large and the epsilon of the base too small.
        weight = np.maximum(-np.expm1(epsilon + log1p(-rate)), 0.0) + 4 * ROUNDING
        at = np.maximum((epsilon + log(rate) - np.log(weight)) * (1 - 1e-12), 0.0)
        return np.where(weight > 4 * ROUNDING, weight * curve_of(self.base, at), 0.0)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "sampled",
            "rate": float(self.rate),
            "sampling": "poisson" if self.poisson else "without replacement",
            "of": self.base.as_dict(),
        }

    def __str__(self) -> str:
        rate = float(self.rate)
        if self.poisson:
            return Message("accounting.loss.poisson_sample", loss=str(self.base), rate=rate)
        return Message("accounting.loss.fixed_sample", loss=str(self.base), rate=rate)


def _log_mean_exp(rate: float, exponent: float) -> float:
    """ln(1 - rate + rate e^exponent), also where e^exponent overflows."""
    if exponent == inf:
        return inf
    return amplified_epsilon(exponent, rate)
