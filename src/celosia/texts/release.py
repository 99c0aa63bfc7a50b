"""Published documents: new files in a folder, with a certificate beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

from celosia.core.folder_release import FolderRelease, members
from celosia.core.methods import PlainValues
from celosia.core.pseudonyms.keys import Key
from celosia.core.release import CommonParts
from celosia.core.report import Document as ReportDocument
from celosia.texts.account import TextAccount


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A new file."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ModelOutcome(PlainValues):
    """One model, and what it has to say."""

    model: str
    facts: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class TextRelease(FolderRelease):
    """Documents to be published."""

    kind: ClassVar[str] = "texts"

    files: tuple[PublishedFile, ...] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    """The new text of each document, in the order of the collection."""
    persons: tuple[int, ...] = field(default=(), repr=False)
    """A random number for the person of each document."""
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The new name of each file, for the curator alone: it is in no file."""
    key: Key | None = field(default=None, repr=False)
    """What pseudonyms come from, for the curator alone: it is in no file."""
    removed: Mapping[int, list[tuple[str, str]]] = field(default_factory=dict, repr=False)
    """What went from each document, for the curator alone: it is in no file."""
    actions: Mapping[str, str] = field(default_factory=dict)
    models: tuple[ModelOutcome, ...] = ()
    account: TextAccount = field(default_factory=TextAccount)
    verification: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    def write_data(self, path: Path) -> None:
        """Write every file into a folder."""
        path.mkdir(exist_ok=True)
        for each in self.files:
            target = path / each.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(each.content)

    def measures(self) -> dict[str, Any]:
        """Counts by kind, actions, models and the verification."""
        return {
            "actions": dict(self.actions),
            "models": [each.as_dict() for each in self.models],
            "account": self.account.as_dict(),
            "verification": dict(self.verification),
            "left_out": dict(self.left_out),
        }

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        """Rebuild a release from its folder and certificate."""
        from celosia.texts.readers import read

        measured = facts["measures"]
        files = tuple(
            PublishedFile(each.relative_to(path).as_posix(), each.read_bytes())
            for each in members(path)
        )
        collection = read(path).collection
        return cls(
            files=files,
            texts=tuple(document.text for document in collection),
            persons=tuple(range(len(collection))),
            actions=measured["actions"],
            models=tuple(ModelOutcome.from_dict(each) for each in measured["models"]),
            account=TextAccount.from_dict(measured["account"]),
            verification=measured["verification"],
            left_out=measured["left_out"],
            **common,
        )

    def document(self) -> ReportDocument:
        """The report: what was found, what was done with it, what is promised."""
        from celosia.texts import report

        return report.document(self)

    def __str__(self) -> str:
        return f"{self.guarantee.promise}"
