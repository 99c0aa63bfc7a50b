"""What the columns of a table mean: their roles, types and hierarchies, as a small TOML file.

[table]
other_columns = "insensitive"        # columns not named below; without it they are refused
person = "patient"                   # whose record it is: people are counted, not records

[columns.name]
role = "identifier"

[columns.zip]
role = "quasi-identifier"
type = "string"
missing = "value"
hierarchy = { method = "mask" }

[columns.disease]
role = "sensitive"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, cast, get_args

import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import read_toml
from celosia.core.messages import Message, did_you_mean, quoted_names
from celosia.frames import ColumnType
from celosia.tables.hierarchies import Automatic, Builder, Hierarchy, from_table
from celosia.tables.hierarchies.memo import built


def name_list(names: str | Iterable[str]) -> list[str]:
    """Column names as a list; a text is one name, not a row of letters."""
    return [names] if isinstance(names, str) else list(names)


def check_choice(value: Any, allowed: Iterable[str], place: str, kind: type) -> Any:
    """The value as `kind`, refused unless it is one of the allowed words."""
    options = [str(option) for option in allowed]
    if not isinstance(value, str) or value not in options:
        raise InputError(
            "CEL-S007.not_allowed",
            place=place,
            options=", ".join(options),
            value=value,
            hint=did_you_mean(value, options),
        )
    return kind(value)


def section(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table of settings by its name; empty if it is not there."""
    found = table.get(name, {})
    if not isinstance(found, Mapping):
        raise InputError("CEL-S008", name=name, kind=type(found).__name__)
    return found


def check_keys(table: Mapping[str, Any], allowed: set[str], place: str) -> None:
    """Refuse keys that are not known."""
    unknown = sorted(set(table) - allowed)
    if unknown:
        raise InputError(
            "CEL-S009",
            place=place,
            unknown=unknown[0],
            hint=did_you_mean(unknown[0], allowed),
            allowed=", ".join(sorted(allowed)),
        )


def in_column(error: InputError, name: str) -> InputError:
    """The same error with the column's name in front."""
    error.details = {**error.details, "column": name}
    return error.within(Message("tables.place.column", column=name))


Missing = Literal["refuse", "value", "suppress"]
Unit = Literal["record", "person", "household"]
"""What is protected, and what models count: a record, or all records of a person or household."""


