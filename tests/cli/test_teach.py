"""`celosia teach`: a classic algorithm step by step, beside the optimum."""

from __future__ import annotations

import pytest
from tests.cli.running import Run

ASKED = ("people.csv", "-s", "people.toml", "--k", 5, "--suppression", "10%")


@pytest.mark.parametrize("algorithm", ["datafly", "samarati", "incognito", "ola"])
@pytest.mark.usefixtures("people", "schema")
def test_no_algorithm_beats_the_optimum(algorithm: str, run: Run) -> None:
    told = run("teach", algorithm, *ASKED, "--json").data()
    assert told["algorithm"].lower() == algorithm
    assert told["best"]["loss"] >= told["optimum"]["loss"] - 1e-12
    assert told["visits"]
    best = run("publish", *ASKED, "--json").data()["measures"]["solution"]["loss"]
    assert told["optimum"]["loss"] == pytest.approx(best, abs=1e-12)


@pytest.mark.usefixtures("people", "schema")
def test_the_steps_are_printed_with_what_is_guaranteed(run: Run) -> None:
    told = run("teach", "datafly", *ASKED)
    assert told.code == 0
    assert "decision" in told.out
    assert "exact optimum" in told.out


@pytest.mark.usefixtures("people", "schema")
def test_an_unknown_algorithm_is_refused_with_the_nearest(run: Run) -> None:
    wrong = run("teach", "dataflie", *ASKED)
    wrong.complains("CEL-I058")
    assert "datafly" in wrong.err
