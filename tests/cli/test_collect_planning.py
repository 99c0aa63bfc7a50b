"""`celosia collect choose` and `celosia collect simulate`: tables, JSON, reports and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

from celosia.collect.registry import protocol_from, save_protocol
from celosia.collect.simulation.protocol_fit import NAMES

SMALL = ("collect", "simulate", "--data", "letters:3000", "--seed", 1)
CHOICE = ("collect", "choose", "--users", "1e6", "--domain", 1000)


def test_protocols_are_ranked_and_those_left_out_are_named(run: Run, tmp_path: Path) -> None:
    told = run(*CHOICE, "--epsilon", 2, "--bytes", 8, "--report", "choice.html")
    assert told.code == 0
    assert told.out.splitlines()[-1].startswith("with pgr a rare value is 854.8 users off")
    assert "oue is left out: its reports have 125 bytes." in told.err
    assert "report: choice.html" in told.out
    assert "Error against epsilon" in (tmp_path / "choice.html").read_text()
    run(*CHOICE, "--epsilon", 2, "--report", "choice.html").complains("CEL-I004")


def test_an_epsilon_or_users_are_found_for_a_wished_error(run: Run) -> None:
    epsilon = run(*CHOICE, "--error", 500, "--json").data()
    assert epsilon["sought"] == "epsilon"
    assert 2.8 < epsilon["ranked"][0]["needed_epsilon"] < 2.95
    assert any(each["method"] == "hcms" for each in epsilon["left_out"])
    users = run("collect", "choose", "-e", 2, "--domain", 1000, "--error", "0.1%", "--json").data()
    assert users["sought"] == "users"
    assert 700_000 < users["ranked"][0]["needed_users"] < 760_000
    assert (
        "users are enough"
        in run("collect", "choose", "-e", 2, "--domain", 1000, "--error", "0.1%").out.splitlines()[
            -1
        ]
    )


def test_too_few_hashes_and_unknown_dictionaries_are_told(run: Run) -> None:
    few = run("collect", "choose", "--users", "1e7", "--domain", 1000, "-e", 4, "--hashes", 1024)
    assert "cms: the number of hashes limits accuracy, not that of users" in few.err
    words = run("collect", "choose", "--users", "1e6", "-e", 8, "--unknown-dictionary")
    assert "sfp" in words.out
    again = run("collect", "choose", "--users", "1e6", "-e", 2, "--domain", 20, "--repeated")
    assert "lasting" in again.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--epsilon", 2, "--error", "few"), "CEL-R090"),
        (("--epsilon", 2, "--squares", 7), "CEL-R090"),
        ((), "CEL-R091"),
        (("--epsilon", 1, "--bytes", 1), "CEL-R092"),
        (("--epsilon", -1), "CEL-I060"),
    ],
)
def test_targets_that_make_no_sense_are_refused(
    words: tuple[object, ...], code: str, run: Run
) -> None:
    run(*CHOICE, *words).complains(code)


@pytest.mark.parametrize("name", NAMES)
def test_every_protocol_prints_its_times_values_and_errors(name: str, run: Run) -> None:
    kind = "anglicisms" if name in ("sfp", "pem", "treehist") else "exponential"
    told = run(
        *("collect", "simulate", "--data", f"{kind}:3000", "--seed", 1, "-p", name, "-e", 8),
    )
    assert told.code == 0, told.err
    for words in ("Time and size", "size of a report", "Values", "Errors", "RMSE"):
        assert words in told.out
    assert "Simulation: made from known values" in told.err
    assert told.out.splitlines()[-1].startswith("simulation of ")


def test_the_same_seed_prints_the_same(run: Run) -> None:
    first, second = (run(*SMALL, "--json").data() for _ in range(2))
    other = run("collect", "simulate", "--data", "letters:3000", "--seed", 2, "--json").data()
    for each in (first, second, other):
        assert each.pop("timing")["report_bits"] == 21
    assert first == second
    assert first["elements"] != other["elements"]


def test_a_column_of_a_table_is_simulated_with_a_report(run: Run, tmp_path: Path) -> None:
    assert run("datasets", "get", "letters", "--rows", 4000, "-o", "letters.csv").code == 0
    told = run(
        *("collect", "simulate", "letters.csv", "--column", "value", "-p", "grr", "--seed", 3),
        *("--runs", 3, "--post", "norm-sub", "--report", "seen.html"),
    )
    assert told.code == 0, told.err
    assert "RMSE of all 3 runs" in told.out
    assert "Real (=) and estimated (o)" in told.out
    page = (tmp_path / "seen.html").read_text()
    assert "<svg" in page
    assert "Simulation of grr" in page
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_list_a_setting_and_a_protocol_file_are_taken(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("A\nB\nZ\n")
    found = run(
        *(*SMALL, "--candidates", "list.txt", "-p", "cms:epsilon=1/3,hashes=64,width=32"),
        *("--aggregate", "--json"),
    ).data()
    assert [each["value"] for each in found["elements"]] == ["A", "B", "Z"]
    assert (found["protocol"]["hashes"], found["protocol"]["width"]) == (64, 32)
    assert found["protocol"]["epsilon"] == "1/3"
    assert found["aggregate"] is True
    made = protocol_from({"method": "hcms", "epsilon": 3, "key": "file"})
    save_protocol(made, tmp_path / "file.toml")
    found = run(*SMALL, "-p", "file.toml", "--json").data()
    assert found["protocol"]["key"] == "file"
    run(*SMALL, "-p", "file.toml", "-e", 2).complains("CEL-R101")


def test_rows_without_a_value_are_counted_and_fractions_are_texts(run: Run, tmp_path: Path) -> None:
    rows = [f"{value},{at}" for at, value in enumerate(["0.5", "", "0.5", "1.25"] * 50)]
    (tmp_path / "some.csv").write_text("\n".join(["share,number", *rows]) + "\n")
    told = run("collect", "simulate", "some.csv", "--column", "share", "-p", "grr", "-e", 8)
    assert told.code == 0, told.err
    assert "50 rows without a value send no report" in told.err
    assert "0.5" in told.out
    mean = run("collect", "simulate", "some.csv", "--column", "share", "-p", "one-bit-mean")
    assert mean.code == 0, mean.err
    assert "mean" in mean.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), "CEL-R102"),
        (("people.csv",), "CEL-R102"),
        (("people.csv", "--column", "agee"), "CEL-R102"),
        (("people.csv", "--column", "age", "--data", "normal:5"), "CEL-R102"),
        (("--data", "gamma:5"), "CEL-R102"),
        (("--data", "normal:many"), "CEL-R102"),
        (("--data", "normal:0"), "CEL-R100"),
        (("--data", "normal:9", "--runs", 0), "CEL-R100"),
        (("--data", "normal:9", "-p", "hcms:epsilon=4,hashes"), "CEL-I064"),
        (("--data", "normal:9", "-p", "hcms:hash=3"), "CEL-I062"),
        (("--data", "normal:9", "-p", "hcms:4", "-e", 4), "CEL-R101"),
        (("--data", "normal:9", "-p", "hcms:0"), "CEL-I060"),
        (("--data", "normal:9", "-p", "hcsm"), "CEL-I061"),
        (("--data", "normal:9", "-p", "none.toml"), "CEL-R071"),
        (("--data", "normal:9", "--candidates", "none.txt"), "CEL-R103"),
        (("--data", "normal:9", "--aggregate"), "CEL-R016"),
        (("people.csv", "--column", "disease", "-p", "one-bit-mean"), "CEL-R101"),
        (("people.csv", "--column", "disease", "-p", "grr", "--candidates", "a.txt"), "CEL-R051"),
    ],
)
def test_what_cannot_be_simulated_is_refused_without_a_value(
    words: tuple[object, ...], code: str, run: Run, people: Path
) -> None:
    (people.parent / "a.txt").write_text("a\nb\n")
    assert MARK in people.read_text()
    run("collect", "simulate", *words).complains(code)


def test_a_sweep_writes_a_table_a_report_and_a_state_that_it_goes_on_with(
    run: Run, tmp_path: Path
) -> None:
    command = (
        *("collect", "sweep", "--data", "letters", "-p", "grr", "-p", "cms:width=16"),
        *("-e", "1,4", "-n", "100,400", "--vary", "hashes=4,8", "--repeats", 2, "--seed", 1),
        *("--state", "a.sweep"),
    )
    told = run(*command, "-o", "runs.csv", "--report", "sweep.html", "--json").data()
    assert (told["runs"], told["resumed"], len(told["points"])) == (24, 0, 12)
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 25
    assert "mean error (% of users) along users" in (tmp_path / "sweep.html").read_text()
    again = run(*command)
    assert "24 of the runs were in the state file already" in again.err
    assert again.out.splitlines()[-1] == "12 points, 24 runs"


def test_a_sweep_takes_a_column_of_a_table(run: Run, tmp_path: Path) -> None:
    (tmp_path / "emoji.csv").write_text("emoji\n" + "smile\n" * 80 + "cry\n" * 20)
    command = ("collect", "sweep", "emoji.csv", "--column", "emoji", "-p", "grr")
    told = run(*command, "--json").data()
    assert told["histograms"] == {
        "emoji": [{"value": "smile", "users": 80}, {"value": "cry", "users": 20}]
    }
    run(*command, "--data", "letters").complains("CEL-R102")
    run(*command, "-n", "101").complains("CEL-R107")
