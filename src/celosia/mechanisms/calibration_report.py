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
    choice: EpsilonRecommendation, *, words: str, unit: str, size: int, wishes: Targets
) -> Document:
    """The report of a choice, as blocks.

    Args:
        choice: what was chosen.
        words: what is answered.
        unit: of the error.
        size: as in `Mechanism.accuracy`.
        wishes: what it was chosen by.
    """
    return Document(
        f"An epsilon for {words}",
        sentence(choice.reason),
        (
            *_numbers(choice, unit),
            *_targets(wishes),
            *_error(choice, words, unit, size),
            *_risk(choice),
        ),
    )


def _numbers(choice: EpsilonRecommendation, unit: str) -> list[Block]:
    price = float(getattr(choice.mechanism, choice.mechanism.parameter))
    promise = f"a promise of {choice.epsilon:.6g} at delta {choice.delta:g}"
    return [
        KeyFigures(
            [
                KeyFigure("Epsilon", f"{price:.6g}", promise if choice.delta else "with delta 0"),
                KeyFigure(
                    "Error at most",
                    f"{choice.error:.6g}",
                    f"in {unit}, {_share(choice.confidence)} of the time",
                ),
                KeyFigure(
                    "Membership advantage",
                    f"{choice.advantage:.1%}",
                    "true less false positives of the best test",
                ),
            ]
        )
    ]


def _targets(wishes: Targets) -> list[Block]:
    told = []
    if wishes.error is not None:
        told.append(("Error", f"at most {wishes.error:g}, {_share(wishes.confidence)} of the time"))
    if wishes.belief is not None:
        told.append(
            ("Belief", f"{_share(wishes.prior)} before, at most {_share(wishes.belief)} after")
        )
    if wishes.advantage is not None:
        told.append(("Membership advantage", f"at most {_share(wishes.advantage)}"))
    return [Heading("What was wished for"), Facts(told)]


def _error(choice: EpsilonRecommendation, words: str, unit: str, size: int) -> list[Block]:
    price = float(getattr(choice.mechanism, choice.mechanism.parameter))
    tried = [float(f"{price * factor:.4g}") for factor in AROUND]
    allowed = [each for each in tried if LEAST_EPSILON <= each <= MOST_EPSILON]
    curve = error_curve(choice.mechanism, allowed, confidence=choice.confidence, size=size)
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


def _risk(choice: EpsilonRecommendation) -> list[Block]:
    neighbours = choice.mechanism.neighbours
    rows = [
        [_share(belief.prior), f"{belief.low:.2%}", f"{belief.high:.2%}"]
        for belief in choice.beliefs
    ]
    return [
        Heading("What it leaves in risk"),
        Paragraph(
            f"Neighbours: {neighbours}. Whatever somebody believes of one {neighbours.unit} "
            "before, this is how far the belief can move because its data was used."
        ),
        Table(["belief before", "at least after", "at most after"], rows, numeric=(0, 1, 2)),
    ]


def _share(value: float) -> str:
    return f"{100 * value:.6g}%"
