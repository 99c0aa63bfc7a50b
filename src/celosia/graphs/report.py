"""The report of a published graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celosia.core import report
from celosia.core.messages import Message, say, sentence
from celosia.core.randomness import Seeded
from celosia.core.release_report import before_and_after, made_blocks, plain, promise_blocks
from celosia.graphs.drawing import draw_comparison

if TYPE_CHECKING:
    from celosia.graphs.release import GraphAccount, GraphRelease, MethodOutcome

LEFT_OUT = {
    "edge_attributes": Message("graphs.left_out.edge_attributes"),
    "attributes": Message("graphs.left_out.attributes"),
    "loops": Message("graphs.left_out.loops"),
    "repeated": Message("graphs.left_out.repeated"),
    "differing": Message("graphs.left_out.differing"),
    "both_ways": Message("graphs.left_out.both_ways"),
    "one_way": Message("graphs.left_out.one_way"),
    "directions": Message("graphs.left_out.directions"),
    "ignored": Message("graphs.left_out.ignored"),
}
"""What can be left out, in the order of the report."""


def document(release: GraphRelease) -> report.Document:
    """The whole report, as blocks."""
    guarantee, account = release.guarantee, release.account
    blocks: list[report.Block] = []
    if guarantee.simulation:
        blocks.append(report.Notice(str(guarantee), tone="simulation"))
    blocks += [report.Notice(str(warning), tone="warning") for warning in release.warnings]
    if account.utility is not None or account.attacks:
        blocks.append(report.Notice(say("graphs.report.private"), tone="warning"))
    blocks += promise_blocks(guarantee)
    blocks += _methods(release.methods)
    blocks += _left_out(release.left_out)
    blocks += _drawing(account)
    blocks += _risk(account)
    if account.network is not None:
        blocks += account.network.blocks()
    if account.utility is not None:
        if account.network is not None:
            blocks.append(report.Notice(say("graphs.report.below")))
        blocks += account.utility.blocks()
        if not account.matched:
            blocks.append(report.Notice(say("graphs.report.unmatched"), tone="warning"))
    elif account.attacks:
        blocks += [
            report.Heading(say("graphs.report.good_for")),
            report.Paragraph(say("graphs.report.too_large")),
        ]
    blocks += made_blocks(release.provenance)
    return report.Document(
        say("graphs.report.title"), f"{sentence(guarantee.promise)} {release.data}.", blocks
    )


def _methods(methods: Sequence[MethodOutcome]) -> list[report.Block]:
    blocks: list[report.Block] = [
        report.Heading(say("graphs.report.done")),
        report.Table(
            [say("graphs.report.method"), say("graphs.report.kept")],
            [[each.method, str(each.kept)] for each in methods],
            say("graphs.report.in_order"),
        ),
    ]
    for each in methods:
        items = [(str(name).replace("_", " "), plain(value)) for name, value in each.facts.items()]
        blocks += [report.Details(each.method, [report.Facts(items)])] if items else []
    return blocks


def left_out_values(left_out: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was given and is not in the release, in words, each with its names or its count.

    >>> left_out_values({"edge_attributes": ["weight", "time"], "loops": 1200})
    [('edge attributes', 'weight, time'), ('edges from a vertex to itself', '1,200')]
    """
    return [
        (words, f"{what:,}" if isinstance(what, int) else ", ".join(map(str, what)))
        for name, words in LEFT_OUT.items()
        if (what := left_out.get(name))
    ]


def _left_out(left_out: Mapping[str, Any]) -> list[report.Block]:
    rows = [[str(words).capitalize(), what] for words, what in left_out_values(left_out)]
    return report.table_section(
        say("graphs.report.left_out"),
        [say("graphs.report.what"), say("graphs.report.which")],
        rows,
        say("graphs.report.not_in_release"),
    )


def _drawing(account: GraphAccount) -> list[report.Block]:
    """Both graphs, without names, where they are small enough to be seen."""
    if account.drawn is None:
        return []
    # A seed of its own: places of vertices are no secret, and the report comes out the same again.
    picture = draw_comparison(*account.drawn, rng=Seeded(1))
    original, release = account.drawn
    gone = int((~release.has_edges(original.edges)).sum())
    words = say("graphs.report.drawn_words", gone=gone, come=release.size - original.size + gone)
    caption = "graphs.report.drawn_world" if account.world else "graphs.report.drawn_release"
    return [
        report.Heading(say("graphs.report.both_graphs")),
        report.Figure(picture, say(caption), words),
    ]


def _risk(account: GraphAccount) -> list[report.Block]:
    if not account.attacks:
        return []
    words = "graphs.report.world_attacked" if account.world else "graphs.report.looked_for"
    header = ("graphs.report.attack", "graphs.report.exposed_before", "graphs.report.exposed_after")
    caption = say("graphs.report.certain")
    return [
        report.Heading(say("graphs.report.found")),
        report.Paragraph(say(words)),
        *before_and_after(account.before, account.attacks, list(map(say, header)), caption),
    ]
