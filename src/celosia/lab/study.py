"""A study: what was published, and how to compute it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from celosia.core.errors import InputError
from celosia.core.messages import Language, Message, current, speaking
from celosia.core.progress import Progress, Step, silent
from celosia.core.report import Block
from celosia.lab.findings import Findings, Row


class StudyRun(Protocol):
    """Computes the cells of a study again."""

    def __call__(self, path: Path | None, progress: Progress) -> Sequence[Row]:
        """The cells; `path` is where the original data lies, if it is not installed."""


Drawing = Callable[[Findings, Progress], Sequence[Block]]
"""Draws what a report shows before the cells."""


def no_figures(findings: Findings, progress: Progress) -> Sequence[Block]:
    """For a study whose table says all."""
    return ()


def _in_language(spoken: Language, progress: Progress) -> Progress:
    """A progress that speaks a language, whatever that of the work is."""

    def shown(step: Step) -> None:
        with speaking(spoken):
            progress(step)

    return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Published results by name, with the work that computes them again.

    >>> def sums(path, progress):
    ...     return [Row("1+1", "sum", 2, 1 + 1)]
    >>> study = Study(name="sums", title="Sums", source="school", rules="Exactly.", work=sums)
    >>> print(study.run())
    1 of 1 cells match
    """

    name: str
    """What one types; `tables/k-anonymity` is a part of `tables`."""
    title: str
    source: str
    """Where the results were published, and on which data."""
    rules: str
    """How near a cell must come to count as the same."""
    work: StudyRun
    figures: Drawing = no_figures
    """What the report shows before the cells."""
    at_size: Callable[[int], StudyRun] | None = None
    """The work on a graph of so many facts, for a study that makes its own."""

    def run(
        self,
        *,
        path: str | Path | None = None,
        triples: int | None = None,
        progress: Progress = silent,
    ) -> Findings:
        """Compute every published cell again.

        Args:
            path: the file with the original data, if it is not installed.
            triples: how many facts a graph is made with, for a study that makes one.
            progress: called before each run of the study; may raise `Cancelled`.

        Raises:
            InputError: the original data cannot be found or is other data; the message says how to
                get it; CEL-L003 a study that makes no graph, CEL-D023 a number out of reach.
        """
        source = None if path is None else Path(path)
        shown = _in_language(current(), progress)
        with speaking("en"):  # rows are found by their names, which do not depend on a language
            return Findings(self.name, tuple(self._sized(triples)(source, shown)))

    def _sized(self, triples: int | None) -> StudyRun:
        if triples is None:
            return self.work
        if self.at_size is None:
            raise InputError("CEL-L003", study=self.name)
        return self.at_size(triples)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "rules": self.rules,
        }

    def __str__(self) -> str:
        return f"{self.name}: {self.title}"


def declared(
    name: str,
    work: StudyRun,
    *,
    figures: Drawing = no_figures,
    at_size: Callable[[int], StudyRun] | None = None,
    **fields: object,
) -> Study:
    """A study whose title, source and rules are in the catalogue, below `lab.studies` by its name.

    Args:
        name: of the study.
        work: computes its cells.
        figures: draws what its report shows first.
        at_size: the work on a graph of so many facts.
        fields: of the templates.
    """
    key = f"lab.studies.{name.replace('/', '.')}"
    return Study(
        name=name,
        title=Message(f"{key}.title", **fields),
        source=Message(f"{key}.source", **fields),
        rules=Message(f"{key}.rules", **fields),
        work=work,
        figures=figures,
        at_size=at_size,
    )


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a family of studies: modules with published cells, and how to compute them.

    A module has `rows(progress)`, which gives the cells; it is loaded when the part is run, for
    some load compiled kernels.
    """

    name: str
    modules: tuple[str, ...] = ()
    """Names in the package of the family; the one called as the part where there are none."""
    figures: Drawing = no_figures
    needs_data: bool = False
    """Whether it works on tables that the reader must have: `rows(progress, path=...)`."""
    has_graph: bool = False
    """Whether it makes a graph, of a size to choose: `rows(progress, triples=...)`."""

    def rows(
        self, family: str, path: Path | None, triples: int | None, progress: Progress
    ) -> list[Row]:
        """The cells, computed again."""
        found: list[Row] = []
        for name in self.modules or (self.name,):
            module = import_module(f"celosia.lab.{family}.{name}")
            compute: Callable[..., Iterable[Row]] = module.rows
            if self.needs_data:
                found += compute(progress, path=path)
            elif self.has_graph and triples is not None:
                found += compute(progress, triples=triples)
            else:
                found += compute(progress)
        return found


def family(name: str, *parts: Part, **fields: object) -> tuple[Study, ...]:
    """The study of all parts, and one for each of them.

    Args:
        name: of the whole, and of the package with the modules of its parts.
        parts: in the order in which they are run and drawn.
        fields: of the templates of titles, sources and rules.
    """

    def study(whole: str, some: Sequence[Part]) -> Study:
        def draw(findings: Findings, progress: Progress) -> Sequence[Block]:
            return [block for part in some for block in part.figures(findings, progress)]

        def at_size(triples: int | None) -> StudyRun:
            return partial(_compute, name, some, triples)

        return declared(
            whole,
            at_size(None),
            figures=draw,
            at_size=at_size if any(part.has_graph for part in some) else None,
            **fields,
        )

    return study(name, parts), *(study(f"{name}/{part.name}", (part,)) for part in parts)


def _compute(
    family: str, parts: Sequence[Part], triples: int | None, path: Path | None, progress: Progress
) -> list[Row]:
    """The cells of all parts; those that need data only where it is given, or alone."""
    if len(parts) == 1:
        progress(Step(Message("lab.study.computing", name=parts[0].name), 0))
        return parts[0].rows(family, path, triples, progress)
    able = [part for part in parts if path is not None or not part.needs_data]
    found: list[Row] = []
    for done, part in enumerate(able):
        step = Step(Message("lab.study.computing", name=part.name), done, len(able))
        progress(step)
        # Every step of a part tells how far the study has come, and may end it there.
        found += part.rows(family, path, triples, partial(_tell, step, progress))
    progress(Step(Message("lab.study.comparing"), len(able), len(able)))
    return found


def _tell(step: Step, progress: Progress, _inner: Step) -> None:
    progress(step)
