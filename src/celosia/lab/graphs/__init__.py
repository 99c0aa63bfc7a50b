"""The study `graphs`: the figures of a textbook on graph anonymity, on reconstructed graphs.

The figures stand in a Spanish university module on data privacy. Its text gives degrees, edits and
sizes; the graphs were made anew so that every stated fact holds, and further numbers were computed
on them by independent programs. Where the text is wrong, the cell says so by the number of its
erratum. `graphs/methods` runs every method on the networks that come with the program.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.progress import Progress
from celosia.core.report import Block
from celosia.lab.findings import Findings
from celosia.lab.study import Part, family


def _risk_and_use(findings: Findings, progress: Progress) -> Sequence[Block]:
    from celosia.lab.graphs import figures  # loads compiled kernels

    return figures.risk_and_use(findings, progress)


STUDIES = family(
    "graphs",
    Part("shapes"),
    Part("perturbation", ("changes",)),
    Part("k-degree", ("degrees",)),
    Part("uncertain", ("uncertainty",)),
    Part("generalisation", ("supervertices",)),
    Part("planted", ("planted_accounts",)),
    Part("methods", figures=_risk_and_use),
)
"""The whole and its parts."""
