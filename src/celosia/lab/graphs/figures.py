"""The figures of the study: risk and use of every method on every small network."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core import figures
from celosia.core.progress import Progress
from celosia.core.report import Block, Figure, Heading, Paragraph, Table
from celosia.lab.findings import Findings
from celosia.lab.graphs.methods import NETWORKS, measure, run_all


def risk_and_use(findings: Findings, progress: Progress) -> Sequence[Block]:
    """For each network, how often a guess is right and how many edges are kept."""
    blocks: list[Block] = [
        Heading("Risk and use of every method"),
        Paragraph(
            "Nothing here was published: each method ran once, with a seed. A guess is right with "
            "the share shown, over all vertices, for an attacker who knows their degrees, or "
            "which of their neighbours are joined. Of chances one random world is measured. "
            "Super-vertices and private graphs cannot be compared so: none of their vertices is a "
            "real one."
        ),
    ]
    for network in NETWORKS:
        kinds = run_all(network, progress)
        found = {kind: measure(network, kind) for kind in kinds}
        attacked = [kind for kind in kinds if found[kind][0] is not None]
        drawing = figures.bars(
            attacked,
            {
                "guess by degree": [found[kind][0] or 0.0 for kind in attacked],
                "guess by neighbourhood": [found[kind][1] or 0.0 for kind in attacked],
                "edges kept": [found[kind][2] or 0.0 for kind in attacked],
            },
            title=f"Risk and use: {network}",
            horizontal=True,
            percent=True,
        )
        words = f"Right guesses and edges kept, by method: {network}."
        safest = min(attacked, key=lambda kind: found[kind][1] or 0.0)
        blocks += [
            Figure(drawing, words, f"{words} Fewest right guesses by neighbourhood: {safest}."),
            Table(
                ["Method", "Guess by degree", "By neighbourhood", "Edges kept", "Communities kept"],
                [[kind, *map(_share, found[kind])] for kind in kinds],
                f"Every method: {network}",
                numeric=(1, 2, 3, 4),
            ),
        ]
    return blocks


def _share(value: float | None) -> str:
    return "none" if value is None else f"{value:.1%}"
