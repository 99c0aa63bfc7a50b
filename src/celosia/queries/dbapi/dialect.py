"""The SQLAlchemy dialect: a policy or a service by an address, for pandas and reporting tools.

- `celosia:///shop.toml?epsilon=0.1&analyst=ana`: a policy file (four slashes for an absolute path);
- `celosia+https://:TOKEN@vault.example.org/?epsilon=0.1`: a service (`celosia+http` on this
  machine); the token may stand in the variable CELOSIA_TOKEN instead.

Tables and columns are those of the public schema. Nothing is asked to connect, so that a tool that
only looks around spends nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import sqlalchemy as sa
from sqlalchemy.engine import default

from celosia.core.errors import InputError
from celosia.queries import dbapi
from celosia.queries.dbapi.connection import Connection, Cursor
from celosia.queries.dbapi.exceptions import translate

TOKEN = "CELOSIA_TOKEN"  # noqa: S105 - the name of a variable
_READERS: Mapping[str, Callable[[str], object]] = {
    "epsilon": float,
    "delta": float,
    "method": str,
    "confidence": float,
    "rank_intervals": lambda text: {"true": True, "false": False}[text.lower()],
    "intervals": lambda text: {"true": True, "false": False}[text.lower()],
    "analyst": str,
    "ledger": str,
    "plain": lambda text: {"true": True, "false": False}[text.lower()],
}
"""How the options of an address are read."""
_TYPES: dict[str, sa.types.TypeEngine[Any]] = {
    "integer": sa.BigInteger(),
    "number": sa.Float(),
    "text": sa.Text(),
    "boolean": sa.Boolean(),
    "date": sa.Date(),
    "timestamp": sa.TIMESTAMP(),
}


class CelosiaDialect(default.DefaultDialect):
    """Plain SQL, read only; the schema is the public one of the policy."""

    name = "celosia"
    driver = "celosia"
    scheme: ClassVar[str | None] = None
    """Of the service; None for a policy file."""
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_native_boolean = True
    supports_sane_rowcount = False
    supports_default_values = False
    postfetch_lastrowid = False

    @classmethod
    def import_dbapi(cls) -> Any:
        return dbapi

    def create_connect_args(self, url: sa.URL) -> tuple[list[Any], dict[str, Any]]:
        options = {name: _read(name, value) for name, value in url.query.items()}
        if self.scheme is None:
            return [url.database or ""], options
        port = "" if url.port is None else f":{url.port}"
        path = f"/{url.database}" if url.database else ""
        token = url.password or os.environ.get(TOKEN)
        return [f"{self.scheme}://{url.host}{port}{path}"], options | {"token": token}

    def initialize(self, connection: sa.Connection) -> None:
        """Ask nothing: what other dialects find out here is known."""

    def do_ping(self, dbapi_connection: Any) -> bool:
        return True

    def do_execute(
        self, cursor: Any, statement: str, parameters: Any, context: Any | None = None
    ) -> None:
        """Ask; `execution_options(epsilon=...)` gives a statement a price of its own."""
        assert isinstance(cursor, Cursor)
        if context is not None:
            cursor.epsilon = context.execution_options.get("epsilon")
        cursor.execute(statement, parameters)

    def _schema(self, connection: sa.Connection) -> dict[str, Any]:
        found = cast("Connection", connection.connection.dbapi_connection)
        tables: dict[str, Any] = found.vault.public_schema()["tables"]
        return tables

    def _table(self, connection: sa.Connection, name: str) -> dict[str, Any]:
        tables = self._schema(connection)
        if name not in tables:
            raise sa.exc.NoSuchTableError(name)
        found: dict[str, Any] = tables[name]
        return found

    def get_schema_names(self, connection: sa.Connection, **_: Any) -> list[str]:
        return []

    def get_table_names(
        self, connection: sa.Connection, schema: str | None = None, **_: Any
    ) -> list[str]:
        return list(self._schema(connection))

    def get_view_names(
        self, connection: sa.Connection, schema: str | None = None, **_: Any
    ) -> list[str]:
        return []

    def has_table(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> bool:
        return table_name in self._schema(connection)

    def get_columns(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[Any]:
        columns = self._table(connection, table_name)["columns"]
        return [
            {"name": name, "type": _TYPES[facts["type"]], "nullable": True, "default": None}
            for name, facts in columns.items()
        ]

    def get_pk_constraint(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> Any:
        columns = self._table(connection, table_name)["columns"]
        unique = [name for name, facts in columns.items() if facts.get("unique")]
        return {"name": None, "constrained_columns": unique[:1]}

    def get_foreign_keys(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[Any]:
        references = self._table(connection, table_name)["references"]
        return [
            {
                "name": None,
                "constrained_columns": [column],
                "referred_schema": None,
                "referred_table": target.rpartition(".")[0],
                "referred_columns": [target.rpartition(".")[2]],
                "options": {},
            }
            for column, target in references.items()
        ]

    def get_indexes(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[Any]:
        return []

    def get_unique_constraints(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[Any]:
        return []


class HttpDialect(CelosiaDialect):
    """A service on this machine."""

    driver = "http"
    scheme = "http"


class HttpsDialect(CelosiaDialect):
    """A service."""

    driver = "https"
    scheme = "https"


def _read(name: str, value: object) -> Any:
    try:
        return _READERS[name](str(value))
    except (KeyError, ValueError):
        raise translate(InputError("CEL-Q341.address", option=name)) from None
