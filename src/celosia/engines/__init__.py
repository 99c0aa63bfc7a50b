"""Where heavy work runs: DuckDB, embedded, by default; the owner's own database or cluster."""

from celosia.engines.duckdb import DuckDB, Groups
from celosia.engines.duckdb_tables import DuckDBTables
from celosia.engines.postgres import PostgresEngine
from celosia.engines.postgres_tables import PostgresTables
from celosia.engines.spark.sql import SparkEngine
from celosia.engines.sql import DuckDbEngine, SqlEngine
from celosia.engines.tables import TableEngine

__all__ = [
    "DuckDB",
    "DuckDBTables",
    "DuckDbEngine",
    "Groups",
    "PostgresEngine",
    "PostgresTables",
    "SparkEngine",
    "SqlEngine",
    "TableEngine",
]
