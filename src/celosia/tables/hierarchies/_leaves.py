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


def misplaced(code: str, bad: Sequence[int], what: str, *, why: str, fix: str) -> InputError:
    """The error for values without a place: how many, and which is the first; never their text.

    >>> print(misplaced("CEL-H024", [2, 5], "lie outside", why="No group.", fix="Clean them."))
    2 distinct value(s) lie outside (the first is number 3). No group. Clean them.
    """
    return InputError(
        code,
        f"{len(bad)} distinct value(s) {what} (the first is number {bad[0] + 1}).",
        why=why,
        fix=fix,
        count=len(bad),
        first=bad[0] + 1,
    )
