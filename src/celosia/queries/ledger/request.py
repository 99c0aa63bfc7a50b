"""One question to be charged: its analyst, its text and its price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from math import nextafter
from typing import Any

from celosia.accounting.amounts import delta_amount, epsilon_amount, round_up
from celosia.accounting.filters import exact_pure
from celosia.accounting.loss_readers import loss_from_dict
from celosia.accounting.losses import ApproximateLoss, Loss, PureLoss, parts_of
from celosia.core.errors import InputError, PrivacyError
from celosia.core.numbers import exact
from celosia.queries.ledger.amounts import format_fraction, round_up_to_step
from celosia.queries.ledger.chain import canonical

LONGEST = 2**20
"""Characters of a question with its parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question, its analyst and its whole price; nothing here depends on data.

    Args:
        analyst: who asks.
        question: in a form that is the same whenever the question is (rewritten, with names in
            full), for the same question is answered once and given again for free.
        epsilon: of the whole request, all its columns and parts.
        delta: of the whole request.
        parameters: everything else that changes the answer, as plain JSON values.
        loss: the finer loss of what will be released, where it is known: that of a fixed list of
            releases. It must keep the promise of epsilon and delta.

    Raises:
        InputError: CEL-Q107 a part is missing or is not plain; CEL-I060 an amount is out
            of range; CEL-Q117 a loss that cannot be written down.
        PrivacyError: CEL-Q108 the loss does not keep the promise.
    """

    analyst: str
    question: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    loss: Loss | None = None

    def __post_init__(self) -> None:
        for problem, text in (
            ("CEL-Q107.no_analyst", self.analyst),
            ("CEL-Q107.no_question", self.question),
        ):
            if not isinstance(text, str) or not text.strip():
                raise InputError(problem)
        try:
            written = canonical(self.parameters)
        except (TypeError, ValueError, RecursionError):
            raise InputError("CEL-Q107.not_json") from None
        if len(written) + len(self.question) > LONGEST:
            raise InputError("CEL-Q107.too_long", most=LONGEST)
        # Up, before anything is compared: a charge may be too large, never too small.
        object.__setattr__(self, "epsilon", round_up_to_step(epsilon_amount(self.epsilon)))
        object.__setattr__(self, "delta", round_up_to_step(delta_amount(self.delta, zero=True)))
        if self.loss is not None:
            self._check_loss(self.loss)

    @property
    def stated(self) -> Loss:
        """The loss of which nothing but epsilon and delta are known."""
        return stated_loss(self.epsilon, self.delta)

    def key(self, policy: str) -> str:
        """The identity of a question under a policy: a SHA-256 of all that changes the answer.

        The analyst is not part of it: an answer that was released to one may be given to all, for
        free. Epsilon and delta are: with another noise it is another answer. So is the policy,
        whose unit, bounds and keys decide what a question means.
        """
        whole = {
            "question": self.question,
            "parameters": self.parameters,
            "epsilon": format_fraction(self.epsilon),
            "delta": format_fraction(self.delta),
            "policy": policy,
        }
        return sha256(canonical(whole).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "analyst": self.analyst,
            "question": self.question,
            "parameters": dict(self.parameters),
            "epsilon": format_fraction(self.epsilon),
            "delta": format_fraction(self.delta),
            "loss": (self.stated if self.loss is None else self.loss).as_dict(),
        }

    def __str__(self) -> str:
        return f"{self.analyst}: {self.question} ({self.stated})"

    def _check_loss(self, loss: Loss) -> None:
        # As it will be read back, rounded up: the ledger keeps no other.
        kept = loss_from_dict(loss.as_dict()) if isinstance(loss, Loss) else loss
        singles = [exact_pure(part) for part in parts_of([kept])]
        total = sum((each for each in singles if each is not None), Fraction(0))
        if None not in singles and total <= self.epsilon:
            return  # by the sum, without a float in between
        if kept.epsilon(_down(self.delta)) > _down(self.epsilon):
            raise PrivacyError("CEL-Q108", loss=loss, stated=self.stated)


def stated_loss(epsilon: Fraction, delta: Fraction) -> Loss:
    """The worst loss that an epsilon and a delta allow."""
    return ApproximateLoss(epsilon, round_up(delta)) if delta else PureLoss(epsilon)


def _down(amount: Fraction) -> float:
    number = float(amount)
    meant = exact(number)
    return number if meant is not None and meant <= amount else nextafter(number, 0.0)
