"""Published traces with their method, their guarantee and their measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

import polars as pl

from celosia import frames
from celosia.core.messages import say
from celosia.core.methods import PlainValues
from celosia.core.release import CommonParts, Release
from celosia.core.report import Document
from celosia.traces import report
from celosia.traces.account import TraceAccount
from celosia.traces.samples import Samples

TYPES: dict[str, Any] = {"time": "string", "start": "string", "end": "string", "place": "string"}


@dataclass(frozen=True, slots=True)
class MethodOutcome(PlainValues):
    """The method, and what it has to say."""

    method: str
    facts: dict[str, Any]
    kept: str


@dataclass(frozen=True, kw_only=True)
class TraceRelease(Release):
    """A table of points, cells or boxes, to be published."""

    kind: ClassVar[str] = "traces"

    data: pl.DataFrame = field(repr=False)
    outcome: MethodOutcome
    account: TraceAccount = field(repr=False, default_factory=TraceAccount)
    """What was measured against the original; empty in a release that was loaded."""
    figures: dict[str, Any]
    """What of it may be published beside the table."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Points that were given and are not published, by reason."""
    samples: Samples | None = field(default=None, repr=False, compare=False)
    """The published samples with their owners, for the curator alone: the owners are in no file."""

    def write_data(self, path: Path) -> None:
        """Write the table, in the format that the suffix names."""
        frames.write(self.data, path)

    def check_path(self, path: Path) -> None:
        frames.format_of(path)

    def data_facts(self) -> dict[str, Any]:
        """The columns of the table."""
        return {"columns": self.data.columns, "rows": self.data.height}

    def measures(self) -> dict[str, Any]:
        """The method, and the figures that may be published."""
        return {
            "method": self.outcome.as_dict(),
            "figures": self.figures,
            "left_out": self.left_out,
        }

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        measures = facts["measures"]
        known = {name: kind for name, kind in TYPES.items() if name in facts["data"]["columns"]}
        return cls(
            data=frames.read(path, types=known),
            outcome=MethodOutcome.from_dict(measures["method"]),
            figures=measures["figures"],
            left_out=measures.get("left_out", {}),
            **common,
        )

    def document(self) -> Document:
        return report.document(self)

    @property
    def size(self) -> str:
        """How much is published, in words."""
        traces = self.data["trace"].n_unique() if "trace" in self.data.columns else self.data.height
        return say("traces.release_size", samples=self.data.height, traces=traces)

    def __str__(self) -> str:
        attacks = [str(each) for each in self.account.attacks[:1]]
        return "; ".join([f"{self.guarantee.promise}: {self.size}", *attacks])
