"""The report of published traces, for their curator: promise, maps, attacks and utility."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celosia.core import report
from celosia.core.messages import Message, say, sentence
from celosia.core.release_report import made_blocks, promise_blocks
from celosia.traces.drawing import FEWEST, comparison

if TYPE_CHECKING:
    from celosia.traces.account import TraceAccount
    from celosia.traces.release import TraceRelease

FACTS = {
    "groups": Message("traces.fact.groups"),
    "smallest_group": Message("traces.fact.smallest_group"),
    "suppressed_points": Message("traces.fact.suppressed_points"),
    "dropped_points": Message("traces.fact.dropped_points"),
    "median_box_metres": Message("traces.fact.median_box_metres"),
    "median_box_minutes": Message("traces.fact.median_box_minutes"),
    "place_level": Message("traces.fact.place_level"),
    "time_level": Message("traces.fact.time_level"),
    "classes": Message("traces.fact.classes"),
    "draws": Message("traces.fact.draws"),
    "distinct_cells_charged": Message("traces.fact.distinct_cells_charged"),
    "epsilon_per_metre": Message("traces.fact.epsilon_per_metre"),
    "swap_sets": Message("traces.fact.swap_sets"),
    "trips": Message("traces.fact.trips"),
    "epsilon": Message("traces.fact.epsilon"),
    "traces_without_common_time": Message("traces.fact.traces_without_common_time"),
}
"""What each fact of a method is called."""

LEFT_OUT = {
    "dropped": Message("traces.left_out.dropped"),
    "clamped": Message("traces.left_out.clamped"),
    "same_time": Message("traces.left_out.same_time"),
    "teleports": Message("traces.left_out.teleports"),
    "sensitive_points": Message("traces.left_out.sensitive_points"),
    "trimmed_points": Message("traces.left_out.trimmed_points"),
}
"""What was found or left out while reading and cleaning, in the order of the report."""


def document(release: TraceRelease) -> report.Document:
    """The whole report, as blocks."""
    blocks: list[report.Block] = []
    if release.guarantee.simulation:
        blocks.append(report.Notice(str(release.guarantee), tone="simulation"))
    blocks += [report.Notice(str(warning), tone="warning") for warning in release.warnings]
    if release.account.attacks:
        blocks.append(report.Notice(say("traces.report.private"), tone="warning"))
    blocks += promise_blocks(release.guarantee)
    blocks += _done(release)
    blocks += _maps(release.account)
    blocks += _risk(release.account)
    if release.account.utility is not None:
        blocks += release.account.utility.blocks()
    blocks += made_blocks(release.provenance)
    return report.Document(
        say("traces.report.title"),
        f"{sentence(release.guarantee.promise)} {release.size}.",
        blocks,
    )


def fact_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Facts of a method in words.

    >>> fact_rows({"groups": 3})
    [('Groups of traces', '3')]
    """
    return [
        (
            str(FACTS.get(name, name)),
            value
            if isinstance(value, str)
            else f"{value:,.4g}"
            if isinstance(value, float)
            else f"{value:,}",
        )
        for name, value in facts.items()
    ]


def left_out_rows(left_out: dict[str, int]) -> list[tuple[str, str]]:
    """What was found or left out, in words, each with its count."""
    return [
        (str(words), f"{left_out[name]:,}")
        for name, words in LEFT_OUT.items()
        if left_out.get(name)
    ]


def _done(release: TraceRelease) -> list[report.Block]:
    rows = fact_rows(release.outcome.facts) + left_out_rows(release.left_out)
    return [
        report.Heading(say("traces.report.done")),
        report.Paragraph(
            say("traces.report.kept", method=release.outcome.method, kept=release.outcome.kept)
        ),
        report.Facts(rows),
    ]


def _maps(account: TraceAccount) -> list[report.Block]:
    if account.maps is None:
        return []
    drawn = [int((cells > 0).sum()) for cells in account.maps]
    return [
        report.Heading(say("traces.report.maps")),
        report.Figure(
            comparison(account.maps),
            say("traces.report.maps_caption", fewest=FEWEST),
            say("traces.report.maps_words", before=drawn[0], after=drawn[1]),
        ),
    ]


def _risk(account: TraceAccount) -> list[report.Block]:
    if not account.attacks:
        return []
    blocks: list[report.Block] = [
        report.Heading(say("traces.report.risk")),
        report.KeyFigures(
            [
                report.KeyFigure(
                    str(each.name), f"{each.share:.1%}", say("traces.report.found_share")
                )
                for each in account.attacks
            ]
        ),
        report.Table(
            [
                say("traces.report.attack"),
                say("traces.report.before"),
                say("traces.report.after"),
                say("traces.report.chance"),
            ],
            [
                [
                    str(after.name),
                    f"{before.share:.1%}",
                    f"{after.share:.1%}",
                    f"{after.chance:.2%}",
                ]
                for before, after in zip(account.before, account.attacks, strict=True)
            ],
            say("traces.report.risk_caption"),
            numeric=(1, 2, 3),
        ),
    ]
    for attack in account.attacks:
        blocks += attack.blocks()
    return blocks
