"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from celosia.core.errors import InputError


def check_writable(path: Path, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a path that could not be written at its end."""
    if path.is_dir():
        raise InputError("CEL-I003", path=str(path))
    if path.exists() and not overwrite:
        raise InputError("CEL-I004", path=str(path))
    if not path.parent.is_dir():
        raise InputError("CEL-I005.folder", folder=path.parent, path=str(path))


def read_toml(source: Path, unreadable: str, not_toml: str) -> dict[str, Any]:
    """What a TOML file has.

    Args:
        source: the file.
        unreadable: the error if it cannot be read; its fields are `source` and `strerror`.
        not_toml: the error if it is no TOML; its fields are `source` and `error`.

    Raises:
        InputError: one of the two.
    """
    try:
        return tomllib.loads(source.read_text("utf-8-sig"))  # Windows adds a mark
    except OSError as error:
        raise InputError(unreadable, source=source, strerror=error.strerror) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(not_toml, source=source, error=error) from error


@contextmanager
def replacing(path: Path, *, overwrite: bool = True, secret: bool = False) -> Iterator[Path]:
    """A temporary path beside `path` that takes its name if the block ends well.

    On an error, Ctrl-C included, the temporary file goes and `path` stays as it was. A secret file
    can be read by its owner only, from its first byte on.
    """
    check_writable(path, overwrite=overwrite)
    # The suffixes are kept because writers choose their format by them. The name is chosen before
    # the file is made: so there is no moment in which a Ctrl-C could leave the file behind.
    stem, suffixes = path.name.split(".")[0], "".join(path.suffixes)
    draft = path.with_name(f".{stem}-{token_hex(8)}{suffixes}")
    try:
        draft.touch(mode=0o600, exist_ok=False)
        yield draft
        if not secret:
            # A draft is private; the result gets what the user's umask gives any new file.
            umask = os.umask(0)
            os.umask(umask)
            draft.chmod(0o666 & ~umask)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
