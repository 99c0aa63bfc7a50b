"""How hierarchies are written: files of their own (CSV), and `[columns.NAME.hierarchy]`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.messages import Message, quoted_names
from celosia.core.methods import by_name, method_from_dict
from celosia.core.notation import method_from_text
from celosia.tables.hierarchies.automatic import Automatic
from celosia.tables.hierarchies.classification import Classification
from celosia.tables.hierarchies.coordinates import Coordinates
from celosia.tables.hierarchies.dates import Dates
from celosia.tables.hierarchies.hierarchy import Builder, Hierarchy, Tree
from celosia.tables.hierarchies.intervals import Intervals
from celosia.tables.hierarchies.mask import Mask
from celosia.tables.hierarchies.ordered import Ordered

DELIMITERS = (";", ",", "\t")
"""What is tried, in this order, when the delimiter is not given; the first is ARX's."""

Rows = list[tuple[int, list[str]]]
"""Records with the line of the file where they begin."""


def read_hierarchy(
    path: str | Path, *, delimiter: str | None = None, encoding: str | None = None
) -> Hierarchy:
    r"""The hierarchy in a CSV file; messages name the row of the file.

    Blank lines are skipped, and so are rows whose cells are all blank. A row that repeats an
    earlier one in every cell is left out, and listed in `Hierarchy.repeated`.

    Args:
        path: the file.
        delimiter: by default the first of ';', ',' and tab that gives all rows the same number of
            columns, at least two.
        encoding: by default UTF-8 (with or without a byte-order mark), else windows-1252.

    Raises:
        InputError: CEL-H011 no such file, CEL-H012 encoding, CEL-H013 broken quotes, CEL-H014
            delimiter, CEL-H001 to CEL-H005 a table that is no hierarchy.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sex.csv"
    >>> _ = path.write_text("Male;*\nFemale;*\n")
    >>> read_hierarchy(path)
    Hierarchy(2 leaves, 2 levels)
    """
    path = Path(path)
    if delimiter is not None:
        _check_delimiter(delimiter)
    text = _decode(path, encoding)
    rows, repeated = _once(_parse(path, text, delimiter or _sniff(text)))
    try:
        found = Hierarchy.from_paths([row for _, row in rows], rows=[number for number, _ in rows])
        return replace(found, repeated=repeated)
    except InputError as error:  # the same error, with the file it is about
        error.details = {**error.details, "path": str(path)}
        raise error.within(str(path)) from None


def write_hierarchy(hierarchy: Hierarchy, path: str | Path, *, delimiter: str = ";") -> Path:
    """Write a hierarchy so that `read_hierarchy` gives it back, whole or not at all."""
    _check_delimiter(delimiter)
    # Between quotes nothing inside a label can be taken for a delimiter or the end of a line.
    risky = delimiter != DELIMITERS[0] or any(
        "\r" in label for level in hierarchy.labels for label in level
    )
    with (
        replacing(Path(path)) as draft,
        draft.open("w", encoding="utf-8", newline="") as stream,
    ):
        writer = csv.writer(
            stream,
            delimiter=delimiter,
            quoting=csv.QUOTE_ALL if risky else csv.QUOTE_MINIMAL,
            lineterminator="\n",
        )
        writer.writerows(hierarchy.paths())
    return Path(path)


def _decode(path: Path, encoding: str | None) -> str:
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or Message("tables.not_a_file_name")
        raise InputError("CEL-H011", path=str(path), reason=reason) from error
    for guess in (encoding,) if encoding else ("utf-8-sig", "windows-1252"):
        try:
            return content.decode(guess)
        except (ValueError, LookupError):  # not this encoding; no such encoding
            continue
    if encoding is None:
        raise InputError("CEL-H012.guessed", path=str(path))
    raise InputError("CEL-H012.given", path=str(path), encoding=encoding)


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    # Strict: an open quote would otherwise swallow the rest of the file without a word.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begin = 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield begin, row
        begin = reader.line_num + 1


def _sniff(text: str) -> str:
    widths: dict[str, int] = {}
    for delimiter in DELIMITERS:
        try:
            found = {len(row) for _, row in _records(text, delimiter)}
        except csv.Error:
            continue
        if len(found) == 1 and found != {1}:
            return delimiter
        widths[delimiter] = max(found, default=0)
    # Ragged whatever we do: the delimiter that cuts most gives the most helpful message.
    return max(widths, key=widths.__getitem__, default=DELIMITERS[0])


def _parse(path: Path, text: str, delimiter: str) -> Rows:
    rows: Rows = []
    try:
        for record in _records(text, delimiter):
            rows.append(record)  # one by one: what was read stays known when a quote breaks
    except csv.Error as error:
        if not rows:
            raise InputError("CEL-H013.at_beginning", path=str(path)) from error
        raise InputError("CEL-H013.after_row", path=str(path), row=rows[-1][0]) from error
    return rows


def _once(rows: Rows) -> tuple[Rows, tuple[int, ...]]:
    """Each record once, and the lines of those that say the same again."""
    seen: set[tuple[str, ...]] = set()
    kept: Rows = []
    repeated = []
    for number, row in rows:
        if tuple(row) in seen:
            repeated.append(number)
        else:
            seen.add(tuple(row))
            kept.append((number, row))
    return kept, tuple(repeated)


def _check_delimiter(delimiter: object) -> None:
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError("CEL-H014")


BUILDERS: Mapping[str, type[Builder]] = by_name(
    Automatic, Classification, Coordinates, Dates, Intervals, Mask, Ordered, Tree
)
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
