"""The study `tables`: 24 published experiments on the 1994 census extract, and reference runs.

The experiments were made with ARX 3.7.0 and printed, with every digit, in an engineering thesis of
the Universidad del Bío-Bío (Chile, 2018). They sweep k, then l and t on top of k = 5, without a
limit on suppression. The reference runs go further, with other c, other models and limits, and were
computed for this study with a program of its own.
"""

from __future__ import annotations

from functools import partial

from celosia.core.messages import Message
from celosia.lab.study import Study
from celosia.lab.tables.experiment import RULES, reproduce
from celosia.lab.tables.figures import sweeps

_THESIS = Message("lab.tables.an_engineering_thesis_of_the_universidad")
_ROWS = Message("lab.tables.on_the_30_162_complete_rows")

STUDIES = (
    Study(
        name="tables",
        title=Message("lab.tables.published_tables_k_anonymity_l_diversity"),
        source=Message("lab.joined.comma", first=_THESIS, second=_ROWS),
        rules=RULES,
        work=partial(reproduce, "published.csv", ""),
        figures=sweeps,
    ),
    *(
        Study(
            name=f"tables/{name}",
            title=Message("lab.tables.published_tables_on_the_census", title=title),
            source=Message("lab.joined.comma", first=_THESIS, second=_ROWS),
            rules=RULES,
            work=partial(reproduce, "published.csv", parameter),
            figures=sweeps,
        )
        for name, title, parameter in (
            ("k-anonymity", Message("lab.tables.k_anonymity_with_k_from_2"), "k="),
            ("l-diversity", Message("lab.tables.recursive_4_l_diversity_with_k"), "l="),
            ("t-closeness", Message("lab.tables.t_closeness_with_k_5"), "t="),
        )
    ),
    Study(
        name="tables/reference",
        title=Message("lab.tables.reference_runs_other_models_parameters_and"),
        source=Message("lab.tables.computed_for_this_study_by_an", rows=_ROWS),
        rules=RULES,
        work=partial(reproduce, "reference.csv", ""),
    ),
)
"""The whole, its parts, and the reference runs."""
