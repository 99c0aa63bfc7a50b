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

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.lab.collect import count_mean, dbitflip, hadamard, puzzle, rappor
from celosia.lab.findings import Row
from celosia.lab.study import Study

_THESIS = Message("lab.collect.a_bachelors_thesis_of_the_universidad")
_RULES = Message("lab.collect.columns_that_follow_from_others_theory")


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    title: str
    tables: str
    rows: Callable[[Progress], list[Row]]


_PARTS = (
    _Part(
        "cms",
        Message("lab.collect.the_count_mean_sketch"),
        Message("lab.collect.tables_5_1_5_2_5"),
        count_mean.rows,
    ),
    _Part(
        "hcms",
        Message("lab.collect.the_hadamard_count_mean_sketch_and"),
        Message("lab.collect.tables_5_3_5_4_5"),
        hadamard.rows,
    ),
    _Part(
        "sfp",
        Message("lab.collect.words_that_nobody_listed"),
        Message("lab.collect.tables_5_9_to_5_11"),
        puzzle.rows,
    ),
    _Part(
        "rappor",
        Message("lab.collect.rappor_and_its_epsilons"),
        Message("lab.collect.tables_5_12_to_5_15"),
        rappor.rows,
    ),
    _Part("dbitflip", "dBitFlip", Message("lab.collect.tables_5_16_to_5_18"), dbitflip.rows),
)


def _one(part: _Part, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(Message("lab.collect.computing", name=part.name), 0))
    return part.rows(progress)


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
        name="collect",
        title=Message("lab.collect.local_privacy_over_sketches_five_protocols"),
        source=_THESIS,
        rules=_RULES,
        work=_all,
    ),
    *(
        Study(
            name=f"collect/{part.name}",
            title=Message("lab.collect.local_privacy", title=part.title),
            source=Message("lab.joined.comma", first=_THESIS, second=part.tables),
            rules=_RULES,
            work=partial(_one, part),
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
