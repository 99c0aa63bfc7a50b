"""Synthetic tables that belong together, as a folder of files with one certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

import polars as pl

from celosia import frames
from celosia.core.folder_release import FolderRelease
from celosia.core.messages import say
from celosia.core.release import CommonParts
from celosia.core.release_report import made_blocks, promise_blocks
from celosia.core.report import Block, Document, Heading, Notice, Table


@dataclass(frozen=True, kw_only=True)
class SyntheticTables(FolderRelease):
    """Tables of new rows whose foreign keys are valid."""

    kind: ClassVar[str] = "synthetic tables"

    tables: Mapping[str, pl.DataFrame] = field(repr=False)
    facts: Mapping[str, Mapping[str, Any]]
    """Of each table: rows, what was measured, the deviation of the noise."""
    format: str = "csv"
    """Of the files: csv or parquet."""

    def write_data(self, path: Path) -> None:
        """One file a table."""
        path.mkdir(exist_ok=True)
        for name, frame in self.tables.items():
            frames.write(frame, path / f"{name}.{self.format}")

    def measures(self) -> dict[str, Any]:
        """The facts of each table."""
        return {"tables": {name: dict(facts) for name, facts in self.facts.items()}}

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        measured = facts["measures"]["tables"]
        files = {each.stem: each for each in sorted(path.iterdir())}
        return cls(
            tables={name: frames.read(files[name]) for name in measured},
            facts=measured,
            format=next(iter(files.values())).suffix[1:],
            **common,
        )

    def document(self) -> Document:
        """The promise, and what was measured of each table."""
        blocks: list[Block] = []
        if self.guarantee.simulation:
            blocks.append(Notice(str(self.guarantee), tone="simulation"))
        blocks += [Notice(warning, tone="warning") for warning in self.warnings]
        blocks += promise_blocks(self.guarantee)
        blocks += [
            Heading(say("masking.report.related_heading")),
            Table(
                [say(name) for name in COLUMNS],
                [list(map(str, row)) for row in self.rows()],
                say("masking.report.related_table"),
            ),
        ]
        blocks += made_blocks(self.provenance)
        title = say("masking.report.related_title")
        return Document(title, str(self), blocks)

    def rows(self) -> list[list[Any]]:
        """A line a table: name, rows, columns, rows of one person that count, deviation."""
        return [
            [
                name,
                frame.height,
                frame.width,
                self.facts[name]["rows of one person"],
                round(float(self.facts[name]["deviation of one-way counts"]), 1),
            ]
            for name, frame in self.tables.items()
        ]

    def __str__(self) -> str:
        return say(
            "masking.report.related_line",
            promise=self.guarantee.promise,
            tables=len(self.tables),
            records=sum(frame.height for frame in self.tables.values()),
        )


COLUMNS = (
    "masking.report.related_name",
    "masking.report.related_rows",
    "masking.report.related_columns",
    "masking.report.related_cap",
    "masking.report.related_deviation",
)
"""The keys of what `SyntheticTables.rows` has in each line."""
