"""The figures of the study: risk and use of every method on every small network."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core import figures
from celosia.core.messages import say
from celosia.core.progress import Progress
from celosia.core.report import Block, Figure, Heading, Paragraph, Table
from celosia.lab.findings import Findings
from celosia.lab.graphs.methods import NETWORKS, measure, run_all


def risk_and_use(findings: Findings, progress: Progress) -> Sequence[Block]:
    """For each network, how often a guess is right and how many edges are kept."""
    blocks: list[Block] = [
        Heading(say("lab.graphs.risk_and_use_of_every_method")),
        Paragraph(say("lab.graphs.nothing_here_was_published_each_method")),
    ]
    for network in NETWORKS:
        kinds = run_all(network, progress)
        found = {kind: measure(network, kind) for kind in kinds}
        attacked = [kind for kind in kinds if found[kind][0] is not None]
        drawing = figures.bars(
            attacked,
            {
                say("lab.graphs.guess_by_degree"): [found[kind][0] or 0.0 for kind in attacked],
                say("lab.graphs.guess_by_neighbourhood"): [
                    found[kind][1] or 0.0 for kind in attacked
                ],
                say("lab.graphs.edges_kept"): [found[kind][2] or 0.0 for kind in attacked],
            },
            title=say("lab.graphs.risk_and_use", network=network),
            horizontal=True,
            percent=True,
        )
        words = say("lab.graphs.right_guesses_and_edges_kept_by", network=network)
        safest = min(attacked, key=lambda kind: found[kind][1] or 0.0)
        blocks += [
            Figure(
                drawing,
                words,
                say("lab.graphs.fewest_right_guesses_by_neighbourhood", words=words, safest=safest),
            ),
            Table(
                [
                    say("lab.graphs.method"),
                    say("lab.graphs.guess_by_degree_2"),
                    say("lab.graphs.by_neighbourhood"),
                    say("lab.graphs.edges_kept_2"),
                    say("lab.graphs.communities_kept"),
                ],
                [[kind, *map(_share, found[kind])] for kind in kinds],
                say("lab.graphs.every_method", network=network),
                numeric=(1, 2, 3, 4),
            ),
        ]
    return blocks


def _share(value: float | None) -> str:
    return say("lab.graphs.none") if value is None else f"{value:.1%}"
