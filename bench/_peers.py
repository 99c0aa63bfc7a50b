"""Environments of their own for peers that do not run beside our libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


def peer(name: str, pins: Iterable[str]) -> Path | None:
    """The Python of an environment with a peer, made now if there is none yet.

    It is made in the user's cache. None where the packages cannot be had.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "celosia-bench" / name
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        make = [[sys.executable, "-m", "venv", str(home)]]
        make.append([str(python), "-m", "pip", "install", "--quiet", *pins])
        for command in make:
            if subprocess.run(command, capture_output=True, check=False).returncode:
                return None
        (home / "ready").touch()
    return python
