"""A synthetic census table of any size that behaves like the real one; no row is a real person."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import polars as pl

from celosia.core.errors import InputError
from celosia.datasets._network import Network, parse_network
from celosia.tables import Schema

COLUMNS = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
"""The columns of the census tables, in their published order."""


def census(rows: int = 30_162, *, seed: int = 1994) -> pl.DataFrame:
    """Invented people, distributed as in the 1994 US census extract known as "Adult".

    Use it wherever the real rows would be asked for: it needs no download and grows to ten million
    rows in seconds. The shares of all values, how any two columns go together, and the number of
    distinct and of unique people follow the extract. `adult` gives the real rows.

    Args:
        rows: how many people; the default is the size of the extract.
        seed: the same seed and number of rows give the same table on every machine.

    Raises:
        InputError: CEL-D001 for `rows`, CEL-D002 for `seed`.

    >>> people = census(1000)
    >>> people.shape
    (1000, 9)
    >>> people.select("sex", "age", "education").head(2).rows()
    [('Male', 31, 'Assoc-acdm'), ('Male', 33, '12th')]

    Reference: B. Becker and R. Kohavi, 1996, Adult, UCI Machine Learning Repository.
    """
    _check_whole("CEL-D001", rows)
    _check_whole("CEL-D002", seed)
    network = _network()
    codes = network.draw(rows, seed)
    values = {column.name: pl.Series(column.values) for column in network.columns}
    # Codes are let go one column at a time, because text takes sixteen times their space.
    return pl.DataFrame({name: values[name][codes.pop(name)] for name in COLUMNS})


@cache
def _network() -> Network:
    return parse_network(files(__package__).joinpath("census_weights.json").read_text("utf-8"))


def _check_whole(code: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(code, value=value)


def schema_text(name: str = "census") -> str:
    """The schema file of a data set, to copy and change.

    Args:
        name: `census`, whose schema is that of `adult`, too, or `published-patients`.
    """
    file = "published_patients.toml" if name == "published-patients" else "census.toml"
    return files("celosia.datasets").joinpath(file).read_text("utf-8")


def census_schema() -> Schema:
    """Roles and hierarchies of `census` and `adult`: eight quasi-identifiers, occupation sensitive.

    >>> [column.name for column in census_schema().quasi_identifiers][:3]
    ['sex', 'age', 'race']
    """
    return Schema.from_table(tomllib.loads(schema_text()))
