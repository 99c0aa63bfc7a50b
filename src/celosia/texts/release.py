"""Published documents: new files in a folder, with a certificate beside it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, ClassVar, Self

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.methods import PlainValues
from celosia.core.pseudonyms.keys import Key
from celosia.core.release import Guarantee, KeptMessages, Provenance, Release, certificate_path
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
class TextRelease(Release):
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

    def check_path(self, path: Path) -> None:
        """Refuse a folder that holds something.

        Raises:
            InputError: CEL-N024 it is a file or has files; CEL-I005 its folder is missing.
        """
        check_folder(path, overwrite=False)

    def measures(self) -> dict[str, Any]:
        """Counts by kind, actions, models and the verification."""
        return {
            "actions": dict(self.actions),
            "models": [each.as_dict() for each in self.models],
            "account": self.account.as_dict(),
            "verification": dict(self.verification),
            "left_out": dict(self.left_out),
        }

    def save(self, path: str | Path, *, overwrite: bool = True) -> Path:
        """Write the folder and its certificate beside it; both appear, or neither."""
        target = Path(path)
        check_folder(target, overwrite=overwrite)
        draft = target.with_name(f".{target.name}-{token_hex(8)}")
        old = target.with_name(f".{target.name}-{token_hex(8)}")
        try:
            with replacing(certificate_path(target), overwrite=overwrite) as paper:
                draft.mkdir(mode=0o700)
                self.write_data(draft)
                described = {"folder": target.name, "sha256": _folder_digest(draft)}
                facts = self.certificate() | {"data": described}
                paper.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", "utf-8")
                umask = os.umask(0)
                os.umask(umask)
                draft.chmod(0o777 & ~umask)
                if target.exists():
                    target.rename(old)
                draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)
        return target

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read back what `save` wrote, refusing files that the certificate does not describe.

        Raises:
            InputError: CEL-I020 there is no certificate; CEL-I022 the files are other ones.
        """
        target = Path(path)
        if not target.is_dir():
            raise InputError("CEL-I023", path=target)
        beside = certificate_path(target)
        try:
            facts = json.loads(beside.read_text("utf-8"))
            if facts["kind"] != cls.kind:
                raise InputError("CEL-I021", path=target, found=facts["kind"], wanted=cls.kind)
            if facts["data"]["sha256"] != _folder_digest(target):
                raise InputError("CEL-I022", path=target)
            known = KeptMessages(facts.get("messages"))
            return cls.from_parts(
                target,
                facts,
                guarantee=Guarantee.from_dict(facts["guarantee"]),
                provenance=Provenance(**facts["provenance"]),
                warnings=tuple(known.message(each) for each in facts["warnings"]),
            )
        except (OSError, KeyError, TypeError, ValueError, AttributeError):
            raise InputError("CEL-I020", path=target, certificate=beside.name) from None

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Any) -> Self:
        """Rebuild a release from its folder and certificate."""
        from celosia.texts.readers import read

        measured = facts["measures"]
        files = tuple(
            PublishedFile(each.relative_to(path).as_posix(), each.read_bytes())
            for each in _members(path)
        )
        collection = read(path).collection
        return cls(
            files=files,
            texts=tuple(document.text for document in collection),
            persons=tuple(range(len(collection))),
            actions=measured["actions"],
            models=tuple(ModelOutcome(**each) for each in measured["models"]),
            account=TextAccount(**measured["account"]),
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


def check_folder(path: Path, *, overwrite: bool) -> None:
    """Refuse a folder that must not be replaced: only a former release may be.

    Raises:
        InputError: CEL-N024 it is a file, or holds files that are no release; CEL-I004 it holds a
            release; CEL-I005 the folder that it lies in is missing.
    """
    if not path.parent.is_dir():
        raise InputError("CEL-I005.folder", folder=path.parent, path=str(path))
    if not path.exists():
        return
    if not path.is_dir():
        raise InputError("CEL-N024.file", path=path)
    if not any(path.iterdir()):
        return
    if not certificate_path(path).is_file():
        raise InputError("CEL-N024.folder", path=path)
    if not overwrite:
        raise InputError("CEL-I004", path=str(path))


def _members(folder: Path) -> list[Path]:
    return [each for each in sorted(folder.rglob("*")) if each.is_file()]


def _folder_digest(folder: Path) -> str:
    """One digest of all names and contents."""
    whole = hashlib.sha256()
    for each in _members(folder):
        name = each.relative_to(folder).as_posix().encode()
        whole.update(len(name).to_bytes(4) + name + hashlib.sha256(each.read_bytes()).digest())
    return whole.hexdigest()
