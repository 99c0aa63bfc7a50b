"""Recommended protocols as a report: the table, and error against epsilon."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite

from celosia.collect.recommendations.designs import UnfitProtocol, design_protocol, error_of
from celosia.collect.recommendations.results import Recommendation, Recommendations
from celosia.core import figures
from celosia.core.messages import say
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


def document(found: Recommendations) -> Document:
    """The whole report, as blocks."""
    best = found.best
    blocks: list[Block] = [
        Heading(say("collect.choosing_report.in_short")),
        KeyFigures(
            [
                KeyFigure(
                    say("collect.choosing_report.protocol"),
                    best.label,
                    say("collect.choosing_report.epsilon_a_report", epsilon=best.report_epsilon),
                ),
                KeyFigure(
                    say("collect.choosing_report.error"),
                    figure(best.error),
                    say("collect.choosing_report.share_of_all", share=best.share),
                    say("collect.choosing_report.users"),
                ),
                KeyFigure(
                    say("collect.choosing_report.report"),
                    _number(best.report_bits, ","),
                    say("collect.choosing_report.each"),
                    say("collect.choosing_report.bits"),
                ),
            ]
        ),
        *(Notice(sentence(warning), tone="warning") for warning in best.warnings),
        Paragraph(say("collect.choosing_report.rare")),
        Heading(say("collect.choosing_report.fitting")),
        Table(
            header(found),
            [row(each, found) for each in found.ranked],
            say("collect.choosing_report.table_caption"),
            numeric=range(1, len(header(found))),
        ),
        *_curve(found),
        Heading(say("collect.choosing_report.parameters")),
        *(
            Details(each.label, [Facts([(n, str(v)) for n, v in each.parameters.items()])])
            for each in found.ranked
        ),
    ]
    if found.left_out:
        reasons = Table(
            [say("collect.choosing_report.protocol_column"), say("collect.choosing_report.why")],
            [[name, str(why)] for name, why in found.left_out],
            say("collect.choosing_report.left_out"),
        )
        blocks += [Heading(say("collect.choosing_report.not_fitting")), reasons]
    return Document(say("collect.choosing_report.title"), sentence(str(found)), tuple(blocks))


def header(found: Recommendations) -> list[str]:
    """The names of the columns of `row`."""
    names = [
        say("collect.choosing_report.protocol_column"),
        say("collect.choosing_report.error_column"),
        say("collect.choosing_report.collisions_column"),
        say("collect.choosing_report.bits"),
        say("collect.choosing_report.memory_column"),
        say("collect.choosing_report.work_column"),
    ]
    if found.need.repeated:
        names.append(say("collect.choosing_report.lasting_column"))
    if _has(found, "needed_epsilon"):
        names.append(say("collect.choosing_report.epsilon_column"))
    if _has(found, "needed_users"):
        names.append(say("collect.choosing_report.users_column"))
    return names


def row(each: Recommendation, found: Recommendations) -> list[str]:
    """One recommendation as texts."""
    texts = [
        each.label,
        figure(each.error),
        _number(each.collision_share, ".1%"),
        _number(each.report_bits, ","),
        _size(each.server_bytes),
        f"{_number(each.server_steps / 1e9, ',.3g')} s",
    ]
    if found.need.repeated:
        texts.append(_number(each.lasting_epsilon, ".4g"))
    if _has(found, "needed_epsilon"):
        texts.append(_needed(each.needed_epsilon, "g"))
    if _has(found, "needed_users"):
        texts.append(_needed(each.needed_users, ","))
    return texts


def figure(value: float) -> str:
    """A number of users: whole from 100 on.

    >>> figure(854.81), figure(12.345)
    ('855', '12.3')
    """
    return _number(value, ",.0f" if value >= 100 else ".3g")


def _needed(value: float | None, form: str) -> str:
    return say("collect.choosing_report.none") if value is None else _number(value, form)


def _number(value: float, form: str) -> str:
    return say("collect.number", value=value, form=form)


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
        EPSILONS,
        curves,
        x_label=say("collect.choosing_report.epsilon_axis"),
        y_label=say("collect.choosing_report.error_axis"),
        log=True,
        log_x=True,
    )
    words = "; ".join(
        say(
            "collect.choosing_report.curve_point",
            label=label,
            first=figure(errors[0]),
            low=EPSILONS[0],
            last=figure(errors[-1]),
            high=EPSILONS[-1],
        )
        for label, errors in curves.items()
    )
    caption = say("collect.choosing_report.curve_caption", users=found.best.users)
    return [Heading(say("collect.choosing_report.curve")), Figure(drawing, caption, words)]


def _has(found: Recommendations, name: str) -> bool:
    return any(getattr(each, name) is not None for each in found.ranked)


def _size(amount: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{_number(amount, '.3g')} {unit}"
        amount /= 1024
    return f"{_number(amount, ',.3g')} GiB"
