"""What a command costs before it works: processor seconds of the version, the help and a question.

The bars: 0.15 s for `celosia --version`, 0.3 s for `celosia --help`, 0.8 s for one `celosia query`
on a table of 50 rows. The limit beside them is a bare interpreter that only loads libraries that
the command cannot do without. Seconds are of the processor (user and system): a question waits for
its deadline, and other work on the machine disturbs them less than the clock.

Warm is the least of several runs after one that is not counted. Cold is the first run after an
installation: no compiled Python file and no compiled kernel exists. The last question is asked of
many rows in a DuckDB file that were compared with their policy before; it need not be done again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from celosia.engines.sql import REST

CELOSIA = "from celosia.cli import main; main()"
BARS = {"--version": 0.15, "--help": 0.3, "query, 50 rows": 0.8}
LIMITS = {
    "--version": "import importlib.metadata",
    "--help": "import typer.main, typer.rich_utils, rich.markdown",
    "query, 50 rows": "import os; os.environ['OPENBLAS_THREAD_TIMEOUT'] = '4'; "
    "import sqlite3, tomllib, numpy, duckdb, sqlglot.generators.duckdb, "
    "typer.main, rich.table, opendp.measurements",
}
QUESTION = "SELECT sex, count(*) AS n FROM people GROUP BY sex"
POLICY = """
name = "people"
database = {database}
unit = {{ name = "person", table = "people", key = "id" }}
budget.epsilon = 10

[tables.people.columns]
id = {{ type = "integer", unique = true }}
sex = {{ type = "text", keys = ["F", "M"] }}
"""


def run(rows: int = 4_000_000) -> dict[str, dict[str, float]]:
    """Seconds, and ratios against the bars and the limits."""
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        _write_small(folder / "small")
        _write_large(folder / "large", rows)
        question = ["query", "policy.toml", QUESTION, "--epsilon", "0.1", "--fresh"]
        small = {
            "--version": ["--version"],
            "--help": ["--help"],
            "query, 50 rows": question,
        }
        warm = {what: _warm(CELOSIA, words, folder / "small") for what, words in small.items()}
        cold = {what: _cold(words, folder / "small") for what, words in small.items()}
        limit = {what: _warm(code, [], folder) for what, code in LIMITS.items()}
        time.sleep(REST)  # a file that has just changed is not trusted
        first = _seconds(CELOSIA, question, folder / "large")
        again = _warm(CELOSIA, question, folder / "large")
    many = f"query, {rows:,} rows"
    return {
        "seconds": _rounded(
            {f"{what}, warm": taken for what, taken in warm.items()}
            | {f"{what}, cold": taken for what, taken in cold.items()}
            | {f"{what}, libraries alone": taken for what, taken in limit.items()}
            | {f"{many}, first": first, f"{many}, again": again}
        ),
        "ratios": _rounded(
            {f"{what}, warm / {bar} s": warm[what] / bar for what, bar in BARS.items()}
            | {f"{what}, cold / {bar} s": cold[what] / bar for what, bar in BARS.items()}
            | {f"{what}, warm / libraries alone": warm[what] / limit[what] for what in BARS}
            | {f"{many}, again / 50 rows": again / warm["query, 50 rows"]}
        ),
    }


def _write_small(folder: Path) -> None:
    folder.mkdir()
    lines = "".join(f"{number},{'FM'[number % 2]}\n" for number in range(50))
    (folder / "people.csv").write_text(f"id,sex\n{lines}", "utf-8")
    files = '{ files = { people = "people.csv" } }'
    (folder / "policy.toml").write_text(POLICY.format(database=files), "utf-8")


def _write_large(folder: Path, rows: int) -> None:
    folder.mkdir()
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT range AS id, "
            f"CASE range % 2 WHEN 0 THEN 'F' ELSE 'M' END AS sex FROM range({rows})"
        )
    path = '{ path = "people.duckdb" }'
    (folder / "policy.toml").write_text(POLICY.format(database=path), "utf-8")


def _warm(code: str, words: list[str], folder: Path, *, repeat: int = 5) -> float:
    _seconds(code, words, folder)
    return min(_seconds(code, words, folder) for _ in range(repeat))


def _cold(words: list[str], folder: Path) -> float:
    with TemporaryDirectory(prefix="bench-") as empty:
        settings = {"PYTHONPYCACHEPREFIX": f"{empty}/python", "NUMBA_CACHE_DIR": f"{empty}/numba"}
        return _seconds(CELOSIA, words, folder, settings)


def _seconds(
    code: str, words: list[str], folder: Path, settings: dict[str, str] | None = None
) -> float:
    """The processor time of one process."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | (settings or {}),
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    after = os.times()
    spent = after.children_user - before.children_user
    return spent + after.children_system - before.children_system


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(figure, 2) for name, figure in figures.items()}
