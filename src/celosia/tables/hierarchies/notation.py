"""How a schema file writes a hierarchy: `[columns.NAME.hierarchy]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.wording import did_you_mean
from celosia.tables.hierarchies._parameters import wrong
from celosia.tables.hierarchies.automatic import Automatic
from celosia.tables.hierarchies.builder import Builder
from celosia.tables.hierarchies.csv_file import read_hierarchy
from celosia.tables.hierarchies.dates import Dates
from celosia.tables.hierarchies.hierarchy import Hierarchy
from celosia.tables.hierarchies.intervals import Intervals
from celosia.tables.hierarchies.mask import Mask
from celosia.tables.hierarchies.ordered import Ordered
from celosia.tables.hierarchies.tree import Tree
from celosia.tables.schema_checks import suggested

KINDS: dict[str, type[Any]] = {
    "automatic": Automatic,
    "dates": Dates,
    "intervals": Intervals,
    "mask": Mask,
    "ordered": Ordered,
    "tree": Tree,
}
"""The builders by their name in a schema file; the keys of each are its parameters."""

FILE_KEYS = ("file", "delimiter", "encoding")


def from_table(table: Mapping[str, Any], *, folder: Path) -> Hierarchy | Builder:
    """The hierarchy of a file, or the rule that will build one; `as_table` is the inverse.

    Args:
        table: `{file = "age.csv"}`, or `{kind = "intervals", ...}` with the builder's parameters.
        folder: where the schema lies; the names of files are relative to it.

    Raises:
        InputError: CEL-H060 neither or both of file and kind, CEL-H061 unknown kind, CEL-H062
            unknown key, CEL-H020 and others for what a key holds.

    >>> from_table({"kind": "mask", "levels": [1, 2, 3]}, folder=Path())
    Mask(direction='right', character='*', levels=(1, 2, 3))
    """
    if not isinstance(table, Mapping) or ("file" in table) == ("kind" in table):
        raise InputError("CEL-H060", kinds=", ".join(KINDS))
    if "file" in table:
        return _from_file(table, folder)
    kind = table["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(
            "CEL-H061",
            kind=str(kind),
            hint=did_you_mean(kind, list(KINDS)),
            kinds=", ".join(KINDS),
        )
    builder = KINDS[kind]
    allowed = tuple(field.name for field in fields(builder))
    _check_keys(table, ("kind", *allowed), kind)
    made: Builder = builder(**{key: value for key, value in table.items() if key != "kind"})
    return made


def _from_file(table: Mapping[str, Any], folder: Path) -> Hierarchy:
    _check_keys(table, FILE_KEYS, "file")
    for key in FILE_KEYS:
        if key in table and (not isinstance(table[key], str) or not table[key]):
            raise wrong("file", key, Message("tables.must_be.a_text"))
    return read_hierarchy(
        folder / table["file"],
        delimiter=table.get("delimiter"),
        encoding=table.get("encoding"),
    )


def _check_keys(table: Mapping[str, Any], allowed: tuple[str, ...], kind: str) -> None:
    unknown = [str(key) for key in table if key not in allowed]
    if unknown:
        raise InputError(
            "CEL-H062.unknown_key",
            kind=kind,
            names=[suggested(key, allowed) for key in unknown],
            allowed=list(allowed),
            keys=unknown,
        )
