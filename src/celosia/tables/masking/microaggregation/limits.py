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
        raise InputError("CEL-V100", smallest=SMALLEST, k=k)
    return int(k)


def check_records(records: int, k: int) -> None:
    """Refuse fewer records than one group needs."""
    if records < k:
        raise InputError("CEL-V101", records=records, k=k)


def check_line(values: ArrayLike, k: int) -> NDArray[np.float64]:
    """One column of finite numbers with at least `k` of them."""
    line = np.ascontiguousarray(values, dtype=np.float64)
    if line.ndim != 1:
        raise InputError("CEL-V102.not_a_line", ndim=line.ndim)
    check_records(line.size, check_k(k))
    _check_finite(line)
    return line


def check_matrix(matrix: ArrayLike, k: int) -> NDArray[np.float64]:
    """A matrix of finite numbers, one row a record, with at least `k` rows and one column."""
    table = np.ascontiguousarray(matrix, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise InputError("CEL-V102.not_a_matrix", shape=table.shape)
    check_records(len(table), check_k(k))
    _check_finite(table)
    return table


def _check_finite(table: NDArray[np.float64]) -> None:
    if not np.isfinite(table).all():
        raise InputError("CEL-V103", cells=int((~np.isfinite(table)).sum()))


def check_varies(name: str, values: NDArray[Any]) -> None:
    """Refuse a column without two different values, or with numbers whose squares overflow."""
    if values.size == 0 or (values == values[0]).all():
        key = "CEL-V108.empty" if values.size == 0 else "CEL-V108.one_value"
        raise InputError(key, column=name)
    if np.abs(values).max() > LARGEST:
        raise InputError("CEL-V113", largest=LARGEST, column=name)
