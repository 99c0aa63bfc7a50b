"""How a schema file writes a hierarchy: `[columns.NAME.hierarchy]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celosia.core.errors import InputError
from celosia.core.methods import by_name, method_from_dict
from celosia.core.notation import method_from_text
from celosia.core.wording import quoted_names
from celosia.tables.hierarchies.automatic import Automatic
from celosia.tables.hierarchies.csv_file import read_hierarchy
from celosia.tables.hierarchies.dates import Dates
from celosia.tables.hierarchies.hierarchy import Builder, Hierarchy
from celosia.tables.hierarchies.intervals import Intervals
from celosia.tables.hierarchies.mask import Mask
from celosia.tables.hierarchies.ordered import Ordered
from celosia.tables.hierarchies.tree import Tree

BUILDERS: Mapping[str, type[Builder]] = by_name(Automatic, Dates, Intervals, Mask, Ordered, Tree)
"""The builders by their name in a schema file; the keys of each are its parameters."""

FILE_KEYS = ("file", "delimiter", "encoding")


def builder_from_text(text: str) -> Builder:
    """A rule in the notation of the command line: NAME, or NAME:VALUE,...,KEY=VALUE,...

    >>> builder_from_text("dates:levels=[month, year]")
    Dates(levels=('month', 'year'), format=None, century=None)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return method_from_text(BUILDERS, text, what="hierarchy")


def from_table(table: Mapping[str, Any], *, folder: Path) -> Hierarchy | Builder:
    """The hierarchy of a file, or the rule that will build one; `as_dict` is the inverse.

    Args:
        table: `{file = "age.csv"}`, or `{method = "intervals", ...}` with the builder's parameters.
        folder: where the schema lies; the names of files are relative to it.

    Raises:
        InputError: CEL-H060 neither or both of file and method, or a key of a file that is no
            text; CEL-H062 a key that files do not have; as `core.methods.method_from_dict` says.

    >>> from_table({"method": "mask", "levels": [1, 2, 3]}, folder=Path())
    Mask(direction='right', character='*', levels=(1, 2, 3))
    """
    if not isinstance(table, Mapping) or ("file" in table) == ("method" in table):
        raise InputError("CEL-H060.file_or_method", known=list(BUILDERS))
    if "file" in table:
        return _from_file(table, folder)
    return method_from_dict(BUILDERS, table, what="hierarchy")


def _from_file(table: Mapping[str, Any], folder: Path) -> Hierarchy:
    unknown = [str(key) for key in table if key not in FILE_KEYS]
    if unknown:
        names = quoted_names(unknown, FILE_KEYS)
        raise InputError("CEL-H062.file", names=names, allowed=list(FILE_KEYS), keys=unknown)
    for key in FILE_KEYS:
        if key in table and (not isinstance(table[key], str) or not table[key]):
            raise InputError("CEL-H060.no_text", key=key)
    return read_hierarchy(
        folder / table["file"],
        delimiter=table.get("delimiter"),
        encoding=table.get("encoding"),
    )
