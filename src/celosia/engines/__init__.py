"""Where heavy work runs: DuckDB, embedded, by default; the owner's database for private queries."""

from celosia.engines.duckdb import DuckDB, Groups
from celosia.engines.postgres import PostgresEngine
from celosia.engines.spark.sql import SparkEngine
from celosia.engines.sql import DuckDbEngine, SqlEngine

__all__ = ["DuckDB", "DuckDbEngine", "Groups", "PostgresEngine", "SparkEngine", "SqlEngine"]
