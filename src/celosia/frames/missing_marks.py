"""Texts that commonly stand for a missing value."""

from __future__ import annotations

import polars as pl

from celosia.frames.inference import infer, narrow

MISSING_MARKS = frozenset(
    (
        *("", "-", "--", "---", "?", "??", ".", "..", "#n/a", "n/a", "na", "<na>", "n.a.", "nan"),
        *("nat", "nil", "null", "none", "missing", "unknown", "not available", "not known"),
        *("n/d", "nd", "n.d.", "s/d", "sd", "s.d.", "sin dato", "sin datos", "desconocido"),
        *("desconocida", "no consta", "no disponible"),
    )
)
"""In lower case, in English and Spanish. None of them is a number, a date or a code."""


def stands_for_missing(texts: pl.Series) -> pl.Series:
    """Which texts commonly stand for a missing value; an empty cell is none of them.

    A hint, never a reason to change a cell: `NA` is also the code of Namibia.

    >>> stands_for_missing(pl.Series(["NA", " n/a ", "31", None])).to_list()
    [True, True, False, False]
    """
    plain = texts.str.strip_chars().str.to_lowercase()
    return plain.is_in(list(MISSING_MARKS)).fill_null(value=False)


def without_marks(column: pl.Series) -> pl.Series:
    """A column of text with empty cells in place of such texts, in the type that the rest has.

    Columns without such texts, and columns of other types, stay as they are.

    >>> without_marks(pl.Series(["31", "NA", "40"])).to_list()
    [31, None, 40]
    """
    if column.dtype != pl.String or not (marks := stands_for_missing(column)).any():
        return column
    return infer(column.set(marks, None), narrow((".",)))[1]
