"""`celosia explore`: the front, how to publish a solution, and pictures of the trade-off."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

ASKED = ("-s", "people.toml", "--k", 5)


@pytest.mark.usefixtures("people", "schema")
def test_the_front_is_listed_and_all_solutions_only_if_asked_for(run: Run) -> None:
    few = run("explore", "people.csv", *ASKED, "--json").data()
    every = run("explore", "people.csv", *ASKED, "--all", "--json").data()
    assert "solutions" not in few
    assert few["found"] == len(every["solutions"]) > len(few["front"]) > 1
    points = [(each["score"], each["average_risk"]) for each in every["solutions"]]
    front = [(each["score"], each["average_risk"]) for each in few["front"]]
    # By the definition: nothing is better in one and no worse in the other.
    beaten = [
        any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in points)
        for one in points
    ]
    assert front == sorted({point for point, lost in zip(points, beaten, strict=True) if not lost})


@pytest.mark.usefixtures("people", "schema")
def test_the_command_that_is_offered_publishes_the_best(run: Run, tmp_path: Path) -> None:
    told = run("explore", "people.csv", *ASKED)
    line = next(line for line in told.err.splitlines() if line.startswith("Publish the first: "))
    words = shlex.split(line.removeprefix("Publish the first: celosia "))
    made = run(*words, "--json").data()
    best = run("publish", "people.csv", *ASKED, "--json").data()
    assert made["measures"]["solution"]["loss"] == best["measures"]["solution"]["loss"]
    assert (tmp_path / "safe.csv").exists()


@pytest.mark.usefixtures("people", "schema")
def test_plot_and_report_are_written_without_a_cell(run: Run, tmp_path: Path) -> None:
    told = run("explore", "people.csv", *ASKED, "--plot", "p.svg", "--report", "r.html")
    assert told.code == 0
    assert "plot: p.svg" in told.out
    plot, page = ((tmp_path / name).read_text("utf-8") for name in ("p.svg", "r.html"))
    assert plot.startswith("<svg")
    assert "least loss" in plot
    assert page.startswith("<!DOCTYPE html>")
    assert "5-anonymity" in page
    assert MARK not in told.out + plot + page


@pytest.mark.usefixtures("people", "schema")
def test_nothing_that_is_read_or_exists_is_lost(run: Run) -> None:
    run("explore", "people.csv", *ASKED, "--plot", "people.csv", "--overwrite").complains(
        "CEL-I007"
    )
    both = ("--plot", "a", "--report", "a")
    run("explore", "people.csv", *ASKED, *both).complains("CEL-I043")
    run("explore", "people.csv", "-s", "people.toml").complains("CEL-I050")


@pytest.mark.usefixtures("people", "schema")
def test_a_time_limit_stops_and_says_how_much_was_tried(run: Run) -> None:
    whole = run("explore", "people.csv", *ASKED, "--json").data()
    assert whole["tried"] == whole["nodes"]
    short = run("explore", "people.csv", *ASKED, "--time-limit", "0.000001", "--json").data()
    assert short["tried"] == 1
    assert run("explore", "people.csv", *ASKED, "--time-limit", "600", "--json").data() == whole
    run("explore", "people.csv", *ASKED, "--time-limit", "-1").complains("CEL-P063")
