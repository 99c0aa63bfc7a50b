"""How the bytes of a text file are to be read as characters, judged over the whole file."""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from celosia.core.errors import InputError
from celosia.frames.formats import empty, open_bytes, unreadable

_PIECE = 1 << 22
"""Bytes looked at in one go; bounds the memory needed for a file of any size."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, which say the encoding outright."""


@dataclass(frozen=True, slots=True)
class EncodingSurvey:
    """What one pass over the bytes of a text file has shown."""

    encoding: str
    quoted: bool
    """Whether there is a quotation mark anywhere."""


def survey(path: Path, encoding: str | None) -> EncodingSurvey | None:
    """What a file shows in the encoding given, or in the one that fits; None if the given does not.

    Tried are what a byte order mark says, UTF-8, and windows-1252, each over the whole file.
    """
    for candidate in (encoding,) if encoding else _candidates(path):
        found = _try(path, candidate, allow_zero=encoding is not None)
        if found is not None:
            return found
    if encoding is not None:
        return None
    raise InputError("CEL-F019", path=str(path))


def pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a file, decompressed, a few megabytes at a time."""
    damaged = False
    with open_bytes(path) as stream:
        while not damaged:
            try:
                piece = stream.read(_PIECE)
            except (OSError, EOFError, zlib.error):
                damaged, piece = True, b""
            if not piece:
                break
            yield piece
    if damaged:
        raise unreadable("CEL-F014.gzip", path)


def open_text(path: Path, encoding: str, *, errors: str = "strict") -> TextIO:
    """The characters of a file with its line ends as they are."""
    return io.TextIOWrapper(open_bytes(path), encoding=codec(encoding), errors=errors, newline="")


def codec(encoding: str) -> str:
    """The Python codec for an encoding: a byte order mark before UTF-8 is never data.

    >>> codec("UTF8"), codec("windows-1252")
    ('utf-8-sig', 'cp1252')
    """
    name = codecs.lookup(encoding).name
    return "utf-8-sig" if name == "utf-8" else name


def _candidates(path: Path) -> tuple[str, ...]:
    start = next(pieces(path), b"")
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    return (marked,) if marked else ("utf-8", "windows-1252")


def _try(path: Path, encoding: str, *, allow_zero: bool) -> EncodingSurvey | None:
    """What a pass with one encoding shows; None if the bytes are not in it."""
    decoder = codecs.getincrementaldecoder(codec(encoding))()
    plain = codec(encoding) in {"utf-8-sig", "cp1252", "ascii", "iso8859-1"}
    quoted, blank = False, True
    try:
        for piece in pieces(path):
            # ASCII is the same in all of these, and much faster to recognise than to decode.
            skip = plain and piece.isascii() and not decoder.getstate()[0]
            text = "" if skip else decoder.decode(piece)
            if not allow_zero and (b"\0" in piece if skip else "\0" in text):
                return None
            quoted = quoted or (b'"' in piece if skip else '"' in text)
            blank = blank and not (piece.strip() if skip else text.strip())
        decoder.decode(b"", final=True)
    except UnicodeError:
        return None
    if blank:
        raise empty(path)
    return EncodingSurvey(encoding, quoted)
