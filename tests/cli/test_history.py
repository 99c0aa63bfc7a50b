"""`celosia publish --history` and `celosia history`: publish again, list and verify."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import Run

ROLES = ("-q", "age", "-q", "town", "--sensitive", "illness", "--identifier", "name")
PUBLISH = ("publish", "people.csv", *ROLES, "--k", 6)


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [(f"Person-{n}", f"age-{n % 6}", f"town-{n // 6 % 6}", "flu") for n in range(72)]
    frame = pl.DataFrame(rows, schema=["name", "age", "town", "illness"], orient="row")
    frame.write_csv("people.csv")
    return tmp_path


def test_a_complementary_release_is_refused_and_the_history_shows_the_others(
    people: Path, run: Run
) -> None:
    history = ("--history", "people.history")
    first = run(*PUBLISH, *history, "--level", "town=1", "-o", "one.csv")
    assert first.code == 0
    assert "together with 0 earlier releases: smallest class 12" in " ".join(first.out.split())
    second = run(*PUBLISH, *history, "--level", "age=1", "-o", "two.csv", "--suppression", "100%")
    second.complains("CEL-P123", 1)
    assert "the smallest class would have 2 of 6, and 72 people or records" in second.err
    assert not (people / "two.csv").exists()
    planned = run(*PUBLISH, *history, "-o", "two.csv", "--json")
    assert json.loads(planned.out)["data"]["measures"]["solution"]["joint"]["smallest"] == 12
    only_looked = run(*PUBLISH, *history, "--json")
    assert only_looked.code == 0
    listed = json.loads(run("history", "list", "people.history", "--json").out)["data"]
    assert [each["levels"] for each in listed["releases"]] == [[0, 1], [0, 1]]
    assert run("history", "verify", "people.history").code == 0
    held = (people / "people.history").read_bytes()
    assert not any(value in held for value in (b"Person-", b"town-", b"flu"))


def test_files_in_chunks_and_engines_go_on_with_the_same_history(people: Path, run: Run) -> None:
    pl.read_csv("people.csv").write_parquet("people.parquet")
    options = (*ROLES, "--k", 6, "--history", "people.history", "--json")
    run(*PUBLISH, "--history", "people.history", "--level", "town=1", "-o", "one.csv")
    streamed = run("publish", "people.csv", *options, "--stream", "-o", "two.csv")
    engine = ("--engine", "duckdb", "-o", "three.parquet")
    joints = [
        json.loads(each.out)["data"]["measures"]["solution"]["joint"]
        for each in (streamed, run("publish", "people.parquet", *options, *engine))
    ]
    assert [(each["earlier"], each["known"], each["smallest"]) for each in joints] == [
        (1, 72, 12), (2, 72, 12)
    ]  # fmt: skip
    assert run("history", "verify", "people.history").code == 0


def test_a_risk_is_accepted_in_writing_only(people: Path, run: Run) -> None:
    history = ("--history", "people.history")
    run(*PUBLISH, *history, "--level", "town=1", "-o", "one.csv")
    wanted = (*PUBLISH, *history, "--level", "age=1", "-o", "two.csv")
    accepted = run(*wanted, "--accept-joint", "decided by the board")
    assert accepted.code == 0
    assert "decided by the board" in (people / "two.csv.cert.json").read_text("utf-8")
    verified = run("history", "verify", "people.history")
    assert "1 accepted in writing" in " ".join(verified.out.split())
    (people / "people.history.key").write_bytes(bytes(32))
    run("history", "verify", "people.history").complains("CEL-P121")
