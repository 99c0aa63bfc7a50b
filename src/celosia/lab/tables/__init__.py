"""The study `tables`: 24 published experiments on the 1994 census extract, and reference runs.

The experiments were made with ARX 3.7.0 and printed, with every digit, in an engineering thesis of
the Universidad del Bío-Bío (Chile, 2018). They sweep k, then l and t on top of k = 5, without a
limit on suppression. The reference runs go further, with other c, other models and limits, and were
computed for this study with a program of its own.
"""

from __future__ import annotations

from functools import partial

from celosia.lab.study import Study
from celosia.lab.tables.experiment import RULES, reproduce
from celosia.lab.tables.figures import sweeps

_THESIS = "an engineering thesis of the Universidad del Bío-Bío (Chile, 2018), made with ARX 3.7.0"
_ROWS = "on the 30,162 complete rows of the 1994 US census extract"

STUDIES = (
    Study(
        name="tables",
        title="Published tables: k-anonymity, l-diversity and t-closeness on the census",
        source=f"{_THESIS}, {_ROWS}",
        rules=RULES,
        work=partial(reproduce, "published.csv", ""),
        figures=sweeps,
    ),
    *(
        Study(
            name=f"tables/{name}",
            title=f"Published tables: {title} on the census",
            source=f"{_THESIS}, {_ROWS}",
            rules=RULES,
            work=partial(reproduce, "published.csv", parameter),
            figures=sweeps,
        )
        for name, title, parameter in (
            ("k-anonymity", "k-anonymity with k from 2 to 25", "k="),
            ("l-diversity", "recursive (4, l)-diversity with k = 5", "l="),
            ("t-closeness", "t-closeness with k = 5", "t="),
        )
    ),
    Study(
        name="tables/reference",
        title="Reference runs: other models, parameters and suppression limits on the census",
        source=f"computed for this study by an independent program, {_ROWS}",
        rules=RULES,
        work=partial(reproduce, "reference.csv", ""),
    ),
)
"""The whole, its parts, and the reference runs."""
