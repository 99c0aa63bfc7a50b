"""PDF: the text is extracted, and a new file is written with that text and nothing else.

A black bar over text hides nothing, and old revisions, metadata and annotations stay in a file that
is changed. So no object of the original is copied: no stream, no font, no image, no outline, no
form, no attachment. Pages without text are images and are refused.
"""

from __future__ import annotations

import io
import logging
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from celosia.core.errors import EngineError, InputError
from celosia.texts.formats import LARGEST, FileContent, Piece, Texts

LINES, COLUMNS = 60, 92
"""Of a page of the new file, in a font of fixed width."""

_UNREADABLE = 0.05
"""The share of characters without a letter from which on a file is refused."""


def parse(content: bytes, suffix: str) -> FileContent:
    """The text of each page, and a new file for it."""
    del suffix
    left_out = _hidden(content)
    pages = _page_texts(content)
    marks = _check_letters(pages)
    if marks:
        left_out["marks"] = marks

    def rebuild(texts: Texts) -> bytes:
        return write_pages(texts[0])[0]

    return FileContent((tuple(Piece(page) for page in pages),), rebuild, left_out)


def _check_letters(pages: Iterable[str]) -> int:
    """Refuse letters that the font of the new file lacks; count other marks that it lacks.

    Raises:
        InputError: CEL-N003 there are such letters: the new file could not be read.
    """
    lost = Counter(
        mark for page in pages for mark in page if _written(mark) == b"?" != mark.encode()
    )
    letters = sum(count for mark, count in lost.items() if mark.isalnum())
    if letters:
        raise InputError("CEL-N003.letters", letters=letters)
    return lost.total()


def _pikepdf() -> Any:
    try:
        import pikepdf
    except ImportError:
        raise EngineError("CEL-N004", name="pikepdf") from None
    return pikepdf


def _reader(content: bytes) -> Any:
    try:
        from pypdf import PdfReader
    except ImportError:
        raise EngineError("CEL-N004", name="pypdf") from None
    # It writes what it finds odd to a log, which may name parts of the file.
    logging.getLogger("pypdf").disabled = True
    return PdfReader(io.BytesIO(content))


def _hidden(content: bytes) -> dict[str, int]:
    """Counts of what a file holds besides the text of its pages.

    Raises:
        InputError: CEL-N003 it is encrypted, signed or damaged.
    """
    pikepdf = _pikepdf()
    found: Counter[str] = Counter()
    try:
        with pikepdf.open(io.BytesIO(content)) as file:
            if file.is_encrypted:
                raise InputError("CEL-N003.encrypted")
            root = file.Root
            forms = root.get("/AcroForm")
            if forms is not None:
                names = list(forms.get("/Fields", []))
                found["fields"] += len(names)
                if any(str(each.get("/FT", "")) == "/Sig" for each in names):
                    raise InputError("CEL-N003.signed")
            found["metadata"] += ("/Metadata" in root) + len(file.trailer.get("/Info", {}))
            found["outlines"] += "/Outlines" in root
            found["attachments"] += len(file.attachments)
            for page in file.pages:
                found["annotations"] += len(page.obj.get("/Annots", []))
                drawn = page.obj.get("/Resources", {}).get("/XObject", {})
                found["images"] += len(drawn)
    except pikepdf.PasswordError:
        raise InputError("CEL-N003.encrypted") from None
    except (pikepdf.PdfError, ValueError, TypeError):
        raise InputError("CEL-N003.damaged") from None
    return {name: count for name, count in found.items() if count}


def _page_texts(content: bytes) -> list[str]:
    """The text of each page.

    Raises:
        InputError: CEL-N003 pages without text, or with letters that no font maps.
    """
    try:
        pages = [str(page.extract_text()) for page in _reader(content).pages]
    except EngineError:
        raise
    except Exception:
        raise InputError("CEL-N003.damaged") from None
    empty = sum(not page.strip() for page in pages)
    if empty or not pages:
        raise InputError("CEL-N003.scanned", pages=empty)
    text = "".join(pages)
    if len(text) > LARGEST:
        raise InputError("CEL-N003.large", most=LARGEST >> 20)
    unreadable = sum(mark == "\ufffd" or "\ue000" <= mark <= "\uf8ff" for mark in text)
    unreadable += 5 * text.count("(cid:")
    if unreadable > _UNREADABLE * len(text):
        raise InputError("CEL-N003.fonts", share=unreadable / len(text))
    return pages


