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

from celosia.core.progress import Progress, Step
from celosia.core.report import Block
from celosia.lab.findings import Findings, Row
from celosia.lab.sql import answers, columns, conformance, figures, sensitivities, small_tables
from celosia.lab.study import Study, no_figures

_THESIS = "an engineering thesis of the Universidad Técnica Federico Santa María (Chile, 2018)"
_FLEX = "the tests of FLEX (Johnson, Near & Song 2018)"
_OWN = "numbers computed for this study by independent programs"
_EXACTLY = "numbers round to what was printed; whole numbers exactly"
_DRAWN = "drawn numbers within four standard errors, or a bound with that chance of failing"


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
        "the sensitivities of four joins at three epsilons, and what was wrong with them",
        f"{_THESIS}, with FLEX on TPC-H, and {_OWN}",
        _EXACTLY,
        sensitivities.rows,
    ),
    _Part(
        "columns",
        "twelve columns of private answers in distribution",
        f"{_THESIS}, 120 printed answers",
        f"{_EXACTLY}; {_DRAWN}",
        columns.rows,
        figures.published,
    ),
    _Part("flex", "the bounds of FLEX", _FLEX, _EXACTLY, conformance.rows),
    _Part(
        "by-hand",
        "a database to check by hand, with its true sensitivities",
        _OWN,
        "exactly; our bound between the true sensitivity and the published bound",
        small_tables.rows,
    ),
    _Part(
        "answers",
        "our answers to the four joins, by every way to bound them",
        f"closed forms, Dong et al. 2022, and the joins of {_THESIS}",
        f"{_DRAWN}; our ways at most as far off as the published race to the top",
        answers.rows,
        figures.ours,
    ),
)


def _one(part: _Part, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(f"Computing {part.name}", 0))
    return part.rows(progress)


def _all(path: Path | None, progress: Progress) -> Sequence[Row]:
    found: list[Row] = []
    for done, part in enumerate(_PARTS):
        step = Step(f"Computing {part.name}", done, len(_PARTS))
        progress(step)
        # Every step of a part tells how far the study has come, and may end it there.
        found += part.rows(lambda _, step=step: progress(step))  # type: ignore[misc]
    progress(Step("Comparing", len(_PARTS), len(_PARTS)))
    return found


def _drawn(findings: Findings, progress: Progress) -> Sequence[Block]:
    return [block for part in _PARTS for block in part.figures(findings, progress)]


STUDIES = (
    Study(
        name="sql",
        title="Private SQL: elastic sensitivity on TPC-H, and our answers",
        source=f"{_THESIS}, {_FLEX}, and {_OWN}",
        rules=f"{_EXACTLY}; {_DRAWN}",
        work=_all,
        figures=_drawn,
    ),
    *(
        Study(
            name=f"sql/{part.name}",
            title=f"Private SQL: {part.title}",
            source=part.source,
            rules=part.rules,
            work=partial(_one, part),
            figures=part.figures,
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
