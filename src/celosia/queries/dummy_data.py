"""Dummy data for analysts: tables that fit the public schema, to try questions on.

Guarantee: nothing but the public schema and a seed goes in, so that the rows tell nothing about
anybody. Keys, bounds, grids, unique columns and references are kept to; how values are distributed
is invented.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.core.errors import InputError
from celosia.core.files import replacing

if TYPE_CHECKING:
    import polars as pl

ROWS = 100
ROWS_OF_A_PERSON = 4
"""On average, where no table lists each person once."""
_TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
_BEGIN = datetime(2024, 1, 1)


def make_dummy_tables(
    schema: Mapping[str, Any], *, rows: int = ROWS, seed: int = 1
) -> dict[str, pl.DataFrame]:
    """Invented tables that fit a public schema.

    Args:
        schema: as `Vault.public_schema` or `Client.public_schema` gives it.
        rows: of each table.
        seed: of the invented values.

    Raises:
        InputError: CEL-Q345 the schema is of a graph.
    """
    import polars as pl  # 0.1 s, only where wanted

    if "graph" in schema:
        raise InputError("CEL-Q345")
    random = np.random.default_rng(seed)
    tables = schema["tables"]
    of_people = {each.lower() for each in schema["unit"].get("columns", ())}
    made: dict[str, dict[str, list[Any]]] = {}
    for name in _ordered(tables):
        table = tables[name]
        made[name] = {
            column: _values(
                facts,
                _people(facts, rows)
                if f"{name}.{column}".lower() in of_people
                else _targets(table, column, made),
                rows,
                random,
            )
            for column, facts in table["columns"].items()
        }
    return {name: pl.DataFrame(made[name], strict=False) for name in tables}


def write_dummy_database(
    schema: Mapping[str, Any], path: Path, *, rows: int = ROWS, seed: int = 1, overwrite: bool
) -> None:
    """Write invented tables into a new DuckDB file.

    Raises:
        InputError: as `make_dummy_tables`; the file exists.
    """
    import duckdb  # 0.1 s, only where wanted

    tables = make_dummy_tables(schema, rows=rows, seed=seed)
    with replacing(path, overwrite=overwrite) as draft:
        draft.unlink()
        with duckdb.connect(str(draft)) as connection:
            for name, frame in tables.items():
                types = [
                    _TYPES[each["type"]] for each in schema["tables"][name]["columns"].values()
                ]
                columns = ", ".join(
                    f"CAST({_quoted(column)} AS {kind}) AS {_quoted(column)}"
                    for column, kind in zip(frame.columns, types, strict=True)
                )
                connection.register("celosia_dummy", frame.to_arrow())
                connection.execute(
                    f"CREATE TABLE {_quoted(name)} AS SELECT {columns} FROM celosia_dummy"  # noqa: S608
                )
                connection.unregister("celosia_dummy")


def _ordered(tables: Mapping[str, Any]) -> Iterator[str]:
    """Tables, each after those that it refers to; where they refer in a circle, as they come."""
    waiting, done = list(tables), set[str]()
    while waiting:
        ready = [
            name
            for name in waiting
            if {_table(target) for target in tables[name]["references"].values()} <= done | {name}
        ]
        following = ready or waiting[:1]
        yield from following
        done |= set(following)
        waiting = [name for name in waiting if name not in done]


def _targets(
    table: Mapping[str, Any], column: str, made: Mapping[str, Mapping[str, list[Any]]]
) -> list[Any] | None:
    """The values that a reference may have; None for other columns."""
    target = table["references"].get(column)
    if target is None or _table(target) not in made:
        return None
    return made[_table(target)][target.rpartition(".")[2]]


def _people(facts: Mapping[str, Any], rows: int) -> list[Any] | None:
    """The keys of people who have a few rows each, the same in all tables."""
    if facts["type"] not in {"integer", "text"} or facts.get("unique"):
        return None
    numbers = range(1, max(1, rows // ROWS_OF_A_PERSON) + 1)
    return [f"{number}" for number in numbers] if facts["type"] == "text" else list(numbers)


def _table(target: str) -> str:
    return target.rpartition(".")[0]


def _values(
    facts: Mapping[str, Any], targets: list[Any] | None, rows: int, random: np.random.Generator
) -> list[Any]:
    kind = facts["type"]
    if facts.get("unique"):
        numbers = range(1, rows + 1)
        return [f"{number}" for number in numbers] if kind == "text" else list(numbers)
    choices = targets if targets is not None else facts.get("keys")
    if choices:
        return [choices[place] for place in random.integers(len(choices), size=rows)]
    if kind == "text":
        return [f"text {number}" for number in random.integers(20, size=rows)]
    if kind == "boolean":
        return [bool(each) for each in random.integers(2, size=rows)]
    if kind in {"date", "timestamp"}:
        days = [_BEGIN + timedelta(days=int(each)) for each in random.integers(730, size=rows)]
        return [date(each.year, each.month, each.day) for each in days] if kind == "date" else days
    return _numbers(facts, rows, random)


def _numbers(facts: Mapping[str, Any], rows: int, random: np.random.Generator) -> list[Any]:
    lower = facts.get("lower", 0)
    upper = facts.get("upper", lower + 1000)
    step = facts.get("grid", 1 if facts["type"] == "integer" else (upper - lower) / 1000 or 1)
    steps = random.integers(int((upper - lower) / step) + 1, size=rows)
    found = [lower + int(each) * step for each in steps]
    return [int(each) for each in found] if facts["type"] == "integer" else found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
