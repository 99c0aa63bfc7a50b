"""Rules as they are typed: lists of numbers, cuts of each level, periods; and back to text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from celosia.core.errors import InputError
from celosia.core.methods import parameters
from celosia.studio.parameters import starting
from celosia.studio.publish.form import ColumnForm
from celosia.studio.publish.grid import Grid, as_rule
from celosia.studio.publish.hierarchies import Values, as_tree
from celosia.tables.hierarchies import BUILDERS, Mask, propose

MOST_EDITED = 400
"""Trees and orders of more values are brought as a file instead of being edited by hand."""

MOST_IN_ONE_GROUP = 4
"""So few values are not put into groups to begin with."""


def numbers_in(text: str) -> list[int | float]:
    """Numbers with commas, semicolons or blanks between them.

    >>> numbers_in("5, 10; 20.5")
    [5, 10, 20.5]

    Raises:
        InputError: CEL-I036, something in it is no number.
    """
    found: list[int | float] = []
    for word in re.split(r"[,;\s]+", text.strip()):
        if not word:
            continue
        try:
            found.append(int(word) if re.fullmatch(r"[+-]?[0-9]+", word) else _decimal(word))
        except ValueError:
            raise InputError("CEL-I036.field") from None
    return found


def cuts_in(text: str) -> list[list[int | float]]:
    r"""The cut points of each level, one level in a line.

    >>> cuts_in("20, 30, 40, 60\n20, 40, 60")
    [[20, 30, 40, 60], [20, 40, 60]]
    """
    return [numbers_in(line) for line in text.splitlines() if line.strip()]


def as_text(numbers: Iterable[float] | None) -> str:
    """Numbers as they are typed.

    >>> as_text([5, 0.5])
    '5, 0.5'
    """
    return ", ".join(f"{number!r}" for number in numbers or ())


def intervals_rule(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The rule behind the fields of intervals: widths and a start, or cuts of each level.

    >>> intervals_rule({"widths": "5, 10", "start": 1, "domain": "1, 100"})
    {'method': 'intervals', 'widths': [5, 10], 'start': 1, 'domain': [1, 100]}
    """
    rule: dict[str, Any] = {"method": "intervals"}
    if fields.get("by") == "bounds":
        rule["bounds"] = cuts_in(fields.get("bounds") or "")
        rule |= {"open_above": True} if fields.get("open_above") else {}
    else:
        rule["widths"] = numbers_in(fields.get("widths") or "")
        start = fields.get("start") or 0
        rule |= {"start": int(start) if float(start).is_integer() else start} if start else {}
    rule |= {"open_below": True} if fields.get("open_below") else {}
    domain = numbers_in(fields.get("domain") or "")
    rule |= {"domain": domain} if domain else {}
    style = fields.get("style")
    return rule | ({"style": style} if style else {})


def mask_rule(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The rule behind the fields of a mask.

    >>> mask_rule({"direction": "right", "character": "*", "levels": "2, 4"})
    {'method': 'mask', 'levels': [2, 4]}
    """
    usual = Mask()
    rule: dict[str, Any] = {"method": "mask"}
    if fields.get("direction") not in (None, usual.direction):
        rule["direction"] = fields["direction"]
    if fields.get("character") not in (None, usual.character):
        rule["character"] = fields["character"]
    levels = numbers_in(fields.get("levels") or "")
    return rule | ({"levels": levels} if levels else {})


def dates_rule(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The rule behind the fields of dates.

    >>> dates_rule({"levels": ["month", "year"], "format": "%d/%m/%y", "century": 1900})
    {'method': 'dates', 'levels': ['month', 'year'], 'format': '%d/%m/%y', 'century': 1900}
    """
    rule: dict[str, Any] = {"method": "dates", "levels": list(fields.get("levels") or ())}
    written = (fields.get("format") or "").strip()
    rule |= {"format": written} if written else {}
    century = fields.get("century")
    return rule | ({"century": int(century)} if century else {})


def coordinates_rule(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The rule behind the field of coordinates.

    >>> coordinates_rule({"widths": "0.1, 1"})
    {'method': 'coordinates', 'widths': [0.1, 1]}
    """
    return {"method": "coordinates", "widths": numbers_in(fields.get("widths") or "")}


def ordered_rule(fields: Mapping[str, Any]) -> dict[str, Any]:
    r"""The rule behind the fields of an order: sizes of groups, and the values line by line.

    >>> ordered_rule({"sizes": "2, 4", "order": "low\nmedium\nhigh"})
    {'method': 'ordered', 'order': ['low', 'medium', 'high'], 'sizes': [2, 4]}
    """
    rule: dict[str, Any] = {"method": "ordered"}
    order = [line for line in (fields.get("order") or "").splitlines() if line]
    rule |= {"order": order} if order else {}
    sizes = numbers_in(fields.get("sizes") or "")
    return rule | ({"sizes": sizes} if sizes else {})


def starting_rule(method: str, column: ColumnForm, values: Values) -> dict[str, Any]:
    """A rule of another method to begin with: what fits the values, or what is there as a tree.

    Raises:
        InputError: CEL-W056, too many values for a tree.
    """
    fitting = propose(values.series).as_dict()
    if method == "automatic" or fitting["method"] == method:
        return fitting
    if method == "tree":
        return as_rule(editable(column, values))
    if method == "ordered" and len(values.texts) <= MOST_IN_ONE_GROUP:
        return {"method": method}
    return {"method": method} | {
        name: list(start) for name, start in starting(parameters(BUILDERS[method])).items()
    }


def has_no_groups(column: ColumnForm, rule: Mapping[str, Any], distinct: int) -> bool:
    """Whether a rule only keeps or hides the texts of a column, though groups could be made.

    >>> towns = ColumnForm(name="town", kind="text")
    >>> [has_no_groups(towns, {"method": name}, 12) for name in ("ordered", "mask")]
    [True, False]
    """
    return (
        column.kind == "text"
        and rule.get("method") == "ordered"
        and not rule.get("sizes")
        and distinct > 2
    )


def editable(column: ColumnForm, values: Values) -> Grid:
    """The hierarchy of a column as a tree to edit; its plain values where the rule does not fit.

    Raises:
        InputError: CEL-W056, there are too many.
    """
    try:
        grid = as_tree(column, values)
    except InputError:
        grid = Grid.of(values.texts)
    if len(grid.levels[0]) > MOST_EDITED:
        raise too_many(len(grid.levels[0]))
    return grid


def too_many(values: int) -> InputError:
    """The error for a tree that nobody could look at."""
    return InputError("CEL-W056.too_many", values=values, most=MOST_EDITED)


def _decimal(word: str) -> float:
    value = float(word)
    if "_" in word or not abs(value) < float("inf"):
        raise ValueError(word)
    return value
