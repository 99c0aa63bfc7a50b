"""A study: what was published, and how to compute it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from celosia.core.errors import InputError
from celosia.core.messages import Language, current, speaking
from celosia.core.progress import Progress, Step, silent
from celosia.core.report import Block
from celosia.lab.findings import Findings, Row


class StudyRun(Protocol):
    """Computes the cells of a study again."""

    def __call__(self, path: Path | None, progress: Progress) -> Sequence[Row]:
        """The cells; `path` is where the original data lies, if it is not installed."""


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
    ...     return [Row("1+1", "sum", 2, 1 + 1, True)]
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
    figures: Callable[[Findings, Progress], Sequence[Block]] = no_figures
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
        """Plain values for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "rules": self.rules,
        }

    def __str__(self) -> str:
        return f"{self.name}: {self.title}"
