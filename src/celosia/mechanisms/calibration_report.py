"""Error against epsilon as a figure, and the report of a chosen epsilon."""

from __future__ import annotations

from celosia.accounting.report import belief_header
from celosia.core import figures, report
from celosia.core.messages import one_unit, say, say_of, sentence
from celosia.mechanisms.calibration import EpsilonRecommendation, ErrorCurve, Targets, error_curve
from celosia.mechanisms.parameters import LEAST_EPSILON, MOST_EPSILON

AROUND = (0.1, 0.2, 0.5, 1, 2, 5, 10)
"""Times the chosen epsilon: what less and what more would have cost."""


def curve_figure(curve: ErrorCurve, *, words: str, unit: str) -> figures.Svg:
    """The error against epsilon, both on logarithmic scales where they allow it.

    Args:
        curve: epsilons in growing order.
        words: what is answered.
        unit: of the error.
    """
    errors = [point.error for point in curve.points]
    return figures.lines(
        [point.epsilon for point in curve.points],
        {say("mechanisms.calibration_report.error"): errors},
        title=say("mechanisms.calibration_report.curve_title", words=words, unit=unit),
        x_label=curve.parameter,
        y_label=say("mechanisms.calibration_report.error_axis", confidence=100 * curve.confidence),
        log=all(error > 0 for error in errors),
        log_x=True,
    )


def document(
    recommendation: EpsilonRecommendation, *, words: str, unit: str, size: int, targets: Targets
) -> report.Document:
    """The report of a recommendation, as blocks.

    Args:
        recommendation: what was chosen.
        words: what is answered.
        unit: of the error.
        size: as in `Mechanism.accuracy`.
        targets: that it meets.
    """
    return report.Document(
        say("mechanisms.calibration_report.title", words=words),
        sentence(recommendation.reason),
        (
            *_numbers(recommendation, unit),
            *_targets(targets),
            *_error(recommendation, words, unit, size),
            *_risk(recommendation),
        ),
    )


def _numbers(recommendation: EpsilonRecommendation, unit: str) -> list[report.Block]:
    price = float(getattr(recommendation.mechanism, recommendation.mechanism.parameter))
    promise = say("mechanisms.calibration_report.delta_zero")
    if recommendation.delta:
        promise = say_of("mechanisms.calibration_report.promise", recommendation)
    return [
        report.KeyFigures(
            [
                report.KeyFigure(
                    say("mechanisms.calibration_report.epsilon"), _number(price), promise
                ),
                report.KeyFigure(
                    say("mechanisms.calibration_report.error_at_most"),
                    _number(recommendation.error),
                    say(
                        "mechanisms.calibration_report.in_unit",
                        unit=unit,
                        confidence=100 * recommendation.confidence,
                    ),
                ),
                report.KeyFigure(
                    say("mechanisms.calibration_report.advantage"),
                    _number(recommendation.advantage, ".1%"),
                    say("mechanisms.calibration_report.advantage_note"),
                ),
            ]
        )
    ]


def _targets(targets: Targets) -> list[report.Block]:
    rows = []
    if targets.error is not None:
        value = say(
            "mechanisms.calibration_report.error_target_value",
            error=targets.error,
            confidence=100 * targets.confidence,
        )
        rows.append((say("mechanisms.calibration_report.error_target"), value))
    if targets.belief is not None:
        value = say(
            "mechanisms.calibration_report.belief_target_value",
            prior=100 * targets.prior,
            belief=100 * targets.belief,
        )
        rows.append((say("mechanisms.calibration_report.belief_target"), value))
    if targets.advantage is not None:
        value = say(
            "mechanisms.calibration_report.advantage_value", advantage=100 * targets.advantage
        )
        rows.append((say("mechanisms.calibration_report.advantage"), value))
    return [report.Heading(say("mechanisms.calibration_report.targets")), report.Facts(rows)]


def _error(
    recommendation: EpsilonRecommendation, words: str, unit: str, size: int
) -> list[report.Block]:
    price = float(getattr(recommendation.mechanism, recommendation.mechanism.parameter))
    tried = [float(f"{price * factor:.4g}") for factor in AROUND]
    allowed = [each for each in tried if LEAST_EPSILON <= each <= MOST_EPSILON]
    curve = error_curve(
        recommendation.mechanism, allowed, confidence=recommendation.confidence, size=size
    )
    rows = [[_number(point.epsilon, "g"), _number(point.error)] for point in curve.points]
    points = [
        say("mechanisms.calibration_report.cost_point", epsilon=epsilon, error=error)
        for epsilon, error in rows
    ]
    return [
        report.Heading(say("mechanisms.calibration_report.cost")),
        report.Figure(
            curve_figure(curve, words=words, unit=unit),
            say("mechanisms.calibration_report.cost_caption"),
            f"{'; '.join(points)}.",
        ),
        report.Table(
            [
                say("mechanisms.calibration_report.epsilon_column"),
                say("mechanisms.calibration_report.error_in", unit=unit),
            ],
            rows,
            numeric=(0, 1),
        ),
    ]


def _risk(recommendation: EpsilonRecommendation) -> list[report.Block]:
    neighbours = recommendation.mechanism.neighbours
    rows = [
        [
            f"{_number(100 * belief.prior)}%",
            _number(belief.low, ".2%"),
            _number(belief.high, ".2%"),
        ]
        for belief in recommendation.beliefs
    ]
    return [
        report.Heading(say("mechanisms.calibration_report.risk")),
        report.Paragraph(
            say(
                "mechanisms.calibration_report.risk_text",
                neighbours=neighbours.message,
                one=one_unit(neighbours.unit),
            )
        ),
        report.Table(belief_header(), rows, numeric=(0, 1, 2)),
    ]


def _number(value: float, form: str = ".6g") -> str:
    return say("mechanisms.number", value=value, form=form)
