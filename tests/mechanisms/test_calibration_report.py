"""The figure of error against epsilon, and the report of a choice."""

from __future__ import annotations

from tests.english_words import english_words

from celosia.core.messages import speaking
from celosia.mechanisms import (
    Count,
    Mean,
    RandomisedResponse,
    Targets,
    calibration_report,
    choose_epsilon,
    error_curve,
)


def test_the_report_tells_targets_error_and_risk() -> None:
    mean = Mean(epsilon=1, lower=0, upper=100)
    targets = Targets(error=5, size=1000, prior=0.2, belief=0.9, advantage=0.5)
    chosen = choose_epsilon(mean, targets)
    html = calibration_report.document(
        chosen, words="a mean", unit="years", size=1000, targets=targets
    ).html()
    for words in (
        "An epsilon for a mean",
        "As little as the error needs.",
        "at most 5, 95% of the time",
        "20% before, at most 90% after",
        "error (years)",
        "add or remove one row",
        "with delta 0",
    ):
        assert words in html
    assert html.count("<figure>") == 1


def test_a_promise_with_delta_is_told_beside_the_epsilon() -> None:
    targets = Targets(belief=0.8, delta=1e-6)
    chosen = choose_epsilon(Count(epsilon=1), targets)
    html = calibration_report.document(
        chosen, words="a count", unit="rows", size=1, targets=targets
    ).html()
    assert "at delta 1e-06" in html


def test_a_curve_with_an_error_of_nothing_is_drawn_on_a_plain_scale() -> None:
    curve = error_curve(Count(epsilon=1), (0.1, 1, 10))
    assert curve.points[-1].error == 0
    drawing = str(calibration_report.curve_figure(curve, words="a count", unit="rows"))
    assert "Error of a count" in drawing


def test_a_mechanism_whose_price_is_no_field_has_a_curve_and_a_choice() -> None:
    asked = RandomisedResponse.for_epsilon(1)
    curve = error_curve(asked, (0.5, 1, 2), size=1000)
    assert curve.points[1].error == asked.accuracy(0.95, size=1000)
    assert choose_epsilon(asked, Targets(belief=0.75, size=1000)).epsilon <= 0.6931


def test_the_report_of_an_epsilon_speaks_spanish() -> None:
    targets = Targets(error=10, belief=0.95, advantage=0.9)
    found = choose_epsilon(Count(epsilon=1), targets)
    with speaking("es"):
        page = calibration_report.document(
            found, words="un recuento", unit="filas", size=1, targets=targets
        )
    assert english_words(page) == set()
