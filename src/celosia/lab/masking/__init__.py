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

from celosia.core.progress import Progress, Step
from celosia.core.report import Block
from celosia.lab.findings import Findings, Row
from celosia.lab.masking import figures, medical, reference, small_tables, thesis
from celosia.lab.study import Study, no_figures

_MODULE = "a Spanish university module on data privacy (Casas Roma, PID_00247391)"
_THESIS = "a bachelor's thesis of the Universidad de Cádiz (Spain, 2024)"
_SURVEY = "the example of individual risk in mu-Argus and sdcMicro (francdat)"
_CASC = "Domingo-Ferrer & Torra 2005 and later work, on the tables of the European CASC project"
_RULES = (
    "numbers round to what was printed; labels, groups and whole numbers exactly; a cell that is "
    "named as wrong must be wrong as it is said"
)
_LOSSES = "losses of MDAV within 0.01; refined ones 5 % below the published ones at k = 3 and 5"

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
        "ten patients and other small tables, masked step by step",
        f"{_MODULE}, and {_SURVEY}",
        _RULES,
        _tables,
        figures.risk_map,
    ),
    _Part("telemetry", "the examples of a thesis, and its slips", _THESIS, _RULES, _telemetry),
    _Part(
        "reference",
        "information loss of microaggregation on Census and Tarragona",
        _CASC,
        _LOSSES,
        reference.rows,
        needs_data=True,
    ),
)


def _one(part: _Part, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(f"Computing {part.name}", 0))
    return list(part.rows(path, progress))


def _all(path: Path | None, progress: Progress) -> Sequence[Row]:
    """Every part; that of the reference tables only where their folder is given."""
    parts = [part for part in _PARTS if path is not None or not part.needs_data]
    found: list[Row] = []
    for done, part in enumerate(parts):
        step = Step(f"Computing {part.name}", done, len(parts))
        progress(step)
        # Every step of a part tells how far the study has come, and may end it there.
        found += part.rows(path, lambda _, step=step: progress(step))  # type: ignore[misc]
    progress(Step("Comparing", len(parts), len(parts)))
    return found


STUDIES = (
    Study(
        name="masking",
        title="Masking: tables masked by hand, and the reference tables",
        source=f"{_MODULE}, {_THESIS}, {_SURVEY}; with --path FOLDER also {_CASC}",
        rules=f"{_RULES}; {_LOSSES}",
        work=_all,
        figures=figures.risk_map,
    ),
    *(
        Study(
            name=f"masking/{part.name}",
            title=f"Masking: {part.title}",
            source=part.source,
            rules=part.rules,
            work=partial(_one, part),
            figures=part.figures,
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
