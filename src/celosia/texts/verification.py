"""The verification pass: open what was written with other eyes, and look for what was removed.

Every file is searched as raw bytes, every packed member and every stream of it unpacked, in several
encodings. A hit withdraws the release: it says the kind and the place, never the text.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from celosia.core.errors import InputError, PrivacyError
from celosia.core.methods import PlainValues, derived

if TYPE_CHECKING:
    from celosia.texts.detection.run import FoundTexts
    from celosia.texts.release import TextRelease

SHORTEST = 4
"""Characters of a removed text that is looked for: shorter ones stand in any file."""

_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Leak(PlainValues):
    """A removed text that is still there: where, of which kind, and in which layer of the file."""

    file: str
    kind: str
    layer: str


class StringSearch:
    """Looks for many byte strings in one pass (Aho & Corasick 1975)."""

    def __init__(self, patterns: Mapping[bytes, Any]) -> None:
        self._values = list(patterns.items())
        self._next: list[dict[int, int]] = [{}]
        self._found: list[tuple[int, ...]] = [()]
        for number, (pattern, _) in enumerate(self._values):
            state = 0
            for byte in pattern:
                if byte not in self._next[state]:
                    self._next[state][byte] = len(self._next)
                    self._next.append({})
                    self._found.append(())
                state = self._next[state][byte]
            self._found[state] += (number,)
        self._fail = [0] * len(self._next)
        waiting = deque(self._next[0].values())
        while waiting:
            state = waiting.popleft()
            for byte, child in self._next[state].items():
                back = self._fail[state]
                while back and byte not in self._next[back]:
                    back = self._fail[back]
                self._fail[child] = self._next[back].get(byte, 0)
                self._found[child] += self._found[self._fail[child]]
                waiting.append(child)

    def find(self, content: bytes) -> Iterator[tuple[int, int, Any]]:
        """Start, end and value of every occurrence."""
        state = 0
        following, fail, found = self._next, self._fail, self._found
        for place, byte in enumerate(content):
            while state and byte not in following[state]:
                state = fail[state]
            state = following[state].get(byte, 0)
            for number in found[state]:
                pattern, value = self._values[number]
                yield place + 1 - len(pattern), place + 1, value


def removed_patterns(removed: Iterable[tuple[str, str]]) -> dict[bytes, tuple[str, bool]]:
    """The byte strings that each removed text may be left as, with its kind."""
    patterns: dict[bytes, tuple[str, bool]] = {}
    for text, kind in removed:
        if len(text) < SHORTEST:
            continue
        forms = {text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)}
        for form in forms:
            for encoding in ("utf-8", "utf-16-le", "utf-16-be", "latin-1"):
                try:
                    written = form.encode(encoding)
                except UnicodeEncodeError:
                    continue
                patterns.setdefault(written, (kind, encoding in ("utf-8", "latin-1")))
                patterns.setdefault(written.hex().encode(), (kind, False))
                patterns.setdefault(written.hex().upper().encode(), (kind, False))
            if len(form) >= 2 * SHORTEST:
                patterns.setdefault(form[::-1].encode("utf-8", "surrogatepass"), (kind, True))
    return patterns


def find_leaks(name: str, content: bytes, removed: Iterable[tuple[str, str]]) -> list[Leak]:
    """Removed texts that a file still holds.

    Args:
        name: of the file; it is text too.
        content: its bytes.
        removed: texts with their kinds.
    """
    patterns = removed_patterns(removed)
    if not patterns:
        return []
    search: StringSearch | None = None
    leaks: dict[Leak, None] = {}
    for layer, data in layers(name, content):
        if len(patterns) * len(data) < _FEW:
            found = _plain_search(patterns, data)
        else:
            search = search or StringSearch(patterns)
            found = search.find(data)
        for start, end, (kind, is_word) in found:
            if not is_word or not (_goes_on(data, start - 1) or _goes_on(data, end)):
                leaks[Leak(name, kind, layer)] = None
    return list(leaks)


_FEW = 1 << 28
"""Patterns times bytes up to which looking for one after the other is quicker."""


def _plain_search(patterns: Mapping[bytes, Any], data: bytes) -> Iterator[tuple[int, int, Any]]:
    for pattern, value in patterns.items():
        place = data.find(pattern)
        while place >= 0:
            yield place, place + len(pattern), value
            place = data.find(pattern, place + 1)


def _goes_on(data: bytes, place: int) -> bool:
    """Whether a letter or digit stands at a place, so that a match is a part of a longer word."""
    if not 0 <= place < len(data):
        return False
    byte = data[place]
    return chr(byte).isalnum() if byte < 0x80 else True


def layers(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Everything in a file that can be read: its name, its bytes, and what is packed in it."""
    yield "name", name.encode("utf-8", "surrogatepass")
    yield "bytes", content
    suffix = PurePath(name).suffix.lower()
    if content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                inside = archive.read(member)
                yield "packed member", member.filename.encode() + member.comment + member.extra
                yield "packed member", inside
                if member.filename.endswith(".xml"):
                    yield "text", _plain_xml(inside)
            yield "packed member", archive.comment
    elif content[:5] == b"%PDF-":
        for match in _STREAM.finditer(content):
            try:
                yield "stream", zlib.decompressobj().decompress(match.group(1))
            except zlib.error:
                continue
        from celosia.texts.formats.pdf import inflated, shown_text

        yield from (("stream", data) for data in inflated(content))
        yield "text", shown_text(content).encode("utf-8", "surrogatepass")
    elif suffix in (".txt", ".md", ".html", ".json", ".jsonl", ".csv", ".tsv"):
        text = content.decode("utf-8", "replace")
        yield "text", _SPACES.sub(" ", text).encode("utf-8", "surrogatepass")
        if suffix == ".html":
            from html import unescape

            yield "text", unescape(text).encode("utf-8", "surrogatepass")
        if suffix in (".json", ".jsonl"):
            yield "text", text.replace("\\n", " ").encode("utf-8", "surrogatepass")


