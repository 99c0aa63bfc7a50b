"""What commands load: each takes what it needs, and nobody waits for the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from celosia.cli.app import COMMANDS, LazyCommands

PROGRAM = """
import json, sys
from celosia.cli import main

def run(*words):
    sys.argv = ["celosia", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
    return sorted(sys.modules)

text = "SELECT sex, count(*) AS n, avg(pay) AS pay FROM people GROUP BY sex"
question = ["query", "policy.toml", text]
plan, answer = [*question, "-e", "0.5", "--explain"], [*question, "-e", "0.5"]
loaded = [run("--version"), run("--help"), run(*plan), run(*answer)]
print(json.dumps(loaded), file=sys.stderr)
"""

POLICY = """
name = "people"
database.files.people = "people.csv"
unit = { name = "person", table = "people", key = "id" }
budget.epsilon = 1

[tables.people.columns]
id = { type = "integer", unique = true }
sex = { type = "text", keys = ["F", "M"] }
pay = { type = "number", lower = 0, upper = 9000, grid = 1 }
"""

NEVER = {
    "IPython",
    "dp_accounting",
    "fastapi",
    "matplotlib",
    "numba",
    "pandas",
    "polars",
    "psycopg",
    "pyarrow",
    "pydantic",
    "pydantic_core",
    "pyspark",
    "rich.progress",
    "scipy",
    "sklearn",
    "sqlalchemy",
}
"""What no question to a file of rows needs."""

NEEDED = {
    "celosia.accounting": {
        *(
            "amounts",
            "currencies",
            "derived_loss",
            "distributions",
            "filters",
            "group_privacy",
        ),
        *("ledger", "loss_readers", "losses", "noise_losses"),
    },
    "celosia.engines": {"sql", "sqlite_files"},
    "celosia.mechanisms": {"answer_release", "guarantees", "noise", "parameters", "values"},
    "celosia.queries.bounds": {"caps", "facts", "growth", "join_orders", "lineage", "stability"},
    "celosia.queries.emission": {
        *("aggregates", "expression_types", "fixed_point", "relations", "syntax", "target"),
        "timestamps",
    },
    "celosia.queries.planning": {
        *("aggregates", "context", "contribution_bounding", "cost", "facts", "laplace", "plan"),
        *("key_domains", "moments", "planner", "ranges", "semi_joins"),
    },
    "sqlglot.generators": {"duckdb"},
    "sqlglot.parsers": {"base", "duckdb"},
}
"""What a question about sums under declared caps needs of packages that hold much more."""
CHARGED = {"celosia.accounting": {"accountant", "advanced_composition"}}
"""What is needed beside it when its losses are compared with its price."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> list[set[str]]:
    """The modules after the version, after the help, after a plan, and after an answer."""
    folder = tmp_path_factory.mktemp("start")
    rows = "".join(f"{number},{'FM'[number % 2]},{1000 + number}\n" for number in range(50))
    Path(folder, "people.csv").write_text(f"id,sex,pay\n{rows}", "utf-8")
    Path(folder, "policy.toml").write_text(POLICY, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return [set(names) for names in json.loads(done.stderr.splitlines()[-1])]


def test_the_version_is_shown_without_any_command(loaded: list[set[str]]) -> None:
    assert loaded[0] & (NEVER | {"typer", "rich", "numpy", "duckdb", "sqlglot"}) == set()
    assert {name for name in loaded[0] if name.startswith("celosia.")} == {
        "celosia.cli",
        "celosia.cli.main",
    }


def test_the_help_lists_commands_without_loading_them(loaded: list[set[str]]) -> None:
    assert loaded[1] & (NEVER | {"numpy", "duckdb", "sqlglot"}) == set()
    shown = {"main", "app", "console"}
    assert {name.split(".")[2] for name in loaded[1] if name.startswith("celosia.cli.")} == shown


@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_command_is_listed_with_the_first_paragraph_of_its_help(name: str) -> None:
    command = LazyCommands(COMMANDS)[name]
    assert " ".join(command.help.split("\n\n")[0].split()) == COMMANDS[name].summary


@pytest.mark.parametrize("after", [2, 3], ids=["a plan", "an answer"])
def test_a_question_loads_what_it_needs(loaded: list[set[str]], after: int) -> None:
    assert loaded[after] & NEVER == set()
    doors = ("celosia.tables", "celosia.graphs", "celosia.collect", "celosia.lab", "celosia.cli.")
    others = {name for name in loaded[after] if name.startswith(doors)}
    own = {"main", "app", "console", "frame", "options", "addresses", "query"}
    assert {name.split(".")[2] for name in others} <= own


@pytest.mark.parametrize("after", [2, 3], ids=["a plan", "an answer"])
@pytest.mark.parametrize("package", list(NEEDED))
def test_a_question_loads_the_steps_of_its_plan_only(
    loaded: list[set[str]], package: str, after: int
) -> None:
    inside = {name for name in loaded[after] if name.startswith(f"{package}.")}
    parts = {name.removeprefix(f"{package}.").split(".")[0] for name in inside}
    assert parts == NEEDED[package] | (CHARGED.get(package, set()) if after == 3 else set())


def test_a_plan_draws_no_noise(loaded: list[set[str]]) -> None:
    assert "opendp" not in loaded[2]
    assert "opendp" in loaded[3]
    assert "opendp.prelude" not in loaded[3]
