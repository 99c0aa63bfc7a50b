"""Queries that hold an identifier: they name a person however many people ask them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.recognisers import find

KINDS = ("account", "address", "contact", "device", "id", "plate", "record")
"""Kinds of identifiers that name a person or a thing of one; a web address does not."""

_MANY_DIGITS = 8
"""Digits that are taken for a phone, a card or an account, whatever their form."""


def holds_identifier(texts: pl.Series, *, names: bool = False) -> NDArray[np.bool_]:
    """For each text whether it holds an identifier; in doubt it does, which costs a query.

    Args:
        texts: the queries, none missing.
        names: whether a given name with a further word counts, too.

    >>> holds_identifier(pl.Series(["cheap flights", "ann@example.org photos"])).tolist()
    [False, True]
    >>> holds_identifier(pl.Series(["laura soler alba"]), names=True).tolist()
    [True]
    """
    digits = texts.str.count_matches(r"\d").to_numpy()
    found = np.asarray(digits >= _MANY_DIGITS)
    is_likely = np.asarray(texts.str.contains(r"[@\d]").to_numpy()) & ~found
    for place in np.flatnonzero(is_likely).tolist():
        text = str(texts[place])
        # Some numbers have letters that count only as capitals; queries are in lower case.
        found[place] = bool(find(text, kinds=KINDS) or find(text.upper(), kinds=KINDS))
    if names:
        words = texts.str.to_lowercase().str.normalize("NFKD").str.replace_all(r"\p{M}", "")
        tokens = words.str.split(" ")
        has_name = tokens.list.eval(pl.element().is_in(list(_given_names()))).list.any()
        found |= np.asarray((has_name & (tokens.list.len() > 1)).to_numpy())
    return found


@cache
def _given_names() -> frozenset[str]:
    text = files("celosia.assess.risk").joinpath("given_names.txt").read_text("utf-8")
    return frozenset(text.split())
