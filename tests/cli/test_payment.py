"""`--ledger`: every private release can be charged to one budget, which is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Run

from celosia import datasets
from celosia.datasets import city, city_declaration


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    city(20, 2, seed=1).frame.write_csv("pings.csv")
    Path("trace.toml").write_text(city_declaration())
    datasets.searches(30, seed=3).frame.write_csv("searches.csv")
    Path("friends.edges").write_text("1 2\n2 3\n3 1\n")
    Path("rows.csv").write_text("age,who\n20,a\n30,b\n")
    Path("notes").mkdir()
    for number in range(3):
        Path(f"notes/{number}.txt").write_text("fever and cough")
    return tmp_path


LOG = "log release keys searches.csv --declare log.toml --delta 1e-6"
RELEASES = {
    "person": [
        "trace release grid pings.csv -d trace.toml --size 2",
        "trace release flows pings.csv -d trace.toml --grid 2",
        "trace release synthetic pings.csv -d trace.toml --size 3 --trips 3",
        LOG,
        "release count rows.csv --unit who --rows-per-unit 1",
    ],
    "edge": ["graph release edges friends.edges"],
    "document": ["text release terms notes --delta 1e-6 --unit document"],
    "row": ["release count rows.csv"],
}


@pytest.mark.parametrize("unit", RELEASES)
def test_releases_are_charged_and_refused(run: Run, folder: Path, unit: str) -> None:
    if unit == "person":
        assert run("log", "init", "searches.csv", "-o", "log.toml").code == 0
    words = RELEASES[unit]
    total = 0.5 * len(words)
    declared = run("ledger", "declare", "l", "-e", total, "--delta", 1e-5, "--unit", unit)
    assert declared.code == 0, declared.err
    assert f"neighbours: add or remove one {unit}" in declared.out
    for count, each in enumerate(words, 1):
        if "--unit who" in each:  # a unit of its own name is another one
            run(*each.split(), "-e", 0.5, "--ledger", "l").complains("CEL-B045", 1)
            continue
        made = run(*each.split(), "-e", 0.5, "--ledger", "l", "--seed", 1)
        assert made.code == 0, made.err
        assert "Charged to the ledger" in made.err
        assert run("ledger", "show", "l", "--json").data()["spent"]["epsilon"] == 0.5 * count
    run(*words[0].split(), "-e", 0.75, "--ledger", "l", "-o", "x.csv").complains("CEL-Q110", 3)
    assert not Path("x.csv").exists()


def test_a_refusal_comes_before_the_data_is_read(run: Run, folder: Path) -> None:
    run("ledger", "declare", "l", "-e", 0.1)
    words = "trace release grid none.csv -d trace.toml -e 1 --ledger l"
    run(*words.split()).complains("CEL-Q110", 3)
    Path("pings.csv").write_text("not,a,trace\n")
    words = "trace release grid pings.csv -d trace.toml -e 0.1 --ledger l"
    assert run(*words.split()).code != 0
    assert run("ledger", "show", "l", "--json").data()["charges"] == [], "bad input costs nothing"


def test_a_place_without_a_ledger_is_refused(run: Run, folder: Path) -> None:
    words = ("trace", "release", "grid", "pings.csv", "-d", "trace.toml", "-e", 1)
    run(*words, "--ledger", "no").complains("CEL-Q207")
    assert not Path("no").exists()
