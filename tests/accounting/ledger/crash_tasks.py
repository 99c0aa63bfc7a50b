"""Tasks of the program `crashing_processes.py`, and what they tell."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("crashing_processes.py")
SMALL = Fraction(1, 1000)


def run(do: str, place: str, log: Path, **task: Any) -> dict[str, Any]:
    """Run a task to its end: what it reports."""
    common = {"place": place, "log": str(log), "patience": 60.0, "epsilon": str(SMALL)}
    log.touch()
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        input=json.dumps({"do": do, **common, **task}),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report | {"stderr": done.stderr}


def read_log(path: Path) -> dict[str, list[str]]:
    """The log that processes wrote before they died."""
    found: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        word, value = line.split()
        found.setdefault(word, []).append(value)
    return found
