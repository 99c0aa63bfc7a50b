"""A rule that has no place for some values, extended so that it has."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from celosia.core.errors import InputError
from celosia.studio.publish.form import ColumnForm
from celosia.studio.publish.grid import Grid, add_values, as_rule
from celosia.studio.publish.hierarchies import Values, build, preview, rule_of
from celosia.tables.hierarchies import Intervals, Ordered, propose
from celosia.tables.hierarchies.ordered import natural_order


def repair(column: ColumnForm, values: Values, *, other: str) -> dict[str, Any]:
    """The rule of a column, extended so that it covers all values.

    Trees and orders get the values that they lack, intervals open ends or a wider domain; where
    that does not help, the rule is the one that fits the values by itself.

    Args:
        column: the column with the rule to extend.
        values: its values.
        other: what to call the group of values that a tree lacks.
    """
    with suppress(InputError):  # a rule that cannot be read cannot be extended
        for extended in _extended(column, values, other):
            fits = preview(replace(column, hierarchy=extended), values)
            if fits.error is None and not fits.uncovered_values:
                return extended
    return propose(values.series).as_dict()


def _extended(column: ColumnForm, values: Values, other: str) -> list[dict[str, Any]]:
    """Rules to try, the one that changes least first."""
    rule = rule_of(column)
    if isinstance(rule, Ordered) and rule.order is not None:
        lost = [text for text in values.texts if text not in set(rule.order)]
        order = [*rule.order, *natural_order(lost)]
        return [replace(rule, order=tuple(order)).as_dict()]
    if isinstance(rule, Intervals):
        return [each.as_dict() for each in _wider(rule, values)]
    table: Mapping[str, Any] = column.hierarchy or {}
    if table.get("method") == "tree":
        grid = Grid.from_hierarchy(build(column, values))
        return [as_rule(add_values(grid, values.texts, other))]
    return []


def _wider(rule: Intervals, values: Values) -> list[Intervals]:
    """The rule with open ends, and with a domain that holds all values if it had one."""
    free = replace(rule, domain=None)
    wider = [free, replace(free, open_below=True)]
    if rule.bounds:
        wider += [replace(free, open_above=True), replace(free, open_below=True, open_above=True)]
    whole = [int(text) for text in values.texts if text.lstrip("-").isdecimal()]
    if rule.domain is None or not whole or len(whole) < len(values.texts):
        return wider
    ends = (min(rule.domain[0], *whole), max(rule.domain[1], *whole))
    return [made for each in wider if (made := _over(each, ends)) is not None] + wider


def _over(rule: Intervals, ends: tuple[int, int]) -> Intervals | None:
    """The rule over a domain; None if it does not reach that far."""
    try:
        return replace(rule, domain=ends)
    except InputError:
        return None
