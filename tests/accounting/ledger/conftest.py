"""Places to keep a ledger: a file, and a schema of a private PostgreSQL server."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest


def binaries() -> Path | None:
    """The folder of the programs of PostgreSQL, if it is installed."""
    known = [
        Path(found).resolve().parent
        for name in ("initdb", "postgres")
        if (found := shutil.which(name))
    ]
    known += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((each for each in known if (each / "initdb").exists()), None)


def server_user() -> str | None:
    """Who may run the server: anybody but root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A server of our own in a temporary folder, without a network; the URL of its database."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs, user = binaries(), server_user()
    if programs is None or (user is None and os.getuid() == 0):
        pytest.skip("no PostgreSQL server is installed, or nobody but root could run it")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if user is not None:
        shutil.chown(folder, user)
    data = folder / "data"
    initdb: list[str | Path] = [
        programs / "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-N",
        "-E",
        "UTF8",
    ]
    subprocess.run(initdb, check=True, user=user, cwd=folder, **quiet)
    command: list[str | Path] = [
        programs / "postgres",
        "-D",
        data,
        "-k",
        folder,
        "-c",
        "listen_addresses=",
    ]
    server = subprocess.Popen(command, user=user, cwd=folder, **quiet)
    url = f"postgresql://postgres@/postgres?host={folder}"
    try:
        wait_for(url)
        yield url
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=600)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(url: str) -> None:
    psycopg = import_module("psycopg")
    for _ in range(300):
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    pytest.skip("the PostgreSQL server did not start")


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """The URL of an empty schema."""
    psycopg = import_module("psycopg")
    schema = f"s{uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{schema}"')
    return f"{postgres_server}&options=-csearch_path%3D{schema}"


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where to keep a ledger, once in a file and once on a server."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    found: str = request.getfixturevalue("postgres")
    return found