def _plain_xml(content: bytes) -> bytes:
    """The text of XML without its tags: a name may be split over several of them."""
    from html import unescape

    return unescape(re.sub(rb"<[^>]*>", b"", content).decode("utf-8", "replace")).encode("utf-8")


def left_in_text(
    text: str, replaced: Sequence[tuple[int, int, str]], removed: Iterable[tuple[str, str]]
) -> list[str]:
    """The kinds of removed texts that stand elsewhere in the same text, as words of their own.

    Only what was left as it was is searched: a surrogate or a general term may well have words that
    another place lost.
    """
    kinds = []
    stretches, last = [], 0
    for start, end, _ in sorted(replaced):
        stretches.append(text[last:start])
        last = end
    rest = "\x00".join([*stretches, text[last:]])
    for wanted, kind in dict(removed).items():
        if len(wanted) >= SHORTEST and wanted in rest:
            pattern = rf"(?<![^\W_]){re.escape(wanted)}(?![^\W_])"
            if re.search(pattern, rest):
                kinds.append(kind)
    return kinds


@dataclass(frozen=True, slots=True)
class Verification(PlainValues):
    """What the pass looked at and found."""

    files: int
    texts: int
    """Removed texts that were looked for."""
    leaks: tuple[Leak, ...] = field(default=())

    @property
    @derived
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.leaks

    def require(self) -> Verification:
        """The same, or the withdrawal of the release.

        Raises:
            PrivacyError: CEL-N030 a removed text is still there.
        """
        if self.leaks:
            raise PrivacyError(
                "CEL-N030",
                leaks=len(self.leaks),
                kinds=sorted({each.kind for each in self.leaks}),
                layers=sorted({each.layer for each in self.leaks}),
            )
        return self


def verify_release(
    release: TextRelease, found: FoundTexts | None = None, *, fingerprint: str | None = None
) -> Verification:
    """Look once more for what must not be in published files.

    Args:
        release: a release that was loaded, so that its files are those of its certificate.
        found: the original documents and what was found in them.
        fingerprint: of the key that the release must have been made with.

    Raises:
        InputError: CEL-N044 it was made with another key.
    """
    from celosia.texts.removed import is_telling

    if fingerprint is not None and release.provenance.parameters.get("key") != fingerprint:
        raise InputError("CEL-N044")
    removed: dict[str, str] = {}
    if found is not None:
        keeps = {kind for kind, action in release.actions.items() if action.startswith("keep")}
        for each in found.findings:
            text = found.collection.documents[each.span.document].text
            if each.kind not in keeps:
                removed[text[each.span.start : each.span.end]] = each.kind
    wanted = [(text, kind) for text, kind in removed.items() if is_telling(text, kind)]
    leaks = [leak for each in release.files for leak in find_leaks(each.name, each.content, wanted)]
    return Verification(len(release.files), len(wanted), tuple(leaks))
