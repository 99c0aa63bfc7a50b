"""`--json`: one object on standard output, for results and for errors, and the exit code agrees."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

from celosia import cli

QUASI = ("-q", "age", "-q", "zip")
ASK = ("query", "shop/policy.toml", "SELECT count(*) FROM orders")


@pytest.mark.parametrize(
    "command",
    [
        ("publish", "people.csv", "--schema", "people.toml", "--k", 5),
        ("publish", "people.csv", "--schema", "people.toml", "--k", 5, "-o", "safe.csv"),
        ("publish", "people.csv", "-s", "people.toml", "--k", 5, "--stream", "-o", "safe.csv"),
        ("explore", "people.csv", "-s", "people.toml", "--k", 5),
        ("teach", "samarati", "people.csv", "-s", "people.toml", "--k", 5),
        ("assess", "risk", "people.csv", *QUASI),
        ("assess", "risk", "people.csv", *QUASI, "--sampling-fraction", 0.5),
        ("assess", "uniqueness", "people.csv", *QUASI, "--sampling-fraction", 0.5),
        ("assess", "columns", "people.csv"),
        ("assess", "identifiers", "people.csv"),
        ("assess", "check", "people.csv", "-s", "people.toml", "--k", 4),
        ("assess", "attack", "people.csv", "-s", "people.toml"),
        ("assess", "utility", "people.csv", "people.csv", "-s", "people.toml", "--queries", 10),
        ("hierarchy", "build", "people.csv", "--column", "age"),
        ("release", "count", "people.csv", "-e", 1),
        ("release", "mean", "people.csv", "-c", "age", "--lower", 0, "--upper", 99, "-e", 1),
        ("release", "histogram", "people.csv", "-c", "zip", "--categories", "0100,0101", "-e", 1),
        ("release", "histogram", "people.csv", "-c", "disease", "--delta", 1e-9, "-e", 0.1),
        ("release", "sum", "people.csv", "--lower", 0, "--upper", 99, "-e", 1, "--explain"),
        ("epsilon", "belief"),
        ("epsilon", "curve", "count"),
        ("epsilon", "choose", "--error", 10),
        ("epsilon", "compose", "--pure", "0.1x100"),
        ("epsilon", "split", "--total", 1, "--releases", 100),
        ("epsilon", "amplify", "--epsilon", 1, "--rate", 0.01),
        ("epsilon", "group", "--epsilon", 0.5, "--size", 4),
        ("audit", "--only", "Geometric", "--samples", 1000, "--seed", 1),
        (*ASK, "-e", 1),
        (*ASK, "--explain"),
        ("policy", "check", "shop/policy.toml", "--connect"),
        ("policy", "show", "shop/policy.toml"),
        ("policy", "draft", "shop/orders.parquet"),
        ("token", "create", "shop/policy.toml", "--analyst", "ana"),
        ("datasets",),
        ("datasets", "get", "patients", "-o", "patients.csv"),
        ("datasets", "get", "tpch", "--scale", 0.001, "-o", "other"),
        ("datasets", "get", "network", "--vertices", 50, "-o", "other.edges"),
        ("graph", "methods"),
        ("explain",),
        ("explain", "CEL-T011"),
        ("doctor",),
    ],
    ids=lambda command: " ".join(map(str, command)),
)
@pytest.mark.usefixtures("people", "schema", "shop")
def test_a_result_is_one_object_and_nothing_else(command: tuple[object, ...], run: Run) -> None:
    result = run(*command, "--json")
    assert result.data()
    assert set(result.envelope()) == {"ok", "data"}
    assert result.err == ""
    assert MARK not in result.out


@pytest.mark.usefixtures("shop")
def test_what_was_spent_is_told_as_an_object(run: Run) -> None:
    run(*ASK, "-e", 1)
    run("token", "create", "shop/policy.toml", "--analyst", "ana")
    for command in (
        ("ledger", "show", "shop/policy.toml", "--delta", 1e-6),
        ("ledger", "verify", "shop/policy.toml"),
        ("ledger", "export", "shop/policy.toml", "-o", "ledger.jsonl"),
        ("token", "list", "shop/policy.toml"),
    ):
        result = run(*command, "--json")
        assert result.data(), command
        assert result.err == "", command


def test_a_checked_hierarchy_is_told_as_an_object(people: Path, run: Run) -> None:
    run("hierarchy", "build", people, "--column", "age", "-o", "age.csv")
    found = run("hierarchy", "check", "age.csv", "--table", people, "--column", "age", "--json")
    assert found.data()["leaves"] == 5


NAMED = ("--identifier", "name", "--sensitive", "disease")


@pytest.mark.parametrize(
    ("command", "code", "exit_code"),
    [
        (
            ("publish", "people.csv", *QUASI, *NAMED, "--k", 61),
            "CEL-P001",
            1,
        ),
        (("assess", "risk", "people.csv", *QUASI, "--k", 5), "CEL-A010", 1),
        (("assess", "check", "people.csv", *QUASI, "--k", 5), "CEL-A010", 1),
        (("assess", "check", "people.csv", *QUASI), "CEL-I050", 2),
        (("assess", "attack", "people.csv", *QUASI), "CEL-I054", 2),
        (
            ("explore", "people.csv", *QUASI, "--other-columns", "insensitive", "--k", 61),
            "CEL-P001",
            1,
        ),
        (("publish", "nobody.csv", *QUASI, "--k", 5), "CEL-F010", 2),
        (("publish", "people.csv", "--k", 5), "CEL-I032", 2),
        (("publish", "people.csv"), "CEL-I050", 2),
        (("publish", "people.csv", "--k", "five"), "CEL-I040", 2),
        (("publsh",), "CEL-I040", 2),
        (("hierarchy", "build", "people.csv", "--column", "agee"), "CEL-I035", 2),
        (("hierarchy", "check", "nothing.csv"), "CEL-H011", 2),
        (("datasets", "get", "nothing", "-o", "a.csv"), "CEL-D007", 2),
        (("release", "count", "people.csv"), "CEL-M128", 2),
        (("release", "count", "people.csv", "-e", 0), "CEL-I060", 2),
        (("release", "count", "people.csv", "-c", "age", "-e", 1), "CEL-M122", 2),
        (("epsilon", "choose"), "CEL-B072", 2),
        (("epsilon", "choose", "--error", 1, "--belief", 0.6), "CEL-B071", 1),
        (("epsilon", "compose", "--pure", "0.1y3"), "CEL-B083", 2),
        (("audit", "--only", "Nothing"), "CEL-A120", 2),
        (ASK, "CEL-Q213", 2),
        ((*ASK, "-e", 11), "CEL-Q110", 3),
        (("query", "shop/policy.toml", "SELECT * FROM orders", "-e", 1), "CEL-Q042", 1),
        (("policy", "check", "people.csv"), "CEL-Q001", 2),
        (("ledger", "show", "shop/policy.toml"), "CEL-Q207", 2),
        (("token", "create", "shop/policy.toml"), "CEL-Q209", 2),
        (("explain", "CEL-T01"), "CEL-I033", 2),
        (("demo", "--k", 1), "CEL-I060", 2),
    ],
    ids=str,
)
@pytest.mark.usefixtures("people", "shop")
def test_an_error_is_one_object_and_nothing_else(
    command: tuple[object, ...], code: str, exit_code: int, run: Run
) -> None:
    result = run(*command, "--json")
    found = result.envelope()
    assert (result.code, found["ok"], found["code"]) == (exit_code, False, code)
    assert set(found) == {"ok", "code", "error", "why", "hint", "details"}
    assert found["error"]
    assert found["hint"]
    assert result.err == ""
    assert MARK not in result.out


def test_a_broken_promise_brings_its_figures(people: Path, run: Run) -> None:
    details = run("assess", "risk", people, *QUASI, "--k", 5, "--json").envelope()["details"]
    assert (details["smallest"], details["classes"]) == (4, 15)


def test_the_wish_for_json_may_stand_before_the_name_of_a_command(run: Run) -> None:
    assert run("datasets", "--json", "get", "patients", "-o", "p.csv").data()["rows"] == 9


def test_only_the_frame_prints_results() -> None:
    commands = Path(cli.__file__).parent
    own = [each for each in commands.rglob("*.py") if each.name not in ("console.py", "frame.py")]
    assert [each.name for each in own if "show_json(" in each.read_text("utf-8")] == []
