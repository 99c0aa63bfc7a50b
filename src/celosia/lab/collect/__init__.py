"""The study `collect`: local privacy over sketches as it was published, theory, and our own runs.

The tables stand in a bachelor's thesis of the Universidad de Cádiz (2024), which ran five protocols
once each, without seeds. What it printed is compared with what its protocols must give, by the law
of a single run; cells that are wrong there are named as wrong, with the fault that explains them
(C-13 and the like, as `broken` and the explanation of local privacy tell).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from celosia.core.progress import Progress, Step
from celosia.lab.collect import count_mean, dbitflip, hadamard, puzzle, rappor
from celosia.lab.findings import Row
from celosia.lab.study import Study

_THESIS = "a bachelor's thesis of the Universidad de Cádiz (Spain, 2024) and its recorded results"
_RULES = (
    "columns that follow from others, theory and epsilons to the last printed digit; a published "
    "run and runs of ours within four standard deviations of theory, as the number of values and "
    "of runs tell them; a cell that is named as wrong must be wrong as it is said. Times were of "
    "another machine, and are not compared"
)


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    title: str
    tables: str
    rows: Callable[[Progress], list[Row]]


_PARTS = (
    _Part("cms", "the Count Mean Sketch", "Tables 5.1, 5.2, 5.5, 5.7, Figure 5.5", count_mean.rows),
    _Part(
        "hcms",
        "the Hadamard Count Mean Sketch, and the fault in its tables",
        "Tables 5.3, 5.4, 5.6, 5.8, Figure 5.5",
        hadamard.rows,
    ),
    _Part("sfp", "words that nobody listed", "Tables 5.9 to 5.11", puzzle.rows),
    _Part("rappor", "RAPPOR and its epsilons", "Tables 5.12 to 5.15", rappor.rows),
    _Part("dbitflip", "dBitFlip", "Tables 5.16 to 5.18", dbitflip.rows),
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


STUDIES = (
    Study(
        name="collect",
        title="Local privacy over sketches: five protocols as published, and as they should be",
        source=_THESIS,
        rules=_RULES,
        work=_all,
    ),
    *(
        Study(
            name=f"collect/{part.name}",
            title=f"Local privacy: {part.title}",
            source=f"{_THESIS}, {part.tables}",
            rules=_RULES,
            work=partial(_one, part),
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
