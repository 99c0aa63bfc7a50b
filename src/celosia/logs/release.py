"""A published log or published sets, with the methods, the guarantee and the measures."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from typing import Any, ClassVar, Self, Unpack

import polars as pl

from celosia import frames
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import PlainValues
from celosia.core.release import CommonParts, Release
from celosia.core.report import Document
from celosia.logs import report
from celosia.logs.account import LogAccount
from celosia.logs.matching import read_set_release
from celosia.logs.sets.disassociation import DisassociatedSets
from celosia.logs.sets.transactions import Transactions


@dataclass(frozen=True, slots=True)
class MethodOutcome(PlainValues):
    """One method, and its facts as plain values."""

    method: str
    facts: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Release(Release):
    """What both sorts of release have in common."""

    methods: tuple[MethodOutcome, ...]
    account: LogAccount = field(repr=False)
    """What was measured against the original; empty in a release that was loaded."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Lines and records that were given and could not be used, by the reason."""

    def measures(self) -> dict[str, Any]:
        """The methods, and the figures that may be published: shares and counts."""
        return {
            "methods": [each.as_dict() for each in self.methods],
            "figures": self.account.figures(),
            "left_out": self.left_out,
        }

    def document(self) -> Document:
        return report.document(
            self.guarantee,
            self.provenance,
            self.warnings,
            [(each.method, each.facts) for each in self.methods],
            self.account,
            left_out=self.left_out,
            published=self.summary,
        )

    @property
    def summary(self) -> str:
        """How much is published, in one sentence."""
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{self.guarantee.promise}: {self.summary}"


@dataclass(frozen=True, kw_only=True)
class LogRelease(_Release):
    """Records to be published."""

    kind: ClassVar[str] = "log"

    data: pl.DataFrame = field(repr=False)

    def write_data(self, path: Path) -> None:
        """Write the records in the format that the suffix names."""
        frames.write(self.data, path)

    def check_path(self, path: Path) -> None:
        frames.format_of(path)

    def data_facts(self) -> dict[str, Any]:
        texts = [name for name, kind in self.data.schema.items() if kind == pl.String]
        return {"texts": texts, "records": self.data.height}

    @property
    def summary(self) -> str:
        return say("logs.summary.records", records=self.data.height, columns=self.data.width)

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        kind = frames.format_of(path)
        texts = facts["data"]["texts"]
        types: Any = dict.fromkeys(texts, "string") if kind in ("csv", "tsv") else {}
        return cls(
            data=frames.read(path, types=types),
            **_common_parts(facts),
            **common,
        )


@dataclass(frozen=True, kw_only=True)
class LogFileRelease(_Release):
    """Records to be published that lie in a file, for they may be more than memory holds."""

    kind: ClassVar[str] = "log"

    path: Path
    records: int
    texts: tuple[str, ...]
    """Which columns are texts, however they look."""
    columns: int

    def write_data(self, path: Path) -> None:
        copyfile(self.path, path)

    def data_facts(self) -> dict[str, Any]:
        return {"texts": list(self.texts), "records": self.records, "columns": self.columns}

    @property
    def summary(self) -> str:
        return say("logs.summary.records", records=self.records, columns=self.columns)

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        given = facts["data"]
        return cls(
            path=path,
            records=given["records"],
            texts=tuple(given["texts"]),
            columns=given["columns"],
            **_common_parts(facts),
            **common,
        )


def _common_parts(facts: dict[str, Any]) -> dict[str, Any]:
    """What both sorts of release have in their certificates."""
    return {
        "methods": tuple(MethodOutcome.from_dict(each) for each in facts["measures"]["methods"]),
        "account": LogAccount(),
        "left_out": facts["measures"]["left_out"],
    }


@dataclass(frozen=True, kw_only=True)
class SetRelease(_Release):
    """Transactions, or disassociated records, to be published."""

    kind: ClassVar[str] = "sets"

    data: Transactions | DisassociatedSets = field(repr=False)

    def write_data(self, path: Path) -> None:
        """Write basket lines, or the clusters of disassociated records as JSON."""
        if isinstance(self.data, DisassociatedSets):
            text = json.dumps(self.data.as_dict(), ensure_ascii=False)
            path.write_text(text + "\n", "utf-8")
            return
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            for items in self.data.sets():
                stream.write("\t".join(items) + "\n")

    def check_path(self, path: Path) -> None:
        """Refuse a name that does not say what is written: .json for clusters, .txt for lines.

        Raises:
            InputError: CEL-U043 another ending.
        """
        is_json = path.suffix.lower() == ".json"
        wanted = isinstance(self.data, DisassociatedSets)
        if is_json != wanted:
            raise InputError("CEL-U043.clusters" if wanted else "CEL-U043.lines", path=str(path))

    def data_facts(self) -> dict[str, Any]:
        """How many transactions there are, and of which sort."""
        return {"content": type(self.data).__name__, "transactions": self.data.count}

    @property
    def summary(self) -> str:
        return say("logs.summary.sets", count=self.data.count)

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        return cls(
            data=read_set_release(path),
            **_common_parts(facts),
            **common,
        )
