"""Records with equal key columns, under both treatments of an empty cell.

Key columns are a matrix of codes, one row a record, with `BLANK` for an empty cell. It is either a
value of its own, or something that matches every value, as sdcMicro and mu-Argus count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLANK = -1

Codes = NDArray[np.int64]
"""Key columns, one row a record."""


def identify(codes: Codes) -> NDArray[np.int64]:
    """A number for each row, the same for rows that are equal.

    >>> identify(np.array([[0, 1], [2, 1], [0, 1]])).tolist()
    [0, 1, 0]
    """
    names = np.zeros(codes.shape[0], dtype=np.int64)
    if not codes.size:
        return names
    for column in codes.T:
        # Names and codes are both below the number of rows (names by the numbering anew), so the
        # product stays within 64 bits for any table of fewer than 2**31 rows.
        names = names * (int(column.max()) + 2) + (column + 1)
        if int(names.max()) >= codes.shape[0]:
            names = np.unique(names, return_inverse=True)[1].reshape(-1)
    return names


def class_sizes(codes: Codes) -> NDArray[np.int64]:
    """For each record, how many records have the same codes, a blank counting as a value."""
    names = identify(codes)
    return np.bincount(names)[names] if names.size else names


def same_weight(
    rows: Codes, among: Codes, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """For each of `rows`, the weight of the rows of `among` that are equal to it; by default 1."""
    names = identify(np.concatenate([rows, among]))
    own, others = names[: len(rows)], names[len(rows) :]
    most = int(names.max(initial=0)) + 1
    return np.bincount(others, weights=weights, minlength=most)[own].astype(np.float64)


def same_as(rows: Codes, among: Codes) -> NDArray[np.int64]:
    """For each of `rows`, how many rows of `among` are equal to it."""
    return same_weight(rows, among, None).astype(np.int64)


def matching_weight(
    rows: Codes, among: Codes, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """For each of `rows`, the weight of the rows of `among` that agree where neither is blank.

    Rows that are blank in the same columns are counted together: for each pair of such patterns
    one grouping by the columns that are blank in neither.
    """
    found = np.zeros(len(rows))
    for hidden, places in _patterns(rows):
        for other, theirs in _patterns(among):
            seen = ~(hidden | other)
            weight = None if weights is None else weights[theirs]
            found[places] += same_weight(rows[places][:, seen], among[theirs][:, seen], weight)
    return found


def matching(rows: Codes, among: Codes) -> NDArray[np.int64]:
    """For each of `rows`, how many rows of `among` agree with it where neither is blank.

    >>> table = np.array([[0, 1], [BLANK, 1], [0, 2]])
    >>> matching(table, table).tolist()
    [2, 2, 1]
    """
    return matching_weight(rows, among, None).astype(np.int64)


def _patterns(codes: Codes) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """Each set of columns in which some rows are blank and others are not, with its rows."""
    blank = codes == BLANK
    names = identify(blank.astype(np.int64))
    order = np.argsort(names, kind="stable")
    starts = np.flatnonzero(np.diff(names[order], prepend=-1))
    for places in np.split(order, starts[1:]) if order.size else ():
        yield blank[places[0]], places
