"""`celosia epsilon belief`, `curve` and `choose`: what an epsilon means, from parameters alone."""

from __future__ import annotations

from math import exp, floor, log
from pathlib import Path

import pytest
from tests.cli.running import Run

BELIEFS = {
    0.001: ".0010,.0010 .0009,.0011 .0004,.0027 .0000,.1484 .0000,1.0000",
    0.01: ".0099,.0101 .0090,.0111 .0037,.0272 .0001,.9933 .0000,1.0000",
    0.1: ".0990,.1010 .0905,.1105 .0368,.2718 .0007,.9939 .0000,1.0000",
    0.5: ".4950,.5050 .4524,.5476 .1839,.8161 .0034,.9966 .0000,1.0000",
    0.75: ".7475,.7525 .7237,.7738 .3204,.9080 .0051,.9983 .0000,1.0000",
    0.99: ".9899,.9901 .9889,.9910 .9728,.9963 .0067,.9999 .0000,1.0000",
}
"""Acceptance check 1: 30 intervals."""


def test_the_published_table_of_beliefs_is_printed_cell_by_cell(run: Run) -> None:
    lines = run("epsilon", "belief").out.splitlines()
    printed = {
        cells[0]: cells[1:]
        for cells in ([part.strip() for part in line.split("│")[1:-1]] for line in lines)
        if cells
    }
    for prior, row in BELIEFS.items():
        expected = [
            " ".join(f"{float(bound):.4f}" for bound in cell.split(",")) for cell in row.split()
        ]
        assert printed[f"{prior:g}"] == expected
    assert printed["e^epsilon"] == ["1.01", "1.11", "2.72", "148", "22026"]


def test_beliefs_are_told_to_machines_with_delta(run: Run) -> None:
    found = run("epsilon", "belief", "--prior", 0.2, "--epsilon", 1, "--delta", 0.01, "--json")
    (row,) = found.data()["rows"]
    (cell,) = row
    assert cell["high"] == pytest.approx(0.2 * exp(1) + 0.01)
    assert cell["low"] == pytest.approx((0.2 - 0.01) * exp(-1))


def test_a_factor_beyond_all_floats_is_still_json(run: Run) -> None:
    assert run("epsilon", "belief", "--epsilon", 1000, "--json").data()["factors"] == [None]


def test_the_plot_of_beliefs_is_a_drawing_and_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    told = run("epsilon", "belief", "--plot", "b.svg")
    assert "plot: b.svg" in told.out
    assert "<svg" in (tmp_path / "b.svg").read_text("utf-8")
    run("epsilon", "belief", "--plot", "b.svg").complains("CEL-I004")
    assert run("epsilon", "belief", "--plot", "b.svg", "--epsilon", 0, "--overwrite").code == 0
    many = [word for k in range(1, 8) for word in ("--prior", k / 10)]
    run("epsilon", "belief", *many, "--plot", "c.svg").complains("CEL-B083")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--prior", "nan"), "CEL-I060"),
        (("--prior", 1), "CEL-I060"),
        (("--prior", -0.1), "CEL-I060"),
        (("--epsilon", "nan"), "CEL-I060"),
        (("--epsilon", -1), "CEL-I060"),
        (("--epsilon", "inf"), "CEL-I060"),
        (("--epsilon", "much"), "CEL-I040"),
        (("--delta", 1), "CEL-I060"),
        (("--delta", "nan"), "CEL-I060"),
    ],
    ids=str,
)
def test_beliefs_of_impossible_numbers_are_refused(
    options: tuple[object, ...], code: str, run: Run
) -> None:
    run("epsilon", "belief", *options).complains(code)


def test_the_error_of_a_count_is_that_of_its_noise(run: Run) -> None:
    points = run("epsilon", "curve", "count", "--epsilon", 1, "--epsilon", 0.1, "--json").data()
    assert points["statistic"] == "count"
    for point in points["points"]:
        # P[|Z| > t] = 2 r^(t+1) / (1 + r) for discrete Laplace noise with r = e^-epsilon.
        rate = exp(-point["epsilon"])
        least = next(t for t in range(1000) if 2 * rate ** (t + 1) / (1 + rate) <= 0.05)
        assert point["error"] == least
        assert point["belief"] == pytest.approx(1 - exp(-point["epsilon"]) / 2)
    assert [point["epsilon"] for point in points["points"]] == [0.1, 1.0]


