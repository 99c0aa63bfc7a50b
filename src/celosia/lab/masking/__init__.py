"""The study `masking`: tables masked by hand in print, and the reference tables of the field.

The small tables stand in a Spanish university module on data privacy (T1 to T10), in a bachelor's
thesis of the Universidad de Cádiz (2024), and in the manual of mu-Argus. Where a print is wrong,
the cell says so by the number of its erratum, and matches when it is wrong in just that way. The
reference tables are not part of Celosía: `masking/reference` needs the folder that they lie in.
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
from celosia.lab.masking import figures, medical, reference, small_tables, thesis
from celosia.lab.study import Study, no_figures

_MODULE = Message("lab.graphs.a_spanish_university_module_on_data")
_THESIS = Message("lab.masking.a_bachelors_thesis_of_the_universidad")
_SURVEY = Message("lab.masking.the_example_of_individual_risk_in")
_CASC = Message("lab.masking.domingo_ferrer_torra_2005_and_later")
_RULES = Message("lab.masking.numbers_round_to_what_was_printed")
_LOSSES = Message("lab.masking.losses_of_mdav_within_0_01")

Rows = Callable[[Path | None, Progress], Iterator[Row]]


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    title: str
    source: str
    rules: str
    rows: Rows
    figures: Callable[[Findings, Progress], Sequence[Block]] = no_figures
    needs_data: bool = False
    """Whether it works on tables that the reader must have."""


def _tables(path: Path | None, progress: Progress) -> Iterator[Row]:
    yield from medical.rows()
    yield from small_tables.rows()


def _telemetry(path: Path | None, progress: Progress) -> Iterator[Row]:
    yield from thesis.rows()


_PARTS = (
    _Part(
        "tables",
        Message("lab.masking.ten_patients_and_other_small_tables"),
        Message("lab.masking.and", module=_MODULE, survey=_SURVEY),
        _RULES,
        _tables,
        figures.risk_map,
    ),
    _Part(
        "telemetry",
        Message("lab.masking.the_examples_of_a_thesis_and"),
        _THESIS,
        _RULES,
        _telemetry,
    ),
    _Part(
        "reference",
        Message("lab.masking.information_loss_of_microaggregation_on_census"),
        _CASC,
        _LOSSES,
        reference.rows,
        needs_data=True,
    ),
)


def _one(part: _Part, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(Message("lab.collect.computing", name=part.name), 0))
    return list(part.rows(path, progress))


def _all(path: Path | None, progress: Progress) -> Sequence[Row]:
    """Every part; that of the reference tables only where their folder is given."""
    parts = [part for part in _PARTS if path is not None or not part.needs_data]
    found: list[Row] = []
    for done, part in enumerate(parts):
        step = Step(Message("lab.collect.computing", name=part.name), done, len(parts))
        progress(step)
        # Every step of a part tells how far the study has come, and may end it there.
        found += part.rows(path, lambda _, step=step: progress(step))  # type: ignore[misc]
    progress(Step(Message("lab.collect.comparing"), len(parts), len(parts)))
    return found


STUDIES = (
    Study(
        name="masking",
        title=Message("lab.masking.masking_tables_masked_by_hand_and"),
        source=Message(
            "lab.masking.with_path_folder_also",
            module=_MODULE,
            thesis=_THESIS,
            survey=_SURVEY,
            casc=_CASC,
        ),
        rules=Message("lab.joined.semicolon", first=_RULES, second=_LOSSES),
        work=_all,
        figures=figures.risk_map,
    ),
    *(
        Study(
            name=f"masking/{part.name}",
            title=Message("lab.masking.masking", title=part.title),
            source=part.source,
            rules=part.rules,
            work=partial(_one, part),
            figures=part.figures,
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
