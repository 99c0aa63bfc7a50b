"""The study `graphs`: the figures of a textbook on graph anonymity, on reconstructed graphs.

The figures stand in a Spanish university module on data privacy. Its text gives degrees, edits and
sizes; the graphs were made anew so that every stated fact holds, and further numbers were computed
on them by independent programs. Where the text is wrong, the cell says so by the number of its
erratum. `graphs/methods` runs every method on the networks that come with the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from celosia.core.progress import Progress
from celosia.core.report import Block
from celosia.lab.findings import Findings
from celosia.lab.study import Drawing, Part, family


def _drawn(module: str, name: str) -> Drawing:
    """A function that draws, loaded when it does: it needs compiled kernels."""

    def draw(findings: Findings, progress: Progress) -> Sequence[Block]:
        found: Drawing = getattr(import_module(f"celosia.lab.graphs.{module}"), name)
        return found(findings, progress)

    return draw


STUDIES = family(
    "graphs",
    Part("shapes", figures=_drawn("drawings", "shapes")),
    Part("perturbation", ("changes",), figures=_drawn("drawings", "random_changes")),
    Part("k-degree", ("degrees",), figures=_drawn("drawings", "anonymous_degrees")),
    Part("uncertain", ("uncertainty",), figures=_drawn("drawings", "chances")),
    Part("generalisation", ("supervertices",), figures=_drawn("drawings", "super_vertices")),
    Part("planted", ("planted_accounts",)),
    Part("methods", figures=_drawn("figures", "risk_and_use")),
)
"""The whole and its parts."""
