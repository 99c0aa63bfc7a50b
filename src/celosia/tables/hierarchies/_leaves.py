"""From the values of a column to the texts that are the leaves of its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from celosia.core.errors import InputError
from celosia.frames import as_text


def distinct_texts(values: pl.Series) -> list[str]:
    """The canonical texts of the values, each once, in order of appearance; empty cells left out.

    >>> distinct_texts(pl.Series([39, 50, None, 39]))
    ['39', '50']
    """
    texts: list[str] = as_text(values).drop_nulls().unique(maintain_order=True).to_list()
    return texts


def misplaced(key: str, bad: Sequence[int], **fields: object) -> InputError:
    """The error for values without a place: how many, and which is the first; never their text.

    >>> print(misplaced("CEL-H030", [2, 5]).what)
    2 distinct value(s) are not in the order (the first is number 3).
    """
    return InputError(key, count=len(bad), first=bad[0] + 1, **fields)
