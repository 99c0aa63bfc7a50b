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

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.report import Block
from celosia.lab.findings import Findings, Row
from celosia.lab.study import Study, no_figures

_MODULE = Message("lab.graphs.a_spanish_university_module_on_data")
_OWN = Message("lab.graphs.numbers_computed_on_its_reconstructed_graphs")
_SOURCE = Message("lab.graphs.and", module=_MODULE, own=_OWN)
_EXACTLY = Message("lab.graphs.numbers_round_to_what_was_stated")
_DRAWN = Message("lab.graphs.drawn_numbers_within_four_standard_errors")

Rows = Callable[[Progress], Iterator[Row]]


def _shapes(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import shapes  # loads compiled kernels

    yield from shapes.rows()


def _changes(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import changes

    yield from changes.rows()


def _degrees(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import degrees

    yield from degrees.rows()


def _uncertainty(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import uncertainty

    yield from uncertainty.rows()


def _grouped(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import supervertices

    yield from supervertices.rows()


def _planted(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import planted_accounts

    yield from planted_accounts.rows(progress)


def _methods(progress: Progress) -> Iterator[Row]:
    from celosia.lab.graphs import methods

    yield from methods.rows(progress)


def _risk_and_use(findings: Findings, progress: Progress) -> Sequence[Block]:
    from celosia.lab.graphs import figures

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
    _Part("shapes", Message("lab.graphs.what_neighbours_tell_figures_5_to"), _EXACTLY, _shapes),
    _Part(
        "perturbation",
        Message("lab.graphs.edges_changed_at_random_and_the"),
        Message("lab.joined.semicolon", first=_EXACTLY, second=_DRAWN),
        _changes,
    ),
    _Part(
        "k-degree", Message("lab.graphs.degrees_that_k_vertices_share_figure"), _EXACTLY, _degrees
    ),
    _Part(
        "uncertain",
        Message("lab.graphs.chances_of_edges_figure_11"),
        Message("lab.joined.semicolon", first=_EXACTLY, second=_DRAWN),
        _uncertainty,
    ),
    _Part(
        "generalisation",
        Message("lab.graphs.super_vertices_figure_12"),
        _EXACTLY,
        _grouped,
    ),
    _Part(
        "planted", Message("lab.graphs.planted_accounts_found_again"), _DRAWN, _planted, source=_OWN
    ),
    _Part(
        "methods",
        Message("lab.graphs.every_method_on_the_networks_that"),
        Message("lab.graphs.what_a_method_promises_or_keeps"),
        _methods,
        source=Message("lab.graphs.the_karate_club_zachary_1977_and"),
        figures=_risk_and_use,
    ),
)


def _one(part: _Part, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(Message("lab.collect.computing", name=part.name), 0))
    return list(part.rows(progress))


def _all(path: Path | None, progress: Progress) -> Sequence[Row]:
    found: list[Row] = []
    for done, part in enumerate(_PARTS):
        step = Step(Message("lab.collect.computing", name=part.name), done, len(_PARTS))
        progress(step)
        # Every step of a part tells how far the study has come, and may end it there.
        found += part.rows(lambda _, step=step: progress(step))  # type: ignore[misc]
    progress(Step(Message("lab.collect.comparing"), len(_PARTS), len(_PARTS)))
    return found


STUDIES = (
    Study(
        name="graphs",
        title=Message("lab.graphs.graphs_the_figures_of_a_textbook"),
        source=Message("lab.graphs.the_karate_club_zachary_1977", source=_SOURCE),
        rules=Message("lab.joined.semicolon", first=_EXACTLY, second=_DRAWN),
        work=_all,
        figures=_risk_and_use,
    ),
    *(
        Study(
            name=f"graphs/{part.name}",
            title=Message("lab.graphs.graphs", title=part.title),
            source=part.source,
            rules=part.rules,
            work=partial(_one, part),
            figures=part.figures,
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
