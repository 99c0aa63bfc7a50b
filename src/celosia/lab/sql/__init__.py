"""The study `sql`: elastic sensitivity on TPC-H as it was published, and our own answers beside it.

The tables stand in an engineering thesis of the Universidad Técnica Federico Santa María (2018),
which ran the code of FLEX (Johnson, Near & Song 2018) on TPC-H at scale factor 2 without saying
its settings; they were found again by fitting. `compat` has the published arithmetic, which stops
its search too early and must not protect anybody.
"""

from __future__ import annotations

from celosia.lab.sql import figures
from celosia.lab.study import Part, family

STUDIES = family(
    "sql",
    Part("sensitivities"),
    Part("columns", figures=figures.published),
    Part("flex", ("conformance",)),
    Part("by-hand", ("small_tables",)),
    Part("answers", figures=figures.ours),
)
"""The whole and its parts."""
