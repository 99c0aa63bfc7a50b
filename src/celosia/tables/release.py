"""A published table, in memory or in a file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia import frames
from celosia.assess.risk import RiskProfile
from celosia.assess.utility.aggregates import Aggregates
from celosia.core.files import replacing
from celosia.core.messages import say
from celosia.core.progress import Timings
from celosia.core.release import CommonParts, Release
from celosia.core.report import Document
from celosia.engines.tables import Draft, Place, names_files
from celosia.tables import report
from celosia.tables.account import RawColumns, Solution
from celosia.tables.released_table import SLICE, ReleasedTable

if TYPE_CHECKING:
    from celosia.assess.attacks import Attack

MOST_ATTACKED = 2_000_000
"""Records of a table on which attacks are tried for its report: a minute of work at most."""

TEXT = "text_columns"
"""Where a certificate says which columns are text."""


@dataclass(frozen=True, kw_only=True)
class FrameRelease(Release):
    """A release whose data is a table in memory."""

    table: ReleasedTable = field(repr=False)

    @cached_property
    def data(self) -> pl.DataFrame:
        """The table as a frame, made when it is first asked for."""
        return self.table.frame()

    def write_data(self, path: Path) -> None:
        """Write the table in the format that the suffix names."""
        kind = frames.format_of(path)
        if self.table.height <= SLICE or kind == "excel":
            frames.write(self.data, path)
            return
        with frames.open_writer(path) as writer:  # of a large table, one part is text at a time
            for part in self.table.slices():
                writer.write(part)

    def data_facts(self) -> dict[str, Any]:
        """Which columns are text: in a file of text they could be read as numbers."""
        return {TEXT: self.table.text_columns}

    def check_path(self, path: Path) -> None:
        frames.format_of(path)


@dataclass(frozen=True, kw_only=True)
class EngineOutput(Release):
    """A release whose data an engine has written."""

    engine: str
    target: Place
    rows_written: int
    text_columns: tuple[str, ...]
    certificate_file: Path

    def write_data(self, path: Path) -> None:
        """The engine has written the data already."""
        raise NotImplementedError

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        """A file is loaded as a release in memory; a table stays in its engine."""
        raise NotImplementedError

    def finish(self, draft: Draft, *, overwrite: bool) -> None:
        """Give data and certificate their names; an older certificate stays if that fails."""
        place = self.target
        described = {
            "file": Path(place).name if names_files(place) else str(place),
            "sha256": draft.sha256(),
            "engine": self.engine,
            "rows": draft.rows,
            TEXT: list(self.text_columns),
        }
        with replacing(self.certificate_file, overwrite=overwrite) as paper:
            facts = self.certificate() | {"data": described}
            paper.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", "utf-8")
            # Whole and on the disk before the data appears: only its name is left to be given.
            draft.commit()


@dataclass(frozen=True, kw_only=True)
class PublishedTable(Release):
    """What is known of a published table, wherever its data lies."""

    kind: ClassVar[str] = "table"

    solution: Solution
    risk: RiskProfile
    risk_before: RiskProfile
    raw: RawColumns | None = None
    """The columns that are published as they are; None if there are none."""
    intervals: Mapping[str, Aggregates] = field(default_factory=dict, compare=False)
    """By column, what numbers that are released as intervals say on average; of the release only.
    """
    timings: Timings = field(default_factory=Timings, compare=False)
    """How long the run took; what a certificate holds was measured before it was written."""

    def measures(self) -> dict[str, Any]:
        """Levels, loss, suppression, search, risk before and after, and the raw columns."""
        return {
            "solution": self.solution.as_dict(),
            "risk": self.risk.as_dict(),
            "risk_before": self.risk_before.as_dict(),
            "raw": None if self.raw is None else self.raw.as_dict(),
            "intervals": {name: each.as_dict() for name, each in self.intervals.items()},
        }

    def certificate(self) -> dict[str, Any]:
        """Everything about the release but its data, and how long it took to make."""
        return super().certificate() | {"timings": self.timings.as_dict()}

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        measures = facts["measures"]
        return cls(
            solution=Solution.from_dict(measures["solution"]),
            risk=RiskProfile.from_dict(measures["risk"]),
            risk_before=RiskProfile.from_dict(measures["risk_before"]),
            raw=None if measures["raw"] is None else RawColumns.from_dict(measures["raw"]),
            intervals={
                name: Aggregates.from_dict(each)
                for name, each in measures.get("intervals", {}).items()
            },
            timings=Timings.from_dict(facts.get("timings", {})),
            **cls.holding(path, facts["data"]),
            **common,
        )

    @classmethod
    def holding(cls, path: Path, data_facts: dict[str, Any]) -> dict[str, Any]:
        """The data of a file, as this sort of release holds it."""
        raise NotImplementedError

    def document(self) -> Document:
        """The report: what was done, what risk is left, what use is left."""
        return report.document(
            self.guarantee,
            self.provenance,
            self.warnings,
            self.solution,
            risk=self.risk,
            before=self.risk_before,
            raw=self.raw,
            intervals=self.intervals,
            timings=self.timings,
            attacks=self.attacks(),
        )

    def attacks(self) -> tuple[Attack, ...] | None:
        """The attacks of `assess.attacks` on the sensitive columns; None if they were not tried."""
        return None

    def __str__(self) -> str:
        solution = self.solution
        return say(
            "tables.report.line",
            promise=self.guarantee.promise,
            smallest=self.risk.smallest,
            loss=solution.loss,
            suppressed=solution.suppressed,
            records=solution.rows,
            risk=self.risk.average,
        )


@dataclass(frozen=True, kw_only=True)
class TableRelease(FrameRelease, PublishedTable):
    """A published table in memory."""

    source_rows: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    """For each released row, the row of the table that it comes from. It undoes the shuffle, so it
    is for the curator only: it is not saved, pickled or copied to another process."""

    def attacks(self) -> tuple[Attack, ...] | None:
        from celosia.assess.attacks import attack_release  # slow to load, for the report only

        if self.solution.rows > MOST_ATTACKED:
            return None
        columns = () if self.raw is None else self.raw.columns
        sensitive = [each.name for each in columns if each.role == "sensitive"]
        data = self.data
        known = [name for name in sensitive if data[name].null_count() < data.height]
        return attack_release(data, [each.name for each in self.solution.columns], known)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"source_rows": None}
        state.pop("data", None)  # made again from the table
        return state

    @classmethod
    def holding(cls, path: Path, data_facts: dict[str, Any]) -> dict[str, Any]:
        """The table itself."""
        text: dict[str, frames.ColumnType] = dict.fromkeys(data_facts[TEXT], "string")
        return {"table": ReleasedTable.of(frames.read(path, types=text))}


@dataclass(frozen=True, kw_only=True)
class FileRelease(PublishedTable):
    """A published table that lies in a file, for it may be larger than memory."""

    path: Path
    text_columns: tuple[str, ...]
    """Which columns are text: in a file of text they could be read as numbers."""

    def write_data(self, path: Path) -> None:
        shutil.copyfile(self.path, path)

    def data_facts(self) -> dict[str, Any]:
        """Which columns are text."""
        return {TEXT: list(self.text_columns)}

    @classmethod
    def holding(cls, path: Path, data_facts: dict[str, Any]) -> dict[str, Any]:
        """The path and the names of the text columns."""
        return {"path": path, "text_columns": tuple(data_facts[TEXT])}
