"""What the caller says about a file, checked before the file is opened."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict, get_args

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.wording import did_you_mean
from celosia.frames.decimal_marks import Mark
from celosia.frames.formats import Format

ColumnType = Literal["string", "integer", "decimal", "date"]
"""What a column of text can be declared to hold."""


class ReadKeywords(TypedDict, total=False):
    """The keywords of `read` and `read_chunks`, for callers that pass them on."""

    format: Format | None
    delimiter: str | None
    encoding: str | None
    header: bool | None
    decimal: Mark | None
    types: Mapping[str, ColumnType] | None
    missing: Iterable[str]
    columns: Iterable[str] | None


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

    def check_format(self, format: Format) -> None:
        """Refuse options that the format has no use for: they would be ignored in silence."""
        of_text = ("delimiter", "encoding", "header", "decimal")
        allowed = {"csv": of_text, "tsv": of_text, "excel": ("header",)}
        for name in of_text:
            if getattr(self, name) is not None and name not in allowed.get(format, ()):
                raise InputError("CEL-F021.idle", option=name, format=format)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse options about columns that the file does not have."""
        wanted = [*(self.columns or ()), *self.types]
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
