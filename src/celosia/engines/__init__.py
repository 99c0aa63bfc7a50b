"""Engines: DuckDB, embedded, by default; PostgreSQL or Spark where the owner's tables are.

A table engine counts the groups of a table, recodes its rows or maps batches of them, and writes a
draft that appears on commit. A query engine runs SQL, read only, and returns a small table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.engines.duckdb import DuckDB, Groups
    from celosia.engines.duckdb_tables import DuckDBTables
    from celosia.engines.postgres import PostgresEngine
    from celosia.engines.postgres_tables import PostgresTables
    from celosia.engines.spark.sql import SparkEngine
    from celosia.engines.sql import DuckDBEngine, SqlEngine
    from celosia.engines.tables import TableEngine

__all__ = [
    "DuckDB",
    "DuckDBEngine",
    "DuckDBTables",
    "Groups",
    "PostgresEngine",
    "PostgresTables",
    "SparkEngine",
    "SqlEngine",
    "TableEngine",
]

__getattr__, __dir__ = on_first_use(__name__)
