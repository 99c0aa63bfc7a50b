"""A private PostgreSQL server in a folder of its own, for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


def _binaries() -> Path | None:
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    places += [Path(found).parent] if found else []
    return next((each for each in places if (each / "pg_ctl").exists()), None)


@contextmanager
def postgres_server() -> Iterator[str]:
    """The url of a fresh server, or a skip that says what is missing."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server binaries (initdb, pg_ctl) on this machine")
    # The server refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    with TemporaryDirectory(prefix="celosia-pg-", ignore_cleanup_errors=True) as folder:
        if user is not None:
            try:
                shutil.chown(folder, user)
            except LookupError:
                pytest.skip("running as root, and no user 'postgres' to run the server as")
        data = Path(folder) / "data"
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"

        def run(*words: str) -> None:
            subprocess.run(
                words, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL, timeout=60
            )

        run(str(binaries / "initdb"), "-D", str(data), "-A", "trust", "-U", "celosia", "-N")
        control = str(binaries / "pg_ctl")
        run(control, "-D", str(data), "-o", options, "-w", "-l", str(Path(folder) / "log"), "start")
        try:
            yield f"postgresql://celosia@/postgres?host={folder}"
        finally:
            run(control, "-D", str(data), "-m", "immediate", "-w", "stop")
