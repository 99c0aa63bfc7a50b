"""How many modules of ours one command runs through: what a reader must follow.

A module counts if at least one of its functions is called while the command works; to be imported
is not enough. The bars are those of the house: a newcomer can follow so many modules, not twice as
many. The numbers do not depend on the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import celosia

BARS = {"publish": 45, "query": 80, "graph publish": 50, "mask": 50}
"""Modules that a flow may run through."""
SOURCE = str(Path(celosia.__file__).parent)
HOOK = """
import json, sys, threading
seen = set()
def profile(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_flags & 1 and code.co_filename.startswith(SOURCE):
        seen.add(code.co_filename)
SOURCE = sys.argv.pop(1)
threading.setprofile(profile)
sys.setprofile(profile)
from celosia.cli import main
try:
    main()
finally:
    sys.setprofile(None)
    json.dump(sorted(seen), sys.stderr)
"""
"""Runs a command and prints the files whose functions were called; flag 1 marks functions."""
POLICY = """
name = "people"
database = { files = { people = "people.csv" } }
unit = { name = "person", table = "people", key = "id" }
budget.epsilon = 10

[tables.people.columns]
id = { type = "integer", unique = true }
sex = { type = "text", keys = ["F", "M"] }
"""


def run() -> dict[str, dict[str, float] | dict[str, int]]:
    """Modules by flow, by package, and ratios against the bars."""
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        modules = {flow: _modules(words, folder) for flow, words in _commands(folder).items()}
    packages = {
        f"{flow}, {package}": sum(_package(each) == package for each in called)
        for flow, called in modules.items()
        for package in sorted(set(map(_package, called)))
    }
    return {
        "modules": {flow: len(called) for flow, called in modules.items()},
        "modules by package": packages,
        "ratios": {
            f"{flow} / {bar} modules": round(len(modules[flow]) / bar, 2)
            for flow, bar in BARS.items()
        },
    }


def _commands(folder: Path) -> dict[str, list[str]]:
    """The main job of each flow; what it needs is written to a folder."""
    for words in (
        ["datasets", "get", "census", "--rows", "1000", "-o", "census.csv", "--schema", "s.toml"],
        ["datasets", "get", "network", "--vertices", "300", "-o", "friends.edges"],
    ):
        _run(["-c", "from celosia.cli import main; main()", *words], folder)
    rows = "".join(f"{number},{'FM'[number % 2]}\n" for number in range(50))
    (folder / "people.csv").write_text(f"id,sex\n{rows}", "utf-8")
    (folder / "policy.toml").write_text(POLICY, "utf-8")
    question = "SELECT sex, count(*) AS n FROM people GROUP BY sex"
    return {
        "publish": ["publish", "census.csv", "--schema", "s.toml", "--k", "5", "-o", "safe.csv"],
        "query": ["query", "policy.toml", question, "--epsilon", "0.5"],
        "graph publish": ["graph", "publish", "friends.edges", "--k-degree", "5", "-o", "g.edges"],
        "mask": [
            *("mask", "census.csv", "--schema", "s.toml", "--method", "mdav:k=5", "-c", "age"),
            *("-o", "masked.csv"),
        ],
    }


def _run(words: list[str], folder: Path) -> str:
    """What a process prints beside its result; it must succeed."""
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=folder
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stderr


def _modules(words: list[str], folder: Path) -> list[str]:
    """The files whose functions a command calls."""
    printed = _run(["-c", HOOK, SOURCE, *words], folder)
    found: list[str] = json.loads(printed[printed.rindex('["') :])
    return found


def _package(path: str) -> str:
    return Path(path).relative_to(SOURCE).parts[0]
