"""What is known of the rows as long as no row changes: values beyond caps, and checks that passed.

To find the values that too many rows share takes a pass over a table, which costs more than most
questions. Where the engine can prove that no row has changed since (`SqlEngine.state`), the values
are listed in the query, and a cap that no value exceeds is left out: the same rows stay.

What is remembered depends on private rows, so it decides about time and about nothing else. Answers
leave at deadlines that follow from public facts, whatever is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from celosia.queries.emission import Target
from celosia.queries.emission.relations import (
    Crowds,
    capped_columns,
    crowded_values,
    replace_capped,
    rows_within_caps,
)

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.engines.sql import Reader
    from celosia.queries.emission.target import Dialect
    from celosia.queries.policy.values import ColumnPolicy, TablePolicy

MOST_LISTED = 1_000
"""Values of a column that are listed in a query; more of them are searched for by every query."""


@dataclass(frozen=True, slots=True)
class RowState:
    """What was found of the rows in one state of the database."""

    state: object
    crowds: dict[str, Crowds | None] = field(default_factory=dict)
    """By table, the values beyond its caps; None where they cannot be listed."""
    checked: set[str] = field(default_factory=set)
    """Tables whose declarations the rows were seen to keep."""

    def copy(self) -> RowState:
        """The same, for a question that finds more."""
        return replace(self, crowds=dict(self.crowds), checked=set(self.checked))

    def without_search(
        self, query: exp.Expr, read: Reader, *, target: Target, cast: Callable[[exp.Expr], exp.Expr]
    ) -> Any:
        """A query with the values beyond caps in it; those not known yet are found first.

        Args:
            query: as it is planned.
            read: runs queries on rows in this state.
            target: the engine.
            cast: what is done to each query before it is asked.
        """

        def source(name: str, alias: str) -> exp.Expr | None:
            declared = target.table(name)
            if name not in self.crowds:
                self.crowds[name] = _find_crowds(
                    declared, target.dialect, lambda query: read(cast(query))
                )
            crowds = self.crowds[name]
            if crowds is None:
                return None
            return rows_within_caps(declared, alias=alias, crowds=crowds, target=target)

        is_capped = any(map(capped_columns, target.policy.tables))
        return replace_capped(query, source) if is_capped else query


class RowStates:
    """The state of the rows that was seen last, with what is known of it.

    Args:
        state: of the rows when a vault was opened; None where it is not known.
        checked: tables that were compared with the policy after that.
    """

    def __init__(self, state: object | None, checked: Iterable[str] = ()) -> None:
        self._lock = Lock()
        self._last = None if state is None else RowState(state, checked=set(checked))

    def find(self, state: object | None) -> RowState | None:
        """A copy of what is known, if the rows were in the same state before; else None.

        A state that is new is noted, and searched when it is seen once more: where rows change from
        question to question, nothing is searched in vain.
        """
        with self._lock:
            if state is None:
                return None
            if self._last is None or self._last.state != state:
                self._last = RowState(state)
                return None
            return self._last.copy()

    def keep(self, found: RowState) -> None:
        """Remember what was found, once the rows are known to be in the same state still."""
        with self._lock:
            if self._last is not None and self._last.state == found.state:
                self._last.crowds.update(found.crowds)
                self._last.checked.update(found.checked)


def _find_crowds(declared: TablePolicy, dialect: Dialect, read: Reader) -> Crowds | None:
    """All values of a table that are beyond its caps; None where they cannot be listed."""
    crowds = {}
    for cap in capped_columns(declared):
        rows = read(crowded_values(declared.name, cap, dialect).limit(MOST_LISTED + 1))
        values = [value for (value,) in rows]
        if len(values) > MOST_LISTED or not all(_is_listed(each, cap) for each in values):
            return None
        crowds[cap.name] = values
    return crowds


def _is_listed(value: Any, cap: ColumnPolicy) -> bool:
    """Whether a value is written as it is: a whole number, or a text that needs no escape."""
    if cap.type == "integer":
        return type(value) is int
    return cap.type == "text" and type(value) is str and "\\" not in value and "\0" not in value
