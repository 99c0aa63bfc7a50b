"""The report of a published graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.core.guarantee import Guarantee
from celosia.core.provenance import Provenance
from celosia.core.randomness import Seeded
from celosia.core.release_report import facts_block, made_blocks, promise_blocks
from celosia.core.report import (
    Block,
    Document,
    Figure,
    Heading,
    Notice,
    Paragraph,
    Table,
)
from celosia.core.wording import sentence
from celosia.graphs.account import GraphAccount
from celosia.graphs.drawing import draw_comparison

MethodFacts = tuple[str, Mapping[str, Any], str]
"""A method: its name, its facts, what it kept."""

PRIVATE = (
    "Confidential: only for people who may see the original graph. The report lists exposed "
    "vertices by their numbers in the original, and statistics of the original."
)

TOO_LARGE = (
    "Not measured: all metrics of a graph of more than two million edges take minutes. `celosia "
    "graph assess` compares the two files."
)

UNMATCHED = (
    "The vertices of a random world cannot be matched with those of the original: measures of "
    "the whole graph can be compared, but not common edges, hubs or communities."
)


LEFT_OUT = {
    "edge_attributes": "edge attributes",
    "attributes": "attributes of vertices",
    "loops": "edges from a vertex to itself",
    "repeated": "repeated edges, merged with the first",
    "differing": "merged records with other edge attributes",
    "both_ways": "pairs of edges in both directions, each now one edge",
    "one_way": "edges in one direction only",
    "directions": "directions of edges in one direction only",
    "ignored": "ignored in the file",
}
"""What can be left out, in the order of the report."""


def document(  # noqa: PLR0913 - the parts of a release, one by one
    guarantee: Guarantee,
    provenance: Provenance,
    warnings: Sequence[str],
    methods: Sequence[MethodFacts],
    account: GraphAccount,
    *,
    left_out: Mapping[str, Any],
    published: str,
) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = []
    if guarantee.simulation:
        blocks.append(Notice(str(guarantee), tone="simulation"))
    blocks += [Notice(warning, tone="warning") for warning in warnings]
    if account.utility is not None or account.attacks:
        blocks.append(Notice(PRIVATE, tone="warning"))
    blocks += promise_blocks(guarantee)
    blocks += _methods(methods)
    blocks += _left_out(left_out)
    blocks += _drawing(account)
    blocks += _risk(account)
    if account.utility is not None:
        blocks += account.utility.blocks()
        if not account.matched:
            blocks.append(Notice(UNMATCHED, tone="warning"))
    elif account.attacks:
        blocks += [Heading("What the graph is good for"), Paragraph(TOO_LARGE)]
    blocks += made_blocks(provenance)
    return Document("Published graph", f"{sentence(guarantee.promise)} {published}.", blocks)


def _methods(methods: Sequence[MethodFacts]) -> list[Block]:
    blocks: list[Block] = [
        Heading("What was done"),
        Table(["Method", "Kept"], [[name, kept] for name, _, kept in methods], "In order"),
    ]
    for name, facts, _ in methods:
        blocks += facts_block(name, facts)
    return blocks


def left_out_values(left_out: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was given and is not in the release, in words, each with its names or its count.

    >>> left_out_values({"edge_attributes": ["weight", "time"], "loops": 1200})
    [('edge attributes', 'weight, time'), ('edges from a vertex to itself', '1,200')]
    """
    return [
        (words, f"{what:,}" if isinstance(what, int) else ", ".join(what))
        for name, words in LEFT_OUT.items()
        if (what := left_out.get(name))
    ]


def _left_out(left_out: Mapping[str, Any]) -> list[Block]:
    rows = [[words.capitalize(), what] for words, what in left_out_values(left_out)]
    if not rows:
        return []
    return [
        Heading("What is left out"),
        Table(["What", "Which, or how many"], rows, "Given, but not in the release"),
    ]


def _drawing(account: GraphAccount) -> list[Block]:
    """Both graphs, without names, where they are small enough to be seen."""
    if account.drawn is None:
        return []
    # A seed of its own: places of vertices are no secret, and the report comes out the same again.
    picture = draw_comparison(*account.drawn, rng=Seeded(1))
    original, release = account.drawn
    gone = int((~release.has_edges(original.edges)).sum())
    words = f"{gone:,} edges of the original are gone, and {release.size - original.size + gone:,} "
    caption = "One random world of the release" if account.world else "The release"
    return [
        Heading("The original and the release"),
        Figure(picture, f"{caption}, drawn beside the original.", words + "came."),
    ]


def _risk(account: GraphAccount) -> list[Block]:
    if not account.attacks:
        return []
    words = "Each vertex of the original is looked for in the release by what an attacker knows."
    if account.world:
        words += " The release is not a plain graph: one random world of it is attacked."
    blocks: list[Block] = [
        Heading("Who can be found"),
        Paragraph(words),
        Table(
            ["Attack", "Exposed with names hidden only", "Exposed in the release"],
            [
                [after.name, f"{before.share_exposed:.2%}", f"{after.share_exposed:.2%}"]
                for before, after in zip(account.before, account.attacks, strict=True)
            ],
            "Vertices found for certain",
            numeric=(1, 2),
        ),
    ]
    for attack in account.attacks:
        blocks += attack.blocks()
    return blocks
