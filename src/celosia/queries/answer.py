"""The answer to a private query: noisy rows with their error, their price and their promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.release import CommonParts
from celosia.mechanisms.answer_release import AnswerRelease
from celosia.mechanisms.parameters import check_confidence

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from celosia.core.report import Document

Row = dict[str, Any]
Interval = tuple[float, float] | None
Intervals = list[dict[str, Interval]]
Errors = list[dict[str, float | None]]
FAR = 1000
"""Times the noise at which an end of an interval says nothing to a reader."""


@dataclass(frozen=True, kw_only=True)
class QueryAnswer(AnswerRelease):
    """Released rows; everything in it has been paid for and may be shown to anybody."""

    kind: ClassVar[str] = "query answer"

    question: str
    rows: list[Row]
    intervals: Intervals
    """For each row the bounds of each of its numbers, at `confidence`; None where none are public.

    They hold the exact answer, each by itself, with that confidence. An end at infinity says that
    the other end is all that is known.
    """
    confidence: float
    epsilon: float
    delta: float = 0.0
    method: str
    noise: Errors = field(default_factory=list)
    """For each row the noise-only error of each of its numbers, at `confidence`; None if secret.

    The number is no farther than that from the exact one under the caps that were chosen (`caps`).
    What these caps cut off is not counted: `intervals` count it too.
    """
    caps: dict[str, Any] = field(default_factory=dict)
    """Caps that were chosen privately, by what they were chosen for."""
    entry: int | None = None
    """Of the ledger; None where nothing was spent."""
    head: str | None = None
    """The head of the ledger when the answer was sealed."""
    stored: bool = False
    """Whether the answer was given before and repeated for free: rows may have changed since."""
    answered: str | None = None
    """When it was first given; None where nothing was spent."""
    columns: list[str] = field(default_factory=list)
    """The names of the columns, also where no row was released."""
    price: str | None = None
    """What it costs in money, or that nothing was charged, where the policy has a market."""
    at: Callable[[float], Intervals] | None = field(default=None, repr=False, compare=False)
    """Works out the intervals at another confidence; lost when the answer is saved."""

    @property
    def value(self) -> Any:
        """The number, for an answer of one row and one column.

        Raises:
            InputError: CEL-Q150 there are several numbers, or none.
        """
        if len(self.rows) != 1 or len(self.rows[0]) != 1:
            raise InputError("CEL-Q150.not_one", rows=len(self.rows))
        return next(iter(self.rows[0].values()))

    def interval(self, confidence: float | None = None) -> Interval:
        """Bounds of the exact answer, for one number; None where none are public.

        Raises:
            InputError: CEL-Q150 there are several numbers; CEL-Q150 the answer was read from a
                file, which holds one confidence only.
        """
        name = next(iter(self.rows[0])) if self.rows and self.rows[0] else ""
        _ = self.value
        return self.intervals_at(confidence)[0].get(name)

    def intervals_at(self, confidence: float | None = None) -> Intervals:
        """The bounds of all numbers at a confidence.

        Raises:
            InputError: CEL-Q150 the answer was read from a file.
        """
        if confidence is None or check_confidence(confidence) == self.confidence:
            return self.intervals
        if self.at is None:
            raise InputError("CEL-Q150.confidence", confidence=self.confidence)
        return self.at(confidence)

    @property
    def noise_only(self) -> Errors:
        """The noise-only errors, where they say more than the intervals: under chosen caps."""
        return self.noise if self.caps and self.noise else [{} for _ in self.rows]

    @property
    def shown_intervals(self) -> Intervals:
        """The intervals for people: an end that says nothing beside the noise is left open.

        What chosen caps cut off has a bound by the declared ones only, which may be a million times
        the noise. `intervals` keeps it.
        """
        return [
            {name: _useful(row[name], ends, noise.get(name)) for name, ends in bounds.items()}
            for row, bounds, noise in zip(self.rows, self.intervals, self.noise_only, strict=True)
        ]

    @property
    def stored_note(self) -> str:
        """A note that the answer is a stored one, with its time; empty for a new one."""
        if not self.stored:
            return ""
        if self.answered is None:
            return Message("queries.answer.stored")
        return Message("queries.answer.stored_at", at=self.answered)

    def as_columns(self, *, bounds: bool = True) -> dict[str, list[Any]]:
        """The values of each column, and of the columns of its bounds where there are some.

        Under caps that were chosen privately, the noise-only error stands beside the bounds.

        Args:
            bounds: whether numbers are followed by their bounds.
        """
        columns: dict[str, list[Any]] = {}
        for name in self.columns or (self.rows[0] if self.rows else ()):
            columns[name] = [row[name] for row in self.rows]
            if bounds:
                columns |= self._bounds_of(name)
        return columns

    def _bounds_of(self, name: str) -> dict[str, list[float | None]]:
        found: dict[str, list[float | None]] = {}
        ends = [each.get(name) for each in self.intervals]
        if any(each is not None for each in ends):
            found[f"{name}_lower"] = [None if each is None else each[0] for each in ends]
            found[f"{name}_upper"] = [None if each is None else each[1] for each in ends]
        errors = [each.get(name) for each in self.noise_only]
        if any(error is not None for error in errors):
            found[f"{name}_noise"] = errors
        return found

    def to_polars(self) -> pl.DataFrame:
        """The rows as a table of Polars, with the bounds of each number, as `as_columns`."""
        import polars as pl  # 0.1 s, only where wanted

        return pl.DataFrame(self.as_columns(), strict=False)

    def to_arrow(self) -> pa.Table:
        """The same table for Arrow."""
        return self.to_polars().to_arrow()

    def to_pandas(self) -> pd.DataFrame:
        """The same table for pandas.

        Raises:
            InputError: CEL-Q342 pandas is not installed.
        """
        try:
            return self.to_polars().to_pandas()
        except ImportError:
            raise InputError("CEL-Q342", package="pandas") from None

    def _repr_html_(self) -> str:
        """The rows with their intervals, for notebooks."""
        from celosia.queries.answer_table import html_table  # only notebooks show it

        return html_table(self)

    def measures(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "rows": self.rows,
            "intervals": [
                {name: _finite(each) for name, each in row.items()} for row in self.intervals
            ],
            "confidence": self.confidence,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "noise": self.noise,
            "method": self.method,
            "caps": self.caps,
            "entry": self.entry,
            "head": self.head,
            "stored": self.stored,
            "answered": self.answered,
            "columns": self.columns,
            **({} if self.price is None else {"price": self.price}),
        }

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: the answer, what it promises and how it was made."""
        return self.measures() | {
            "guarantee": self.guarantee.as_dict(),
            "provenance": self.provenance.as_dict(),
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        measures = facts["measures"]
        return cls(
            question=measures["question"],
            rows=measures["rows"],
            intervals=[
                {name: _infinite(each) for name, each in row.items()}
                for row in measures["intervals"]
            ],
            confidence=measures["confidence"],
            epsilon=measures["epsilon"],
            delta=measures["delta"],
            noise=measures["noise"],
            method=measures["method"],
            caps=measures["caps"],
            entry=measures["entry"],
            head=measures["head"],
            stored=measures["stored"],
            answered=measures["answered"],
            columns=measures["columns"],
            price=measures.get("price"),
            **common,
        )

    def document(self) -> Document:
        """The report: the answer, how far it may be off, and what it reveals about one unit."""
        from celosia.queries import answer_report  # draws figures

        return answer_report.document(self)

    def __str__(self) -> str:
        if len(self.rows) == 1 and len(self.rows[0]) == 1:
            summary = _number(self.value)
            percent = 100 * self.confidence
            bounds = next(iter(self.shown_intervals[0].values()), None)
            if bounds is not None:
                summary = _with_bounds(summary, bounds, percent)
            error = next(iter(self.noise_only[0].values()), None)
            if error is not None:
                noise = _number(error)
                summary = say(
                    "queries.answer.noise", summary=summary, confidence=percent, error=noise
                )
        else:
            summary = say("queries.answer.rows", rows=len(self.rows))
        parts = [summary, self.stored_note, self.guarantee.promise]
        return "; ".join(str(each) for each in parts if each)


def _useful(value: Any, bounds: Interval, noise: float | None) -> Interval:
    """Bounds with an open end where one is a thousand times as far away as the noise."""
    if bounds is None or not noise or not isinstance(value, int | float):
        return bounds
    low, high = bounds
    reach = FAR * noise
    return (-inf if value - low > reach else low), (inf if high - value > reach else high)


def _with_bounds(value: str, bounds: tuple[float, float], confidence: float) -> str:
    low, high = (_number(end) if isfinite(end) else None for end in bounds)
    if low is not None and high is not None:
        return say(
            "queries.answer.interval", value=value, confidence=confidence, low=low, high=high
        )
    if low is None and high is None:
        return value
    key = "queries.answer.at_least" if high is None else "queries.answer.at_most"
    return say(key, value=value, confidence=confidence, bound=low if high is None else high)


def _number(value: Any) -> str:
    if value is None:
        return say("queries.answer.nothing")
    if isinstance(value, int):
        return say("queries.answer.integer", value=value)
    return say("queries.answer.number", value=value)


def _finite(bounds: Interval) -> list[float | None] | None:
    """JSON has no word for infinity."""
    return None if bounds is None else [end if isfinite(end) else None for end in bounds]


def _infinite(bounds: list[float | None] | None) -> Interval:
    if bounds is None:
        return None
    low, high = bounds
    return (float("-inf") if low is None else low), (float("inf") if high is None else high)
