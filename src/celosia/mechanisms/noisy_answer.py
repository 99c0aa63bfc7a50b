"""One noisy answer as a release: the value with its error, its guarantee and how it was made."""

from __future__ import annotations

from collections.abc import Sized
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, Self, TypedDict, Unpack

import polars as pl

from celosia.accounting.budget import Budget
from celosia.accounting.losses import ApproximateLoss, Loss
from celosia.core.messages import say
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.randomness import Source, System
from celosia.core.release import CommonParts, Guarantee, Provenance
from celosia.core.report import Document
from celosia.mechanisms import answer_report
from celosia.mechanisms.answer_release import AnswerRelease
from celosia.mechanisms.guarantees import guarantee_of, stated_epsilon_delta, unwrap, weaknesses
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.parameters import check_confidence
from celosia.mechanisms.sparse.stream import BELOW
from celosia.mechanisms.statistics.histogram import Histogram
from celosia.mechanisms.statistics.quantiles import Quantiles
from celosia.mechanisms.values import below_zero, plain, short

MOST_SHOWN = 8
"""Numbers of an answer that are shown on one line."""


@dataclass(frozen=True, kw_only=True)
class NoisyAnswer(AnswerRelease):
    """A released value; all of it has been paid for and may be published."""

    kind: ClassVar[str] = "answer"

    value: Any
    """A number, a list of numbers, or a mapping of keys to numbers: plain values."""
    interval: tuple[Any, Any] | None
    """Bounds that hold the exact answer with `confidence`; None where none are known."""
    confidence: float
    loss: dict[str, Any]
    """The price, as `Loss.as_dict` says it."""
    epsilon: float | None
    """What is promised; None where the promise is one of rho."""
    delta: float = 0.0
    """The chance that the promise fails altogether."""
    question: str

    def measures(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "value": _with_keys(self.value),
            "interval": None if self.interval is None else [_with_keys(b) for b in self.interval],
            "confidence": self.confidence,
            "loss": self.loss,
            "epsilon": self.epsilon,
            "delta": self.delta,
        }

    def to_polars(self) -> pl.DataFrame:
        """The answer as a table: one row for each number, with its bounds where they are known."""
        columns: dict[str, list[Any]] = {}
        if isinstance(self.value, dict):
            columns["key"] = list(self.value)
        columns["value"] = _as_list(self.value)
        for name, bound in zip(("lower", "upper"), self.interval or (), strict=False):
            columns[name] = _as_list(bound)
        return pl.DataFrame({name: _one_kind(values) for name, values in columns.items()})

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        measures = facts["measures"]
        bounds = measures["interval"]
        return cls(
            question=measures["question"],
            value=_without_keys(measures["value"]),
            interval=None if bounds is None else tuple(map(_without_keys, bounds)),
            confidence=measures["confidence"],
            loss=measures["loss"],
            epsilon=measures["epsilon"],
            delta=measures["delta"],
            **common,
        )

    def document(self) -> Document:
        """The report: the answer, its error bound, and what it reveals about one unit."""
        return answer_report.document(self)

    def __str__(self) -> str:
        facts = {"value": format_answer(self.value), "promise": self.guarantee.promise}
        if self.interval is None or isinstance(self.value, (dict, list)):
            return say("mechanisms.answer.line", question=self.question, **facts)
        low, high = map(short, self.interval)
        return say(
            "mechanisms.answer.line_with_interval",
            question=self.question,
            confidence=100 * self.confidence,
            low=low,
            high=high,
            **facts,
        )


class AnswerOptions(TypedDict, total=False):
    """What every private answer may be asked for with, see `ReleaseOptions`."""

    confidence: float
    budget: Budget | None
    rng: Source | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """What goes with a noisy answer: its name, its confidence, who pays, and where it is drawn.

    Raises:
        InputError: CEL-I060 the confidence is not between 0 and 1.
    """

    question: str | None = None
    """The name of the answer; the door that releases it has words of its own, if not given."""
    confidence: float = 0.95
    """Of the interval."""
    budget: Budget | None = None
    """Pays for the answer; it is checked before any data is read."""
    rng: Source = field(default_factory=System)
    """Where randomness comes from; a seed makes the answer a simulation."""

    def __post_init__(self) -> None:
        check_confidence(self.confidence)

    def check_affordable(self, mechanism: Mechanism[Any, Any]) -> None:
        """Refuse what the budget would not pay, before anything is read or drawn.

        Raises:
            BudgetExceeded: CEL-B063 it does not fit.
            PrivacyError: CEL-B046, CEL-B062 it has no price in this budget.
        """
        if self.budget is not None:
            self.budget.check(**_charge(mechanism))


def release(
    mechanism: Mechanism[Any, Any],
    x: Any,
    *,
    question: str | None = None,
    confidence: float = 0.95,
    budget: Budget | None = None,
    rng: Source | None = None,
    assumes: tuple[str, ...] = (),
) -> NoisyAnswer:
    """Release an answer with its interval and guarantee, paid from a budget if there is one.

    Bad input costs nothing: the budget is checked first, and pays only for a released answer.

    Args:
        mechanism: what to compute, with its price.
        x: what `mechanism.release` takes.
        question: the name of the answer; the mechanism as it prints, if not given.
        confidence: of the interval.
        budget: pays for the answer.
        rng: where randomness comes from; a seed makes the answer a simulation.
        assumes: what else must be true for the promise to hold.

    Raises:
        InputError: the data cannot be used; no noise was drawn and nothing was spent.
        BudgetExceeded: the budget does not allow it.
    """
    options = ReleaseOptions(
        question=question,
        confidence=confidence,
        budget=budget,
        rng=System() if rng is None else rng,
    )
    source = options.rng
    return release_with_guarantee(
        mechanism,
        x,
        options,
        guarantee=guarantee_of(mechanism, simulation=source.simulation, assumes=assumes),
        provenance=Provenance.now(
            "celosia.mechanisms.release", {"method": str(mechanism)}, seed=source.seed
        ),
    )


