"""A running bound on what was spent, right at every moment at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import erfc, inf, log, sqrt
from threading import Lock
from typing import Any

from celosia.accounting.amounts import delta_amount, epsilon_amount, raised, round_up, share_amount
from celosia.accounting.filters import DELTA, EPSILON, RHO, EpsilonOrRhoFilter, advanced_limit
from celosia.accounting.losses import Loss
from celosia.core.errors import BudgetExceeded
from celosia.core.messages import say_of


@dataclass(frozen=True, slots=True)
class Reading:
    """What was spent so far."""

    epsilon: float
    delta: float
    charges: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an infinite epsilon is None."""
        return {
            "epsilon": self.epsilon if self.epsilon < inf else None,
            "delta": self.delta,
            "charges": self.charges,
        }

    def __str__(self) -> str:
        return say_of("accounting.odometer.reading", self)


class Odometer:
    """A meter without a limit: how much epsilon has been spent until now.

    Guarantee: except with probability delta, the privacy loss is at most the reading after every
    charge at the same time, although each charge may be chosen by earlier answers and whoever looks
    may stop whenever the reading pleases. A bound for a list that was fixed beforehand does not
    allow that: looked at often enough, it is wrong somewhere.

    Method: exp(s (L - V) - s^2 V) is a supermartingale for every s > 0, with L the loss and V the
    sum of the rhos. Its mean over a half-normal s is one too, and stays below 1/delta for ever
    except with probability delta (Ville). The basic sum holds for certain, so the lesser of both is
    read at no further price.

    Reference: Whitehouse, Ramdas, Rogers & Wu 2023; Howard, Ramdas, McAuliffe & Sekhon 2021.

    >>> from celosia.accounting.losses import PureLoss
    >>> meter = Odometer(delta=1e-6)
    >>> print(meter.spend(PureLoss(Fraction(1, 10))))
    epsilon 0.1, delta 1e-06 after 1 charges
    """

    def __init__(
        self,
        *,
        delta: float | Fraction,
        tuned_for: float | Fraction = 1,
        slack: float | Fraction = Fraction(1, 2),
    ):
        """Fix the failure probability and the place where the bound is to be tightest.

        Args:
            delta: of all readings together.
            tuned_for: the epsilon near which most readings will be; right for any.
            slack: how much of delta is for the bound; the rest is for losses with a delta of
                their own.
        """
        self.delta = delta_amount(delta)
        self._slack = self.delta * share_amount(slack, name="slack")
        self._own = self.delta - self._slack
        epsilon = epsilon_amount(tuned_for, name="tuned_for")
        target = float(advanced_limit(epsilon, self._slack))
        width = 2 * log(1 / self._slack)
        self._prior = target / (width + log(1 + width))
        # The prices of a filter without limits: the odometer only adds up.
        self._rule = EpsilonOrRhoFilter(epsilon, epsilon, self._own)
        self._lock = Lock()
        self._total = self._rule.nothing
        self._charges = 0

    def spend(self, loss: Loss, *, delta: float | Fraction | None = None) -> Reading:
        """Add a loss; returns the new reading.

        Args:
            loss: of the release that is about to be made.
            delta: the failure to charge, for a loss without a rho that states none.

        Raises:
            PrivacyError: CEL-B062 the loss has neither a rho nor a delta.
            BudgetExceeded: CEL-B064 the losses' own deltas use up what is set aside for them.
        """
        failure = None if delta is None else delta_amount(delta)
        price = self._rule.price(loss, delta=failure)
        with self._lock:
            total = self._total + price
            used = total[DELTA]
            if used is None or used > self._own:
                raise BudgetExceeded("CEL-B064", own=float(self._own))
            self._total, self._charges = total, self._charges + 1
            return self._read()

    @property
    def reading(self) -> Reading:
        """What was spent until now."""
        with self._lock:
            return self._read()

    def _read(self) -> Reading:
        total, rho = self._total[EPSILON], self._total[RHO]
        basic = inf if total is None else round_up(total)
        mixed = inf if rho is None else self._boundary(round_up(rho))
        return Reading(min(basic, mixed), float(self.delta), self._charges)

    def _boundary(self, rho: float) -> float:
        """V plus the least m >= 0 at which the mean of exp(s m - s^2 V) reaches 1/delta.

        With c the prior and w = 2V + c the mean is
        2 sqrt(c / w) exp(m^2 / (2 w)) Phi(m / sqrt(w)), which rises with m.
        """
        prior = self._prior
        width = 2 * rho + prior
        wanted = log(1 / self._slack) + log(width / prior) / 2

        def reached(m: float) -> bool:
            # 2 Phi(x) = erfc(-x / sqrt(2))
            return m * m / (2 * width) + log(erfc(-m / sqrt(2 * width))) >= wanted

        low, high = 0.0, sqrt(2 * width * wanted)  # there even with Phi = 1/2
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return raised(rho + high)
