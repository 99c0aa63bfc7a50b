"""Which tables there are, how they hang together, and what their columns hold.

[tables.persons]
key = "person"
domains = { sex = ["Female", "Male"] }
bounds = { age = [0, 100] }

[tables.visits]
parent = "persons"
foreign_key = "person"
most_rows = 8
given = ["age", "sex"]
domains = { ward = ["surgery", "medicine"] }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import prod
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl

from celosia import frames
from celosia.core.errors import InputError
from celosia.core.files import read_toml
from celosia.core.messages import Message, did_you_mean
from celosia.core.methods import Method, parameter
from celosia.tables.masking.method import TEXTS
from celosia.tables.private.adaptive import AdaptiveMarginals
from celosia.tables.private.declarations import BINS, LISTS, DomainDeclarations
from celosia.tables.private.discovery import DISCOVER, EMPTY_CELLS
from celosia.tables.schema import check_keys

MOST_ROWS_OF_ONE = 10_000
"""Rows that one row of another table may have: the noise grows with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedTable(Method):
    """One of several tables: its keys, and the columns that are made.

    Columns are declared as for `adaptive-marginals`: all values in `domains`, or `bounds` cut into
    `bins`, or to be found privately (`discover`). Columns that are not named are left out.
    """

    method_name: ClassVar[str] = "related-table"

    file: str | None = None
    key: str | None = parameter(None, kind="column")
    parent: str | None = None
    foreign_key: str | None = parameter(None, kind="column")
    most_rows: int | None = parameter(None, least=1, most=MOST_ROWS_OF_ONE)
    keep: Literal["random", "first"] = "random"
    given: tuple[str, ...] = parameter((), like=TEXTS)
    domains: Mapping[str, tuple[Any, ...]] | None = parameter(None, like=LISTS)
    bounds: Mapping[str, tuple[float, ...]] | None = parameter(None, like=LISTS)
    bins: int | Mapping[str, int] = parameter(16, like=BINS)
    discover: Mapping[str, str] | None = parameter(None, like=DISCOVER)

    def check(self) -> None:
        """Refuse what goes with a parent and has none, or the other way round."""
        _ = self.declarations
        for column in self.discover or {}:
            if column in (self.domains or {}) or column in (self.bounds or {}):
                raise InputError("CEL-Y020.twice", column=column)
        for key in self.keys:
            if key in self.columns or self.key == self.foreign_key:
                raise InputError("CEL-Y031.key_column", column=key)
        needed = {"foreign_key": self.foreign_key, "most_rows": self.most_rows}
        for name, value in needed.items():
            if (value is None) != (self.parent is None):
                raise InputError("CEL-Y031.parent", parameter=name)
        if self.given and self.parent is None:
            raise InputError("CEL-Y031.parent", parameter="given")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are made, apart from keys."""
        return (*(self.domains or {}), *(self.bounds or {}), *(self.discover or {}))

    @property
    def declarations(self) -> DomainDeclarations:
        """What is declared of the columns whose domains are known."""
        return DomainDeclarations(self.domains or {}, self.bounds or {}, self.bins)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that hold keys."""
        return tuple(name for name in (self.key, self.foreign_key) if name is not None)

    def types(self) -> dict[str, tuple[Any, ...]]:
        """Values or bounds of each column that is made, by which a file is read."""
        found = {name: (EMPTY_CELLS[kind],) for name, kind in (self.discover or {}).items()}
        return {**(self.domains or {}), **(self.bounds or {}), **found}


