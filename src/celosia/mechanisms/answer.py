"""One noisy answer as a release: the value with its error, its guarantee and how it was made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import exp, inf, isfinite
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from celosia import frames
from celosia.accounting.budget import Budget
from celosia.accounting.loss import Loss
from celosia.core.guarantee import Guarantee
from celosia.core.provenance import Provenance
from celosia.core.randomness import Source, System
from celosia.core.release import Release
from celosia.core.report import Document
from celosia.mechanisms import answer_report
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.parameters import check_confidence
from celosia.mechanisms.values import plain, short

WEAK = 10
"""An epsilon from which on the belief of one in a thousand can become certainty."""


@dataclass(frozen=True, kw_only=True)
class Answer(Release):
    """A released value; everything in it has been paid for and may be shown to anybody."""

    kind: ClassVar[str] = "answer"

    value: Any
    """A number, a list of numbers, or a mapping of keys to numbers: plain values."""
    interval: tuple[Any, Any] | None
    """Bounds that hold the exact answer with `confidence`; None where none are known."""
    confidence: float
    loss: dict[str, Any]
    """The price, as `Loss.as_dict` says it."""
    epsilon: float | None
    """The epsilon with delta 0; None where the promise needs a delta or a rho."""
    question: str

    def measures(self) -> dict[str, Any]:
        """The answer itself, its error and its price."""
        return {
            "question": self.question,
            "value": _with_keys(self.value),
            "interval": None if self.interval is None else list(self.interval),
            "confidence": self.confidence,
            "loss": self.loss,
            "epsilon": self.epsilon,
        }

    def frame(self) -> pl.DataFrame:
        """The answer as a table: one row for each number."""
        if isinstance(self.value, dict):
            return pl.DataFrame({"key": list(self.value), "value": list(self.value.values())})
        many = self.value if isinstance(self.value, list) else [self.value]
        return pl.DataFrame({"value": many})

    def check_path(self, path: Path) -> None:
        """Refuse a name that says nothing about the format."""
        if path.suffix.lower() != ".json":
            frames.format_of(path)

    def write_data(self, path: Path) -> None:
        """Write the answer as JSON, or as a table in the format that the suffix names."""
        if path.suffix.lower() == ".json":
            path.write_text(json.dumps(self.measures(), indent=2, ensure_ascii=False), "utf-8")
        else:
            frames.write(self.frame(), path)

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Any) -> Self:
        """Rebuild an answer from its certificate, which holds all of it."""
        known = dict(facts["measures"])
        known["value"] = _without_keys(known["value"])
        bounds = known.pop("interval")
        return cls(interval=None if bounds is None else tuple(bounds), **known, **common)

    def document(self) -> Document:
        """The report: the answer, how far it may be off, and what it tells of one unit."""
        return answer_report.document(self)

    def __str__(self) -> str:
        """The one line that matters most."""
        told = f"{self.question}: {short(self.value)}"
        if self.interval is not None and not isinstance(self.value, (dict, list)):
            low, high = (f"{bound:,.6g}" for bound in self.interval)
            told += f" ({self.confidence:.0%} interval {low} to {high})"
        return f"{told}; {self.guarantee.promise}"


def answer(  # noqa: PLR0913 - each is a choice of the curator
    mechanism: Mechanism[Any, Any],
    x: Any,
    *,
    question: str | None = None,
    confidence: float = 0.95,
    budget: Budget | None = None,
    rng: Source | None = None,
    assumes: tuple[str, ...] = (),
) -> Answer:
    """Release an answer with its interval and guarantee, paid from a budget if there is one.

    Bad input costs nothing: the budget is asked first, and pays only for an answer that is given.

    Args:
        mechanism: what to ask, with its price.
        x: what `mechanism.release` takes.
        question: how to call the answer; the mechanism as it prints, if not given.
        confidence: of the interval.
        budget: pays for the answer.
        rng: where randomness comes from; a seed makes the answer a simulation.
        assumes: what else must be true for the promise to hold.

    Raises:
        InputError: the data cannot be used; no noise was drawn and nothing was spent.
        BudgetExceeded: the budget does not allow it.
    """
    check_confidence(confidence)
    source = System() if rng is None else rng
    asked = str(mechanism) if question is None else question
    loss = mechanism.privacy_loss()
    if budget is not None:
        budget.check(loss, neighbours=mechanism.neighbours)
    measurement = mechanism.measure(x, rng=source)
    if budget is not None:  # nothing leaves this function that was not charged
        budget.spend(loss, neighbours=mechanism.neighbours, label=asked)
    bounds = mechanism.interval(measurement, confidence)
    return Answer(
        value=plain(measurement.value),
        interval=None if bounds is None else (plain(bounds[0]), plain(bounds[1])),
        confidence=confidence,
        loss=loss.as_dict(),
        epsilon=loss.pure if loss.pure < inf else None,
        question=asked,
        guarantee=promise(mechanism, simulation=source.simulation, assumes=assumes),
        provenance=Provenance.now(
            "celosia.mechanisms.answer", {"mechanism": str(mechanism)}, seed=source.seed
        ),
        warnings=_warnings(loss),
    )


def promise(
    mechanism: Mechanism[Any, Any], *, simulation: bool = False, assumes: tuple[str, ...] = ()
) -> Guarantee:
    """What one release of a mechanism promises, in words."""
    loss, neighbours = mechanism.privacy_loss(), mechanism.neighbours
    return Guarantee(
        promise=_in_words(mechanism, loss),
        unit=neighbours.unit,
        protects=_protects(loss, neighbours.unit),
        neighbours=str(neighbours),
        assumes=(*_assumptions(mechanism), *assumes),
        leaves_open=(
            "each further answer from the same data adds to the loss: keep one budget",
            "what is true of many people is told on purpose, and may be guessed of one of them",
        ),
        simulation=simulation,
    )


def _in_words(mechanism: Mechanism[Any, Any], loss: Loss) -> str:
    if isfinite(loss.pure):
        return f"{loss.pure:.6g}-differential privacy"
    epsilon, delta = getattr(mechanism, "epsilon", None), getattr(mechanism, "delta", None)
    if epsilon is not None and delta:
        return f"({epsilon:g}, {delta:g})-differential privacy"
    return f"{loss.rho:.6g}-zero-concentrated differential privacy"


def _assumptions(mechanism: Mechanism[Any, Any]) -> tuple[str, ...]:
    told = ["parameters and bounds were chosen without looking at the data"]
    if getattr(mechanism, "may_be_empty", True) is False:
        told.append("that the table is not empty is no secret")
    return tuple(told)


def _protects(loss: Loss, unit: str) -> str:
    if isfinite(loss.pure):
        return (
            f"whatever one {unit} holds, no answer becomes more than {exp(loss.pure):,.3g} times "
            "as likely by it"
        )
    return f"what one {unit} holds changes the chance of any answer only within the stated loss"


def _warnings(loss: Loss) -> tuple[str, ...]:
    if WEAK <= loss.pure < inf:
        return (
            f"an epsilon of {loss.pure:g} protects next to nobody: an attacker's belief of 0.1 % "
            "may become certainty; take 1 or less",
        )
    return ()


def _with_keys(value: Any) -> Any:
    """JSON turns every key into text: a mapping is kept as pairs."""
    return {"pairs": [[key, each] for key, each in value.items()]} if _maps(value) else value


def _without_keys(value: Any) -> Any:
    return dict(value["pairs"]) if _maps(value) else value


def _maps(value: Any) -> bool:
    return isinstance(value, dict)
