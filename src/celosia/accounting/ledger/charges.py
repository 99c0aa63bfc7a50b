"""Charges of a ledger: the request of a question, its reservation, stored answer and record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from math import nextafter
from typing import Any, Literal

from celosia.accounting.amounts import (
    below,
    delta_amount,
    epsilon_amount,
    format_amount,
    raised,
    round_up,
)
from celosia.accounting.filters import exact_pure, exact_rho
from celosia.accounting.ledger import chain
from celosia.accounting.loss_readers import loss_from_dict
from celosia.accounting.losses import ApproximateLoss, Loss, PureLoss, parts_of
from celosia.accounting.noise_losses import concentrated_epsilon
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import say, say_of
from celosia.core.numbers import exact

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
            written = chain.canonical(self.parameters)
        except (TypeError, ValueError, RecursionError):
            raise InputError("CEL-Q107.not_json") from None
        if len(written) + len(self.question) > LONGEST:
            raise InputError("CEL-Q107.too_long", most=LONGEST)
        # Up, before anything is compared: a charge may be too large, never too small.
        object.__setattr__(self, "epsilon", chain.round_up_to_step(epsilon_amount(self.epsilon)))
        object.__setattr__(
            self, "delta", chain.round_up_to_step(delta_amount(self.delta, zero=True))
        )
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
            "epsilon": chain.format_fraction(self.epsilon),
            "delta": chain.format_fraction(self.delta),
            "policy": policy,
        }
        return sha256(chain.canonical(whole).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        return {
            "analyst": self.analyst,
            "question": self.question,
            "parameters": dict(self.parameters),
            "epsilon": chain.format_fraction(self.epsilon),
            "delta": chain.format_fraction(self.delta),
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
        rhos = [exact_rho(part) for part in parts_of([kept])]
        rho = sum((each for each in rhos if each is not None), Fraction(0))
        if None not in rhos and rho and self.delta:
            failure = float(below(_down(self.delta)))
            if raised(concentrated_epsilon(round_up(rho), failure)) <= _down(self.epsilon):
                return  # by the sum of the rhos, without distributions
        if kept.epsilon(_down(self.delta)) > _down(self.epsilon):
            raise PrivacyError("CEL-Q108", loss=loss, stated=self.stated)


def stated_loss(epsilon: Fraction, delta: Fraction) -> Loss:
    """The worst loss that an epsilon and a delta allow."""
    return ApproximateLoss(epsilon, round_up(delta)) if delta else PureLoss(epsilon)


def _down(amount: Fraction) -> float:
    number = float(amount)
    meant = exact(number)
    return number if meant is not None and meant <= amount else nextafter(number, 0.0)


Status = Literal["reserved", "sealed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A charge that is on disk: now, and only now, the data may be touched."""

    sequence: int
    hash: str
    key: str
    analyst: str
    epsilon: Fraction
    delta: Fraction

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, amounts as fractions."""
        return {
            "sequence": self.sequence,
            "hash": self.hash,
            "key": self.key,
            "analyst": self.analyst,
            "epsilon": chain.format_fraction(self.epsilon),
            "delta": chain.format_fraction(self.delta),
        }

    def __str__(self) -> str:
        amounts = _amounts(self.epsilon, self.delta)
        return say_of("queries.ledger.reservation", self, amounts=amounts)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """An answer that was released, and may be given again for free."""

    answer: Any
    """The plain JSON values that were sealed."""
    reservation: int
    """The entry that was charged for it."""
    head: chain.Head
    """The entry that holds the answer: what the release prints."""
    at: str
    charged: Fraction | None = None
    """In money, where the analyst has just paid for a stored answer."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "reservation": self.reservation,
            "head": str(self.head),
            "at": self.at,
        }

    def __str__(self) -> str:
        return say("queries.ledger.answer", entry=self.reservation, at=self.at, head=str(self.head))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One charge with what became of it."""

    sequence: int
    analyst: str
    question: str
    epsilon: Fraction
    delta: Fraction
    at: str
    price: Fraction | None = None
    """In money, where the policy has a market."""
    repeated: bool = False
    """Whether a stored answer was sold again, which spends no budget."""
    status: Status = "reserved"
    ended: str | None = None
    reason: str | None = None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Record:
        """Read what `as_dict` wrote."""
        return cls(
            sequence=values["sequence"],
            analyst=values["analyst"],
            question=values["question"],
            epsilon=Fraction(values["epsilon"]),
            delta=Fraction(values["delta"]),
            at=values["at"],
            price=_read_price(values),
            repeated=values.get("repeated", False),
            status=values["status"],
            ended=values["ended"],
            reason=values["reason"],
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, amounts as fractions."""
        return {
            "sequence": self.sequence,
            "analyst": self.analyst,
            "question": self.question,
            "epsilon": chain.format_fraction(self.epsilon),
            "delta": chain.format_fraction(self.delta),
            "at": self.at,
            "status": self.status,
            "ended": self.ended,
            "reason": self.reason,
            **({} if self.price is None else {"price": chain.format_fraction(self.price)}),
            **({"repeated": True} if self.repeated else {}),
        }

    def __str__(self) -> str:
        what = self.status + (f" ({self.reason})" if self.reason else "")
        spent = _amounts(self.epsilon, self.delta)
        return f"{self.sequence} {self.at} {self.analyst}: {self.question}: {spent}, {what}"


def read_stored_answer(entry: chain.Entry) -> StoredAnswer:
    """The answer that a `sealed` entry holds."""
    values = entry.values()
    return StoredAnswer(
        answer=values["answer"],
        reservation=values["reservation"],
        head=entry.head,
        at=values["at"],
    )


def list_records(entries: Iterable[chain.Entry], *, analyst: str | None) -> tuple[Record, ...]:
    """The charges of a chain in order, of one analyst or of all."""
    records: dict[int, Record] = {}
    for entry in entries:
        values = entry.values()
        kind, at = values["kind"], values["at"]
        if kind == "reserved" and analyst in {None, values["analyst"]}:
            records[entry.sequence] = Record(
                sequence=entry.sequence,
                analyst=values["analyst"],
                question=values["question"],
                epsilon=chain.parse_amount(values["epsilon"]),
                delta=chain.parse_amount(values["delta"]),
                at=at,
                price=_read_price(values),
            )
        elif kind in {"sealed", "failed"} and values["reservation"] in records:
            begun = records[values["reservation"]]
            records[begun.sequence] = replace(
                begun, status=kind, ended=at, reason=values.get("reason")
            )
        elif kind == "sold" and analyst in {None, values["analyst"]}:
            records[entry.sequence] = Record(
                sequence=entry.sequence,
                analyst=values["analyst"],
                question=values["question"],
                epsilon=Fraction(0),
                delta=Fraction(0),
                at=at,
                price=_read_price(values),
                repeated=True,
                status="sealed",
                ended=at,
            )
    return tuple(records.values())


def _read_price(values: Mapping[str, Any]) -> Fraction | None:
    return Fraction(values["price"]) if values.get("price") is not None else None


def _amounts(epsilon: Fraction, delta: Fraction) -> str:
    key = "queries.ledger.epsilon_delta" if delta else "queries.ledger.epsilon"
    return say(key, epsilon=format_amount(epsilon), delta=format_amount(delta))
