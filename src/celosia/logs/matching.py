"""A published file as a log again, so that it can be compared with its original."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from celosia import frames
from celosia.core.errors import InputError
from celosia.logs.declaration import ROLES, LogDeclaration
from celosia.logs.log import Log


def open_release(path: str | Path, declaration: LogDeclaration) -> Log:
    """The records of a published file, with those declared columns that it still has.

    Whose record is whose is not in it: attacks count who is unique, not who is found.

    Raises:
        InputError: CEL-U046 it has none of the declared columns; CEL-F... it cannot be read.
    """
    file = Path(path)
    frame = frames.read(file)
    gone = {
        role: None
        for role in ROLES
        if (name := getattr(declaration, role)) is not None and name not in frame.columns
    }
    if len(gone) == len(declaration.columns):
        raise InputError("CEL-U046", path=str(file))
    kept = tuple(name for name in declaration.keep if name in frame.columns)
    found = replace(declaration, keep=kept, **gone)  # type: ignore[arg-type]
    texts = [name for role, name in found.columns.items() if role not in ("time", "bytes")]
    return Log(frame.with_columns(pl.col(texts).cast(pl.String)), found)