def test_ten_thousand_bins_are_off_by_no_more_than_the_published_bound(run: Run) -> None:
    words = ("epsilon", "curve", "histogram", "--bins", 10_000, "--epsilon", 1)
    (point,) = run(*words, "--json").data()["points"]
    assert point["error"] == floor(log(10_000 / 0.05))  # 12.206 for continuous noise
    assert "a histogram of 10,000 bins" in run(*words).out


STATISTICS: dict[str, tuple[object, ...]] = {
    "count": (),
    "sum": ("--lower", 0, "--upper", 10),
    "mean": ("--lower", 0, "--upper", 10, "--rows", 1000),
    "variance": ("--lower", 0, "--upper", 10, "--rows", 1000),
    "standard-deviation": ("--lower", -1, "--upper", 1, "--rows", 1000),
    "median": ("--lower", 0, "--upper", 10),
    "quantile": ("--lower", 0, "--upper", 10, "--q", 0.9),
    "histogram": ("--bins", 8),
    "noisy-max": ("--candidates", 50, "--monotone"),
    "exponential": ("--candidates", 50, "--sensitivity", 2),
    "permute-and-flip": ("--candidates", 50),
    "above-threshold": ("--questions", 100),
    "laplace": ("--sensitivity", 0.5),
    "gaussian": ("--sensitivity", 1, "--delta", 1e-6),
    "randomised-response": ("--rows", 1000),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_errs_less_with_more_epsilon(name: str, run: Run) -> None:
    found = run("epsilon", "curve", name, *STATISTICS[name], "--json").data()
    errors = [point["error"] for point in found["points"]]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1]
    assert run("epsilon", "curve", name, *STATISTICS[name]).code == 0


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_can_be_chosen_for(name: str, run: Run) -> None:
    found = run("epsilon", "choose", name, *STATISTICS[name], "--belief", 0.8, "--json").data()
    (even,) = (belief for belief in found["beliefs"] if belief["prior"] == 0.5)
    assert 0.79 < even["high"] <= 0.8
    # The parameter alone promises that, or, where there is a delta, a little less.
    assert found["parameter"] == pytest.approx(found["epsilon"], rel=0.02)


def test_the_list_of_statistics_is_tested_completely() -> None:
    from celosia.cli.epsilon.statistics import KINDS

    assert set(KINDS) == set(STATISTICS)


def test_a_relation_doubles_the_noise_of_a_histogram(run: Run) -> None:
    words = ("epsilon", "curve", "histogram", "--bins", 10, "--epsilon", 0.1, "--json")
    added = run(*words).data()
    changed = run(*words, "--neighbours", "change-one").data()
    assert changed["neighbours"] == "change one row"
    assert changed["points"][0]["error"] == pytest.approx(2 * added["points"][0]["error"], rel=0.05)


def test_the_curve_is_drawn(run: Run, tmp_path: Path) -> None:
    assert "plot: c.svg" in run("epsilon", "curve", "count", "--plot", "c.svg").out
    drawing = (tmp_path / "c.svg").read_text("utf-8")
    assert "Error of a count" in drawing


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("cuont",), "CEL-B081"),
        (("mean", "--lower", 0, "--upper", 1), "CEL-B081"),
        (("count", "--rows", 10), "CEL-B081"),
        (("count", "--monotone"), "CEL-B081"),
        (("mean", "--lower", 1, "--upper", 0, "--rows", 10), "CEL-M006"),
        (("mean", "--lower", "nan", "--upper", 1, "--rows", 10), "CEL-I060"),
        (("mean", "--lower", 0, "--upper", 1, "--rows", 0), "CEL-I060"),
        (("histogram", "--bins", -1), "CEL-I060"),
        (("histogram", "--bins", 10**12), "CEL-I060"),
        (("gaussian", "--sensitivity", 1), "CEL-I060"),
        (("laplace", "--sensitivity", "nan"), "CEL-I060"),
        (("count", "--epsilon", "nan"), "CEL-I060"),
        (("count", "--epsilon", -1), "CEL-I060"),
        (("count", "--confidence", 1), "CEL-I060"),
        (("count", "--neighbours", "none"), "CEL-I040"),
    ],
    ids=str,
)
def test_wrong_statistics_are_refused(words: tuple[object, ...], code: str, run: Run) -> None:
    run("epsilon", "curve", *words).complains(code)


