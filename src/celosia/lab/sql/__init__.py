"""The study `sql`: elastic sensitivity on TPC-H as it was published, and our own answers beside it.

The tables stand in an engineering thesis of the Universidad Técnica Federico Santa María (2018),
which ran the code of FLEX (Johnson, Near & Song 2018) on TPC-H at scale factor 2 without saying
its settings; they were found again by fitting. `compat` has the published arithmetic, which stops
its search too early and must not protect anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.report import Block
from celosia.lab.findings import Findings, Row
from celosia.lab.sql import answers, columns, conformance, figures, sensitivities, small_tables
from celosia.lab.study import Study, no_figures

_THESIS = Message("lab.sparql.an_engineering_thesis_of_the_universidad")
_FLEX = Message("lab.sql.the_tests_of_flex_johnson_near")
_OWN = Message("lab.mechanisms.numbers_computed_for_this_study_by")
_EXACTLY = Message("lab.sparql.numbers_round_to_what_was_printed")
_DRAWN = Message("lab.sql.drawn_numbers_within_four_standard_errors")


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    title: str
    source: str
    rules: str
    rows: Callable[[Progress], list[Row]]
    figures: Callable[[Findings, Progress], Sequence[Block]] = no_figures


_PARTS = (
    _Part(
        "sensitivities",
        Message("lab.sql.the_sensitivities_of_four_joins_at"),
        Message("lab.sql.with_flex_on_tpc_h_and", thesis=_THESIS, own=_OWN),
        _EXACTLY,
        sensitivities.rows,
    ),
    _Part(
        "columns",
        Message("lab.sql.twelve_columns_of_private_answers_in"),
        Message("lab.sql.120_printed_answers", thesis=_THESIS),
        Message("lab.joined.semicolon", first=_EXACTLY, second=_DRAWN),
        columns.rows,
        figures.published,
    ),
    _Part("flex", Message("lab.sql.the_bounds_of_flex"), _FLEX, _EXACTLY, conformance.rows),
    _Part(
        "by-hand",
        Message("lab.sql.a_database_to_check_by_hand"),
        _OWN,
        Message("lab.sql.exactly_our_bound_between_the_true"),
        small_tables.rows,
    ),
    _Part(
        "answers",
        Message("lab.sql.our_answers_to_the_four_joins"),
        Message("lab.sql.closed_forms_dong_et_al_2022", thesis=_THESIS),
        Message("lab.sql.our_ways_at_most_as_far", drawn=_DRAWN),
        answers.rows,
        figures.ours,
    ),
)


def _one(part: _Part, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(Message("lab.collect.computing", name=part.name), 0))
    return part.rows(progress)


def _all(path: Path | None, progress: Progress) -> Sequence[Row]:
    found: list[Row] = []
    for done, part in enumerate(_PARTS):
        step = Step(Message("lab.collect.computing", name=part.name), done, len(_PARTS))
        progress(step)
        # Every step of a part tells how far the study has come, and may end it there.
        found += part.rows(lambda _, step=step: progress(step))  # type: ignore[misc]
    progress(Step(Message("lab.collect.comparing"), len(_PARTS), len(_PARTS)))
    return found


def _drawn(findings: Findings, progress: Progress) -> Sequence[Block]:
    return [block for part in _PARTS for block in part.figures(findings, progress)]


STUDIES = (
    Study(
        name="sql",
        title=Message("lab.sql.private_sql_elastic_sensitivity_on_tpc"),
        source=Message("lab.sql.and", thesis=_THESIS, flex=_FLEX, own=_OWN),
        rules=Message("lab.joined.semicolon", first=_EXACTLY, second=_DRAWN),
        work=_all,
        figures=_drawn,
    ),
    *(
        Study(
            name=f"sql/{part.name}",
            title=Message("lab.sql.private_sql", title=part.title),
            source=part.source,
            rules=part.rules,
            work=partial(_one, part),
            figures=part.figures,
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