def release_with_guarantee(
    mechanism: Mechanism[Any, Any],
    x: Any,
    options: ReleaseOptions,
    *,
    guarantee: Guarantee,
    provenance: Provenance,
) -> NoisyAnswer:
    """Release the answer of a mechanism under a guarantee that the caller has written."""
    question = str(mechanism) if options.question is None else options.question
    budget = options.budget
    # Nothing leaves this block that was not charged.
    paid = nullcontext() if budget is None else budget.paying(**_charge(mechanism), label=question)
    with paid:
        measurement = mechanism.measure(x, rng=options.rng)
    epsilon, delta = stated_epsilon_delta(mechanism)
    value = _with_labels(mechanism, measurement.value)
    is_below = unwrap(mechanism).is_count and isinstance(value, int) and value < 0
    return NoisyAnswer(
        value=value,
        interval=_finite(mechanism, mechanism.interval(measurement, options.confidence)),
        confidence=options.confidence,
        loss=mechanism.privacy_loss().as_dict(),
        epsilon=epsilon,
        delta=delta,
        question=question,
        guarantee=guarantee,
        provenance=provenance,
        warnings=(
            *weaknesses(mechanism, people=_public_size(mechanism, x)),
            *([below_zero()] if is_below else ()),
        ),
    )


def release_promised(
    mechanism: Mechanism[Any, Any], x: Any, options: ReleaseOptions, promise: Guarantee, name: str
) -> NoisyAnswer:
    """The same under the name of the function that releases, with the mechanism as its method."""
    made = Provenance.now(name, {"method": str(mechanism)}, seed=options.rng.seed)
    return release_with_guarantee(mechanism, x, options, guarantee=promise, provenance=made)


def _public_size(mechanism: Mechanism[Any, Any], x: Any) -> int | None:
    """The number of rows, where neighbours have the same and each row is a unit of its own."""
    is_public = mechanism.neighbours.relation is Relation.CHANGE_ONE
    return len(x) if is_public and isinstance(x, Sized) and unwrap(mechanism) is mechanism else None


def format_answer(value: Any) -> str:
    """A released value on one line, however long it is.

    >>> format_answer([1, 2, 3]), format_answer(["below", "above"]), format_answer({})
    ('1, 2, 3', 'above at 2 (of 2 asked)', 'nothing')
    """
    if isinstance(value, list) and any(each in {str(BELOW), "above"} for each in value):
        found = [place for place, each in enumerate(value, 1) if each != str(BELOW)]
        if not found:
            return say("mechanisms.answer.above_at_none", asked=len(value))
        return say("mechanisms.answer.above_at", places=format_answer(found), asked=len(value))
    if not isinstance(value, (dict, list)):
        return short(value)
    if len(value) <= MOST_SHOWN:
        return short(value) if value else say("mechanisms.answer.nothing")
    items = list(value.items())[:MOST_SHOWN] if isinstance(value, dict) else value[:MOST_SHOWN]
    first = dict(items) if isinstance(value, dict) else items
    return say("mechanisms.answer.first", first=short(first), count=len(value))


class _Charge(TypedDict):
    loss: Loss
    delta: float | None
    neighbours: Neighbours


def _charge(mechanism: Mechanism[Any, Any]) -> _Charge:
    """What a budget is charged with: a delta only for a loss that states none itself."""
    loss = mechanism.privacy_loss()
    delta = getattr(mechanism, "delta", None) or None
    stated_already = isfinite(loss.pure) or isinstance(loss, ApproximateLoss)
    return {
        "loss": loss,
        "delta": None if stated_already else delta,
        "neighbours": mechanism.neighbours,
    }


def _with_labels(mechanism: Mechanism[Any, Any], value: Any) -> Any:
    """Plain values; the counts of bins by their labels, and quantiles by their shares."""
    core = unwrap(mechanism)
    if isinstance(core, Histogram):
        return dict(zip(core.labels, plain(value), strict=True))
    if isinstance(core, Quantiles):
        return dict(zip(map(float, core.q), plain(value), strict=True))
    return plain(value)


def _finite(
    mechanism: Mechanism[Any, Any], bounds: tuple[Any, Any] | None
) -> tuple[Any, Any] | None:
    """Bounds as plain values; a bound at infinity says nothing, and JSON has no word for it."""
    if bounds is None:
        return None
    low, high = (_with_labels(mechanism, bound) for bound in bounds)
    numbers = [number for bound in (low, high) for number in _as_list(bound)]
    return (low, high) if all(map(isfinite, numbers)) else None


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def _one_kind(values: list[Any]) -> list[Any]:
    """The same values, as texts where a column could not hold them together."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if v is None else str(v) for v in values] if len(kinds) > 1 else values


def _with_keys(value: Any) -> Any:
    """JSON turns every key into text: a mapping is kept as pairs."""
    if isinstance(value, dict):
        return {"pairs": [[key, each] for key, each in value.items()]}
    return value


def _without_keys(value: Any) -> Any:
    return dict(value["pairs"]) if isinstance(value, dict) else value
