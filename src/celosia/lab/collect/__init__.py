"""The study `collect`: local privacy over sketches as it was published, theory, and our own runs.

The tables stand in a bachelor's thesis of the Universidad de Cádiz (2024), which ran five protocols
once each, without seeds. What it printed is compared with what its protocols must give, by the law
of a single run; cells that are wrong there are named as wrong, with the fault that explains them
(C-13 and the like, as `broken` and the explanation of local privacy tell).
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.progress import Progress
from celosia.core.report import Block
from celosia.lab.findings import Findings
from celosia.lab.study import Drawing, Part, family


def _drawn(name: str) -> Drawing:
    """A function of `figures`, loaded when it draws: it needs what few studies need."""

    def draw(findings: Findings, progress: Progress) -> Sequence[Block]:
        from celosia.lab.collect import figures

        drawings: dict[str, Drawing] = {
            "cms": figures.sketches,
            "hcms": figures.hadamard_sketches,
            "sfp": figures.puzzles,
            "rappor": figures.values,
            "dbitflip": figures.users,
        }
        return drawings[name](findings, progress)

    return draw


STUDIES = family(
    "collect",
    Part("cms", ("count_mean",), figures=_drawn("cms")),
    Part("hcms", ("hadamard",), figures=_drawn("hcms")),
    Part("sfp", ("puzzle",), figures=_drawn("sfp")),
    Part("rappor", figures=_drawn("rappor")),
    Part("dbitflip", figures=_drawn("dbitflip")),
)
"""The whole and its parts."""
