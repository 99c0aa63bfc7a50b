"""HTML: text and telling attributes are pieces; the page is written anew from plain elements.

Scripts, styles, comments, hidden elements, metadata, `data-*` attributes and embedded images are
not in the new page.
"""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from html.parser import HTMLParser

from celosia.texts.documents import word_set
from celosia.texts.formats import FileContent, Piece, Texts, decode

_DROPPED = {
    "script": "scripts", "style": "styles", "template": "hidden elements",
    "noscript": "scripts", "svg": "images", "object": "embedded objects",
    "embed": "embedded objects", "iframe": "embedded objects", "canvas": "images",
    "audio": "embedded objects", "video": "embedded objects", "math": "embedded objects",
}  # fmt: skip
_VOID = word_set("area base br col embed hr img input link meta param source track wbr")
_GONE_VOID = {"meta": "metadata", "link": "metadata", "base": "metadata", "param": "metadata",
              "source": "embedded objects", "track": "embedded objects",
              "embed": "embedded objects", "area": "images"}  # fmt: skip
_INLINE = word_set(
    "a abbr b bdi bdo big cite code del dfn em font i ins kbd label mark q s samp small "
    "span strike strong sub sup time tt u var"
)
_KEPT = (
    _INLINE
    | _VOID
    | word_set(
        "html head body title h1 h2 h3 h4 h5 h6 p div section article header footer main nav "
        "aside ul ol li dl dt dd table thead tbody tfoot tr td th caption colgroup blockquote "
        "pre figure figcaption address details summary form fieldset legend select option "
        "textarea button"
    )
)
_TELLING = word_set("alt title href placeholder value label datetime summary aria-label cite abbr")
_HARMLESS = word_set("colspan rowspan scope start align")
_NUMBER_OR_WORD = re.compile(r"[a-z0-9]{1,12}")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def parse(content: bytes, suffix: str) -> FileContent:
    """Pieces of a page, and the page without what is not shown."""
    del suffix
    reader = _Reader()
    reader.feed(decode(content))
    reader.close()
    made = tuple(reader.made)

    def rebuild(texts: Texts) -> bytes:
        values = texts[0]
        shown = (
            escape(values[each], quote=True) if isinstance(each, int) else each for each in made
        )
        return ("<!DOCTYPE html>\n" + "".join(shown)).encode("utf-8")

    return FileContent((tuple(reader.pieces),), rebuild, dict(reader.left_out))


class _Reader(HTMLParser):
    """Turns a page into what is written again: markup as text, pieces as their numbers."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[Piece] = []
        self.made: list[str | int] = []
        self.left_out: Counter[str] = Counter()
        self._skipped: list[str] = []
        """The open elements inside one that goes with all it holds."""
        self._glue = ""
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipped:
            if tag not in _VOID:
                self._skipped.append(tag)
            return
        given = {name: value or "" for name, value in attrs}
        reason = _GONE_VOID.get(tag) or _DROPPED.get(tag)
        is_hidden = "hidden" in given or _HIDDEN.search(given.get("style", "")) is not None
        if reason is None and (is_hidden or (tag == "input" and given.get("type") == "hidden")):
            reason = "hidden elements"
        if reason is not None:
            self.left_out[reason] += 1
            if tag not in _VOID:
                self._skipped.append(tag)
            return
        if tag not in _INLINE:
            self._glue = "\n"
        if tag in _KEPT:
            self._write_tag(tag, given)
            if tag not in _VOID:
                self._open.append(tag)

    def _write_tag(self, tag: str, given: dict[str, str]) -> None:
        self.made.append(f"<{tag}")
        for name, value in given.items():
            if name in _TELLING and not value.lower().startswith(("data:", "javascript:")):
                self.made += [f' {name}="', len(self.pieces), '"']
                self.pieces.append(Piece(value, label=name))
                self._glue = "\n"
            elif name in _HARMLESS and _NUMBER_OR_WORD.fullmatch(value.lower()):
                self.made.append(f' {name}="{value.lower()}"')
            else:
                self.left_out["attributes"] += 1
        self.made.append(">")

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag in self._skipped:
                while self._skipped.pop() != tag:
                    pass
            return
        if tag not in _INLINE:
            self._glue = "\n"
        if tag in self._open:  # closes what was left open inside it too
            while (last := self._open.pop()) != tag:
                self.made.append(f"</{last}>")
            self.made.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._skipped or (not self.made and not data.strip()):
            return
        self.made.append(len(self.pieces))
        self.pieces.append(Piece(data, glue=self._glue))
        self._glue = ""

    def handle_comment(self, data: str) -> None:
        del data
        self.left_out["comments"] += 1

    def handle_pi(self, data: str) -> None:
        del data
        self.left_out["comments"] += 1

    def unknown_decl(self, data: str) -> None:
        del data
        self.left_out["comments"] += 1

    def close(self) -> None:
        super().close()
        self.made += [f"</{tag}>" for tag in reversed(self._open)]
        self._open.clear()
