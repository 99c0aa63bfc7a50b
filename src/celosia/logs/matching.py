"""A published file as a log or as sets again, so that it can be compared with its original."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl

from celosia import frames
from celosia.core.errors import InputError
from celosia.logs.declaration import ROLES, LogDeclaration
from celosia.logs.log import Log
from celosia.logs.method import SetContext
from celosia.logs.sets.disassociation import DisassociatedSets
from celosia.logs.sets.item_tree import chains_of
from celosia.logs.sets.transactions import Transactions


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
        raise InputError("CEL-U046.columns", path=str(file))
    kept = tuple(name for name in declaration.keep if name in frame.columns)
    found = replace(declaration, keep=kept, **gone)  # type: ignore[arg-type]
    texts = [name for role, name in found.columns.items() if role not in ("time", "bytes")]
    return Log(frame.with_columns(pl.col(texts).cast(pl.String)), found)


def read_set_release(path: Path) -> Transactions | DisassociatedSets:
    """Published sets of a file: lines, or the clusters of disassociated records as JSON.

    Raises:
        InputError: CEL-U046 it cannot be read as such.
    """
    try:
        text = path.read_text("utf-8")
        if path.suffix.lower() == ".json":
            return DisassociatedSets.from_dict(json.loads(text))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise InputError("CEL-U046.sets", path=str(path)) from None
    return Transactions.of(line.split("\t") if line else [] for line in text.split("\n")[:-1])


def open_set_release(
    path: str | Path, original: Transactions, context: SetContext
) -> Transactions | DisassociatedSets:
    """Published sets, whose labels are items of the original or groups of them.

    Raises:
        InputError: CEL-U046 they are not of this original, or cannot be read.
    """
    file = Path(path)
    made = read_set_release(file)
    known = set(original.labels)
    chains = chains_of(context.tree)
    for label in original.labels:
        known.update(name for name, _ in chains.get(label, ()))
    if isinstance(made, DisassociatedSets):
        found = {item for chunk in made.chunks() for row in chunk for item in row}
        found.update(item for cluster in made.clusters for item in cluster.terms)
    else:
        found = set(made.labels)
    if strange := len(found - known):
        raise InputError("CEL-U046.items", path=str(file), count=strange)
    return made
