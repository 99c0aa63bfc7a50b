"""Queries in one form: two that differ in case, blanks or punctuation count as one."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files

import polars as pl

from celosia.logs.declaration import Normalisation

_EDGE = re.compile(r"^[^\w@#]+|[^\w+#]+$")
"""Punctuation at the ends of a token; inside it stays: c++, o'neill, 10.5, user@example.org."""


@cache
def stop_words() -> frozenset[str]:
    """Words of English and Spanish that say nothing by themselves."""
    text = files("celosia.logs").joinpath("stop_words.txt").read_text("utf-8")
    return frozenset(text.split())


def normalise_text(text: str, how: Normalisation) -> str:
    """One query in its normal form; a query of stop words only keeps them.

    >>> normalise_text("  The  WEATHER, in Cádiz! ", "words")
    'weather cádiz'
    >>> normalise_text("Cádiz weather", "sorted-words") == normalise_text("weather cádiz",
    ...     "sorted-words")
    True
    """
    if how == "none":
        return text
    tokens = unicodedata.normalize("NFKC", text).casefold().split()
    if how == "case":
        return " ".join(tokens)
    tokens = [_EDGE.sub("", token) for token in tokens]
    kept = [token for token in tokens if token]
    told = [token for token in kept if token not in stop_words()] or kept
    return " ".join(sorted(told) if how == "sorted-words" else told)


def normalise(texts: pl.Series, how: Normalisation) -> pl.Series:
    """The normal form of each text, none missing."""
    if how == "none":
        return texts
    return pl.Series(texts.name, [normalise_text(each, how) for each in texts], dtype=pl.String)
