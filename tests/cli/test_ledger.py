"""`celosia ledger`: all that was spent can be seen and checked, and looking changes nothing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

ORDERS = "SELECT count(*) FROM orders"
CUSTOMERS = "SELECT count(*) FROM customer"
POLICY = "shop/policy.toml"
LEDGER = "shop/policy.ledger.sqlite"


@pytest.fixture
def asked(run: Run, shop: Path) -> str:
    """Two questions of one shop; the head that the last release printed."""
    run("query", POLICY, ORDERS, "-e", 0.5)
    head = run("query", POLICY, CUSTOMERS, "-e", 0.1, "--json").data()["head"]
    assert isinstance(head, str)
    return head


def test_charges_are_shown_with_what_is_left(asked: str, run: Run) -> None:
    result = run("ledger", "show", POLICY, "--delta", 1e-6)
    assert result.code == 0, result.err
    assert result.out.splitlines()[-1] == (
        "tpch: spent epsilon 0.6, delta 0; left epsilon 9.4, delta 1e-06"
    )
    assert f"head: {asked}" in result.out
    facts = run("ledger", "show", LEDGER, "--delta", 1e-6, "--json").data()
    assert [(charge["epsilon"], charge["status"]) for charge in facts["charges"]] == [
        ("1/2", "sealed"),
        ("1/10", "sealed"),
    ]
    assert 0 < facts["tight"]["epsilon"] <= 0.6
    assert facts["head"] == asked
    assert MARK not in result.out


def test_looking_changes_nothing_even_under_a_new_policy(
    asked: str, run: Run, shop: Path, tmp_path: Path
) -> None:
    shop.write_text(shop.read_text("utf-8").replace("epsilon = 10", "epsilon = 5"), "utf-8")
    assert run("ledger", "show", POLICY, "--json").data()["head"] == asked
    assert run("ledger", "verify", POLICY, "--json").data()["head"] == asked
    run("query", POLICY, ORDERS, "-e", 0.5)
    assert run("ledger", "show", POLICY, "--json").data()["head"] != asked, "a question records it"


def test_an_analyst_is_shown_alone(run: Run, shop: Path) -> None:
    shop.write_text(shop.read_text("utf-8") + "\n[analysts.ana]\n[analysts.ben]\nepsilon = 1\n")
    run("query", POLICY, ORDERS, "-e", 0.5, "--analyst", "ana")
    run("query", POLICY, CUSTOMERS, "-e", 0.25, "--analyst", "ben")
    everybody = run("ledger", "show", POLICY, "--json").data()
    assert everybody["analysts"]["ben"]["remaining"]["epsilon"] == 0.75
    assert "│ ben  │" in run("ledger", "show", POLICY).out
    ben = run("ledger", "show", POLICY, "--analyst", "ben")
    assert ben.out.splitlines()[-1] == (
        "ben of tpch: spent epsilon 0.25, delta 0; left epsilon 0.75, delta 1e-06"
    )
    assert "│ ana " not in ben.out
    run("ledger", "show", POLICY, "--analyst", "eva").complains("CEL-Q109", 1)


def test_the_head_of_a_release_is_held(asked: str, run: Run) -> None:
    result = run("ledger", "verify", POLICY, "--anchor", asked)
    assert result.out.splitlines()[-1] == (
        "sound: 5 entries, each as it was written, and the anchor is among them"
    )
    wrong = asked[:-1] + ("0" if asked[-1] != "0" else "1")
    run("ledger", "verify", POLICY, "--anchor", wrong).complains("CEL-Q104", 1)
    run("ledger", "verify", POLICY, "--anchor", "nonsense").complains("CEL-Q105")


@pytest.mark.usefixtures("asked")
def test_a_ledger_that_was_edited_is_found_out(run: Run) -> None:
    with closing(sqlite3.connect(LEDGER)) as connection, connection:
        connection.execute(
            "UPDATE celosia_ledger SET body = replace(body, '\"1/2\"', '\"1/9\"') "
            "WHERE sequence = 1"
        )
    for command in (("show", POLICY), ("verify", POLICY), ("export", POLICY, "-o", "a.jsonl")):
        run("ledger", *command).complains("CEL-Q104", 1)
    run("query", POLICY, ORDERS, "-e", 0.5).complains("CEL-Q104", 1)
    assert not Path("a.jsonl").exists()


def test_an_export_can_be_verified_anywhere(asked: str, run: Run, tmp_path: Path) -> None:
    result = run("ledger", "export", POLICY, "-o", "ledger.jsonl")
    assert result.out.splitlines()[-1] == "5 entries: ledger.jsonl"
    sound = run("ledger", "verify", "ledger.jsonl", "--anchor", asked, "--json").data()
    assert sound == {"head": asked, "entries": 5, "anchor": asked}
    run("ledger", "export", POLICY, "-o", "ledger.jsonl").complains("CEL-I004")
    lines = (tmp_path / "ledger.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 5
    (tmp_path / "cut.jsonl").write_text("\n".join(lines[:1] + lines[2:]) + "\n")
    run("ledger", "verify", "cut.jsonl").complains("CEL-Q104", 1)


@pytest.mark.parametrize(
    ("options", "code", "exit_code"),
    [
        (("show", POLICY), "CEL-Q207", 2),
        (("show", "nothing.sqlite"), "CEL-Q207", 2),
        (("show", "other.sqlite"), "CEL-Q207", 2),
        (("show", "empty.sqlite"), "CEL-Q207", 2),
        (("show", "text.sqlite"), "CEL-Q206", 2),
        (("show", "nothing.toml"), "CEL-Q001", 2),
        (("show", "$NOWHERE"), "CEL-Q204", 2),
        (("show", "postgresql://ana:hush@nowhere.invalid/a"), "CEL-Q200", 2),
        (("show", "mysql://nowhere/a"), "CEL-Q116", 2),
        (("show", POLICY, "--delta", 2), "CEL-I060", 2),
        (("verify", "nothing.jsonl"), "CEL-Q207", 2),
        (("verify", "text.jsonl"), "CEL-Q104", 1),
        (("export", POLICY, "-o", "a.txt"), "CEL-Q203", 2),
        (("export", POLICY, "-o", POLICY, "--overwrite"), "CEL-I007", 2),
    ],
    ids=str,
)
@pytest.mark.usefixtures("shop")
def test_where_there_is_no_ledger_none_is_begun(
    options: tuple[object, ...], code: str, exit_code: int, run: Run, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.executescript("CREATE TABLE a (b)")
    (tmp_path / "empty.sqlite").write_bytes(b"")
    for name in ("text.sqlite", "text.jsonl"):
        (tmp_path / name).write_text("no ledger at all, " * 99)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    wrong = run("ledger", *options)
    wrong.complains(code, exit_code)
    assert "hush" not in wrong.err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_incidents_are_shown_to_the_curator_and_nowhere_else(asked: str, run: Run) -> None:
    assert run("ledger", "incidents", POLICY).out.splitlines()[-1] == "tpch: 0 incidents"
    with closing(sqlite3.connect(LEDGER)) as connection:
        row = (1, "exceeded-deadline", "2026-03-01T12:00:00+00:00", "anybody")
        connection.execute(
            "INSERT INTO celosia_ledger_incidents (entry, kind, at, analyst) VALUES (?, ?, ?, ?)",
            row,
        )
        connection.commit()
    result = run("ledger", "incidents", POLICY)
    assert result.out.splitlines()[-1] == "tpch: 1 incident"
    assert "exceeded-deadline" in result.out
    assert "do not show them" in result.err
    assert run("ledger", "incidents", POLICY, "--json").data()["incidents"] == [
        {"at": row[2], "analyst": "anybody", "entry": 1, "kind": "exceeded-deadline"}
    ]
    assert (
        run("ledger", "incidents", POLICY, "--analyst", "ana", "--json").data()["incidents"] == []
    )
    assert "exceeded" not in run("ledger", "show", POLICY, "--json").out
    assert run("ledger", "verify", POLICY, "--anchor", asked).code == 0


def test_a_lost_ledger_is_begun_anew_by_its_own_command(asked: str, run: Run, shop: Path) -> None:
    run("ledger", "new", POLICY).complains("CEL-Q307")
    line = {"action": "query", "outcome": "ok", "status": 200, "entry": 1, "epsilon": 0.5}
    Path("shop/policy.audit.jsonl").write_text(json.dumps(line) + "\n", "ascii")
    assert run("query", POLICY, ORDERS, "-e", 0.25).code == 0, "the ledger stands"
    for part in Path("shop").glob("policy.ledger.sqlite*"):
        part.unlink()
    run("query", POLICY, ORDERS, "-e", 0.5).complains("CEL-Q306", 1)
    run("ledger", "new", POLICY).complains("CEL-Q306", 1)
    begun = run("ledger", "new", POLICY, "--after-loss")
    assert begun.code == 0, begun.err
    assert "1 charge, epsilon 0.5 together" in begun.err
    assert begun.out.splitlines()[-1].startswith("tpch: a new ledger, left epsilon 10")
    assert run("query", POLICY, ORDERS, "-e", 0.5).code == 0
    run("ledger", "new", POLICY, "--after-loss").complains("CEL-Q307")


def test_a_ledger_is_begun_where_there_was_none(run: Run, shop: Path) -> None:
    facts = run("ledger", "new", POLICY, "--json").data()
    assert facts["remaining"]["epsilon"] == 10
    assert facts["known"] == {"charges": 0, "epsilon": 0}
    assert run("ledger", "show", POLICY, "--json").data()["head"] == facts["head"]
