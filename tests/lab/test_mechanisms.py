"""The study of the mechanisms (specification, sections 2 to 5 and 8)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, isclose, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import laplace
from tests.effort import examples
from tests.lab.studies import findings

from celosia import lab
from celosia.core.errors import Cancelled
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded
from celosia.core.report import Figure
from celosia.lab import Findings, Row
from celosia.lab.mechanisms import (
    attacks,
    belief,
    composition,
    means,
    selection,
    sparse,
    top_c,
)
from celosia.lab.mechanisms.cells import INFINITE, compare_equal, compare_printed, half_unit
from celosia.mechanisms import NormalisedMean, SumCountMean
from celosia.mechanisms.statistics.mean import RatioMean

CELLS = {
    "belief": 65,
    "composition": 42,
    "selection": 38,
    "sparse": 97,
    "averages": 49,
    "top-c": 30,
    "attacks": 9,
}
"""How many cells each part has, in the order of the parts."""


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    return []


@pytest.fixture(scope="module")
def found(steps: list[Step]) -> Findings:
    """The whole study, run once; with fewer runs of top c, whose tolerances follow from them."""
    with pytest.MonkeyPatch.context() as quick:
        quick.setattr(top_c, "RUNS", examples(top_c.RUNS))
        quick.setattr(top_c, "RUNS_OF_SPARSE", examples(top_c.RUNS_OF_SPARSE))
        return lab.find("mechanisms").run(progress=steps.append)


def test_every_published_cell_is_reproduced(found: Findings) -> None:
    assert [str(row) for row in found.rows if row.differs] == []
    assert found.checked == found.matched == sum(CELLS.values())


def test_the_findings_are_plain_json_without_numbers_that_it_does_not_have(found: Findings) -> None:
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert set(plain) == {"study", "checked", "matched", "rows"}
    assert {row["expected"] for row in plain["rows"] if "infinite" in str(row.values())} == {
        INFINITE
    }


def test_each_cell_is_told_once(found: Findings) -> None:
    names = [(row.run, row.cell) for row in found.rows]
    assert len(set(names)) == len(names)


def test_progress_is_told_part_by_part(found: Findings, steps: list[Step]) -> None:
    assert {step.total for step in steps} == {len(CELLS)}
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].done == len(CELLS)
    for name in CELLS:
        assert f"Computing {name}" in {step.stage for step in steps}


@pytest.mark.parametrize("name", ["belief", "composition", "selection", "sparse", "attacks"])
def test_a_part_has_the_cells_that_it_has_in_the_whole(name: str, found: Findings) -> None:
    part = findings(f"mechanisms/{name}")
    before = sum(list(CELLS.values())[: list(CELLS).index(name)])
    assert part.rows == found.rows[before : before + CELLS[name]]


@pytest.mark.parametrize(
    ("study", "stage"),
    [
        ("mechanisms", "Computing selection"),
        ("mechanisms/averages", "Drawing for n = 100"),
        ("mechanisms/top-c", "Choosing 25 by exponential"),
    ],
)
def test_a_study_can_be_stopped_within_a_part(study: str, stage: str) -> None:
    def stop(step: Step) -> None:
        if step.stage == stage:
            raise Cancelled()

    with pytest.raises(Cancelled):
        lab.find(study).run(progress=stop)


def test_corrected_cells_say_so(found: Findings) -> None:
    corrected = {
        row.cell: row.expected
        for row in found.rows
        if "first computed" in row.cell or "the thesis" in row.cell
    }
    wrong = {row.cell: row.published for row in found.rows if row.wrong}
    assert wrong["total at 1/801 (the thesis says at most 1)"] == 1
    assert wrong["revenue at 1 (the thesis says 3)"] == 3
    assert len(wrong) == 4
    assert corrected["total at 1/801 (the thesis says at most 1)"] == 1.0143473
    assert corrected["revenue at 1 (the thesis says 3)"] == 4
    assert corrected["noisy max, chance of score 1 (first computed as about .305)"] == 0.306
    assert corrected["c = 100, split 1:1, deviation (first computed as 282.8)"] == 282.9
    # By hand: the root of two variances, and an integral over the noisy score of the winner.
    assert isclose(sqrt(2 * 200**2 + 2 * 2**2), 282.857, abs_tol=5e-4)
    second = quad(
        lambda x: laplace.pdf(x, 1, 2) * laplace.cdf(x, 0, 2) * laplace.cdf(x, 2, 2),
        -60,
        60,
        points=[0, 1, 2],
    )[0]
    assert isclose(second, 0.30571, abs_tol=5e-6)


@pytest.mark.parametrize(
    ("text", "half"), [(".0010", 5e-5), ("148", 0.5), ("4.54e-5", 5e-8), ("2.50", 0.005)]
)
def test_half_a_unit_is_of_the_last_printed_digit(text: str, half: float) -> None:
    assert half_unit(text) == pytest.approx(half, rel=1e-12)


@given(st.integers(-(10**6), 10**6), st.integers(0, 6), st.floats(-0.49, 0.49))
def test_a_printed_number_matches_what_rounds_to_it_and_nothing_else(
    whole: int, digits: int, off: float
) -> None:
    unit = 10.0**-digits
    text = f"{whole * unit:.{digits}f}"
    assert compare_printed("", "", text, float(text) + off * unit).matches
    assert not compare_printed("", "", text, float(text) + (1 + off) * unit + 0.02 * unit).matches
    assert compare_printed("", "", text, float(text) + (1 + off) * unit, error=unit).matches
    assert not compare_printed("", "", text, float("nan")).matches


def test_an_exact_cell_forgives_the_last_digits_of_a_float_and_no_more() -> None:
    assert compare_equal("", "", 0.8, 0.8 * (1 + 1e-12)).matches
    assert not compare_equal("", "", 0.8, 0.8 * (1 + 1e-6)).matches
    assert not compare_equal("", "", 0.0, 1e-300).matches
    assert not compare_equal("", "", 29, 30).matches
    assert compare_equal("", "", float("inf"), float("inf")).published == INFINITE
    assert not compare_equal("", "", float("inf"), 1e300).matches


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (belief, "FACTORS", "1.01 1.11 2.71 148 22026"),
        (composition, "CROSSOVERS", ((0.1, 1e-5, 28),)),
        (sparse, "SHARES", ((10, False, ".11951"),)),
    ],
)
def test_a_wrong_cell_is_found(
    module: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, wrong)
    work: Callable[[Progress], Sequence[Row]] = module.rows  # type: ignore[attr-defined]
    assert sum(not row.matches for row in work(silent)) == 1


@pytest.mark.parametrize("kind", [NormalisedMean, SumCountMean])
@pytest.mark.parametrize("epsilon", [0.02, 1.0])
def test_many_means_at_once_are_those_that_are_released(
    kind: type[RatioMean], epsilon: float
) -> None:
    values = means.sample(20, 0.26) * 60 + 20
    mechanism = kind(epsilon=epsilon, lower=20, upper=80)
    for seed in range(100):
        (one,) = means.release_many(mechanism, values, rng=Seeded(seed), size=1)
        assert np.clip(one, 20, 80) == pytest.approx(
            mechanism.release(values, rng=Seeded(seed)), rel=1e-9
        )


def exponential_error(mean: float, *, size: int, epsilon: float) -> float:
    """The integral of |r - mean| over the truncated Laplace law of the exponential mechanism."""
    rate = epsilon * size / 2
    whole, first = (
        quad(
            lambda r, k=power: abs(r - mean) ** k * exp(-rate * abs(r - mean)), 0, 1, points=[mean]
        )[0]
        for power in (0, 1)
    )
    return float(first / whole)


def test_the_implied_means_are_the_nearest_of_two_digits() -> None:
    for setting in means.SETTINGS[2:4]:
        target = float(setting.texts[1])

        def gap(mean: float, target: float = target, setting: means.MeanSetting = setting) -> float:
            error = exponential_error(mean, size=setting.size, epsilon=setting.epsilon)
            return abs(error - target)

        hundredths = [place / 100 for place in range(15, 50)]
        assert min(hundredths, key=gap) == setting.mean
        # Nothing extraordinary for a sample: its standard error is that of Beta(2, 5).
        assert abs(setting.mean - 2 / 7) < 2 * sqrt(10 / (49 * 8) / setting.size)
    # The mean of the twenty was not fitted to the second epsilon, and does for it.
    last = means.SETTINGS[4]
    assert last.mean == means.SETTINGS[3].mean
    assert round(exponential_error(last.mean, size=20, epsilon=0.01), 3) == float(last.texts[1])


@pytest.mark.statistical
def test_large_samples_err_as_two_laplace_draws_do(found: Findings) -> None:
    # E|X - Y| = (a^2 + a b + b^2) / (a + b) for independent Lap(a) and Lap(b): the noise of the sum
    # and that of the count times the (centred) mean; its deviation is below 1.1 times that.
    for lower, upper in ((0, 1), (20, 80)):
        run = found.by_run()[f"averages, [{lower}, {upper}], error times n epsilon / range"]
        errors = {row.cell: row.computed for row in run}
        plain = (lower + (upper - lower) * 2 / 7) / (upper - lower)
        for name, a, b in (
            ("Algorithm 1", 2 * upper / (upper - lower), 2 * plain),
            ("Algorithm 4", 1, 2 * 3 / 14),
        ):
            expected = (a * a + a * b + b * b) / (a + b)
            # Four standard errors, and a per mille for the square of noise over rows.
            slack = 4 * 1.1 / sqrt(means.DRAWS) + 1e-3
            assert errors[name] == pytest.approx(expected, rel=slack)


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_errors_of_another_epsilon_do_not_match(
    factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = means.SETTINGS[0]
    monkeypatch.setattr(means, "SETTINGS", (replace(right, epsilon=factor),))
    monkeypatch.setattr(means, "RATIOS", ())
    monkeypatch.setattr(means, "broken_averages", lambda: ())
    rows = means.rows(silent)
    assert len(rows) == 5
    assert not any(row.matches for row in rows)


def test_whole_counts_err_less_before_clipping() -> None:
    mechanism = NormalisedMean(epsilon=0.1, lower=0, upper=1)
    values = means.sample(20, 0.26)
    errors = [
        np.abs(
            means.release_many(mechanism, values, rng=Seeded(9), size=100_000, parts=parts) - 0.26
        )
        for parts in (1, means.FINE)
    ]
    # .573 and .618, with standard errors of .005.
    assert errors[0].mean() < errors[1].mean() - 0.02


def test_scores_fall_as_one_over_the_rank() -> None:
    scores = top_c.zipf(10_000)
    assert 990_000 < scores.sum() <= 10**6
    assert abs(scores[9] - scores[0] / 10) < 1
    assert (np.diff(scores) <= 0).all()


@pytest.mark.statistical
def test_the_exponential_mechanism_chooses_best(found: Findings) -> None:
    for count in top_c.PUBLISHED:
        rows = found.by_run()[top_c.run_name(count)]
        rates = {row.cell: row.number for row in rows}
        for rate in (top_c.SCORE, top_c.MISSED):
            *others, exponential = (rates[f"{name}, {rate}"] for name in top_c.METHODS)
            assert exponential < min(others)


@pytest.mark.statistical
def test_a_selection_at_another_epsilon_does_not_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_c, "PUBLISHED", {50: top_c.PUBLISHED[50]})
    monkeypatch.setattr(top_c, "EPSILON", 0.15)
    monkeypatch.setattr(top_c, "RUNS", 40)
    wrong = {row.cell for row in top_c.rows(silent) if not row.matches}
    for method in top_c.METHODS[1:]:
        assert f"{method}, {top_c.MISSED}" in wrong


def test_the_error_of_a_selection_is_where_it_fails_as_often_as_said() -> None:
    for queries, failure in ((10, 0.05), (1000, 0.01)):
        error = selection.selection_error(0.5, queries=queries, failure=failure)
        weights = exp(0.5 * error / 2), (queries - 1) * exp(-0.5 * error / 2)
        assert isclose(weights[1] / sum(weights), failure, rel_tol=1e-12)


@pytest.mark.statistical
def test_the_attack_on_floats_finds_what_the_closed_form_says(found: Findings) -> None:
    run = found.by_run()["last bits of a noisy 0 or 1, epsilon 1"]
    share = run[0].number
    expected = attacks.off_lattice(1.0)
    near = attacks.TRIES * (1 - exp(-0.25)) / 2
    error = sqrt(expected * (1 - expected) / near)
    assert abs(share - expected) < 4 * error
    assert abs(share - 5 / 6) > 4 * error  # of the coarser lattice of 2^-53
    grid = np.arange(1, 2**10).astype(np.float64) * 2.0**-12
    assert attacks.impossible(grid) == (0.0, 1023)


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("mechanisms", 5),
        ("mechanisms/averages", 1),
        ("mechanisms/top-c", 1),
        ("mechanisms/sparse", 0),
    ],
)
def test_the_report_has_the_figures_of_its_parts(name: str, drawn: int, found: Findings) -> None:
    study = lab.find(name)
    blocks = study.figures(found, silent)
    shown = [block for block in blocks if isinstance(block, Figure)]
    assert len(shown) == drawn
    assert all(figure.description for figure in shown)


def test_the_report_shows_every_cell(found: Findings) -> None:
    page = lab.document(lab.find("mechanisms"), found).html()
    assert f"{found.checked} of {found.checked} cells match" in page
    assert "Algorithm 3 (not private)" in page
    assert "<script" not in page