class Role(StrEnum):
    """What a column may give away."""

    IDENTIFIER = "identifier"
    """Names a person by itself; never released."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """May name a person together with others; generalised."""
    SENSITIVE = "sensitive"
    """What must not be learnt about a person; released as it is."""
    INSENSITIVE = "insensitive"
    """Neither; released as it is."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its role, and for a quasi-identifier how it is generalised.

    `type` says how the column is read from a file. `hierarchy` is a hierarchy or a rule that builds
    one from the column's values; a quasi-identifier without one gets `Automatic()`. `missing` says
    what an empty quasi-identifier cell is: refused, a value of its own, or a reason to suppress the
    record.
    """

    name: str
    role: Role
    type: ColumnType | None = None
    hierarchy: Hierarchy | Builder | None = None
    missing: Missing = "refuse"
    accept_raw: str | None = None
    """Why the column may be published as it is although records are unique on it."""

    def __post_init__(self) -> None:
        # A role given as plain text must become a role, or it would match none and be lost.
        object.__setattr__(
            self,
            "role",
            check_choice(self.role, [*Role], Message("tables.place.role", column=self.name), Role),
        )
        if self.type is not None:
            check_choice(
                self.type, get_args(ColumnType), Message("tables.place.type", column=self.name), str
            )
        check_choice(
            self.missing, get_args(Missing), Message("tables.place.missing", column=self.name), str
        )
        if self.accept_raw is not None:
            _check_reason(self)
        rule = isinstance(self.hierarchy, Hierarchy | Builder | None)
        if not rule or isinstance(self.hierarchy, type):
            raise InputError("CEL-S013", place=Message("tables.place.column", column=self.name))

    def hierarchy_for(self, values: pl.Series) -> Hierarchy:
        """The hierarchy of this column, built from its distinct values where it is a rule."""
        rule = Automatic() if self.hierarchy is None else self.hierarchy
        if isinstance(rule, Hierarchy):
            return rule
        try:
            return built(rule, values)
        except InputError as error:
            raise in_column(error, self.name) from error


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table with their roles; each name once.

    >>> schema = Schema.of(quasi_identifiers=["age", "zip"], sensitive=["disease"])
    >>> [column.name for column in schema.quasi_identifiers]
    ['age', 'zip']
    """

    columns: tuple[Column, ...]
    other_columns: Role | None = None
    """The role of columns that are not named; None refuses them, so that none is published by
    oversight."""
    person: str | None = None
    """The identifier that says whose record it is, where a person may have several records."""
    household: str | None = None
    """The identifier that says to which household a record belongs."""
    unit: Unit | None = None
    """What models count; the largest that is named if not given. `record` says that identifiers
    that occur in several records are no reason to count people."""

    def __post_init__(self) -> None:
        if self.other_columns is not None:
            role = check_choice(self.other_columns, [*Role], "other_columns", Role)
            object.__setattr__(self, "other_columns", role)
        object.__setattr__(self, "columns", tuple(self.columns))
        if not all(isinstance(column, Column) for column in self.columns):
            raise InputError("CEL-S014")
        names = [column.name for column in self.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError("CEL-S001", twice=", ".join(map(repr, twice)))
        if self.other_columns is Role.QUASI_IDENTIFIER:
            raise InputError("CEL-S002")
        self._check_unit()

    def _check_unit(self) -> None:
        """Name the column of the unit as an identifier, unless it has a role already."""
        for name in (self.person, self.household):
            if name is None:
                continue
            if not isinstance(name, str):
                raise InputError("CEL-S015.not_a_name", kind=type(name).__name__)
            role = next((column.role for column in self.columns if column.name == name), None)
            if role is None:
                added = (*self.columns, Column(name, Role.IDENTIFIER))
                object.__setattr__(self, "columns", added)
            elif role is not Role.IDENTIFIER:
                raise InputError("CEL-S015.published", column=name, role=str(role))
        if self.unit is None:
            found = "household" if self.household else "person" if self.person else None
            object.__setattr__(self, "unit", found)
            return
        check_choice(self.unit, get_args(Unit), "unit", str)
        if self.unit != "record" and self.unit_column is None:
            raise InputError("CEL-S015.no_column", unit=self.unit)

    @property
    def undeclared_units(self) -> tuple[str, ...]:
        """The identifiers of which none may occur twice, because no unit is declared."""
        return () if self.unit is not None else self.named(Role.IDENTIFIER)

    @property
    def unit_column(self) -> str | None:
        """The column that tells the people or households apart; None where records are counted."""
        return {"person": self.person, "household": self.household}.get(self.unit or "")

    @classmethod
    def of(
        cls,
        *,
        quasi_identifiers: str | Iterable[str] | Mapping[str, Hierarchy | Builder | None],
        identifiers: str | Iterable[str] = (),
        sensitive: str | Iterable[str] = (),
        insensitive: str | Iterable[str] = (),
        other_columns: Role | str | None = None,
        person: str | None = None,
        household: str | None = None,
        unit: Unit | None = None,
        accept_raw: Mapping[str, str] | None = None,
    ) -> Schema:
        """A schema from column names by role; quasi-identifiers may bring their hierarchies.

        `accept_raw` has the reason for each column that may be published as it is although records
        are unique on it.
        """
        reasons = accept_raw or {}
        rules = dict(quasi_identifiers) if isinstance(quasi_identifiers, Mapping) else {}
        columns = [
            Column(name, Role.QUASI_IDENTIFIER, hierarchy=rules.get(name))
            for name in name_list(quasi_identifiers)
        ]
        plain = {
            Role.IDENTIFIER: identifiers,
            Role.SENSITIVE: sensitive,
            Role.INSENSITIVE: insensitive,
        }
        columns += [
            Column(name, role, accept_raw=reasons.get(name))
            for role, names in plain.items()
            for name in name_list(names)
        ]
        role = cast(Role | None, other_columns)
        return cls(tuple(columns), role, person, household, unit)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a schema file; paths of hierarchy files are relative to it."""
        source = Path(path)
        table = read_toml(source, "CEL-S003", "CEL-S004")
        return cls.from_table(table, folder=source.parent)

    @classmethod
    def from_table(cls, table: Mapping[str, Any], *, folder: Path = Path()) -> Schema:
        """A schema from the parsed content of a schema file."""
        check_keys(table, {"table", "columns"}, Message("tables.place.schema"))
        settings = section(table, "table")
        check_keys(settings, {"other_columns", "person", "household", "unit"}, "[table]")
        columns = section(table, "columns")
        if not columns:
            raise InputError("CEL-S005")
        return cls(tuple(_column(name, columns, folder) for name in columns), **settings)

    @property
    def quasi_identifiers(self) -> tuple[Column, ...]:
        """The quasi-identifiers in order."""
        return tuple(c for c in self.columns if c.role is Role.QUASI_IDENTIFIER)

    def named(self, role: Role) -> tuple[str, ...]:
        """The names of the columns that are given a role."""
        return tuple(column.name for column in self.columns if column.role is role)

    def types(self) -> dict[str, ColumnType]:
        """The declared types by column name."""
        return {column.name: column.type for column in self.columns if column.type is not None}

    def role_of(self, name: str) -> Role | None:
        """The role of a column, by name or by the rule for other columns."""
        return next((c.role for c in self.columns if c.name == name), self.other_columns)

    def check_columns(self, names: Iterable[str]) -> None:
        """Refuse a table that lacks a column of the schema, or has one without a role."""
        present = list(names)
        absent = [column.name for column in self.columns if column.name not in present]
        if absent:
            hints = quoted_names(absent, present)
            raise InputError("CEL-S010", names=hints, columns=absent)
        unnamed = [name for name in present if self.role_of(name) is None]
        if unnamed:
            raise InputError("CEL-S011", unnamed=", ".join(map(repr, unnamed)), columns=unnamed)


def _check_reason(column: Column) -> None:
    """Refuse an acceptance without a reason, or of a column that is not published as it is."""
    if column.role not in (Role.SENSITIVE, Role.INSENSITIVE):
        name = f"'{column.name}'"
        raise InputError("CEL-P081.not_raw", names=name, columns=[column.name])
    if not isinstance(column.accept_raw, str) or not column.accept_raw.strip():
        raise InputError("CEL-P081.no_reason", names=f"'{column.name}'")


def _column(name: str, columns: Mapping[str, Any], folder: Path) -> Column:
    place = Message("tables.place.column", column=name)
    table = section(columns, name)
    check_keys(table, {"role", "type", "hierarchy", "missing", "accept_raw"}, place)
    if "role" not in table:
        raise InputError("CEL-S006", place=place, roles=", ".join(Role), column=name)
    hierarchy = table.get("hierarchy")
    try:
        rule = None if hierarchy is None else from_table(hierarchy, folder=folder)
    except InputError as error:
        raise in_column(error, name) from error
    return Column(
        name,
        table["role"],
        table.get("type"),
        rule,
        table.get("missing", "refuse"),
        table.get("accept_raw"),
    )


def check_table(frame: pl.DataFrame, schema: Schema) -> None:
    """Refuse a table that does not fit its schema, or that has no rows."""
    schema.check_columns(frame.columns)
    if frame.height == 0:
        raise InputError("CEL-P015.no_rows")


def released_names(frame: pl.DataFrame, schema: Schema) -> list[str]:
    """The columns that may be released: all but identifiers."""
    return [name for name in frame.columns if schema.role_of(name) is not Role.IDENTIFIER]
