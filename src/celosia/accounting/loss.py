"""The privacy loss of one release as a value, in every currency that it can be paid in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import TYPE_CHECKING, Any

from celosia.accounting.checks import round_up
from celosia.core.numbers import exact

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution


class Loss(ABC):
    """What one release costs: a frozen value that every way of composition can read.

    A subclass says what it knows; what it does not know is infinite, never a guess. All numbers are
    upper bounds: rounding goes up.
    """

    @property
    @abstractmethod
    def pure(self) -> float:
        """The epsilon with delta 0; infinite where there is none."""

    @property
    def rho(self) -> float:
        """The rho of zero-concentrated differential privacy; infinite where there is none.

        Epsilon-DP is epsilon^2/2-zCDP (Bun & Steinke 2016, Prop. 1.4).
        """
        cost = exact(self.pure)
        return inf if cost is None else round_up(cost**2 / 2)

    @abstractmethod
    def renyi(self, order: float) -> float:
        """The Renyi divergence bound of an order above 1."""

    @abstractmethod
    def distribution(self) -> PrivacyLossDistribution:
        """A privacy loss distribution that dominates the release, rounded against us."""

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """The least delta known to hold with an epsilon of at least 0."""

    @abstractmethod
    def epsilon(self, delta: float) -> float:
        """The least epsilon known to hold with a delta; infinite where there is none."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with a `kind`."""

    @property
    def finite(self) -> bool:
        """Whether anything at all is promised with a small delta."""
        return self.pure < inf or self.rho < inf
