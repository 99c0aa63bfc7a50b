"""The benchmark's own generator, as DuckDB has it in an extension; nothing is downloaded."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent

if TYPE_CHECKING:
    import duckdb

_COLUMNS = {
    "region": "r_regionkey r_name",
    "nation": "n_nationkey n_name n_regionkey",
    "supplier": "s_suppkey s_nationkey s_acctbal",
    "customer": "c_custkey c_nationkey c_acctbal c_mktsegment",
    "part": "p_partkey p_size p_retailprice",
    "partsupp": "ps_partkey ps_suppkey ps_availqty ps_supplycost",
    "orders": "o_orderkey o_custkey o_orderstatus o_totalprice o_orderdate o_orderpriority",
    "lineitem": "l_orderkey l_partkey l_suppkey l_linenumber l_quantity l_extendedprice l_discount "
    "l_tax l_returnflag l_linestatus l_shipdate l_commitdate l_receiptdate",
}
_WHOLE = ("key", "size", "availqty", "linenumber", "quantity")


def dbgen_is_available() -> bool:
    """Whether the extension is installed for this DuckDB."""
    connection = _connection()
    if connection is None:
        return False
    connection.close()
    return True


def dbgen_tables(scale: float, *, progress: Progress = silent) -> dict[str, pl.DataFrame] | None:
    """All eight tables at a scale factor, the same each time; None without the extension."""
    connection = _connection()
    if connection is None:
        return None
    with connection:
        progress(Step(Message("datasets.stage.dbgen"), 0))
        connection.execute("CALL dbgen(sf = ?)", [scale])
        return {table: _table(connection, table, columns) for table, columns in _COLUMNS.items()}


def _table(connection: duckdb.DuckDBPyConnection, table: str, columns: str) -> pl.DataFrame:
    """The wanted columns without the letter of their table; whole numbers as 64-bit ones."""
    wanted = []
    for column in columns.split():
        name = column.partition("_")[2]
        cast = f"CAST({column} AS BIGINT)" if name.endswith(_WHOLE) else column
        wanted.append(f"{cast} AS {name}")
    # The names are those above.
    relation = connection.sql(f"SELECT {', '.join(wanted)} FROM {table}")  # noqa: S608
    frame = pl.from_arrow(relation.to_arrow_table())
    assert isinstance(frame, pl.DataFrame)
    return frame


def _connection() -> duckdb.DuckDBPyConnection | None:
    """A DuckDB with the extension, from its own folder or from the package that ships it."""
    import duckdb  # 0.1 s, only where it is wanted

    connection = duckdb.connect(
        config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    )
    for name in ("tpch", _packaged(f"v{duckdb.__version__}")):
        try:
            if name is not None:
                connection.load_extension(name)
                return connection
        except duckdb.Error:  # not there, or made for another version
            continue
    connection.close()
    return None


def _packaged(version: str) -> str | None:
    """The extension in the package duckdb-extension-tpch, which is never imported."""
    found = find_spec("duckdb_extension_tpch")
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder, "extensions", version, "tpch.duckdb_extension")
        if path.is_file():
            return str(path)
    return None
