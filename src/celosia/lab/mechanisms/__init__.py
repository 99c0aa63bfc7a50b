"""The study `mechanisms`: the numbers of central differential privacy, and what breaks it.

The belief table, the worked examples and the variants of the sparse vector stand in a bachelor
thesis of the Universidad de Sevilla (2018), which follows Dwork & Roth 2014, Li, Lyu, Su & Yang
2016 and Lyu, Su & Li 2017 and measures nothing itself. The numbers that it lacks (errors, chances,
losses of counterexamples) were computed for this study by programs of its own. Where a printed
number is wrong, the row compares with the corrected one and says so. `broken` has the mechanisms
that do not keep what they claim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from celosia.core.progress import Progress, Step
from celosia.lab.findings import Row
from celosia.lab.mechanisms import (
    attacks,
    belief,
    composition,
    figures,
    means,
    selection,
    sparse,
    top_c,
)
from celosia.lab.mechanisms.cells import SIGMAS
from celosia.lab.study import Study, no_figures

_THESIS = "a bachelor thesis of the Universidad de Sevilla (2018)"
_OWN = "numbers computed for this study by independent programs"
_EXACTLY = "numbers round to what was printed; whole numbers and words exactly"
_DRAWN = f"within half of the last printed digit and {SIGMAS:g} standard errors of both numbers"


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    title: str
    source: str
    rules: str
    rows: Callable[[Progress], list[Row]]
    figures: figures.Drawing = no_figures


_PARTS = (
    _Part(
        "belief",
        "what an epsilon does to a belief",
        f"{_THESIS}, Figure 1.1",
        _EXACTLY,
        belief.rows,
        figures.beliefs,
    ),
    _Part(
        "composition",
        "composition, randomised response and the Laplace mechanism",
        f"{_THESIS}, chapters 1 and 2, corrected in two places, and {_OWN}",
        _EXACTLY,
        composition.rows,
        figures.densities,
    ),
    _Part(
        "selection",
        "choosing by the exponential mechanism, permute-and-flip and noisy max",
        f"{_THESIS}, chapters 2, 3 and 5, corrected in two places, and {_OWN}",
        _EXACTLY,
        selection.rows,
    ),
    _Part(
        "sparse",
        "the sparse vector and six variants of it",
        f"{_THESIS}, chapter 5, after Lyu, Su & Li 2017, and {_OWN}",
        f"{_EXACTLY}; losses by exact integration",
        sparse.rows,
    ),
    _Part(
        "averages",
        "the errors of private means",
        f"{_OWN}, on Beta(2, 5) samples whose means are inferred from one column; ranking in "
        f"{_THESIS}, chapter 4",
        f"errors {_DRAWN}; {_EXACTLY}",
        means.rows,
        figures.errors_of_means,
    ),
    _Part(
        "top-c",
        "the sparse vector against the exponential mechanism on Zipf counts",
        f"{_OWN}, in the form of the experiment of Lyu, Su & Li 2017",
        f"rates {_DRAWN}",
        top_c.rows,
        figures.rates_of_selection,
    ),
    _Part(
        "attacks",
        "a differencing attack, and an attack on floats",
        f"{_OWN}; the attack on floats after Mironov 2012",
        f"closed forms round to what was printed; simulated shares {_DRAWN}",
        attacks.rows,
    ),
)


def _one(part: _Part, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(f"Computing {part.name}", 0))
    return part.rows(progress)


def _all(path: Path | None, progress: Progress) -> Sequence[Row]:
    found: list[Row] = []
    for done, part in enumerate(_PARTS):
        step = Step(f"Computing {part.name}", done, len(_PARTS))
        progress(step)
        found += part.rows(partial(_within, step, progress))
    progress(Step("Comparing", len(_PARTS), len(_PARTS)))
    return found


def _within(part: Step, progress: Progress, _: Step) -> None:
    """Tell how far the study has come at every step of a part, which may end it there."""
    progress(part)


STUDIES = (
    Study(
        name="mechanisms",
        title="Mechanisms of central differential privacy, their costs and errors",
        source=f"{_THESIS}, and {_OWN}",
        rules=f"{_EXACTLY}; simulated numbers {_DRAWN}",
        work=_all,
        figures=figures.every(*(part.figures for part in _PARTS)),
    ),
    *(
        Study(
            name=f"mechanisms/{part.name}",
            title=f"Mechanisms: {part.title}",
            source=part.source,
            rules=part.rules,
            work=partial(_one, part),
            figures=part.figures,
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
