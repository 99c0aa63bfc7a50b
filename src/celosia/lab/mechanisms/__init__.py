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

from celosia.core.messages import Message
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

_THESIS = Message("lab.mechanisms.a_bachelor_thesis_of_the_universidad")
_OWN = Message("lab.mechanisms.numbers_computed_for_this_study_by")
_EXACTLY = Message("lab.mechanisms.numbers_round_to_what_was_printed")
_DRAWN = Message("lab.mechanisms.within_half_of_the_last_printed", sigmas=SIGMAS)


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
        Message("lab.mechanisms.what_an_epsilon_does_to_a"),
        Message("lab.mechanisms.figure_1_1", thesis=_THESIS),
        _EXACTLY,
        belief.rows,
        figures.beliefs,
    ),
    _Part(
        "composition",
        Message("lab.mechanisms.composition_randomised_response_and_the_laplace"),
        Message("lab.mechanisms.chapters_1_and_2_corrected_in", thesis=_THESIS, own=_OWN),
        _EXACTLY,
        composition.rows,
        figures.densities,
    ),
    _Part(
        "selection",
        Message("lab.mechanisms.choosing_by_the_exponential_mechanism_permute"),
        Message("lab.mechanisms.chapters_2_3_and_5_corrected", thesis=_THESIS, own=_OWN),
        _EXACTLY,
        selection.rows,
    ),
    _Part(
        "sparse",
        Message("lab.mechanisms.the_sparse_vector_and_six_variants"),
        Message("lab.mechanisms.chapter_5_after_lyu_su_li", thesis=_THESIS, own=_OWN),
        Message("lab.mechanisms.losses_by_exact_integration", exactly=_EXACTLY),
        sparse.rows,
    ),
    _Part(
        "averages",
        Message("lab.mechanisms.the_errors_of_private_means"),
        Message("lab.mechanisms.on_beta_2_5_samples_whose", own=_OWN, thesis=_THESIS),
        Message("lab.mechanisms.errors", drawn=_DRAWN, exactly=_EXACTLY),
        means.rows,
        figures.errors_of_means,
    ),
    _Part(
        "top-c",
        Message("lab.mechanisms.the_sparse_vector_against_the_exponential"),
        Message("lab.mechanisms.in_the_form_of_the_experiment", own=_OWN),
        Message("lab.mechanisms.rates", drawn=_DRAWN),
        top_c.rows,
        figures.rates_of_selection,
    ),
    _Part(
        "attacks",
        Message("lab.mechanisms.a_differencing_attack_and_an_attack"),
        Message("lab.mechanisms.the_attack_on_floats_after_mironov", own=_OWN),
        Message("lab.mechanisms.closed_forms_round_to_what_was", drawn=_DRAWN),
        attacks.rows,
    ),
)


def _one(part: _Part, path: Path | None, progress: Progress) -> Sequence[Row]:
    progress(Step(Message("lab.collect.computing", name=part.name), 0))
    return part.rows(progress)


def _all(path: Path | None, progress: Progress) -> Sequence[Row]:
    found: list[Row] = []
    for done, part in enumerate(_PARTS):
        step = Step(Message("lab.collect.computing", name=part.name), done, len(_PARTS))
        progress(step)
        found += part.rows(partial(_within, step, progress))
    progress(Step(Message("lab.collect.comparing"), len(_PARTS), len(_PARTS)))
    return found


def _within(part: Step, progress: Progress, _: Step) -> None:
    """Tell how far the study has come at every step of a part, which may end it there."""
    progress(part)


STUDIES = (
    Study(
        name="mechanisms",
        title=Message("lab.mechanisms.mechanisms_of_central_differential_privacy_their"),
        source=Message("lab.mechanisms.and", thesis=_THESIS, own=_OWN),
        rules=Message("lab.mechanisms.simulated_numbers", exactly=_EXACTLY, drawn=_DRAWN),
        work=_all,
        figures=figures.every(*(part.figures for part in _PARTS)),
    ),
    *(
        Study(
            name=f"mechanisms/{part.name}",
            title=Message("lab.mechanisms.mechanisms", title=part.title),
            source=part.source,
            rules=part.rules,
            work=partial(_one, part),
            figures=part.figures,
        )
        for part in _PARTS
    ),
)
"""The whole and its parts."""