def test_a_misspelt_statistic_is_answered_with_the_nearest(run: Run) -> None:
    assert "did you mean 'count'?" in run("epsilon", "curve", "cuont").err


def test_the_least_epsilon_for_an_error_is_chosen(run: Run) -> None:
    found = run("epsilon", "choose", "count", "--error", 10, "--json").data()

    def failure(epsilon: float) -> float:  # P[|Z| > 10]
        return 2 * exp(-11 * epsilon) / (1 + exp(-epsilon))

    assert failure(found["parameter"]) <= 0.05 < failure(found["parameter"] - 0.0002)
    assert found["error"] == 10
    assert found["method"] == "count"
    told = run("epsilon", "choose", "count", "--error", 10).out
    assert told.splitlines()[-1].startswith("epsilon 0.2844: a count is off by at most 10, 95% of")


def test_the_largest_epsilon_for_a_belief_is_chosen(run: Run) -> None:
    # ln(0.05 / 0.01) = ln 5 = 1.60944 is more than ln(0.99 / 0.95).
    found = run("epsilon", "choose", "--prior", 0.01, "--belief", 0.05, "--json").data()
    assert found["epsilon"] == 1.609
    (row,) = (belief for belief in found["beliefs"] if belief["prior"] == 0.01)
    assert row["high"] <= 0.05


def test_a_membership_advantage_is_kept(run: Run) -> None:
    found = run("epsilon", "choose", "--advantage", 0.3, "--json").data()
    assert found["epsilon"] == pytest.approx(log(1.3 / 0.7), abs=1e-3)
    assert found["advantage"] <= 0.3


def test_targets_that_contradict_each_other_end_with_one(run: Run) -> None:
    targets = ("epsilon", "choose", "count", "--error", 1, "--belief", 0.6)
    run(*targets).complains("CEL-B071", exit_code=1)
    details = run(*targets, "--json").envelope()["details"]
    assert details["allowed"] == pytest.approx(log(0.5 / 0.4))  # 1 - e^-epsilon / 2 = 0.6
    assert details["needed"] > details["allowed"]


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        ((), "CEL-B072", 2),
        (("--prior", 0.5, "--belief", 0.4), "CEL-B071", 1),
        (("--error", 0), "CEL-I060", 2),
        (("--error", "nan"), "CEL-I060", 2),
        (("--error", -3), "CEL-I060", 2),
        (("--belief", "nan"), "CEL-I060", 2),
        (("--advantage", 2), "CEL-I060", 2),
        (("--error", 1, "--delta", -1), "CEL-I060", 2),
        (("mean", "--lower", 0, "--upper", 1, "--rows", 2, "--error", 1e-9), "CEL-M011", 1),
    ],
    ids=str,
)
def test_impossible_targets_are_refused(
    words: tuple[object, ...], code: str, exit_code: int, run: Run
) -> None:
    run("epsilon", "choose", *words).complains(code, exit_code)


def test_the_report_of_a_choice_is_one_page(run: Run, tmp_path: Path) -> None:
    words = ("epsilon", "choose", "mean", "--lower", 0, "--upper", 100, "--rows", 1000)
    told = run(*words, "--error", 5, "--advantage", 0.5, "--report", "r.html")
    assert "report: r.html" in told.out
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "a mean of 1,000 rows from 0 to 100" in page
    assert "at most 5, 95% of the time" in page
    assert "<svg" in page
