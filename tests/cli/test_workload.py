"""`celosia workload`, and `celosia query --synopsis` after it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import Run

POLICY = """
name = "people"
database.files.people = "people.csv"
unit = { name = "person", table = "people", key = "id" }
budget.epsilon = 5

[tables.people.columns]
id = { type = "integer", unique = true }
sex = { type = "text", keys = ["F", "M"] }
town = { type = "text", keys = ["A", "B"] }
"""
BOARD = """
[questions]
sexes.sql = "SELECT sex, count(*) AS n FROM people GROUP BY sex"
both.sql = "SELECT sex, town, count(*) AS n FROM people GROUP BY sex, town"
"""
TOWNS = "SELECT town, count(*) AS n FROM people GROUP BY town"


def test_a_dashboard_is_explained_answered_and_kept(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{each},{'FM'[each % 2]},{'AB'[each % 3 % 2]}\n" for each in range(30))
    Path("people.csv").write_text(f"id,sex,town\n{rows}", "utf-8")
    Path("policy.toml").write_text(POLICY, "utf-8")
    Path("board.toml").write_text(BOARD, "utf-8")
    run("workload", "policy.toml", "board.toml").complains("CEL-Q213")
    plan = run("workload", "policy.toml", "board.toml", "-e", "1", "--explain", "--json")
    assert plan.code == 0, plan.err
    assert json.loads(plan.out)["data"]["gain"] > 1
    assert not Path("policy.ledger.sqlite").exists()
    ledger = ("--ledger", "kept.ledger.sqlite", "--seed", "7")
    done = run("workload", "policy.toml", "board.toml", "-e", "1", "-o", "all.json", *ledger)
    assert done.code == 0, done.err
    assert "sexes" in done.out
    assert len(json.loads(Path("all.json").read_text("utf-8"))["answers"]["both"]["rows"]) == 4
    free = run("query", "policy.toml", TOWNS, "--synopsis", "--json", *ledger)
    assert free.code == 0, free.err
    assert json.loads(free.out)["data"]["stored"]
    other = "SELECT count(*) FROM people WHERE id > 3"
    run("query", "policy.toml", other, "--synopsis", *ledger).complains("CEL-Q344", 1)
    run("query", "--server", "http://127.0.0.1:1", "--synopsis", TOWNS).complains("CEL-Q213")
