"""Checks of declared columns: bounds, grid and keys that noise can be drawn by."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from celosia.queries.policy.problems import Problems
from celosia.queries.policy.values import ColumnPolicy

FARTHEST = 2**50
"""Steps of the grid that a bound may be away from zero: the reach of `mechanisms.Grid`, and sums
of as many values still fit in the 128-bit integers of the engines."""
MOST_KEYS = 1_000_000
_KEY_TYPES: dict[str, type] = {"text": str, "integer": int, "boolean": bool, "date": str}


def check_column(column: ColumnPolicy, where: str, problems: Problems) -> None:
    """Note what is wrong with a column."""
    _check_bounds(column, where, problems)
    _check_grid(column, where, problems)
    if column.keys is not None:
        _check_keys(column, column.keys, where, problems)
    if column.unique and column.most is not None:
        problems.add("CEL-Q015.unique_with_most", where=where)


def _check_bounds(column: ColumnPolicy, where: str, problems: Problems) -> None:
    lower, upper = column.lower, column.upper
    if lower is None and upper is None:
        return
    if column.type not in ("integer", "number"):
        problems.add("CEL-Q006.not_numeric", where=where, type=column.type)
        return
    if lower is None or upper is None:
        problems.add("CEL-Q006.one_bound", where=where)
        return
    if lower >= upper:
        problems.add("CEL-Q006.not_below", where=where)
    if column.type == "integer" and (lower.denominator, upper.denominator) != (1, 1):
        problems.add("CEL-Q006.not_whole", where=where)


def _check_grid(column: ColumnPolicy, where: str, problems: Problems) -> None:
    grid = column.grid
    if grid is not None and (column.lower is None or column.upper is None):
        problems.add("CEL-Q007.no_bounds", where=where)
        return
    if column.lower is None or column.upper is None:
        return
    if grid is not None and grid <= 0:
        problems.add("CEL-Q007.not_positive", where=where)
        return
    span = column.upper - column.lower
    if grid is not None and 0 < span < grid:
        problems.add("CEL-Q007.too_wide", where=where)
    step = grid or Fraction(1)
    if column.type == "integer" and step.denominator != 1:
        problems.add("CEL-Q007.not_whole", where=where)
    if (grid or column.type == "integer") and (
        max(abs(column.lower), abs(column.upper)) > FARTHEST * step
    ):
        problems.add("CEL-Q007.too_fine", where=where)


def _check_keys(
    column: ColumnPolicy, keys: tuple[str | int | bool, ...], where: str, problems: Problems
) -> None:
    wanted = _KEY_TYPES.get(column.type)
    if wanted is None:
        problems.add("CEL-Q008.no_keys_for_type", where=where, type=column.type)
        return
    if not 0 < len(keys) <= MOST_KEYS:
        problems.add("CEL-Q008.wrong_number", where=where, keys=len(keys))
    wrong = sum(not _is_key(key, wanted, column.type) for key in keys)
    if wrong:
        problems.add("CEL-Q008.other_type", wrong=wrong, where=where, type=column.type)
    elif len(set(keys)) < len(keys):
        problems.add("CEL-Q008.repeated", where=where)


def _is_key(key: object, wanted: type, type_: str) -> bool:
    if type(key) is not wanted:  # True is an int to isinstance
        return False
    if isinstance(key, int):
        return -(2**63) <= key < 2**63  # what engines hold
    if type_ == "date":
        return _is_date(str(key))
    # A lone half of a pair is no text that a file or an engine could hold, nor is a null.
    return "\0" not in str(key) and str(key).encode("utf-8", "replace").decode() == key


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
