"""Which kind of file a name means, and whether there is one to read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO, Literal, cast, get_args

from celosia.core.errors import InputError
from celosia.core.messages import Message

Format = Literal["csv", "tsv", "parquet", "arrow", "jsonl", "excel"]
"""The kinds of file that can be read and written."""

SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "excel",
}
"""What each ending of a file name means; `.gz` may follow those of text."""

_GZIP_MAGIC = b"\x1f\x8b"


def format_of(path: Path, given: str | None = None) -> Format:
    """The format of a file: the one given, else what its name says.

    >>> format_of(Path("census.csv.gz")), format_of(Path("census"), "parquet")
    ('csv', 'parquet')
    """
    if given is not None:
        if given not in get_args(Format):
            raise InputError("CEL-F012.format", formats=get_args(Format), format=given)
        return cast(Format, given)
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    known = SUFFIXES.get(name.suffix.lower())
    if known is None:
        raise InputError(
            "CEL-F012.suffix",
            suffix=name.suffix or Message("words.none"),
            suffixes=list(SUFFIXES),
            path=str(path),
        )
    return known


def check_readable(path: Path) -> None:
    """Refuse a path that is missing, a folder, not ours to read, or empty."""
    if path.is_dir():
        raise InputError("CEL-F011", path=str(path))
    if not path.exists():
        raise InputError("CEL-F010", path=str(path))
    try:
        with path.open("rb") as stream:
            first = stream.read(1)
    except OSError:
        first = None
    if first is None:
        raise unreadable("CEL-F014.closed", path)
    if not first:
        raise empty(path)


def unreadable(key: str, path: Path, **fields: object) -> InputError:
    """The error for a file that exists but cannot be taken in, by its key of the catalogue."""
    return InputError(key, path=str(path), **fields)


def empty(path: Path) -> InputError:
    """The error for a file without a single row or name."""
    return InputError("CEL-F013", path=str(path))


def is_gzip(path: Path) -> bool:
    """Whether the file is compressed, whatever its name says."""
    with path.open("rb") as stream:
        return stream.read(2) == _GZIP_MAGIC


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file, decompressed on the way if need be."""
    return cast(IO[bytes], gzip.open(path, "rb")) if is_gzip(path) else path.open("rb")
