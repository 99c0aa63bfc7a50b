"""Protocols that fit a collection, with what each will be like."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import inf, isfinite
from typing import Any

from celosia.collect.recommendations.designs import Need, UnfitProtocol, design_protocol, error_of
from celosia.core import figures, report
from celosia.core.messages import say, say_of, sentence


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A protocol with its parameters, and what it will be like."""

    label: str
    """The protocol, and its variety where it has two."""
    parameters: dict[str, Any]
    """Those that are to be given, with `protocol` and `epsilon`; a domain is yet to be listed."""
    users: int
    error: float
    """The standard error of the count of a rare value."""
    collision_share: float
    """The share of values that collide in its variance; more users do not lower it."""
    report_bits: int
    report_epsilon: float
    lasting_epsilon: float
    """What all reports on one unchanged value cost, however many; infinite without a limit."""
    server_bytes: int
    server_steps: int
    """For counting all reports and estimating all values: each about a nanosecond."""
    needed_epsilon: float | None = None
    """The least epsilon for the target error with this number of users."""
    needed_users: int | None = None
    """The fewest users for the target share with this epsilon."""
    warnings: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The error as a share of all users."""
        return self.error / self.users

    def as_dict(self) -> dict[str, Any]:
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        lasting = self.lasting_epsilon if isfinite(self.lasting_epsilon) else None
        return found | {
            "share": self.share,
            "lasting_epsilon": lasting,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        return say_of("collect.summary.recommendation", self, bits=self.report_bits)


@dataclass(frozen=True, slots=True)
class Recommendations:
    """Protocols that fit, the best first, and those that do not with the reason."""

    need: Need
    epsilon: float | None
    target_error: float | None
    """In users, where there is a target."""
    ranked: tuple[Recommendation, ...]
    left_out: tuple[tuple[str, str], ...]
    sought: str
    """What was looked for: `error`, `epsilon` or `users`."""

    @property
    def best(self) -> Recommendation:
        """The first one."""
        return self.ranked[0]

    def as_dict(self) -> dict[str, Any]:
        return {
            "sought": self.sought,
            "users": self.need.users if self.sought != "users" else None,
            "domain": self.need.domain,
            "epsilon": self.epsilon,
            "squares": self.need.squares,
            "target_error": self.target_error,
            "ranked": [each.as_dict() for each in self.ranked],
            "left_out": [{"method": name, "why": why} for name, why in self.left_out],
        }

    def __str__(self) -> str:
        best = self.best
        if self.sought == "epsilon":
            epsilon = best.needed_epsilon
            return say("collect.summary.epsilon_is_enough", epsilon=epsilon, best=best)
        if self.sought == "users":
            return say("collect.summary.users_are_enough", users=best.needed_users, best=best)
        return str(best)


EPSILONS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
MOST_LINES = 6
"""Lines that can be told apart in one figure."""


def document(found: Recommendations) -> report.Document:
    """The whole report, as blocks."""
    best = found.best
    blocks: list[report.Block] = [
        report.Heading(say("collect.choosing_report.in_short")),
        report.KeyFigures(
            [
                report.KeyFigure(
                    say("collect.choosing_report.protocol"),
                    best.label,
                    say("collect.choosing_report.epsilon_a_report", epsilon=best.report_epsilon),
                ),
                report.KeyFigure(
                    say("collect.choosing_report.error"),
                    figure(best.error),
                    say("collect.choosing_report.share_of_all", share=best.share),
                    say("collect.choosing_report.users"),
                ),
                report.KeyFigure(
                    say("collect.choosing_report.report"),
                    _number(best.report_bits, ","),
                    say("collect.choosing_report.each"),
                    say("collect.choosing_report.bits"),
                ),
            ]
        ),
        *(report.Notice(sentence(warning), tone="warning") for warning in best.warnings),
        report.Paragraph(say("collect.choosing_report.rare")),
        report.Heading(say("collect.choosing_report.fitting")),
        report.Table(
            header(found),
            [row(each, found) for each in found.ranked],
            say("collect.choosing_report.table_caption"),
            numeric=range(1, len(header(found))),
        ),
        *_curve(found),
        report.Heading(say("collect.choosing_report.parameters")),
        *(
            report.Details(
                each.label, [report.Facts([(n, str(v)) for n, v in each.parameters.items()])]
            )
            for each in found.ranked
        ),
    ]
    if found.left_out:
        reasons = report.Table(
            [say("collect.choosing_report.protocol_column"), say("collect.choosing_report.why")],
            [[name, str(why)] for name, why in found.left_out],
            say("collect.choosing_report.left_out"),
        )
        blocks += [report.Heading(say("collect.choosing_report.not_fitting")), reasons]
    return report.Document(
        say("collect.choosing_report.title"), sentence(str(found)), tuple(blocks)
    )


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


def _curve(found: Recommendations) -> list[report.Block]:
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
    return [
        report.Heading(say("collect.choosing_report.curve")),
        report.Figure(drawing, caption, words),
    ]


def _has(found: Recommendations, name: str) -> bool:
    return any(getattr(each, name) is not None for each in found.ranked)


def _size(amount: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{_number(amount, '.3g')} {unit}"
        amount /= 1024
    return f"{_number(amount, ',.3g')} GiB"
