"""What a hierarchy builder is: a small value that makes a hierarchy from a column's values."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import polars as pl

from celosia.tables.hierarchies.hierarchy import Hierarchy


@runtime_checkable
class Builder(Protocol):
    """A rule that turns the distinct values of a column into a hierarchy."""

    def build(self, values: pl.Series) -> Hierarchy:
        """The hierarchy whose leaves are the texts of `values` (distinct, none missing).

        Raises:
            InputError: a value has no place under the rule; the message counts such values.
        """
        ...

    def as_table(self) -> dict[str, Any]:
        """The rule as it is written under `[columns.NAME.hierarchy]` in a schema file."""
        ...
