"""The figures of the study: beliefs, Laplace densities, errors of means, rates of selection."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from celosia.accounting import belief_interval
from celosia.core import figures
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading
from celosia.lab.findings import Findings, Row
from celosia.lab.mechanisms import means, top_c

PRIORS = (0.01, 0.1, 0.5)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
LAWS = ((0, 1), (0, 2), (0, 4), (-5, 4))
"""Centres and scales of the densities that are drawn."""


def beliefs(findings: Findings, progress: Progress) -> Sequence[Block]:
    """How far three beliefs can be moved, by epsilon."""
    progress(Step(Message("lab.mechanisms.drawing_the_beliefs"), 0))
    series: dict[str, list[float]] = {}
    for prior in PRIORS:
        found = [belief_interval(prior, epsilon) for epsilon in EPSILONS]
        series[say("lab.mechanisms.from_at_most", prior=prior)] = [belief.high for belief in found]
        series[say("lab.mechanisms.from_at_least", prior=prior)] = [belief.low for belief in found]
    drawing = figures.lines(
        EPSILONS,
        series,
        title=say("lab.mechanisms.what_one_answer_can_do_to"),
        x_label=say("lab.axis.epsilon"),
        y_label=say("lab.mechanisms.belief_afterwards"),
        percent=True,
        log_x=True,
    )
    words = say("lab.mechanisms.bounds_of_a_belief_of_1")
    return [
        Heading(say("lab.axis.beliefs")),
        Figure(
            drawing,
            words,
            say("lab.mechanisms.at_epsilon_1_a_belief_of", words=words),
        ),
    ]


def densities(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Laplace densities, and two of them whose ratio is bounded."""
    progress(Step(Message("lab.mechanisms.drawing_the_densities"), 0))
    wide = list(range(-15, 13))
    several = figures.lines(
        wide,
        {
            say("lab.mechanisms.centre_scale", centre=centre, scale=scale): [
                _density(x, centre, scale) for x in wide
            ]
            for centre, scale in LAWS
        },
        title=say("lab.mechanisms.laplace_densities"),
        x_label="x",
        y_label=say("lab.axis.density"),
    )
    near = [place / 2 for place in range(-8, 11)]
    with_person = [_density(x, 1, 1) for x in near]
    bounded = figures.lines(
        near,
        {
            say("lab.mechanisms.without_the_person_0"): [_density(x, 0, 1) for x in near],
            say("lab.mechanisms.with_the_person_1"): with_person,
            say("lab.mechanisms.the_latter_times_e"): [exp(1) * height for height in with_person],
            say("lab.mechanisms.the_latter_over_e"): [height / exp(1) for height in with_person],
        },
        title=say("lab.mechanisms.two_neighbours_at_epsilon_1"),
        x_label=say("lab.mechanisms.released_count"),
        y_label=say("lab.axis.density"),
        log=True,
    )
    return [
        Heading(say("lab.mechanisms.laplace_noise")),
        Figure(
            several,
            say("lab.mechanisms.laplace_densities_of_several_centres_and"),
            say("lab.mechanisms.line_chart_of_four_laplace_densities"),
        ),
        Figure(
            bounded,
            say("lab.mechanisms.densities_of_a_noisy_count_with"),
            say("lab.mechanisms.line_chart_on_a_logarithmic_scale"),
        ),
    ]


def errors_of_means(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The error of each private mean on [0, 1], by rows times epsilon."""
    progress(Step(Message("lab.mechanisms.drawing_the_errors_of_the_means"), 0))
    settings = sorted(
        (setting for setting in means.SETTINGS if (setting.lower, setting.upper) == (0, 1)),
        key=lambda setting: setting.size * setting.epsilon,
    )
    runs = [_computed(findings, setting.name) for setting in settings]
    drawing = figures.lines(
        [setting.size * setting.epsilon for setting in settings],
        {str(method): [run[method] for run in runs] for method in means.METHODS},
        title=say("lab.mechanisms.mean_absolute_error_over_the_range"),
        x_label=say("lab.mechanisms.rows_times_epsilon"),
        y_label=say("lab.axis.error"),
        log=True,
        log_x=True,
    )
    words = say("lab.mechanisms.errors_of_means")
    return [
        Heading(say("lab.mechanisms.private_means")),
        Figure(drawing, words, f"{words} {_caption(runs[-1])}"),
    ]


def rates_of_selection(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The score error rate of each method, by the number of items that are sought."""
    progress(Step(Message("lab.mechanisms.drawing_the_rates_of_selection"), 0))
    counts = list(top_c.PUBLISHED)
    runs = [_computed(findings, top_c.run_name(count)) for count in counts]
    drawing = figures.lines(
        counts,
        {
            str(method): [
                run[Message("lab.joined.comma", first=method, second=top_c.SCORE)] for run in runs
            ]
            for method in top_c.METHODS
        },
        title=say("lab.mechanisms.what_the_chosen_items_lack_of"),
        x_label=say("lab.mechanisms.c_how_many_items_are_sought"),
        y_label=say("lab.mechanisms.score_error_rate"),
        percent=True,
    )
    words = say("lab.mechanisms.error_rates")
    return [
        Heading(say("lab.mechanisms.the_best_few")),
        Figure(drawing, words, f"{words} {_caption(runs[-1])}"),
    ]


def _density(x: float, centre: float, scale: float) -> float:
    return exp(-abs(x - centre) / scale) / (2 * scale)


def _computed(findings: Findings, run: str) -> dict[str, float]:
    rows: Sequence[Row] = findings.by_run()[run]
    return {row.cell: row.number for row in rows}


def _caption(values: dict[str, float]) -> str:
    listed = [f"{name} {value:.3g}" for name, value in values.items()]
    return say("lab.mechanisms.rightmost", values=listed)
