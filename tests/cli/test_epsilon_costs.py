"""`celosia epsilon compose`, `split`, `amplify` and `group`: what several come to."""

from __future__ import annotations

from math import exp, expm1, log, log1p, sqrt
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Run

SLACK = exp(-32)


def bounds(found: dict[str, Any]) -> dict[str, float]:
    return {row["name"]: row["epsilon"] for row in found["bounds"]}


@pytest.mark.parametrize(
    ("releases", "delta", "total", "tolerance"),
    [
        ("0.1x100", 1e-5, 5.8502, 5e-5),
        ("0.1x100", 1e-6, 6.3082, 5e-5),
        ("0.01x1000", 1e-6, 1.76276, 5e-6),
        ("0.1x1000", 1e-6, 27.1397, 5e-5),
        ("0.1x10", 1e-6, 1.7674, 5e-5),
        ("1/801x10000", SLACK, 1.0143473, 5e-8),
    ],
)
def test_the_textbook_theorem_gives_the_published_numbers(
    releases: str, delta: float, total: float, tolerance: float, run: Run
) -> None:
    found = run("epsilon", "compose", "--pure", releases, "--delta", delta, "--json").data()
    assert found["textbook_advanced"] == pytest.approx(total, abs=tolerance)
    assert found["epsilon"] <= total  # the bounds that are used are never worse


def test_one_part_in_813_stays_within_one_and_one_in_801_does_not(run: Run) -> None:
    def total(part: int) -> float:
        words = ("epsilon", "compose", "--pure", f"1/{part}x10000", "--delta", SLACK, "--json")
        return float(run(*words).data()["textbook_advanced"])

    assert total(813) <= 1 < total(801)


def test_the_sum_is_better_for_ten_and_the_advanced_bound_for_a_hundred(run: Run) -> None:
    for releases, sum_is_better in (("0.1x10", True), ("0.1x100", False)):
        found = run("epsilon", "compose", "--pure", releases, "--json").data()
        assert (bounds(found)["sum of epsilons"] < found["textbook_advanced"]) is sum_is_better


def test_bounds_stand_side_by_side_and_the_tightest_is_marked(run: Run) -> None:
    told = run("epsilon", "compose", "--pure", "0.1x100", "--delta", 1e-6)
    rows = [line for line in told.out.splitlines() if "tightest" in line]
    assert len(rows) == 1
    assert "privacy loss distribution" in rows[0]
    assert "4.77457" in rows[0]
    assert "fixed in advance only" in rows[0]
    last = told.out.splitlines()[-1]
    assert last.startswith("100 releases at delta 1e-06: epsilon 4.77457 (privacy loss")
    assert "5.07716 if losses are chosen on the way (Renyi)" in last
    found = run("epsilon", "compose", "--pure", "0.1x100", "--delta", 1e-6, "--json").data()
    assert [row["name"] for row in found["bounds"] if row["adaptive"]] == [
        "sum of epsilons",
        "zero-concentrated",
        "Renyi",
    ]
    assert found["epsilon_adaptive"] > found["epsilon"]


def test_releases_of_all_kinds_are_read(run: Run) -> None:
    words = (
        *("epsilon", "compose", "--pure", "0.1", "--pure", "1/3x2", "--approximate", "0.5,1e-7x2"),
        *("--exponential", "0.2x3", "--rho", "0.01", "--laplace", "2x30", "--gaussian"),
        *("sigma=10,sensitivity=2x50", "--gaussian", "4", "--json"),
    )
    found = run(*words).data()
    assert found["count"] == 1 + 2 + 2 + 3 + 1 + 30 + 50 + 1
    kinds = [(part["loss"]["kind"], part["times"]) for part in found["releases"]]
    assert kinds == [
        ("pure", 1),
        ("pure", 2),
        ("approximate", 2),
        ("bounded-range", 3),
        ("concentrated", 1),
        ("laplace", 30),
        ("gaussian", 50),
        ("gaussian", 1),
    ]
    assert found["releases"][6]["loss"] == {"kind": "gaussian", "variance": "100", "shift": 2}


def test_a_sum_is_exact(run: Run) -> None:
    words = ("--approximate", "0.1,1e-6x3", "--pure", "0.5", "--delta", 3e-6, "--json")
    assert bounds(run("epsilon", "compose", *words).data())["sum of epsilons"] == 0.8


def test_losses_of_gaussian_noise_add_up_as_rho(run: Run) -> None:
    found = run("epsilon", "compose", "--gaussian", "10x50", "--json").data()
    rho = run("epsilon", "compose", "--rho", "0.25", "--json").data()  # 50 / (2 * 100)
    assert bounds(found)["zero-concentrated"] == pytest.approx(bounds(rho)["zero-concentrated"])
    assert found["epsilon"] <= bounds(found)["zero-concentrated"]
    assert bounds(found)["sum of epsilons"] is None


def test_a_sample_lowers_each_loss(run: Run) -> None:
    found = run("epsilon", "compose", "--pure", "1x3", "--sampled", 0.01, "--json").data()
    one = log1p(0.01 * expm1(1))
    assert bounds(found)["sum of epsilons"] == pytest.approx(3 * one, rel=1e-9)
    assert "1-DP on a sample of rate 0.01" in found["releases"][0]["words"]


