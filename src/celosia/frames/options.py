"""What the caller says about a file, checked before the file is opened."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean
from celosia.frames.decimal_marks import Mark
from celosia.frames.formats import Format

ColumnType = Literal["string", "integer", "decimal", "date"]
"""What a column of text can be declared to hold."""


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
            raise _wrong("the delimiter must be one ASCII character, no quote and no line end.")
        if self.encoding is not None and not _is_text_encoding(self.encoding):
            raise _wrong(f"encoding {self.encoding!r} is not known.", fix="Try 'utf-8'.")
        if self.decimal is not None and self.decimal not in get_args(Mark):
            raise _wrong("the decimal mark must be a point or a comma.", fix="Write '.' or ','.")
        if self.decimal == self.delimiter == ",":
            raise _wrong(
                "a comma cannot be both the delimiter and the decimal mark.",
                fix="Give the delimiter that the file has, or leave it out to have it found.",
            )
        allowed = get_args(ColumnType)
        for name, wanted in self.types.items():
            if wanted not in allowed:
                raise _wrong(
                    f"column {name!r}: type {wanted!r} is not known.",
                    fix=f"Choose one of: {', '.join(allowed)}.",
                )
        if self.columns is not None and len(set(self.columns)) < len(self.columns):
            raise _wrong("a column is asked for twice.", fix="Name each column once.")

    def check_format(self, format: Format) -> None:
        """Refuse options that the format has no use for: they would be ignored in silence."""
        of_text = ("delimiter", "encoding", "header", "decimal")
        allowed = {"csv": of_text, "tsv": of_text, "excel": ("header",)}
        for name in of_text:
            if getattr(self, name) is not None and name not in allowed.get(format, ()):
                raise _wrong(f"{name!r} means nothing for a {format} file.", fix="Leave it out.")

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


def _wrong(what: str, *, fix: str = "") -> InputError:
    return InputError("CEL-F021", what, fix=fix)


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
    hinted = [f"{name!r}{did_you_mean(name, names)}" for name in unknown]
    return InputError(
        "CEL-F022", hinted=", ".join(hinted), names=", ".join(map(repr, names)), columns=unknown
    )
