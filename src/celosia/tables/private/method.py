"""What every differentially private table has in common: a budget, neighbours, and a guarantee."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar, Self

import polars as pl

from celosia.accounting.losses import Loss
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Parameter, parameter
from celosia.core.neighbours import ADD_REMOVE, Neighbours
from celosia.core.release import Guarantee
from celosia.tables.hierarchies import Hierarchy, Intervals, Ordered, Tree
from celosia.tables.hierarchies.hierarchy import MISSING
from celosia.tables.masking.method import MaskingMethod, describe_neighbours
from celosia.tables.private.budget import TableBudget
from celosia.tables.private.declarations import BINS, LISTS, DomainDeclarations
from celosia.tables.schema import Column, Schema

MOST_ASTRAY = 1e7
"""Rows that a noisy number of rows may be off by, as a standard deviation, and still be made."""


def check_astray(rows: int | None, *, variance: float, cells: int) -> None:
    """Refuse to make as many rows as noise says where that is nothing but noise.

    It uses the budget and the declarations only. Without it a tiny epsilon would fill the memory
    with rows that belong to no person.

    Args:
        rows: the number of rows if it was given, which no noise moves.
        variance: of the noise of a count.
        cells: how many counts the number of rows is the sum of.
    """
    astray = sqrt(variance * cells)
    if rows is None and astray > MOST_ASTRAY:
        raise InputError("CEL-Y026", astray=astray)


EPSILON = Parameter(least=1e-9, most=100, start=1)
"""The privacy loss."""
DELTA = Parameter(least=0, below=1)
"""The chance that the promise fails; with 0 the noise is of Laplace."""


class PrivateMethod(MaskingMethod):
    """A method whose result is differentially private, whatever an attacker knows.

    Everything in the result, its number of rows and its facts too, is computed from noisy numbers
    that the budget paid for, and from what was declared. No cell value can make it refuse: what was
    not declared is clamped to the bounds or counted as none of the declared values.
    """

    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    picks_rows: ClassVar[bool] = True
    neighbours: ClassVar[Neighbours] = ADD_REMOVE
    """Which two tables the result must not tell apart."""

    def assumes(self) -> tuple[str, ...]:
        return (Message("masking.assumes.declared"), Message("masking.assumes.one_release"))

    @property
    @abstractmethod
    def budget(self) -> TableBudget:
        """The epsilon and the delta."""

    @abstractmethod
    def privacy_loss(self, columns: Sequence[str]) -> Loss:
        """What the result costs for these columns, for a budget to be charged."""

    def promise(self, columns: Sequence[str]) -> str | None:
        return Message(
            "masking.promise.private",
            budget=self.budget.promise(),
            neighbours=describe_neighbours(self.neighbours),
            columns=list(columns),
        )

    def guarantee(self, columns: Sequence[str], *, simulation: bool = False) -> Guarantee:
        """The promise with what it assumes and leaves open."""
        return Guarantee(
            promise=self.budget.promise(),
            unit=Message("masking.unit.row"),
            protects=Message("masking.protects.private"),
            neighbours=describe_neighbours(self.neighbours),
            assumes=(Message("masking.assumes.one_row"), *self.assumes()),
            leaves_open=self.leaves_open(columns),
            simulation=simulation,
        )

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            Message("masking.gap.whole_groups"),
            Message("masking.gap.measured"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredMethod(PrivateMethod):
    """A private method over columns whose values are declared before any row is read.

    Columns of categories are declared by `domains`, numbers by `bounds` that are cut into `bins`.
    """

    epsilon: float = parameter(like=EPSILON)
    delta: float = parameter(0.0, like=DELTA)
    domains: Mapping[str, tuple[Any, ...]] | None = parameter(None, like=LISTS)
    bounds: Mapping[str, tuple[float, ...]] | None = parameter(None, like=LISTS)
    bins: int | Mapping[str, int] = parameter(16, like=BINS)

    def check(self) -> None:
        """Refuse what is declared of a column and is no domain."""
        self._declared()

    @property
    def budget(self) -> TableBudget:
        return TableBudget(self.epsilon, self.delta)

    def declared_values(self) -> Mapping[str, tuple[Any, ...]]:
        return {**(self.bounds or {}), **(self.domains or {})}

    def with_schema(self, schema: Schema, columns: Sequence[str]) -> Self:
        """The method with the domains that a schema knows, for columns that are not declared.

        The leaves of a hierarchy that is written down are all values of a column (`tree`,
        `ordered` with an order, a file); intervals over a `domain` have bounds. Hierarchies that
        are built from the data declare nothing.
        """
        known = self.declared_values()
        domains, bounds = dict(self.domains or {}), dict(self.bounds or {})
        for column in schema.columns:
            if column.name in columns and column.name not in known:
                rule = column.hierarchy
                if isinstance(rule, Intervals) and rule.domain is not None:
                    bounds[column.name] = tuple(rule.domain)
                elif values := _written_values(column):
                    domains[column.name] = values
        return replace(self, domains=domains or None, bounds=bounds or None)

    def _declared(self) -> DomainDeclarations:
        return DomainDeclarations(self.domains or {}, self.bounds or {}, self.bins)


def _written_values(column: Column) -> tuple[Any, ...]:
    """All values of a column whose hierarchy is written down; none where the data make it."""
    rule = column.hierarchy
    if isinstance(rule, Ordered) and rule.order is not None:
        leaves: Sequence[str] = rule.order
    elif isinstance(rule, Hierarchy | Tree):
        leaves = column.hierarchy_for(pl.Series(dtype=pl.String)).leaves
    else:
        return ()
    found = tuple(leaf for leaf in leaves if leaf != MISSING)
    try:
        return tuple(int(leaf) for leaf in found) if column.type == "integer" else found
    except ValueError:
        return ()