def test_the_report_of_a_composition_is_one_page(run: Run, tmp_path: Path) -> None:
    words = ("--gaussian", "10x50", "--pure", "0.1x20", "--report", "c.html")
    assert "report: c.html" in run("epsilon", "compose", *words).out
    page = (tmp_path / "c.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Gaussian noise of sigma 10" in page
    assert page.count("<figure>") == 2
    assert "tightest" in page


@pytest.mark.parametrize(
    "written",
    [
        *(
            "nan",
            "inf",
            "-1",
            "-0.1x3",
            "0",
            "0x3",
            "x",
            "0.1x",
            "x3",
            "0.1x0",
            "0.1x-2",
            "0.1x1.5",
        ),
        *("0.1x2x3", "0.1,0.2", "eps=0.1", "epsilon=1,epsilon=2", "1/0", "1e999", "1e-999", ""),
        *("1e999999999", "0.1y3", "0.1x9999999999", "٣", "epsilon=", "=1"),
    ],
)
def test_what_is_no_list_of_releases_is_refused_with_an_example(written: str, run: Run) -> None:
    wrong = run("epsilon", "compose", "--pure", written)
    wrong.complains("CEL-B083")
    assert "such as --pure 0.1x100" in wrong.err


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        ((), "CEL-B011", 2),
        (("--approximate", "0.5"), "CEL-B083", 2),
        (("--gaussian", "10,sensitivity=0.5"), "CEL-B083", 2),
        (("--laplace", "2,3,4"), "CEL-B083", 2),
        (("--pure", "0.1x1000001"), "CEL-B083", 2),
        (("--pure", "0.1", "--delta", "nan"), "CEL-I060", 2),
        (("--pure", "0.1", "--delta", -1), "CEL-I060", 2),
        (("--pure", "0.1", "--sampled", 0), "CEL-B051", 2),
        (("--pure", "0.1", "--sampled", "nan"), "CEL-B051", 2),
        (("--gaussian", "10", "--delta", 0), "CEL-B010", 1),
        (("--approximate", "0.1,1e-5", "--delta", 1e-6), "CEL-B010", 1),
    ],
    ids=str,
)
def test_what_cannot_be_composed_is_refused(
    words: tuple[object, ...], code: str, exit_code: int, run: Run
) -> None:
    run("epsilon", "compose", *words).complains(code, exit_code)


@pytest.mark.parametrize("kind", ["--pure", "--exponential", "--rho", "--laplace", "--gaussian"])
@pytest.mark.parametrize("size", ["1e-100x10", "1e-16", "1e9x10"])
def test_tiny_and_huge_numbers_are_composed_as_well(kind: str, size: str, run: Run) -> None:
    assert run("epsilon", "compose", kind, size, "--json").code == 0


def test_each_of_ten_thousand_releases_may_spend_one_part_in_812(run: Run) -> None:
    words = ("epsilon", "split", "--total", 1, "--releases", 10_000, "--delta", SLACK)
    found = run(*words, "--json").data()
    shares = {share["name"]: share["epsilon"] for share in found["shares"]}
    assert shares["advanced composition"] == pytest.approx(0.00123104, abs=1e-8)
    assert shares["advanced composition, corollary"] == pytest.approx(1 / 1600)
    assert shares["equal parts"] == 0.0001
    (best,) = (share["name"] for share in found["shares"] if share["best"])
    assert best == "optimal composition"
    assert "812.32" in run(*words).out


def test_a_split_composes_back_to_its_total(run: Run) -> None:
    found = run("epsilon", "split", "--total", 1, "--releases", 100, "--json").data()
    best = max(share["epsilon"] for share in found["shares"])
    back = run("epsilon", "compose", "--pure", f"{best:.17f}x100", "--json").data()
    assert back["epsilon"] == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--total", "nan", "--releases", 10), "CEL-I060"),
        (("--total", 0, "--releases", 10), "CEL-I060"),
        (("--total", 1, "--releases", 0), "CEL-I060"),
        (("--total", 1, "--releases", 10**9), "CEL-I060"),
        (("--total", 1, "--releases", 10, "--delta", "nan"), "CEL-I060"),
        (("--total", 1), "CEL-I040"),
    ],
    ids=str,
)
def test_impossible_splits_are_refused(words: tuple[object, ...], code: str, run: Run) -> None:
    run("epsilon", "split", *words).complains(code)


def test_a_sample_strengthens_a_promise(run: Run) -> None:
    found = run("epsilon", "amplify", "--epsilon", 1, "--rate", 0.01, "--json").data()
    assert found["after"]["epsilon"] == pytest.approx(log1p(0.01 * expm1(1)))
    assert found["neighbours"] == "add or remove one row"
    fixed = ("--delta", 1e-6, "--sample", 100, "--population", 10_000)
    found = run("epsilon", "amplify", "--epsilon", 1, *fixed, "--json").data()
    assert found["after"]["epsilon"] == pytest.approx(log1p(0.01 * expm1(1)))
    assert found["after"]["delta"] == pytest.approx(1e-8)
    assert found["neighbours"] == "change one row"


