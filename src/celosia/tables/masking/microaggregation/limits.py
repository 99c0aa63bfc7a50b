"""What every grouping asks of its input: a sensible k, enough records, and finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError

SMALLEST = 2
"""A group of one is a single person."""

LARGEST = 1e140
"""The sum of the squares of 1e20 such numbers is still inside the range of a float."""


def check_k(k: Any) -> int:
    """The group size as a whole number, refused below two."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < SMALLEST:
        raise InputError(
            "CEL-V100",
            f"k must be a whole number of at least {SMALLEST}, got {k!r}.",
            why="A group of one is a single person.",
            fix="Try k = 3 or k = 5.",
        )
    return int(k)


def check_records(records: int, k: int) -> None:
    """Refuse fewer records than one group needs."""
    if records < k:
        raise InputError(
            "CEL-V101",
            f"a group needs k = {k:,} records, and there are {records:,} records.",
            fix="Choose a smaller k, or mask a larger table.",
            records=records,
            k=k,
        )


def check_line(values: ArrayLike, k: int) -> NDArray[np.float64]:
    """One column of finite numbers with at least `k` of them."""
    line = np.ascontiguousarray(values, dtype=np.float64)
    if line.ndim != 1:
        raise InputError(
            "CEL-V102", f"the values need one dimension, got {line.ndim}.", fix="Give one column."
        )
    check_records(line.size, check_k(k))
    _check_finite(line)
    return line


def check_matrix(matrix: ArrayLike, k: int) -> NDArray[np.float64]:
    """A matrix of finite numbers, one row a record, with at least `k` rows and one column."""
    table = np.ascontiguousarray(matrix, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise InputError(
            "CEL-V102",
            f"the records need two dimensions and a column, got the shape {table.shape}.",
            fix="Give a matrix with one row a record.",
        )
    check_records(len(table), check_k(k))
    _check_finite(table)
    return table


def _check_finite(table: NDArray[np.float64]) -> None:
    if not np.isfinite(table).all():
        raise InputError(
            "CEL-V103",
            f"{int((~np.isfinite(table)).sum()):,} cells are empty or infinite.",
            why="A group needs a mean and distances.",
            fix="Group the records without such cells; a method does so by itself.",
        )


def check_varies(name: str, values: NDArray[Any]) -> None:
    """Refuse a column without two different values, or with numbers whose squares overflow."""
    if values.size == 0 or (values == values[0]).all():
        raise InputError(
            "CEL-V108",
            f"column '{name}' {'is empty' if values.size == 0 else 'holds one value only'}.",
            why="There is nothing to group by it.",
            fix="Leave it out of the step.",
            column=name,
        )
    if np.abs(values).max() > LARGEST:
        raise InputError(
            "CEL-V113",
            f"column '{name}' has numbers beyond {LARGEST:g}.",
            why="Their squares and sums pass what a decimal number can hold.",
            fix="Scale the column.",
            column=name,
        )


def check_choice(parameter: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a word that is none of the choices."""
    if value not in choices:
        raise InputError(
            "CEL-V109",
            f"{parameter} must be one of {', '.join(choices)}, got {value!r}.",
            fix=f"Choose {choices[0]!r}, the default.",
        )
