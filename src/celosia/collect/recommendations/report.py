"""Recommended protocols as a report: the table, and error against epsilon."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite

from celosia.collect.recommendations.designs import UnfitProtocol, design_protocol, error_of
from celosia.collect.recommendations.results import Recommendation, Recommendations
from celosia.core import figures
from celosia.core.report import (
    Block,
    Details,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Paragraph,
    Table,
)
from celosia.core.wording import sentence

EPSILONS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
MOST_LINES = 6
"""Lines that can be told apart in one figure."""
HEADER = ["protocol", "error", "collisions", "bits", "memory", "work"]
RARE = (
    "Errors are standard errors of the count of a rare value: for such values "
    "they decide whether a value can be distinguished from noise. Collisions are values that "
    "share cells of a sketch; more users do not help against them, more hashes do."
)


def document(found: Recommendations) -> Document:
    """The whole report, as blocks."""
    best = found.best
    blocks: list[Block] = [
        Heading("In short"),
        KeyFigures(
            [
                KeyFigure("Protocol", best.label, f"epsilon {best.report_epsilon:.4g} a report"),
                KeyFigure("Error", figure(best.error), f"{best.share:.3%} of all", "users"),
                KeyFigure("Report", f"{best.report_bits:,}", "each", "bits"),
            ]
        ),
        *(Notice(sentence(warning), tone="warning") for warning in best.warnings),
        Paragraph(RARE),
        Heading("Protocols that fit"),
        Table(
            header(found),
            [row(each, found) for each in found.ranked],
            "The best first; work is that of one core for all reports and estimates, about",
            numeric=range(1, len(header(found))),
        ),
        *_curve(found),
        Heading("Parameters"),
        *(
            Details(each.label, [Facts([(n, str(v)) for n, v in each.parameters.items()])])
            for each in found.ranked
        ),
    ]
    if found.left_out:
        reasons = Table(["protocol", "why"], [list(each) for each in found.left_out], "Left out")
        blocks += [Heading("Protocols that do not fit"), reasons]
    return Document("A protocol for a collection", sentence(str(found)), tuple(blocks))


def header(found: Recommendations) -> list[str]:
    """The names of the columns of `row`."""
    further = ["lasting epsilon"] if found.need.repeated else []
    further += ["epsilon needed"] if _has(found, "needed_epsilon") else []
    further += ["users needed"] if _has(found, "needed_users") else []
    return [*HEADER, *further]


def row(each: Recommendation, found: Recommendations) -> list[str]:
    """One recommendation as texts."""
    texts = [
        each.label,
        figure(each.error),
        f"{each.collision_share:.1%}",
        f"{each.report_bits:,}",
        _size(each.server_bytes),
        f"{each.server_steps / 1e9:,.3g} s",
    ]
    if found.need.repeated:
        texts.append(f"{each.lasting_epsilon:.4g}")
    if _has(found, "needed_epsilon"):
        texts.append("none" if each.needed_epsilon is None else f"{each.needed_epsilon:g}")
    if _has(found, "needed_users"):
        texts.append("none" if each.needed_users is None else f"{each.needed_users:,}")
    return texts


def figure(value: float) -> str:
    """A number of users: whole from 100 on.

    >>> figure(854.81), figure(12.345)
    ('855', '12.3')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def error_curve(
    found: Recommendations, epsilons: tuple[float, ...] = EPSILONS
) -> dict[str, list[float]]:
    """The error of a rare value by epsilon, for each protocol that fits at all of them."""
    need = replace(found.need, users=found.best.users)
    curves = {}
    for each in found.ranked:
        errors = []
        for epsilon in epsilons:
            try:
                protocol = design_protocol(each.label, need, Fraction(str(epsilon)))
                errors.append(error_of(protocol, need))
            except UnfitProtocol:
                errors.append(inf)
        if all(map(isfinite, errors)):
            curves[each.label] = errors
    return curves


def _curve(found: Recommendations) -> list[Block]:
    curves = dict(list(error_curve(found).items())[:MOST_LINES])
    if not curves:
        return []
    drawing = figures.lines(
        EPSILONS, curves, x_label="epsilon", y_label="error, users", log=True, log_x=True
    )
    words = "; ".join(
        f"{label}: {figure(errors[0])} at {EPSILONS[0]:g}, {figure(errors[-1])} at {EPSILONS[-1]:g}"
        for label, errors in curves.items()
    )
    caption = f"Error of a rare value by epsilon, with {found.best.users:,} users"
    return [Heading("Error against epsilon"), Figure(drawing, caption, words)]


def _has(found: Recommendations, name: str) -> bool:
    return any(getattr(each, name) is not None for each in found.ranked)


def _size(amount: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.3g} {unit}"
        amount /= 1024
    return f"{amount:,.3g} GiB"
