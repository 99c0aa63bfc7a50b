"""Kernels for the first runs of Mondrian: as they are written, for compiling them takes longer.

A table of 30,000 rows and eight columns is cut within half a second by Python itself, and the
kernels take more than three to compile. So they are compiled when the runs without have taken as
long. The result is the same.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np

from celosia.core.kernels import does_without, is_compiled, uncompiled
from celosia.tables.recoding.mondrian import _kernels
from celosia.tables.recoding.mondrian._kernels import Array

CELLS_AT_COST = 2_500_000
"""How many cells are cut as the kernels are written in the time that compiling them takes."""


def kernels_for(cells: int) -> ModuleType:
    """The kernels, compiled or as they are written, for a table of so many cells."""
    if not is_compiled(_kernels.split) and does_without("mondrian", cells / CELLS_AT_COST):
        return plain_kernels()
    return _kernels


@cache
def plain_kernels() -> ModuleType:
    """The kernels as they are written, but for the loops over rows."""
    plain = uncompiled(_kernels)
    vars(plain).update(_ends=_ends, tally=_tally, _move=_move)
    return plain


def _ends(matrix: Array, start: int, end: int, lowest: Array, highest: Array) -> None:
    lowest[:] = matrix[start:end].min(axis=0)
    highest[:] = matrix[start:end].max(axis=0)


def _tally(
    matrix: Array,
    rows: Array,
    records: Array,
    start: int,
    end: int,
    column: int,
    keys: Array,
    low: int,
    high: int,
    scratch: Array,
) -> int:
    ranks = matrix[start:end, column]
    own = keys[ranks] if keys.size else ranks
    found, key_of, lines = np.unique(own, return_inverse=True, return_counts=True)
    scratch[_kernels.FOUND, : found.size] = found
    scratch[_kernels.LINES, : found.size] = lines
    if records.size:
        lines = np.zeros(found.size, dtype=np.int64)
        np.add.at(lines, key_of, records[rows[start:end]])
    scratch[_kernels.RECORDS, : found.size] = lines
    return found.size


def _move(
    matrix: Array, rows: Array, column: int, keys: Array, bounds: Array, parts: int, scratch: Array
) -> None:
    start, end = int(bounds[0]), int(bounds[parts])
    ranks = matrix[start:end, column]
    part_of = scratch[_kernels.PART][keys[ranks] if keys.size else ranks].tolist()
    order = list(range(end - start))
    heads = (bounds[:parts] - start).tolist()
    for part, last in enumerate((bounds[1 : parts + 1] - start).tolist()):
        while heads[part] < last:  # as the kernel does it: relaxed cuts depend on the order
            row = heads[part]
            wanted = part_of[row]
            if wanted != part:
                other = heads[wanted]
                part_of[row], part_of[other] = part_of[other], wanted
                order[row], order[other] = order[other], order[row]
            heads[wanted] += 1
    matrix[start:end] = matrix[start:end][order]
    rows[start:end] = rows[start:end][order]
