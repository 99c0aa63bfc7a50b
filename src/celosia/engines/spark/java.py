"""Which Java a Spark on this machine runs on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

OLDEST = 17
"""Spark 4 starts on nothing older."""

PLACES = (
    "/usr/lib/jvm",
    "/usr/java",
    "/opt/java",
    "/opt/homebrew/opt",
    "/Library/Java/JavaVirtualMachines",
)


def java_home() -> Path | None:
    """The folder of a Java that is new enough: JAVA_HOME, PATH, then the usual places.

    The first that will do is taken, so what the user set wins.
    """
    seen: set[Path] = set()
    for java in _candidates():
        real = java.resolve()
        if real in seen or not java.is_file():
            continue
        seen.add(real)
        if (_version(java) or 0) >= OLDEST:
            # A `java` on the PATH is mostly a link: its own folder is what Spark wants to know.
            return (java if java.parent.parent.joinpath("lib").is_dir() else real).parent.parent
    return None


def _candidates() -> Iterator[Path]:
    program = "java.exe" if os.name == "nt" else "java"
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / program
    if found := shutil.which("java"):
        yield Path(found).resolve()
    for place in PLACES:
        for inside in (f"*/bin/{program}", f"*/Contents/Home/bin/{program}"):
            yield from sorted(Path(place).glob(inside))


def _version(java: Path) -> int | None:
    """The first number of what `java -version` tells; None when it does not run."""
    try:
        result = subprocess.run(  # noqa: S603 - a program named java, asked for its version
            [java, "-version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', result.stderr + result.stdout)
    return int(found.group(1)) if found else None