def write_pages(texts: Sequence[str]) -> tuple[bytes, int]:
    """A new file with these texts, each from a new page on, and how many characters it lacks.

    The font has the letters of Western European languages; others are written as `?`, so `parse`
    refuses a file that has them.
    """
    pikepdf = _pikepdf()
    missing = 0
    with pikepdf.new() as file:
        font = file.make_indirect(
            pikepdf.Dictionary(
                Type=pikepdf.Name.Font,
                Subtype=pikepdf.Name.Type1,
                BaseFont=pikepdf.Name.Courier,
                Encoding=pikepdf.Name.WinAnsiEncoding,
            )
        )
        for lines in _pages(texts):
            stream = [b"BT /F1 9 Tf 11.5 TL 50 780 Td"]
            for line in lines:
                shown, lost = _encoded(line)
                missing += lost
                stream.append(b"(" + shown + b") Tj T*")
            stream.append(b"ET")
            page = pikepdf.Dictionary(
                Type=pikepdf.Name.Page,
                MediaBox=[0, 0, 595, 842],
                Resources=pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font)),
                Contents=file.make_stream(b"\n".join(stream)),
            )
            file.pages.append(pikepdf.Page(file.make_indirect(page)))
        made = io.BytesIO()
        file.save(made, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.disable)
    return made.getvalue(), missing


def _pages(texts: Iterable[str]) -> Iterator[list[str]]:
    for text in texts:
        lines: list[str] = []
        for line in text.expandtabs(4).splitlines() or [""]:
            lines += [each.rstrip() for each in _wrapped(line)] or [""]
        for at in range(0, len(lines), LINES):
            yield lines[at : at + LINES]


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, COLUMNS, drop_whitespace=False)


_LOOKALIKES = str.maketrans(
    {"█": "•", "\u2212": "-", "\u2010": "-", "\u2011": "-", "≤": "<=", "≥": ">=", "→": "->"}
)


def _written(text: str) -> bytes:
    """A text in the letters of the font: ligatures taken apart, what it lacks as `?`."""
    plain = text.translate(_LOOKALIKES)
    if not plain.isascii():
        plain = "".join(
            mark
            if mark.encode("cp1252", "replace") != b"?"
            else unicodedata.normalize("NFKC", mark)
            for mark in unicodedata.normalize("NFC", plain)
        )
    return plain.encode("cp1252", "replace")


def _encoded(line: str) -> tuple[bytes, int]:
    written = _written(line)
    lost = written.count(b"?") - line.count("?")
    escaped = written.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return escaped, max(0, lost)


def inflated(content: bytes) -> Iterator[bytes]:
    """Every stream of a file, unpacked, and every text object: for the verification pass."""
    pikepdf = _pikepdf()
    with pikepdf.open(io.BytesIO(content)) as file:
        for each in file.objects:
            if isinstance(each, pikepdf.Stream):
                try:
                    yield each.read_bytes()
                except pikepdf.PdfError:
                    yield each.read_raw_bytes()
            yield from _strings(each, 0)


def _strings(value: Any, depth: int) -> Iterator[bytes]:
    pikepdf = _pikepdf()
    if depth > 20:
        return
    if isinstance(value, pikepdf.String):
        yield bytes(value)
    elif isinstance(value, pikepdf.Array):
        for each in value:
            yield from _strings(each, depth + 1)
    elif isinstance(value, pikepdf.Dictionary | pikepdf.Stream):
        for each in value.values():
            if not getattr(each, "is_indirect", False):
                yield from _strings(each, depth + 1)


def shown_text(content: bytes) -> str:
    """The text that a reader shows, whose lines are joined: a name may be split over two."""
    pages = _reader(content).pages
    return "\n".join(" ".join(page.extract_text().split()) for page in pages)