def test_shuffling_strengthens_local_reports(run: Run) -> None:
    words = ("epsilon", "amplify", "--epsilon", 1, "--reports", 10_000)
    found = run(*words, "--json").data()
    assert found["after"] == {"epsilon": pytest.approx(0.053, abs=5e-4), "delta": 1e-6}
    closed = 8 * sqrt(exp(1) * log(4e6)) / sqrt(10_000) + 8 * exp(1) / 10_000
    assert found["after"]["epsilon"] < log1p((exp(1) - 1) / (exp(1) + 1) * closed)
    answers = run(*words, "--choices", 2, "--json").data()
    assert answers["after"]["epsilon"] < found["after"]["epsilon"]
    assert "reports are shuffled before they are read" in run(*words).out
    assert run(*words, "--delta", 0, "--json").data()["after"]["epsilon"] == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--epsilon", 1), "CEL-B083"),
        (("--epsilon", 1, "--rate", 0.1, "--reports", 10), "CEL-B083"),
        (("--epsilon", 1, "--sample", 10), "CEL-B083"),
        (("--epsilon", 1, "--rate", 0.1, "--choices", 2), "CEL-B083"),
        (("--epsilon", "nan", "--rate", 0.1), "CEL-I060"),
        (("--epsilon", -1, "--reports", 100), "CEL-I060"),
        (("--epsilon", 1, "--rate", 2), "CEL-B051"),
        (("--epsilon", 1, "--sample", 11, "--population", 10), "CEL-I060"),
        (("--epsilon", 1, "--reports", 0), "CEL-I060"),
        (("--epsilon", 1, "--reports", 10, "--delta", "nan"), "CEL-I060"),
        (("--rate", 0.1), "CEL-I040"),
    ],
    ids=str,
)
def test_unclear_amplification_is_refused(words: tuple[object, ...], code: str, run: Run) -> None:
    run("epsilon", "amplify", *words).complains(code)


def test_a_group_of_four_costs_four_times_and_a_change_twice(run: Run) -> None:
    found = run("epsilon", "group", "--epsilon", 0.5, "--size", 4, "--json").data()
    told = {row["protects"]: row["epsilon"] for row in found["rows"]}
    assert told == {
        "add or remove one row": 0.5,
        "change one row": 1.0,
        "add or remove 4 rows": 2.0,
        "change 4 rows": 4.0,
    }
    last = run("epsilon", "group", "--epsilon", 0.5, "--size", 4).out.splitlines()[-1]
    assert last == "add or remove 4 rows: epsilon 2"


def test_delta_grows_along_the_group(run: Run) -> None:
    words = ("epsilon", "group", "--epsilon", 1, "--delta", 1e-9, "--size", 3, "--json")
    (_, last) = run(*words, "--to", "add-remove").data()["rows"]
    assert last["epsilon"] == 3
    assert last["delta"] == pytest.approx(1e-9 * (1 + exp(1) + exp(2)))


def test_rho_grows_with_the_square_of_the_group(run: Run) -> None:
    words = ("epsilon", "group", "--rho", 0.01, "--size", 10, "--to", "add-remove", "--json")
    (_, last) = run(*words).data()["rows"]
    (one,) = run("epsilon", "group", "--rho", 1, "--to", "add-remove", "--json").data()["rows"]
    assert last["epsilon"] == one["epsilon"]


def test_a_promise_for_changed_rows_says_nothing_of_added_ones(run: Run) -> None:
    words = ("epsilon", "group", "--epsilon", 1, "--neighbours", "change-one")
    run(*words, "--to", "add-remove").complains("CEL-B045", exit_code=1)
    rows = run(*words, "--size", 2, "--json").data()["rows"]
    assert [(row["protects"], row["epsilon"]) for row in rows] == [
        ("change one row", 1.0),
        ("change 2 rows", 2.0),
    ]


def test_a_promise_that_is_worth_nothing_to_a_group_says_so(run: Run) -> None:
    words = ("epsilon", "group", "--epsilon", 1, "--delta", 0.01, "--size", 3)
    told = run(*words)
    assert told.code == 0
    assert "nothing promised" in told.out  # to change three rows
    assert run(*words, "--json").data()["rows"][-1]["epsilon"] is None
    run(*words, "--to", "change-one").complains("CEL-B045", exit_code=1)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), "CEL-B083"),
        (("--epsilon", 1, "--rho", 1), "CEL-B083"),
        (("--rho", 1, "--delta", 0.1), "CEL-B083"),
        (("--epsilon", "nan"), "CEL-I060"),
        (("--epsilon", 1, "--size", 0), "CEL-I060"),
        (("--epsilon", 1, "--delta", 1), "CEL-I060"),
        (("--rho", 1, "--at", 0), "CEL-I060"),
    ],
    ids=str,
)
def test_unclear_groups_are_refused(words: tuple[object, ...], code: str, run: Run) -> None:
    run("epsilon", "group", *words).complains(code)
