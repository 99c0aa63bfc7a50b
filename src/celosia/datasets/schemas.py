"""The schema of the census tables, with all their hierarchies."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from celosia.tables import Schema


def schema_text() -> str:
    """The schema file of `census` and `adult`, to copy and change."""
    return files("celosia.datasets").joinpath("census.toml").read_text("utf-8")


def census_schema() -> Schema:
    """Roles and hierarchies of `census` and `adult`: eight quasi-identifiers, occupation sensitive.

    >>> [column.name for column in census_schema().quasi_identifiers][:3]
    ['sex', 'age', 'race']
    """
    return Schema.from_table(tomllib.loads(schema_text()))
