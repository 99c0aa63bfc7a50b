"""The account of a growing list of losses, in every currency at once."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import ceil, inf, isinf, log, log2, tanh

import numpy as np

from celosia.accounting.advanced_composition import Bound, mixed_bound
from celosia.accounting.amounts import check_chance, check_epsilon, check_times, round_up
from celosia.accounting.distributions import (
    Directions,
    LossDistribution,
    Vector,
    compose_directions,
    distinct,
    distribution_from_curve,
)
from celosia.accounting.losses import TAIL, ApproximateLoss, CurveLoss, Loss, PureLoss, parts_of
from celosia.accounting.noise_losses import FARTHEST, ConcentratedLoss, concentrated_curve
from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.numbers import exact

ORDERS: Vector = 1 + np.geomspace(2e-2, 1e6, 129)
"""From 1.02 to a million, each 15 % further from 1 than the one before."""
ORDERS.flags.writeable = False
ROUNDING = 2.0**-50


@lru_cache(maxsize=4096)
def divergences(loss: Loss) -> Vector:
    """The Renyi divergence of a loss at each order of the grid."""
    values = np.array([loss.renyi(float(order)) for order in ORDERS])
    values.flags.writeable = False
    return values


def epsilon_of(values: Vector, delta: float) -> float:
    """The least epsilon that divergences on the grid give.

    Reference: Canonne, Kamath & Steinke 2020, Prop. 12.
    """
    if delta <= 0:
        return inf
    epsilons = values + np.log1p(-1 / ORDERS) - (log(delta) + np.log(ORDERS)) / (ORDERS - 1)
    return max(0.0, float(epsilons.min()) * (1 + ROUNDING))


def delta_of(values: Vector, epsilon: float) -> float:
    """The least delta that divergences on the grid give with an epsilon."""
    epsilon = min(epsilon, FARTHEST)
    exponents = (ORDERS - 1) * (values - epsilon + np.log1p(-1 / ORDERS)) - np.log(ORDERS)
    return float(np.exp(min(0.0, float(exponents.min()))))


LIMIT = 2**16
"""Points of the composed distribution: half a megabyte, and a few milliseconds a release."""
FIRST = 2**15
"""Points of the first distribution, which leaves room for many more."""
REMEMBERED = 64
"""Distributions of single losses that are kept: at most 32 MB."""

START = LossDistribution(0.0, 0, np.ones(1), 0.0)
"""No release yet, on a grid that the first release chooses."""
NOTHING = LossDistribution(1.0, 0, np.ones(1), 0.0)
"""A loss of 0."""


class Accountant:
    """What a growing list of releases has cost so far.

    Each release is added once, in a time that does not grow with their number; epsilon can be
    asked for after each. The distribution of the loss is kept on a grid of at most 65536 points,
    whose step doubles as the losses spread, for each order of the neighbours.

    Epsilon and delta hold for a sequence of losses that is fixed in advance; `bounds` says which
    of the bounds hold without that.

    >>> account = Accountant([PureLoss(Fraction(1, 10))] * 10)
    >>> len(account), account.epsilon(0.0)
    (10, 1.0)
    """

    def __init__(self, losses: Iterable[Loss] = ()) -> None:
        self._count = 0
        self._pure: Fraction | None = Fraction(0)
        self._rho: Fraction | None = Fraction(0)
        self._renyi: Vector = np.zeros(len(ORDERS))
        self._drift = 0.0
        self._squares = 0.0
        self._failure = Fraction(0)
        self._concentrated = Fraction(0)
        self._directions: Directions | None = (START, START)
        self._grids: dict[tuple[Loss, float], Directions] = {}
        for loss in losses:
            self.add(loss)

    def __len__(self) -> int:
        """How many releases have been added."""
        return self._count

    def add(self, loss: Loss, *, times: int = 1) -> None:
        """Add one more release, or several of the same loss.

        Raises:
            InputError: CEL-B005 not a loss; CEL-I060 not a number of times.
        """
        repeats = check_times(times)
        for part in parts_of([loss]):
            self._add_sums(part, repeats)
            if isinstance(part, ConcentratedLoss):
                self._concentrated += part.value * repeats  # added as rho, which loses nothing
            elif self._directions is not None and part.pure > 0:
                self._directions = self._composed(self._directions, part, repeats)
            self._count += repeats

    def epsilon(self, delta: float) -> float:
        """The least epsilon of all bounds."""
        return min(bound.epsilon for bound in self.bounds(delta))

    def delta(self, epsilon: float) -> float:
        """The least delta of all bounds with an epsilon."""
        wanted = check_epsilon(epsilon)
        return self._failing() if isinf(wanted) else float(self.deltas(np.array([wanted]))[0])

    def deltas(self, epsilons: Vector) -> Vector:
        """The least delta of all bounds with each of some epsilons, none of them infinite."""
        failure, wanted = round_up(self._failure), epsilons.tolist()
        spent = [failure + delta_of(self._renyi, each) for each in wanted]
        found: Vector = np.minimum(1.0, spent)
        if self._pure is not None:
            held = epsilons >= round_up(self._pure)
            found = np.where(held, np.minimum(found, failure), found)
        if self._rho is not None:
            curve = concentrated_curve(round_up(self._rho), epsilons)
            found = np.minimum(found, failure + curve)
        if self._directions is not None:
            done = distinct(self.directions())
            found = np.minimum(found, [max(way.delta(each) for way in done) for each in wanted])
        return found

    def bounds(self, delta: float) -> tuple[Bound, ...]:
        """Every bound of epsilon at a delta."""
        wanted = check_chance(delta)
        failure = round_up(self._failure)
        slack = wanted - failure
        spent = Message("accounting.bound.already_failing", failure=failure) if slack < 0 else ""
        no_slack = spent or ("" if slack > 0 else Message("accounting.bound.larger_delta"))
        return (
            self._by_sum(spent),
            self._by_advanced(slack, no_slack),
            self._by_rho(slack, no_slack),
            self._by_renyi(slack, no_slack),
            self._by_distribution(wanted),
        )

    def directions(self) -> Directions:
        """The distributions of the loss of everything so far, for neighbours in either order.

        Raises:
            PrivacyError: CEL-B010 one of the losses has none.
        """
        done = self._directions
        if done is None:
            raise PrivacyError("CEL-B010.no_distribution")
        if self._concentrated:
            merged = self._on_grid(ConcentratedLoss(self._concentrated), done)
            done = compose_directions(done, merged, combine)
        return (NOTHING, NOTHING) if done[0].step == 0 else done

    def _failing(self) -> float:
        """The chance of an infinite loss: what no epsilon makes up for."""
        bounded = self._pure is not None or self._rho is not None
        if bounded or bool(np.isfinite(self._renyi).any()):
            return min(1.0, round_up(self._failure))
        if self._directions is None:
            return 1.0
        return min(1.0, max(way.infinity for way in self.directions()))

    def _add_sums(self, part: Loss, repeats: int) -> None:
        if isinstance(part, ApproximateLoss):  # epsilon-DP but for an event of chance delta
            self._failure += (exact(part.failure) or 0) * repeats
            part = PureLoss(part.value)
        cost, rho = exact(part.pure), exact(part.rho)
        self._pure = None if self._pure is None or cost is None else self._pure + cost * repeats
        self._rho = None if self._rho is None or rho is None else self._rho + rho * repeats
        if cost is not None:
            self._drift += part.pure * tanh(part.pure / 2) * repeats
            self._squares += part.pure * part.pure * repeats  # a power would raise at 1e200
        self._renyi = self._renyi + divergences(part) * repeats

    def _composed(self, done: Directions, part: Loss, repeats: int) -> Directions | None:
        try:
            base = self._on_grid(part, done)
        except PrivacyError:  # a loss of another kind that has no distribution
            return None
        while True:
            if repeats % 2:
                done = compose_directions(done, base, combine)
            repeats //= 2
            if not repeats:
                return done
            base = compose_directions(base, base, combine)

    def _on_grid(self, part: Loss, done: Directions) -> Directions:
        step = max(way.step for way in done)
        points = FIRST if step == 0 else LIMIT // 2
        step = max(step, least_step(reach_of(part), points))
        key = (part, step)
        if key not in self._grids:
            if len(self._grids) >= REMEMBERED:
                self._grids.pop(next(iter(self._grids)))
            self._grids[key] = on_grid(part, step)
        return self._grids[key]

    def _by_sum(self, spent: str) -> Bound:
        name = Message("accounting.bound.sum")
        if spent or self._pure is None:
            return Bound(name, inf, True, spent or Message("accounting.bound.no_epsilon"))
        return Bound(name, round_up(self._pure), True)

    def _by_advanced(self, slack: float, no_slack: str) -> Bound:
        name = Message("accounting.bound.advanced")
        if no_slack or self._pure is None:
            return Bound(name, inf, False, no_slack or Message("accounting.bound.no_epsilon"))
        total = round_up(self._pure)
        if slack >= 1:
            return Bound(name, 0.0, False)
        found = mixed_bound(total=total, drift=self._drift, squares=self._squares, slack=slack)
        return Bound(name, found, False)

    def _by_rho(self, slack: float, no_slack: str) -> Bound:
        name = Message("accounting.bound.concentrated")
        if no_slack or self._rho is None:
            reason = no_slack or Message("accounting.bound.not_concentrated")
            return Bound(name, inf, True, reason)
        return Bound(name, ConcentratedLoss(self._rho).epsilon(slack), True)

    def _by_renyi(self, slack: float, no_slack: str) -> Bound:
        found = inf if no_slack else epsilon_of(self._renyi, slack)
        reason = no_slack or (Message("accounting.bound.no_renyi") if isinf(found) else "")
        return Bound(Message("accounting.bound.renyi"), found, True, reason)

    def _by_distribution(self, delta: float) -> Bound:
        name = Message("accounting.bound.distribution")
        if self._directions is None:
            return Bound(name, inf, False, Message("accounting.bound.no_distribution"))
        found = max(way.epsilon(delta) for way in distinct(self.directions()))
        reason = Message("accounting.bound.infinite_loss") if isinf(found) else ""
        return Bound(name, found, False, reason)


def combine(one: LossDistribution, two: LossDistribution) -> LossDistribution:
    """The composition of two distributions, on a grid as coarse as their size needs.

    Steps are powers of two, so each grid holds every coarser one; a step of 0 is nothing at all.
    """
    if one.step == 0 or two.step == 0:
        return two if one.step == 0 else one
    while one.step < two.step:
        one = one.coarsen()
    while two.step < one.step:
        two = two.coarsen()
    while len(one.mass) + len(two.mass) > LIMIT:
        one, two = one.coarsen(), two.coarsen()
    return one.compose(two)


def least_step(reach: float, points: int) -> float:
    """The least power of two with which losses from -reach to reach need so many points."""
    return 2.0 ** ceil(log2(max(reach, 1e-15) * 2 / points))


@lru_cache(maxsize=4096)
def reach_of(loss: Loss) -> float:
    """The largest loss that counts in a distribution.

    Raises:
        PrivacyError: the loss has no distribution.
    """
    if isinstance(loss, CurveLoss):
        return loss.reach()
    if loss.pure < inf:
        return loss.pure
    known = loss.distribution()
    infinity = float(known.get_delta_for_epsilon([inf])[0])
    return float(known.get_epsilon_for_delta(infinity + max(TAIL, infinity * 1e-9)))


def on_grid(loss: Loss, step: float) -> Directions:
    """The distributions of a loss on multiples of a step, for neighbours in either order.

    Where only a distribution of dp_accounting is known, it is that of its curve, which is the
    larger of the two directions.
    """
    if isinstance(loss, CurveLoss):
        return loss.directions(step)
    known = loss.distribution()

    def curve(epsilons: Vector) -> Vector:
        return np.asarray(known.get_delta_for_epsilon(epsilons), dtype=np.float64)

    found = distribution_from_curve(curve, reach=reach_of(loss), step=step)
    return found, found
