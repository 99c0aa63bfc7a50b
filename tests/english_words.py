"""English words that are left in a report which is to be in Spanish."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from celosia.core.figures.svg import Svg
from celosia.core.report import Document

ENGLISH = frozenset(
    [
        "the",
        "of",
        "and",
        "is",
        "are",
        "with",
        "by",
        "for",
        "not",
        "that",
        "this",
        "at",
        "to",
        "was",
        "may",
        "its",
        "it",
        "one",
        "each",
        "every",
        "from",
    ]
)


def english_words(document: Document) -> set[str]:
    """Words that only English has, in all texts of a report, also in its drawings."""
    words = {word for text in _texts(document) for word in re.findall(r"[a-z]+", text.lower())}
    return words & ENGLISH


def _texts(part: object) -> Iterator[str]:
    if isinstance(part, Svg):
        yield from re.findall(r">([^<>]+)<", str(part))
    elif isinstance(part, str):
        yield str(part)
    elif is_dataclass(part) and not isinstance(part, type):
        yield from (text for each in fields(part) for text in _texts(getattr(part, each.name)))
    elif isinstance(part, Mapping):
        yield from (text for pair in part.items() for text in _texts(pair))
    elif isinstance(part, list | tuple):
        yield from (text for each in part for text in _texts(each))
