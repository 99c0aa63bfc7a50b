"""Plain text and Markdown: one piece; the front matter of Markdown goes."""

from __future__ import annotations

import re

from celosia.texts.formats import FileContent, Piece, Texts, decode

_FRONT_MATTER = re.compile(
    r"\A(?:---|\+\+\+)[ \t]*\r?\n.*?\r?\n(?:---|\+\+\+)[ \t]*(?:\r?\n|\Z)", re.S
)
_COMMENT = re.compile(r"<!--.*?-->", re.S)


def parse(content: bytes, suffix: str) -> FileContent:
    """The text as one piece."""
    text = decode(content)
    left_out = {}
    if suffix in (".md", ".markdown"):
        text, matter = _FRONT_MATTER.subn("", text)
        text, comments = _COMMENT.subn("", text)
        left_out = {"front matter": matter, "comments": comments}

    def rebuild(texts: Texts) -> bytes:
        return texts[0][0].encode("utf-8")

    return FileContent(
        ((Piece(text),),), rebuild, {what: count for what, count in left_out.items() if count}
    )
