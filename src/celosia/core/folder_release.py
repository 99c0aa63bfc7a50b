"""Releases of several files: a folder, with one certificate beside it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from secrets import token_hex
from typing import Self

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.release import Release, certificate_path, common_parts


class FolderRelease(Release):
    """A release whose data are files in a folder; `write_data` fills one."""

    def check_path(self, path: Path) -> None:
        """Refuse a folder that holds something.

        Raises:
            InputError: CEL-N024 it is a file or has files; CEL-I005 its folder is missing.
        """
        check_folder(path, overwrite=False)

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
                described = {"folder": target.name, "sha256": folder_digest(draft)}
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
            if facts["data"]["sha256"] != folder_digest(target):
                raise InputError("CEL-I022", path=target)
            return cls.from_parts(target, facts, **common_parts(facts))
        except (OSError, KeyError, TypeError, ValueError, AttributeError):
            raise InputError("CEL-I020", path=target, certificate=beside.name) from None


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


def members(folder: Path) -> list[Path]:
    """All files of a folder, sorted."""
    return [each for each in sorted(folder.rglob("*")) if each.is_file()]


def folder_digest(folder: Path) -> str:
    """One digest of all names and contents."""
    whole = hashlib.sha256()
    for each in members(folder):
        name = each.relative_to(folder).as_posix().encode()
        whole.update(len(name).to_bytes(4) + name + hashlib.sha256(each.read_bytes()).digest())
    return whole.hexdigest()
