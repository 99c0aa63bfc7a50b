"""What a file is, by its name and by what the caller says, checked before it is opened."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, TypedDict, cast, get_args

from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean

Format = Literal["csv", "tsv", "parquet", "arrow", "jsonl", "excel"]
"""The kinds of file that can be read and written."""

SourceFormat = Literal[Format, "statistical", "sqlite", "database"]
"""What can be read: these files, those of statistical packages, and databases."""

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

STATISTICAL = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")
"""The endings of files of SPSS, Stata and SAS."""
_READ_ONLY: dict[str, SourceFormat] = {
    **dict.fromkeys(STATISTICAL, "statistical"),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), "sqlite"),
}

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


def source_format_of(source: str | Path, given: str | None = None) -> SourceFormat:
    """What is read: as `format_of`, and also files and databases that are never written.

    >>> source_format_of("survey.sav"), source_format_of("postgresql://host/census")
    ('statistical', 'database')
    """
    if is_address(source):
        return "database"
    known = _READ_ONLY.get(Path(source).suffix.lower())
    if given is None and known is not None:
        return known
    return (
        cast(SourceFormat, given)
        if given in ("statistical", "sqlite")
        else format_of(Path(source), given)
    )


def is_address(source: str | Path) -> bool:
    """Whether a source is the address of a database, and no file.

    >>> is_address("postgresql://host/census"), is_address("adbc+sqlite:people.db")
    (True, True)
    >>> is_address("people.db"), is_address(Path("people.db"))
    (False, False)
    """
    text = str(source)
    return isinstance(source, str) and ("://" in text or text.startswith("adbc+"))


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


Mark = Literal[".", ","]
"""What may stand before the decimals of a number."""

ColumnType = Literal["string", "integer", "decimal", "date"]
"""What a column of text can be declared to hold."""


class DialectKeywords(TypedDict, total=False):
    """What may be known of delimited text; the rest is found out."""

    delimiter: str | None
    encoding: str | None
    header: bool | None
    decimal: Mark | None


class ReadKeywords(DialectKeywords, total=False):
    """The keywords of `read` and `read_chunks`, for callers that pass them on."""

    format: SourceFormat | None
    types: Mapping[str, ColumnType] | None
    missing: Iterable[str]
    columns: Iterable[str] | None
    query: str | None
    codes: Iterable[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """The options of `read` and `read_chunks`; None means: find out."""

    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    decimal: Mark | None = None
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    missing: tuple[str, ...] = ("",)
    columns: tuple[str, ...] | None = None
    query: str | None = None
    codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise InputError("CEL-F021.delimiter")
        if self.encoding is not None and not _is_text_encoding(self.encoding):
            raise InputError("CEL-F021.encoding", encoding=self.encoding)
        if self.decimal is not None and self.decimal not in get_args(Mark):
            raise InputError("CEL-F021.decimal")
        if self.decimal == self.delimiter == ",":
            raise InputError("CEL-F021.comma")
        allowed = get_args(ColumnType)
        for name, wanted in self.types.items():
            if wanted not in allowed:
                raise InputError("CEL-F021.type", column=name, type=wanted, types=allowed)
        if self.columns is not None and len(set(self.columns)) < len(self.columns):
            raise InputError("CEL-F021.twice")

    def check_format(self, format: SourceFormat) -> None:
        """Refuse options that the format has no use for: they would be ignored in silence."""
        of_text = ("delimiter", "encoding", "header", "decimal")
        allowed = {
            "csv": of_text,
            "tsv": of_text,
            "excel": ("header",),
            "sqlite": ("query",),
            "database": ("query",),
            "statistical": ("codes",),
        }
        for name in (*of_text, "query", "codes"):
            if getattr(self, name) not in (None, ()) and name not in allowed.get(format, ()):
                raise InputError("CEL-F021.idle", option=name, format=format)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse options about columns that the file does not have."""
        wanted = [*(self.columns or ()), *self.types, *(name for name in self.codes if name != "*")]
        unknown = [name for name in dict.fromkeys(wanted) if name not in names]
        if unknown:
            raise _unknown_columns(unknown, names)

    def for_numbers(self, names: Sequence[str]) -> ReadOptions:
        """How to read all columns that may show the decimal mark, whatever columns are wanted.

        A column that is declared as something else says nothing about numbers: not even a private
        one, whose cells must decide nothing, and which is therefore declared as text.
        """
        kept = tuple(name for name in names if self.types.get(name, "decimal") == "decimal")
        return ReadOptions(missing=self.missing, columns=kept)


def names_in(given: str | Iterable[str]) -> tuple[str, ...]:
    """One name or several as a tuple: a lone text is not a sequence of letters here.

    >>> names_in("NA"), names_in(["", "NA"])
    (('NA',), ('', 'NA'))
    """
    return (given,) if isinstance(given, str) else tuple(given)


def _is_delimiter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text not in '"\r\n\0'


def _is_text_encoding(name: str) -> bool:
    try:
        codecs.lookup(name)
        "".encode(name)
    except LookupError:
        return False
    return True


def _unknown_columns(unknown: list[str], names: Sequence[str]) -> InputError:
    hinted = [
        Message("words.quoted", name=name, hint=did_you_mean(name, names)) for name in unknown
    ]
    return InputError("CEL-F022", hinted=hinted, names=", ".join(map(repr, names)), columns=unknown)
