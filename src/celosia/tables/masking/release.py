"""A masked table with what was done to it, what is promised and what was measured."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

from celosia import frames
from celosia.core.messages import Message, format_numbers, say
from celosia.core.release import CommonParts, Release
from celosia.core.report import Document
from celosia.tables.masking import report
from celosia.tables.masking.account import Account
from celosia.tables.masking.recipe import METHODS
from celosia.tables.masking.report import FACT_NAMES
from celosia.tables.release import TEXT, EngineOutput, FrameRelease
from celosia.tables.released_table import ReleasedTable


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """One step of a recipe, and what its method has to say."""

    method: str
    columns: tuple[str, ...]
    facts: dict[str, Any] = field(repr=False)
    confidential: tuple[str, ...] = field(default=(), repr=False)
    """Which facts tell a moment of the original; they are not published."""

    def as_dict(self) -> dict[str, Any]:
        """What may be published, as plain values for JSON."""
        facts = _without(self.facts, self.confidential)
        return {"method": self.method, "columns": list(self.columns), "facts": facts}

    def __str__(self) -> str:
        step = Message("masking.step", method=self.method, columns=list(self.columns))
        numbers = format_numbers(self.facts, FACT_NAMES)
        return say("masking.report.outcome", step=step, numbers=numbers) if numbers else str(step)


def _without(facts: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The facts without some, however deep they lie (a column may have facts of its own)."""
    return {
        name: _without(value, names) if isinstance(value, dict) else value
        for name, value in facts.items()
        if name not in names
    }


@dataclass(frozen=True, kw_only=True)
class MaskingRelease(Release):
    """What was done to a table and what was measured, wherever its rows are."""

    kind: ClassVar[str] = "masked table"

    steps: tuple[StepOutcome, ...]
    account: Account = field(repr=False)
    """What was measured against the original; empty in a release that was loaded."""
    figures: dict[str, Any]
    """What of it may be published beside the table."""

    @property
    def is_private(self) -> bool:
        """Whether a step is differentially private, so that nothing exact may be told beside it."""
        known = (METHODS.get(step.method) for step in self.steps)
        return any(method is not None and method.neighbours is not None for method in known)

    def without_account(self) -> Self:
        """The release without what was measured against the original."""
        return replace(self, account=Account(risk=None, risk_before=None, compared=None))

    @property
    @abstractmethod
    def height(self) -> int:
        """How many rows are released."""

    def measures(self) -> dict[str, Any]:
        """The steps, and the figures that may be published."""
        return {"steps": [step.as_dict() for step in self.steps], "figures": self.figures}

    def document(self) -> Document:
        return report.document(
            self.guarantee,
            self.provenance,
            self.warnings,
            [(step.method, step.columns, step.facts) for step in self.steps],
            self.account,
            rows=self.height,
            is_private=self.is_private,
        )

    def __str__(self) -> str:
        promise, compared = self.guarantee.promise, self.account.compared
        if compared is None or self.is_private:
            return say("masking.report.line", promise=promise, records=self.height)
        return say(
            "masking.report.line_compared",
            promise=promise,
            records=self.height,
            compared=str(compared),
        )


@dataclass(frozen=True, kw_only=True)
class MaskedTable(FrameRelease, MaskingRelease):
    """A table after a recipe."""

    @property
    def height(self) -> int:
        return self.table.height

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        text: dict[str, frames.ColumnType] = dict.fromkeys(facts["data"][TEXT], "string")
        steps = facts["measures"]["steps"]
        return cls(
            table=ReleasedTable.of(frames.read(path, types=text)),
            steps=tuple(
                StepOutcome(each["method"], tuple(each["columns"]), each["facts"]) for each in steps
            ),
            account=Account(risk=None, risk_before=None, compared=None),
            figures=facts["measures"]["figures"],
            **common,
        )


@dataclass(frozen=True, kw_only=True)
class EngineMaskedTable(EngineOutput, MaskingRelease):
    """A masked table that lies where an engine has written it.

    A Parquet file with its certificate loads as `MaskedTable`, too.
    """

    @property
    def height(self) -> int:
        return self.rows_written
