"""Several losses of the same data as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any

from celosia.accounting.checks import check_chance, check_epsilon, round_up
from celosia.accounting.loss import Loss
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.numbers import exact

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from celosia.accounting.accountant import Accountant


@dataclass(frozen=True, slots=True)
class ComposedLoss(Loss):
    """Several releases of the same data, one after the other.

    The mechanisms may be chosen by the answers so far, their losses may not: the sequence of
    losses is fixed in advance. Epsilon and delta are the tightest of all bounds that hold for one
    (see `explain`). Parts that are composed themselves are taken apart.
    """

    parts: tuple[Loss, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", parts_of(self.parts))

    @property
    def pure(self) -> float:
        """The sum of the epsilons."""
        return _total(part.pure for part in self.parts)

    @property
    def rho(self) -> float:
        """The sum of the rhos."""
        return _total(part.rho for part in self.parts)

    @property
    def finite(self) -> bool:
        """Whether each part promises anything."""
        return all(part.finite for part in self.parts)

    def renyi(self, order: float) -> float:
        """The sum of the divergences of the order."""
        return _total(
            divergence
            for part, times in Counter(self.parts).items()
            for divergence in [part.renyi(order)] * times
        )

    def delta(self, epsilon: float) -> float:
        """The least delta that any bound gives."""
        return account_of(self.parts).delta(check_epsilon(epsilon))

    def epsilon(self, delta: float) -> float:
        """The least epsilon that any bound gives."""
        return account_of(self.parts).epsilon(check_chance(delta))

    def distribution(self) -> PrivacyLossDistribution:
        """The distribution of the sum of the losses, on a grid that fits its spread."""
        return account_of(self.parts).distribution().for_dp_accounting()

    def as_dict(self) -> dict[str, Any]:
        """The kind and the parts."""
        return {"kind": "composed", "parts": [part.as_dict() for part in self.parts]}

    def __str__(self) -> str:
        counts = Counter(self.parts)
        terms = [f"{times} x {part}" if times > 1 else str(part) for part, times in counts.items()]
        return " + ".join(terms) if terms else Message("accounting.loss.nothing")


def parts_of(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """The losses of a list, with composed ones taken apart.

    Raises:
        InputError: CEL-B005 one of them is not a loss.
    """
    parts: list[Loss] = []
    for loss in losses:
        if isinstance(loss, ComposedLoss):
            parts.extend(loss.parts)
        elif isinstance(loss, Loss):
            parts.append(loss)
        else:
            raise InputError("CEL-B005", name=type(loss).__name__)
    return tuple(parts)


def _total(values: Iterable[float]) -> float:
    total = Fraction(0)
    for value in values:
        number = exact(value)
        if number is None:
            return inf
        total += number
    return round_up(total)


@lru_cache(maxsize=16)
def account_of(parts: tuple[Loss, ...]) -> Accountant:
    """The account of a list of losses; it is shared, so nothing may be added to it."""
    from celosia.accounting.accountant import Accountant, reach_of  # they know each other

    account = Accountant()
    # Small losses first, on a fine grid, which becomes coarser with the large ones.
    counts = Counter(parts)
    for part in sorted(counts, key=reach_of):
        account.add(part, times=counts[part])
    return account
