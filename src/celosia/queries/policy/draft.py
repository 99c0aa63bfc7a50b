"""Drafts of policy files, made of the names and types of columns only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from celosia.queries.policy.database_schema import DatabaseColumns, policy_type
from celosia.queries.policy.writer import quote, toml_key

_HEAD = """\
# What may be asked of this database. Lines that begin with a '#' are to be filled in by hand, from
# what is known without looking at the data: a bound that was measured reveals the data.
# Declare rows for each private table, or a deadline. Without them 4 million rows are assumed, and a
# plain count is answered after 4 s by DuckDB, and after up to 64 s by PostgreSQL and Spark.

neighbours = "add-remove"            # or "change-one", where the number of people is public
# least_epsilon = 0.01               # of one question
# questions_per_day = 1000           # of one analyst
# exceeded_per_day = 3               # of one analyst: questions that were too much for the rows
# deadline = 2                       # seconds to every answer; without it, chosen by declared sizes
# ownerless = "refuse"               # rows that belong to no person; default: "leave-out"

[unit]                               # the unit of protection
# name = "customer"
# table = "customer"
# key = "custkey"                    # its unique column; or only name = "row" for single rows

[budget]                             # all answers together
# epsilon = 1
# delta = 1e-8

# [analysts.NAME]                    # only analysts listed here may ask; without any, all may
# epsilon = 0.5

[database]
# kind = "duckdb"                    # path = "FILE.duckdb", or files = { TABLE = "FILE.parquet" }
# kind = "postgres"                  # url = "$NAME", read from the environment
# kind = "spark"                     # files as above, folders of Parquet too; url = "sc://HOST"
"""
_TABLE = """\
public = false                       # true only if it holds no data about people
# rows = 1000000                     # a public bound on the number of rows: answers come sooner
# references = { COLUMN = "TABLE.UNIQUE_COLUMN" }
"""
_HINTS = {
    "integer": '{ type = "integer", unique = true }, or lower = 0, upper = 100, or keys = [1, 2]',
    "number": '{ type = "number", lower = 0, upper = 100, grid = 0.01 } for sums',
    "text": '{ type = "text", keys = ["A", "B"] } to group by it',
}


def draft_policy(columns_in_database: DatabaseColumns, *, name: str = "my-data") -> str:
    """The text of a policy file with every table private, to be filled in by a curator.

    It is made of the names and types of columns and holds nothing of the data; but names may be
    private too, so it is for the curator. As it is it is refused: unit and budget must be chosen.

    >>> print(draft_policy({"visits": {"day": "DATE"}}).splitlines()[-1])
    day = "date"
    """
    parts = [f"name = {quote(name)}", _HEAD.rstrip()]
    parts += ["\n".join(_table(table, columns)) for table, columns in columns_in_database.items()]
    return "\n\n".join(parts) + "\n"


def _table(name: str, columns: Mapping[str, str]) -> Iterator[str]:
    yield f"[tables.{toml_key(name)}]"
    yield _TABLE
    yield f"[tables.{toml_key(name)}.columns]"
    for column, database_type in columns.items():
        type_ = policy_type(database_type)
        if type_ is None:
            yield f"# {toml_key(column)}: of a type that cannot be asked; cast it in a view"
            continue
        line = f"{toml_key(column)} = {quote(type_)}"
        hint = _HINTS.get(type_)
        yield line if hint is None else f"{line:<36} # {hint}"
