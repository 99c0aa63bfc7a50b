"""The study `graphs`: the figures of a textbook on graph anonymity, on reconstructed graphs.

The figures stand in a Spanish university module on data privacy. Its text gives degrees, edits and
sizes; the graphs were made anew so that every stated fact holds, and further numbers were computed
on them by independent programs. Where the text is wrong, the cell says so by the number of its
erratum. `graphs/methods` runs every method on the networks that come with the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from celosia.core.progress import Progress, Step
from celosia.core.report import Block
from celosia.lab.findings import Findings, Row
from celosia.lab.study import Study, no_figures

_MODULE = "a Spanish university module on data privacy (Casas Roma, PID_00247391)"
_OWN = "numbers computed on its reconstructed graphs by independent programs"
_SOURCE = f"{_MODULE}, and {_OWN}"
_EXACTLY = "numbers round to what was stated; classes, degrees and whole numbers exactly"
_DRAWN = "drawn numbers within four standard errors"

Rows = Callable[[Progress], Iterator[Row]]


def _shapes(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import shapes  # noqa: PLC0415 - loads compiled kernels

    yield from shapes.rows()


def _changes(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import changes  # noqa: PLC0415

    yield from changes.rows()


def _degrees(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import degrees  # noqa: PLC0415

    yield from degrees.rows()


def _uncertainty(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import uncertainty  # noqa: PLC0415

    yield from uncertainty.rows()


def _grouped(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import supervertices  # noqa: PLC0415

    yield from supervertices.rows()


def _planted(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import planted_accounts  # noqa: PLC0415

    yield from planted_accounts.rows(progress)


def _methods(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import methods  # noqa: PLC0415

    yield from methods.rows(progress)


def _risk_and_use(findings: Findings, progress: Progress) -> Sequence[Block]:
    from celosia.lab.graphs import figures  # noqa: PLC0415

    return figures.risk_and_use(findings, progress)


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    title: str
    rules: str
    rows: Rows
    source: str = _SOURCE
    figures: Callable[[Findings, Progress], Sequence[Block]] = no_figures


_PARTS = (
    _Part("shapes", "what neighbours tell (figures 5 to 10)", _EXACTLY, _shapes),
    _Part(
        "perturbation",
        "edges changed at random, and the spectrum (figure 9)",
        f"{_EXACTLY}; {_DRAWN}",
        _changes,
    ),
    _Part("k-degree", "degrees that k vertices share (figure 10)", _EXACTLY, _degrees),
    _Part("uncertain", "chances of edges (figure 11)", f"{_EXACTLY}; {_DRAWN}", _uncertainty),
    _Part("generalisation", "super-vertices (figure 12)", _EXACTLY, _grouped),
    _Part("planted", "planted accounts, found again", _DRAWN, _planted, source=_OWN),
    _Part(
        "methods",
        "every method on the networks that come with the program",
        "what a method promises or keeps, checked apart",
        _methods,
        source="the karate club (Zachary 1977), and graphs of the figures",
        figures=_risk_and_use,
    ),
)


def _one(part: _Part, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(f"Computing {part.name}", 0))
    return list(part.rows(progress))


def _all(path: Path | None, progress: Progress) -> Sequence[Row]:
    found: list[Row] = []
    for done, part in enumerate(_PARTS):
        step = Step(f"Computing {part.name}", done, len(_PARTS))
        progress(step)
        # Every step of a part tells how far the study has come, and may end it there.
        found += part.rows(lambda _, step=step: progress(step))  # type: ignore[misc]
    progress(Step("Comparing", len(_PARTS), len(_PARTS)))
    return found


STUDIES = (
    Study(
        name="graphs",
        title="Graphs: the figures of a textbook, and every method on small networks",
        source=f"{_SOURCE}; the karate club (Zachary 1977)",
        rules=f"{_EXACTLY}; {_DRAWN}",
        work=_all,
        figures=_risk_and_use,
    ),
    *(
        Study(
            name=f"graphs/{part.name}",
            title=f"Graphs: {part.title}",
            source=part.source,
            rules=part.rules,
            work=partial(_one, part),
            figures=part.figures,
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
