"""A private MariaDB server in a folder of its own, for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import pytest


@contextmanager
def mariadb_server() -> Iterator[str]:
    """The address of a fresh server on a socket, or a skip that says what is missing.

    It has no table of users, so that it lets everybody in and is there within a second.
    """
    pytest.importorskip("pymysql", reason="pymysql is not installed")
    server = shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/libexec")
    if server is None:
        pytest.skip("no MariaDB on this machine (mariadbd)")
    with TemporaryDirectory(prefix="celosia-mariadb-", ignore_cleanup_errors=True) as folder:
        socket = Path(folder) / "socket"
        (Path(folder) / "data").mkdir()
        words = [
            server, "--no-defaults", f"--datadir={folder}/data", f"--socket={socket}",
            f"--pid-file={folder}/pid", "--skip-networking", "--skip-grant-tables",
            "--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=4M",
        ]  # fmt: skip
        words += ["--user=root"] if os.geteuid() == 0 else []
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(words, stdout=log, stderr=log, cwd=folder)
        try:
            _wait(process, socket)
            yield f"mysql://celosia@/test?unix_socket={socket}"
        finally:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], socket: Path) -> None:
    import pymysql

    end = monotonic() + 300
    while not socket.exists() and process.poll() is None and monotonic() < end:
        sleep(0.05)
    while True:
        try:
            with pymysql.connect(unix_socket=str(socket)) as connection:
                connection.cursor().execute("CREATE DATABASE test")
                return
        except pymysql.Error:
            if process.poll() is not None or monotonic() > end:
                pytest.fail("MariaDB did not start")
            sleep(0.05)
