"""The study `sparql`: the first private SPARQL as it was published and coded, and ours beside it.

The tables stand in an engineering thesis of the Universidad Técnica Federico Santa María (2018),
which carried elastic sensitivity over to RDF graphs on WatDiv with ten million facts. Its fifteen
sensitivities can be computed again, but they are those of a broken analysis (`compat`), and its
answers protect nobody. `defects` shows what is wrong in the code that followed it, and `answers`
has all query shapes on a graph of ours by every way to bound them.
"""

from __future__ import annotations

from celosia.lab.sparql import figures
from celosia.lab.study import Part, family

STUDIES = family(
    "sparql",
    Part("sensitivities", figures=figures.averages),
    Part("by-hand", ("small_graphs",)),
    Part("defects"),
    Part("answers", figures=figures.errors, has_graph=True),
)
"""The whole and its parts."""
