"""The study `collect`: local privacy over sketches as it was published, theory, and our own runs.

The tables stand in a bachelor's thesis of the Universidad de Cádiz (2024), which ran five protocols
once each, without seeds. What it printed is compared with what its protocols must give, by the law
of a single run; cells that are wrong there are named as wrong, with the fault that explains them
(C-13 and the like, as `broken` and the explanation of local privacy tell).
"""

from __future__ import annotations

from celosia.lab.study import Part, family

STUDIES = family(
    "collect",
    Part("cms", ("count_mean",)),
    Part("hcms", ("hadamard",)),
    Part("sfp", ("puzzle",)),
    Part("rappor"),
    Part("dbitflip"),
)
"""The whole and its parts."""
