"""The same small shop behind both engines, and all that an analyst can see of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.engines.server import postgres_server
from tests.queries.vaults import POLICY, TYPES

from celosia.core.errors import PrivacyWarning
from celosia.core.randomness import Seeded, Source
from celosia.queries import Vault
from celosia.queries.policy import Database, Policy

Tables = Mapping[str, list[dict[str, Any]]]


class Place:
    """One place for a database: what is put there replaces what was there, so the policy stays."""

    def __init__(self, dialect: str, folder: Path, url: str | None) -> None:
        self.dialect = dialect
        self.path = folder / "shop.duckdb"
        self.url = url
        self.vault: Vault | None = None

    def open(
        self,
        rows: Tables,
        policy: Policy = POLICY,
        *,
        rng: Source | None = None,
        ledger: Path | None = None,
    ) -> Vault:
        """A vault over these rows; a simulation unless told otherwise."""
        self.close()
        self.fill(rows, policy)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # of the large budget
            self.vault = Vault.open(
                self.here(policy), rng=Seeded(1) if rng is None else rng, ledger=ledger
            )
        return self.vault

    def here(self, policy: Policy) -> Policy:
        """The policy with this database."""
        if self.url is None:
            return replace(policy, database=Database(path=str(self.path)))
        return replace(policy, database=Database(kind="postgres", url=self.url))

    def fill(self, rows: Tables, policy: Policy = POLICY) -> None:
        """Put these rows in the place of those that are there."""
        mark = "?" if self.url is None else "%s"
        with self.connected() as connection:
            cursor = connection.cursor()
            for table in policy.tables:
                name = quoted(table.name)
                columns = ", ".join(
                    f"{quoted(each.name)} {TYPES[each.type]}" for each in table.columns
                )
                cursor.execute(f"DROP TABLE IF EXISTS {name}")
                cursor.execute(f"CREATE TABLE {name} ({columns})")
                lines = [[row.get(each.name) for each in table.columns] for row in rows[table.name]]
                one = f"({', '.join([mark] * len(table.columns))})"
                for start in range(0, len(lines), 1000):
                    part = lines[start : start + 1000]
                    marks = ", ".join([one] * len(part))
                    values = [value for line in part for value in line]
                    plain = name if self.url is None else name.replace("%", "%%")
                    cursor.execute(f"INSERT INTO {plain} VALUES {marks}", values)

    def connected(self) -> Any:
        """The owner's own connection."""
        if self.url is None:
            return duckdb.connect(str(self.path))
        import psycopg

        return psycopg.connect(self.url, autocommit=True)

    def close(self) -> None:
        """Let go of the vault."""
        if self.vault is not None:
            self.vault.close()
        self.vault = None


def quoted(name: str) -> str:
    """An identifier as SQL."""
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The url of a private PostgreSQL server."""
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """Each engine in turn."""
    url = request.getfixturevalue("postgres") if request.param == "postgres" else None
    made = Place(request.param, tmp_path_factory.mktemp("shop"), url)
    yield made
    made.close()
