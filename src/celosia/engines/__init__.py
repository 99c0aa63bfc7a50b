"""Where heavy work runs: DuckDB, embedded, by default."""

from celosia.engines.duckdb import DuckDB, Groups

__all__ = ["DuckDB", "Groups"]
