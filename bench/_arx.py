"""ARX as an opponent: it runs where Java and the jars of ARX are found, in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

from celosia.tables.coded_table import CodedColumn

SETTING = "ARX_CLASSPATH"
SNAPSHOTS = (0.2, 0.8)
"""How much of the table ARX keeps of nodes that it has seen: its default, and much."""


class ArxRun(NamedTuple):
    """One run of ARX."""

    seconds: float
    """Processor seconds of the search and of what it prepares."""
    loss: float


class Arx:
    """ARX by the class path of its jars, which `--arx` or ARX_CLASSPATH gives."""

    def __init__(self, classpath: str | None):
        self._classpath = classpath or os.environ.get(SETTING, "")

    @property
    def why_not(self) -> str | None:
        """Why it cannot run; None if it can."""
        if shutil.which("java") is None:
            return "not run: no Java is found"
        if not self._classpath:
            return f"not run: give its jars by --arx or {SETTING}"
        return None

    def race(
        self,
        frame: pl.DataFrame,
        columns: Sequence[CodedColumn],
        limits: Sequence[float],
        *,
        algorithm: str = "OPTIMAL",
        milliseconds: int = 0,
        repeat: int,
    ) -> dict[float, ArxRun]:
        """The least seconds at each suppression limit, over repeats and settings."""
        with TemporaryDirectory(prefix="bench-") as name:
            folder = Path(name)
            frame.select(column.name for column in columns).write_csv(
                folder / "table.csv", separator=";"
            )
            for number, column in enumerate(columns):
                lines = (";".join(path) for path in column.hierarchy.paths())
                (folder / f"{number}.csv").write_text("\n".join(lines), "utf-8")
            tasks = [
                f"{algorithm},{limit},{milliseconds},{repeat},{size}"
                for limit in limits
                for size in (SNAPSHOTS if algorithm == "OPTIMAL" else SNAPSHOTS[:1])
            ]
            source = Path(__file__).with_name("ArxRace.java")
            done = subprocess.run(
                ["java", "-Xmx3g", "-cp", self._classpath, str(source), str(folder), *tasks],
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            raise RuntimeError(done.stderr)
        found: dict[float, ArxRun] = {}
        for line in done.stdout.splitlines():
            task, *figures = line.split()
            limit, run = float(task.split(",")[1]), ArxRun(*map(float, figures))
            found[limit] = min(run, found.get(limit, run))
        return found
