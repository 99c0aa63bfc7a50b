"""`celosia assess individual`: risks by the weights of a survey, told, written and refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import MARK, Run

ASKED = ("assess", "individual", "survey.csv", "-q", "job", "--weights", "w")


@pytest.fixture(autouse=True)
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.csv"
    rows = [("cook", 55, 1), ("cook", 55, 2), (f"{MARK}-king", 5, 1)]
    path.write_text("job,w,house\n" + "".join(f"{job},{w},{house}\n" for job, w, house in rows))
    return path


def test_risks_are_those_of_the_closed_form(run: Run, tmp_path: Path) -> None:
    told = run(*ASKED, "-o", "risks.csv", "--report", "risks.html")
    assert told.code == 0, told.err
    assert "risks: risks.csv" in told.out.splitlines()
    risks = pl.read_csv(tmp_path / "risks.csv")["risk"].to_list()
    # One record with p = 1/5: p/q log(1/p). Two with p = 2/110: (p/q)(1 - (p/q) log(1/p)).
    assert risks[2] == pytest.approx(math.log(5) / 4, rel=1e-12)
    odds = (2 / 110) / (108 / 110)
    assert risks[0] == pytest.approx(odds * (1 - odds * math.log(55)), rel=1e-12)
    page = (tmp_path / "risks.html").read_text("utf-8")
    assert "Expected to be re-identified" in page
    assert MARK not in told.out + told.err + page


def test_facts_are_told_as_json_and_households_are_found_together(run: Run) -> None:
    facts = json.loads(run(*ASKED, "--household", "house", "--threshold", 0.3, "--json").out)
    facts = facts.get("data", facts)
    assert facts["records"] == 3
    assert facts["sample_uniques"] == 1
    assert facts["records_above_threshold"] == 1
    alone = facts["expected_reidentifications"]
    assert facts["expected_reidentifications_by_household"] > alone


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("--missing", "some"), "CEL-A290"),
        (("--threshold", 2), "CEL-A"),
        (("--household", "home"), "CEL-A003"),
        (("-o", "survey.csv"), "CEL-I007"),
        (("-o", "risks.what"), "CEL-F"),
    ],
    ids=["missing", "threshold", "household", "input", "format"],
)
def test_bad_wishes_are_refused_and_nothing_is_written(
    run: Run, tmp_path: Path, command: tuple[object, ...], code: str
) -> None:
    before = sorted(each.name for each in tmp_path.iterdir())
    told = run(*ASKED, *command)
    assert told.code != 0
    assert code in told.err
    assert MARK not in told.err
    assert sorted(each.name for each in tmp_path.iterdir()) == before


def test_a_column_without_weights_is_refused(run: Run) -> None:
    told = run("assess", "individual", "survey.csv", "-q", "w", "--weights", "job")
    assert "CEL-A291" in told.err


def test_special_uniques_models_and_sensitive_values_are_told_and_written(
    run: Run, tmp_path: Path
) -> None:
    measures = ("--suda", "--log-linear", "none", "--sensitive", "house")
    told = run(*ASKED, *measures, "-o", "risks.csv", "--report", "risks.html")
    assert told.code == 0, told.err
    columns = pl.read_csv(tmp_path / "risks.csv").columns
    assert {"risk", "suda", "dis_suda", "log_linear_risk", "house_t"} <= set(columns)
    page = (tmp_path / "risks.html").read_text("utf-8")
    assert "Special uniques" in page
    assert "Dispersion" in page
    assert MARK not in told.out + told.err + page
    facts = run(*ASKED[:5], "--suda", "--sampling-fraction", 0.5, "--json").data()
    assert facts["suda"]["special_records"] == 1
    run(*ASKED[:5]).complains("CEL-A290")
