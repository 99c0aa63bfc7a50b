"""Error against epsilon as a figure, and the report of a chosen epsilon."""

from __future__ import annotations

from celosia.core import figures
from celosia.core.report import (
    Block,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Paragraph,
    Table,
)
from celosia.core.wording import sentence
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
        {"error": errors},
        title=f"Error of {words}, in {unit}",
        x_label=curve.parameter,
        y_label=f"error, {_share(curve.confidence)} of the time",
        log=all(error > 0 for error in errors),
        log_x=True,
    )


def document(
    recommendation: EpsilonRecommendation, *, words: str, unit: str, size: int, targets: Targets
) -> Document:
    """The report of a recommendation, as blocks.

    Args:
        recommendation: what was chosen.
        words: what is answered.
        unit: of the error.
        size: as in `Mechanism.accuracy`.
        targets: that it meets.
    """
    return Document(
        f"An epsilon for {words}",
        sentence(recommendation.reason),
        (
            *_numbers(recommendation, unit),
            *_targets(targets),
            *_error(recommendation, words, unit, size),
            *_risk(recommendation),
        ),
    )


def _numbers(recommendation: EpsilonRecommendation, unit: str) -> list[Block]:
    price = float(getattr(recommendation.mechanism, recommendation.mechanism.parameter))
    promise = f"a promise of {recommendation.epsilon:.6g} at delta {recommendation.delta:g}"
    return [
        KeyFigures(
            [
                KeyFigure(
                    "Epsilon", f"{price:.6g}", promise if recommendation.delta else "with delta 0"
                ),
                KeyFigure(
                    "Error at most",
                    f"{recommendation.error:.6g}",
                    f"in {unit}, {_share(recommendation.confidence)} of the time",
                ),
                KeyFigure(
                    "Membership advantage",
                    f"{recommendation.advantage:.1%}",
                    "true less false positives of the best test",
                ),
            ]
        )
    ]


def _targets(targets: Targets) -> list[Block]:
    rows = []
    if targets.error is not None:
        rows.append(
            ("Error", f"at most {targets.error:g}, {_share(targets.confidence)} of the time")
        )
    if targets.belief is not None:
        rows.append(
            ("Belief", f"{_share(targets.prior)} before, at most {_share(targets.belief)} after")
        )
    if targets.advantage is not None:
        rows.append(("Membership advantage", f"at most {_share(targets.advantage)}"))
    return [Heading("Targets"), Facts(rows)]


def _error(recommendation: EpsilonRecommendation, words: str, unit: str, size: int) -> list[Block]:
    price = float(getattr(recommendation.mechanism, recommendation.mechanism.parameter))
    tried = [float(f"{price * factor:.4g}") for factor in AROUND]
    allowed = [each for each in tried if LEAST_EPSILON <= each <= MOST_EPSILON]
    curve = error_curve(
        recommendation.mechanism, allowed, confidence=recommendation.confidence, size=size
    )
    rows = [[f"{point.epsilon:g}", f"{point.error:.6g}"] for point in curve.points]
    return [
        Heading("What it costs in error"),
        Figure(
            curve_figure(curve, words=words, unit=unit),
            "The error around the chosen epsilon",
            "; ".join(f"epsilon {epsilon}: {error}" for epsilon, error in rows) + ".",
        ),
        Table(["epsilon", f"error ({unit})"], rows, numeric=(0, 1)),
    ]


def _risk(recommendation: EpsilonRecommendation) -> list[Block]:
    neighbours = recommendation.mechanism.neighbours
    rows = [
        [_share(belief.prior), f"{belief.low:.2%}", f"{belief.high:.2%}"]
        for belief in recommendation.beliefs
    ]
    return [
        Heading("What it leaves in risk"),
        Paragraph(
            f"Neighbours: {neighbours}. Whatever an attacker believes of one {neighbours.unit} "
            "before, this is how far the belief can move because its data was used."
        ),
        Table(["belief before", "at least after", "at most after"], rows, numeric=(0, 1, 2)),
    ]


def _share(value: float) -> str:
    return f"{100 * value:.6g}%"
