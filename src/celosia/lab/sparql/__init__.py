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

from celosia.core.progress import Progress, Step
from celosia.core.report import Block
from celosia.lab.findings import Findings, Row
from celosia.lab.sparql import answers, defects, figures, sensitivities, small_graphs
from celosia.lab.study import Study, StudyRun, no_figures

_THESIS = "an engineering thesis of the Universidad Técnica Federico Santa María (Chile, 2018)"
_OWN = "numbers computed for this study by independent programs"
_EXACTLY = "numbers round to what was printed; whole numbers exactly"
_DRAWN = "drawn numbers within the bound of their own noise; originals as pyoxigraph counts them"

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
        "fifteen sensitivities as printed, corrected and smoothed, and averages that do not fit",
        f"{_THESIS}, with its own code on WatDiv, and {_OWN}",
        _EXACTLY,
        sensitivities.rows,
    ),
    _Part(
        "by-hand",
        "graphs to check by hand, and the one on which the analysis fails",
        _OWN,
        "exactly; our bound between the true sensitivity and the corrected bound",
        small_graphs.rows,
    ),
    _Part(
        "defects",
        "eight defects of the code that followed, each shown",
        "the companion code of Buil-Aranda, Lobo & Olmedo 2024, read; and closed forms",
        _EXACTLY,
        defects.rows,
    ),
    _Part(
        "answers",
        "all query shapes by every way to bound them",
        f"the queries of {_THESIS}, on a graph of our generator",
        _DRAWN,
        answers.rows,
        figures.errors,
        has_graph=True,
    ),
)


def _one(part: _Part, triples: int | None, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(f"Computing {part.name}", 0))
    return part.of(triples)(progress)


def _all(triples: int | None, path: Path | None, progress: Progress) -> Sequence[Row]:
    found: list[Row] = []
    for done, part in enumerate(_PARTS):
        step = Step(f"Computing {part.name}", done, len(_PARTS))
        progress(step)
        # Every step of a part tells how far the study has come, and may end it there.
        found += part.of(triples)(lambda _, step=step: progress(step))  # type: ignore[misc]
    progress(Step("Comparing", len(_PARTS), len(_PARTS)))
    return found


def _sized(part: _Part) -> Callable[[int], StudyRun] | None:
    return (lambda triples: partial(_one, part, triples)) if part.has_graph else None


STUDIES = (
    Study(
        name="sparql",
        title="Private SPARQL: the first analysis of graphs, and our answers",
        source=f"{_THESIS}, and {_OWN}",
        rules=f"{_EXACTLY}; {_DRAWN}",
        work=partial(_all, None),
        figures=figures.errors,
        at_size=lambda triples: partial(_all, triples),
    ),
    *(
        Study(
            name=f"sparql/{part.name}",
            title=f"Private SPARQL: {part.title}",
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
