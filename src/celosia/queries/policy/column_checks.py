"""Checks of declared columns: bounds, grid and keys that noise can be drawn by."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from celosia.core.wording import counted
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
        problems.add(
            "CEL-Q015",
            f"{where} is unique and has a most as well.",
            why="A unique column has one row for each value already.",
            fix="Leave one of them out.",
        )


def _check_bounds(column: ColumnPolicy, where: str, problems: Problems) -> None:
    lower, upper = column.lower, column.upper
    if lower is None and upper is None:
        return
    if column.type not in ("integer", "number"):
        problems.add(
            "CEL-Q006",
            f"{where} has bounds, but its type is {column.type}.",
            why="Values are clipped to bounds before they are added up; only numbers are.",
            fix="Leave lower and upper out, or correct the type.",
        )
        return
    if lower is None or upper is None:
        problems.add(
            "CEL-Q006",
            f"{where} has only one of lower and upper.",
            why="One person could still change a sum without a limit.",
            fix="Give both, known without looking at the data.",
        )
        return
    if lower >= upper:
        problems.add(
            "CEL-Q006",
            f"the lower bound of {where} is not below the upper one.",
            why="Noise is drawn in proportion to their distance: here it would hide nothing.",
            fix="Give the smaller one first, and two different ones.",
        )
    if column.type == "integer" and (lower.denominator, upper.denominator) != (1, 1):
        problems.add(
            "CEL-Q006",
            f"the bounds of {where} are not whole numbers.",
            why="Clipping to them would make other values than its type has.",
            fix='Give whole numbers, or write type = "number".',
        )


def _check_grid(column: ColumnPolicy, where: str, problems: Problems) -> None:
    grid = column.grid
    if grid is not None and (column.lower is None or column.upper is None):
        problems.add(
            "CEL-Q007",
            f"{where} has a grid but no bounds.",
            why="The grid is for sums, and without bounds there can be none.",
            fix="Give lower and upper as well, or leave the grid out.",
        )
        return
    if column.lower is None or column.upper is None:
        return
    if grid is not None and grid <= 0:
        problems.add(
            "CEL-Q007",
            f"the grid of {where} is not above 0.",
            why="Values are rounded to its multiples so that sums are exact.",
            fix="Give a step such as 1, or 0.01 for money.",
        )
        return
    span = column.upper - column.lower
    if grid is not None and 0 < span < grid:
        problems.add(
            "CEL-Q007",
            f"the grid of {where} is wider than its bounds are apart.",
            why="Every value would be rounded to the same one or two.",
            fix="Give a smaller step.",
        )
    step = grid or Fraction(1)
    if column.type == "integer" and step.denominator != 1:
        problems.add(
            "CEL-Q007",
            f"the grid of {where} is not a whole number.",
            why="Its values are whole; a finer grid only loses room for sums.",
            fix="Leave the grid out, or give a whole one.",
        )
    if (grid or column.type == "integer") and (
        max(abs(column.lower), abs(column.upper)) > FARTHEST * step
    ):
        problems.add(
            "CEL-Q007",
            f"the bounds of {where} are more than 2**50 steps of its grid away from 0.",
            why="Sums are exact whole numbers of steps, which must fit in the engine's integers.",
            fix="Give a wider grid or nearer bounds.",
        )


def _check_keys(
    column: ColumnPolicy, keys: tuple[str | int | bool, ...], where: str, problems: Problems
) -> None:
    wanted = _KEY_TYPES.get(column.type)
    if wanted is None:
        problems.add(
            "CEL-Q008",
            f"{where} has keys, but its type is {column.type}.",
            why="Groups are shown for values that can be listed one by one.",
            fix="Keys are for text, integer, boolean and date; group numbers by CASE or a width.",
        )
        return
    if not 0 < len(keys) <= MOST_KEYS:
        problems.add(
            "CEL-Q008",
            f"{where} has {counted(len(keys), 'key', 'keys')}.",
            why="Every listed key gets a row in the answer, so there is at least one and at most a "
            "million.",
            fix="List the values that are known without looking at the data, or leave keys out.",
        )
    wrong = sum(not _is_key(key, wanted, column.type) for key in keys)
    if wrong:
        problems.add(
            "CEL-Q008",
            f"{counted(wrong, 'key', 'keys')} of {where} "
            f"{'is' if wrong == 1 else 'are'} not of its type, {column.type}.",
            why="A group that no row can belong to would be shown with noise alone.",
            fix="Write texts in quotes, whole numbers without, dates as 1998-12-31.",
        )
    elif len(set(keys)) < len(keys):
        problems.add(
            "CEL-Q008",
            f"{where} lists a key more than once.",
            why="Its group would be answered twice, at twice the cost.",
            fix="List each once.",
        )


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
