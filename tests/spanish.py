"""English of the catalogue that is left in a report which was made in Spanish."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from celosia.core.messages import read_family


def english_in(page: str, *families: str) -> set[str]:
    """The texts on a page that these files of the catalogue have in other words in Spanish."""
    return _shown(page) & {text for family in families for text in _texts(read_family(family))}


def _shown(page: str) -> set[str]:
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    labels = re.findall(r'aria-label="([^"]*)"', body)
    return {html.unescape(text).strip() for text in (*re.split(r"<[^>]*>", body), *labels)}


def _texts(entry: dict[str, Any]) -> Iterator[str]:
    english = entry.get("en")
    if english is None:
        for name, below in entry.items():
            if not name.startswith("CEL-"):
                yield from _texts(below)
    elif english != entry["es"] and "{" not in english:
        yield english
        yield english[:1].upper() + english[1:]
        yield f"{english[:1].upper()}{english[1:]}."