@dataclass(frozen=True, slots=True)
class RelatedTables:
    """Tables by their names, parents first: the first is of persons, all others hang on one before.

    >>> clinic = RelatedTables.from_table({"tables": {
    ...     "persons": {"key": "person", "bounds": {"age": [0, 100]}},
    ...     "visits": {"parent": "persons", "foreign_key": "person", "most_rows": 8,
    ...                "given": ["age"], "domains": {"ward": ["surgery", "medicine"]}}}})
    >>> clinic.root, clinic.most_rows("visits"), clinic.children("persons")
    ('persons', 8, ['visits'])
    """

    tables: Mapping[str, RelatedTable]

    def __post_init__(self) -> None:
        if not self.tables:
            raise InputError("CEL-Y031.no_tables")
        before: list[str] = []
        for name, table in self.tables.items():
            if table.parent is None and before:
                raise InputError("CEL-Y031.two_roots", table=name, root=before[0])
            if table.parent is not None:
                self._check_child(name, table, before)
            if not table.columns:
                raise InputError("CEL-Y031.no_columns", table=name)
            before.append(name)

    def _check_child(self, name: str, table: RelatedTable, before: list[str]) -> None:
        if table.parent not in before:
            hint = did_you_mean(str(table.parent), before)
            raise InputError("CEL-Y031.no_parent", table=name, parent=table.parent, hint=hint)
        parent = self.tables[str(table.parent)]
        if parent.key is None:
            raise InputError("CEL-Y031.no_key", table=table.parent, child=name)
        for column in table.given:
            if column not in parent.columns:
                hint = did_you_mean(column, parent.columns)
                raise InputError(
                    "CEL-Y031.given", table=name, column=column, parent=table.parent, hint=hint
                )

    @property
    def root(self) -> str:
        """The table of persons."""
        return next(iter(self.tables))

    def children(self, name: str) -> list[str]:
        """The tables that hang on one."""
        return [child for child, table in self.tables.items() if table.parent == name]

    def most_rows(self, name: str) -> int:
        """The most rows of one person that count in a table."""
        table = self.tables[name]
        if table.parent is None:
            return 1
        return int(table.most_rows or 1) * self.most_rows(table.parent)

    @classmethod
    def load(cls, path: str | Path) -> RelatedTables:
        """Read a declaration file (TOML).

        Raises:
            InputError: CEL-Y031 it cannot be read, or does not declare related tables.
        """
        source = Path(path)
        table = read_toml(source, "CEL-Y031.unreadable", "CEL-Y031.not_toml")
        return cls.from_table(table)

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> RelatedTables:
        """A declaration from the parsed content of its file."""
        place = Message("masking.place.related")
        check_keys(table, {"tables"}, place)
        given = table.get("tables", {})
        if not isinstance(given, Mapping) or not all(
            isinstance(each, Mapping) for each in given.values()
        ):
            raise InputError("CEL-Y031.no_tables")
        known = {each.name for each in fields(RelatedTable)}
        found = {}
        for name, parameters in given.items():
            within = Message("masking.place.related_table", table=name)
            check_keys(parameters, known, within)
            try:
                found[name] = RelatedTable(**parameters)
            except InputError as error:
                raise error.within(within) from error
        return cls(found)

    def as_dict(self) -> dict[str, Any]:
        """The tables as a declaration file has them."""
        plain = {name: table.as_dict() for name, table in self.tables.items()}
        return {
            "tables": {
                name: {key: value for key, value in each.items() if key != "method"}
                for name, each in plain.items()
            }
        }

    def cells_of_given(self, sizes: Mapping[str, int], name: str) -> int:
        """How many combinations the columns that a table is given have."""
        return prod(sizes[column] for column in self.tables[name].given)

    def read(self, folder: str | Path, method: AdaptiveMarginals) -> dict[str, pl.DataFrame]:
        """The tables from files of a folder: `file`, or the name of the table with .csv.

        Columns are read as they are declared, and keys as text: no cell decides their types.
        """
        from celosia.tables.masking.recipe import read_declared

        found = {}
        for name, table in self.tables.items():
            keys: dict[str, frames.ColumnType] = dict.fromkeys(table.keys, "string")
            declared = dict(table.types())
            if table.parent is None and method.weight is not None:
                declared[method.weight] = (0.0,)
            found[name] = read_declared(
                Path(folder) / (table.file or f"{name}.csv"), declared, types=keys
            )
        return found
