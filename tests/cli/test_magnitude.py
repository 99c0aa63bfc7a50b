"""`celosia magnitude`: tables suppressed or rounded, told and written, and what is refused."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import MARK, Run

from celosia.cli.magnitude import solver_aside

ASKED = ("--by", "region", "--by", "sector", "--value", "sales")


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    """Five firms in most cells, one in two of them; the regions and a note hold planted texts."""
    path = tmp_path / "firms.csv"
    rows = [
        f"{MARK}-{region},{sector},{10 + number + region},f{region}{sector}{number}"
        for region in range(3)
        for sector in "abc"
        for number in range(1 if (region, sector) in ((0, "a"), (2, "b")) else 5)
    ]
    path.write_text("\n".join(["region,sector,sales,firm", *rows]) + "\n")
    return path


@pytest.mark.usefixtures("firms")
def test_a_table_is_suppressed_written_and_told(run: Run, tmp_path: Path) -> None:
    told = run(
        "magnitude",
        "firms.csv",
        *ASKED,
        "--rule",
        "p-percent:10",
        "-o",
        "out.csv",
        "--report",
        "r.html",
    )
    assert told.code == 0, told.err
    shown = pl.read_csv(tmp_path / "out.csv")
    assert shown.columns == ["region", "sector", "sales", "status"]
    assert shown.height == 16
    assert shown["sales"].null_count() == shown["status"].to_list().count("suppressed") == 6
    # Four would do against all but the two lone firms, each of which could compute the other.
    assert "2 unsafe and 4 further cells suppressed (proved minimal)" in told.out
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "do not publish" in page
    assert MARK not in told.out + told.err


@pytest.mark.usefixtures("firms")
def test_facts_are_told_as_json_without_a_cell(run: Run) -> None:
    rules = ("prior-posterior:10,50", "dominance:4,95", "minimum-frequency:n=3")
    asked = [part for rule in rules for part in ("--rule", rule)]
    more = ("--unit", "firm", "--cost", "value", "--json")
    answer = run("magnitude", "firms.csv", *ASKED, *asked, *more)
    facts = answer.data()
    assert [rule["method"] for rule in facts["rules"]] == [
        "prior-posterior",
        "dominance",
        "minimum-frequency",
    ]
    assert facts["primary"] == 2
    assert facts["table"]["contributors"] == 37
    assert MARK not in answer.out


@pytest.mark.usefixtures("firms")
def test_a_table_is_rounded_with_its_totals(run: Run, tmp_path: Path) -> None:
    told = run("magnitude", "firms.csv", *ASKED, "--round", 5, "-o", "out.csv")
    assert told.code == 0, told.err
    shown = pl.read_csv(tmp_path / "out.csv")
    assert (shown["sales"] % 5 == 0).all()
    inner = shown.filter((pl.col("region") != "Total") & (pl.col("sector") != "Total"))
    assert inner["sales"].sum() == shown["sales"][-1]
    seeded = ("--round", 5, "--random", "--seed", 7, "--json")
    again = run("magnitude", "firms.csv", *ASKED, *seeded)
    assert again.data()["simulation"] is True
    assert again.data()["unbiased"] is True
    assert "not for release" in again.err


@pytest.mark.usefixtures("firms")
@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("CEL-V321", ASKED),
        ("CEL-I060", (*ASKED, "--rule", "p-percent:0")),
        ("CEL-I060", (*ASKED, "--rule", "dominance:1.5,80")),
        ("CEL-I063", (*ASKED, "--rule", "prior-posterior:10")),
        ("CEL-V320", (*ASKED, "--rule", "prior-posterior:50,10")),
        ("CEL-I061", (*ASKED, "--rule", "p-per-cent:10")),
        ("CEL-V325", (*ASKED, "--rule", "p-percent:10", "--round", 5)),
        ("CEL-V325", (*ASKED, "--rule", "p-percent:10", "--seed", 5)),
        ("CEL-V325", (*ASKED, "--rule", "p-percent:10", "--random")),
        ("CEL-V323", (*ASKED, "--rule", "p-percent:10", "--cost", "all")),
        ("CEL-V311", ("--by", "sector", "--value", "region", "--rule", "p-percent:10")),
        ("CEL-V317", ("--by", "sectr", "--value", "sales", "--rule", "p-percent:10")),
        ("CEL-V314", (*ASKED, "--rule", "p-percent:10", "--total", "a")),
        ("CEL-I007", (*ASKED, "--rule", "p-percent:10", "-o", "firms.csv", "--overwrite")),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(map(str, each[6:])) or "none",
)
def test_what_does_not_fit_is_refused_and_nothing_written(
    code: str, asked: tuple[object, ...], run: Run, tmp_path: Path
) -> None:
    before = (tmp_path / "firms.csv").read_bytes()
    run("magnitude", "firms.csv", *asked).complains(code)
    assert [path.name for path in tmp_path.iterdir()] == ["firms.csv"]
    assert (tmp_path / "firms.csv").read_bytes() == before


def test_what_the_solver_prints_does_not_mix_with_the_result(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with solver_aside():
        ctypes.CDLL(None).puts(b"a remark of the solver")
        os.write(1, b"another\n")
    os.write(1, b"the result\n")
    assert capfd.readouterr().out == "the result\n"
