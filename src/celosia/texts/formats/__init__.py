"""Formats of documents: each is read into pieces of text, and written anew from pieces.

`open_file` reads a file into a `FileContent`: the pieces of each document in it, what was left out
and counted, and a function that writes the file anew from other texts. Nothing of the original
bytes is copied: what is not a piece is not in the new file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from celosia.core.errors import InputError

Texts = Sequence[Sequence[str]]
"""For each document of a file the text of each of its pieces."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that is written back by itself."""

    text: str = field(repr=False)
    label: str = ""
    """The column, the key or the attribute that it is the value of."""
    glue: str = "\n"
    """What stands before it in the document's text: nothing within a line."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file holds."""

    documents: tuple[tuple[Piece, ...], ...] = field(repr=False)
    rebuild: Callable[[Texts], bytes] = field(repr=False)
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Counts of what is not in the new file, by what it is."""
    names: tuple[str, ...] = field(default=(), repr=False)
    """Keys and column names: they stay as they are, so they are scanned and reported."""


SUFFIXES = {
    ".txt": "plain",
    ".text": "plain",
    ".md": "plain",
    ".markdown": "plain",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".json": "structured",
    ".jsonl": "structured",
    ".ndjson": "structured",
    ".csv": "structured",
    ".tsv": "structured",
    ".docx": "docx",
    ".docm": "docx",
    ".pdf": "pdf",
}
"""The module of each ending."""

IMAGES = frozenset((".jpg", ".jpeg", ".png", ".gif", ".tif", ".tiff", ".bmp", ".webp", ".heic"))

WRITTEN_AS = {".docm": ".docx", ".htm": ".html", ".xhtml": ".html", ".text": ".txt"}
"""Endings that change, because what they stand for is not written."""

LARGEST = 1 << 28
"""Bytes of a file, also after it is unpacked: larger ones are refused."""


def is_known(path: Path) -> bool:
    """Whether the ending of a file is one of a document."""
    return path.suffix.lower() in SUFFIXES


def open_file(path: Path) -> FileContent:
    """Read a file by its ending.

    Raises:
        InputError: CEL-N002 a format that is not read; CEL-N003 a file that cannot be read.
        EngineError: CEL-N004 the extra `documents` is not installed.
    """
    suffix = path.suffix.lower()
    if suffix in IMAGES:
        raise InputError("CEL-N002.image", name=suffix)
    if suffix not in SUFFIXES:
        raise InputError("CEL-N002", name=suffix or "-", known=sorted(SUFFIXES))
    if path.is_symlink():
        raise InputError("CEL-N003.link")
    try:
        if path.stat().st_size > LARGEST:
            raise InputError("CEL-N003.large", most=LARGEST >> 20)
        content = path.read_bytes()
    except OSError:
        raise InputError("CEL-N003.unreadable") from None
    if not content.strip():
        raise InputError("CEL-N003.empty")
    return parse(content, suffix)


def parse(content: bytes, suffix: str) -> FileContent:
    """The content of a file of a format, by its ending."""
    module = import_module(f"celosia.texts.formats.{SUFFIXES[suffix]}")
    found: FileContent = module.parse(content, suffix)
    # JSON, HTML and PDF can name half of a character, which no file can be written with.
    texts = [piece.text for pieces in found.documents for piece in pieces]
    halves = sum(not _is_whole(text) for text in (*texts, *found.names))
    if halves:
        raise InputError("CEL-N003.halves", count=halves)
    return found


def _is_whole(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in text)


def decode(content: bytes) -> str:
    """The text of bytes: UTF-8, or UTF-16 with its mark.

    Raises:
        InputError: CEL-N003 another encoding, or no text at all.
    """
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig"
        if b"\x00" in content:
            raise InputError("CEL-N003.binary")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError("CEL-N003.encoding", byte=error.start) from None
    if not _is_whole(text):
        raise InputError("CEL-N003.encoding", byte=0)
    return text
