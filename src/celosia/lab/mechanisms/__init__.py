"""The study `mechanisms`: the numbers of central differential privacy, and what breaks it.

The belief table, the worked examples and the variants of the sparse vector stand in a bachelor
thesis of the Universidad de Sevilla (2018), which follows Dwork & Roth 2014, Li, Lyu, Su & Yang
2016 and Lyu, Su & Li 2017 and measures nothing itself. The numbers that it lacks (errors, chances,
losses of counterexamples) were computed for this study by programs of its own. Where a printed
number is wrong, the row compares with the corrected one and says so. `broken` has the mechanisms
that do not keep what they claim.
"""

from __future__ import annotations

from celosia.lab.mechanisms import figures
from celosia.lab.mechanisms.cells import SIGMAS
from celosia.lab.study import Part, family

STUDIES = family(
    "mechanisms",
    Part("belief", figures=figures.beliefs),
    Part("composition", figures=figures.densities),
    Part("selection"),
    Part("sparse"),
    Part("averages", ("means",), figures=figures.errors_of_means),
    Part("top-c", ("top_c",), figures=figures.rates_of_selection),
    Part("attacks"),
    sigmas=SIGMAS,
)
"""The whole and its parts."""
