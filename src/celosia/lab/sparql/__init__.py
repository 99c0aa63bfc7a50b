"""The study `sparql`: the first private SPARQL as it was published and coded, and ours beside it.

The tables stand in an engineering thesis of the Universidad Técnica Federico Santa María (2018),
which carried elastic sensitivity over to RDF graphs on WatDiv with ten million facts. Its fifteen
sensitivities can be computed again, but they are those of a broken analysis (`compat`), and its
answers protect nobody. `defects` shows what is wrong in the code that followed it, and `answers`
has all query shapes on a graph of ours by every way to bound them.
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
from celosia.lab.sparql import answers, defects, figures, sensitivities, small_graphs
from celosia.lab.study import Study, StudyRun, no_figures

_THESIS = Message("lab.sparql.an_engineering_thesis_of_the_universidad")
_OWN = Message("lab.mechanisms.numbers_computed_for_this_study_by")
_EXACTLY = Message("lab.sparql.numbers_round_to_what_was_printed")
_DRAWN = Message("lab.sparql.drawn_numbers_within_the_bound_of")

Rows = Callable[[Progress], list[Row]]


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    title: str
    source: str
    rules: str
    rows: Rows
    figures: Callable[[Findings, Progress], Sequence[Block]] = no_figures
    has_graph: bool = False
    """Whether it makes a graph, of a size to choose."""

    def of(self, triples: int | None) -> Rows:
        """The rows on a graph of so many facts, where there is one."""
        if triples is None or not self.has_graph:
            return self.rows
        return partial(answers.rows, triples=triples)


_PARTS = (
    _Part(
        "sensitivities",
        Message("lab.sparql.fifteen_sensitivities_as_printed_corrected_and"),
        Message("lab.sparql.with_its_own_code_on_watdiv", thesis=_THESIS, own=_OWN),
        _EXACTLY,
        sensitivities.rows,
    ),
    _Part(
        "by-hand",
        Message("lab.sparql.graphs_to_check_by_hand_and"),
        _OWN,
        Message("lab.sparql.exactly_our_bound_between_the_true"),
        small_graphs.rows,
    ),
    _Part(
        "defects",
        Message("lab.sparql.eight_defects_of_the_code_that"),
        Message("lab.sparql.the_companion_code_of_buil_aranda"),
        _EXACTLY,
        defects.rows,
    ),
    _Part(
        "answers",
        Message("lab.sparql.all_query_shapes_by_every_way"),
        Message("lab.sparql.the_queries_of_on_a_graph", thesis=_THESIS),
        _DRAWN,
        answers.rows,
        figures.errors,
        has_graph=True,
    ),
)


def _one(part: _Part, triples: int | None, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(Message("lab.collect.computing", name=part.name), 0))
    return part.of(triples)(progress)


def _all(triples: int | None, path: Path | None, progress: Progress) -> Sequence[Row]:
    found: list[Row] = []
    for done, part in enumerate(_PARTS):
        step = Step(Message("lab.collect.computing", name=part.name), done, len(_PARTS))
        progress(step)
        # Every step of a part tells how far the study has come, and may end it there.
        found += part.of(triples)(lambda _, step=step: progress(step))  # type: ignore[misc]
    progress(Step(Message("lab.collect.comparing"), len(_PARTS), len(_PARTS)))
    return found


def _sized(part: _Part) -> Callable[[int], StudyRun] | None:
    return (lambda triples: partial(_one, part, triples)) if part.has_graph else None


STUDIES = (
    Study(
        name="sparql",
        title=Message("lab.sparql.private_sparql_the_first_analysis_of"),
        source=Message("lab.mechanisms.and", thesis=_THESIS, own=_OWN),
        rules=Message("lab.joined.semicolon", first=_EXACTLY, second=_DRAWN),
        work=partial(_all, None),
        figures=figures.errors,
        at_size=lambda triples: partial(_all, triples),
    ),
    *(
        Study(
            name=f"sparql/{part.name}",
            title=Message("lab.sparql.private_sparql", title=part.title),
            source=part.source,
            rules=part.rules,
            work=partial(_one, part, None),
            figures=part.figures,
            at_size=_sized(part),
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
