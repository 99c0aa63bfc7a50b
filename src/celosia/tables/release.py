"""A published table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from celosia import frames
from celosia.assess.risk import RiskProfile
from celosia.core.release import Release
from celosia.core.report import Document
from celosia.tables import report
from celosia.tables.solution import Solution


@dataclass(frozen=True, kw_only=True)
class TableRelease(Release):
    """A table whose quasi-identifiers were generalised, with the risk before and after."""

    kind: ClassVar[str] = "table"

    data: pl.DataFrame
    solution: Solution
    risk: RiskProfile
    risk_before: RiskProfile

    def write_data(self, path: Path) -> None:
        """Write the table in the format that the suffix names."""
        frames.write(self.data, path)

    def measures(self) -> dict[str, Any]:
        """Levels, loss, suppression, search, and risk before and after."""
        return {
            "solution": self.solution.as_dict(),
            "risk": self.risk.as_dict(),
            "risk_before": self.risk_before.as_dict(),
        }

    @classmethod
    def from_parts(cls, path: Path, measures: dict[str, Any], **common: Any) -> Self:
        """Rebuild a release from its data file and certificate."""
        return cls(
            data=frames.read(path),
            solution=Solution.from_dict(measures["solution"]),
            risk=RiskProfile(**measures["risk"]),
            risk_before=RiskProfile(**measures["risk_before"]),
            **common,
        )

    def document(self) -> Document:
        """The report: what was done, what risk is left, what use is left."""
        return report.document(
            self.guarantee,
            self.provenance,
            self.warnings,
            self.solution,
            risk=self.risk,
            before=self.risk_before,
        )

    def __str__(self) -> str:
        """The one line that matters most."""
        solution = self.solution
        return (
            f"{self.guarantee.promise}: smallest class {self.risk.smallest}, "
            f"loss {solution.loss:.3%}, {solution.suppressed:,} of {solution.rows:,} records "
            f"suppressed, average risk {self.risk.average:.3%}"
        )
