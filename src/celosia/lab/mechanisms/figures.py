"""The figures of the study: beliefs, Laplace densities, errors of means, rates of selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp

from celosia.accounting import belief_interval
from celosia.core import figures
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading
from celosia.lab.findings import Findings, Row
from celosia.lab.mechanisms import means, top_c

Drawing = Callable[[Findings, Progress], Sequence[Block]]

PRIORS = (0.01, 0.1, 0.5)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
LAWS = ((0, 1), (0, 2), (0, 4), (-5, 4))
"""Centres and scales of the densities that are drawn."""


def every(*drawings: Drawing) -> Drawing:
    """All figures one after the other."""

    def draw(findings: Findings, progress: Progress) -> Sequence[Block]:
        return [block for drawing in drawings for block in drawing(findings, progress)]

    return draw


def beliefs(findings: Findings, progress: Progress) -> Sequence[Block]:
    """How far three beliefs can be moved, by epsilon."""
    progress(Step("Drawing the beliefs", 0))
    series = {}
    for prior in PRIORS:
        found = [belief_interval(prior, epsilon) for epsilon in EPSILONS]
        series[f"from {prior:g}, at most"] = [belief.high for belief in found]
        series[f"from {prior:g}, at least"] = [belief.low for belief in found]
    drawing = figures.lines(
        EPSILONS,
        series,
        title="What one answer can do to a belief",
        x_label="epsilon",
        y_label="belief afterwards",
        percent=True,
        log_x=True,
    )
    words = "Bounds of a belief of 1 %, 10 % and 50 % after one answer, by epsilon."
    return [
        Heading("Beliefs"),
        Figure(
            drawing,
            words,
            f"{words} At epsilon 1 a belief of 50 % ends between 18 % and 82 %; at 10 anything is "
            "possible.",
        ),
    ]


def densities(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Laplace densities, and two of them whose ratio is bounded."""
    progress(Step("Drawing the densities", 0))
    wide = list(range(-15, 13))
    several = figures.lines(
        wide,
        {
            f"centre {centre}, scale {scale}": [_density(x, centre, scale) for x in wide]
            for centre, scale in LAWS
        },
        title="Laplace densities",
        x_label="x",
        y_label="density",
    )
    near = [place / 2 for place in range(-8, 11)]
    with_person = [_density(x, 1, 1) for x in near]
    bounded = figures.lines(
        near,
        {
            "without the person (0)": [_density(x, 0, 1) for x in near],
            "with the person (1)": with_person,
            "the latter times e": [exp(1) * height for height in with_person],
            "the latter over e": [height / exp(1) for height in with_person],
        },
        title="Two neighbours at epsilon 1",
        x_label="released count",
        y_label="density",
        log=True,
    )
    return [
        Heading("Laplace noise"),
        Figure(
            several,
            "Laplace densities of several centres and scales.",
            "Line chart of four Laplace densities: the larger the scale, the flatter.",
        ),
        Figure(
            bounded,
            "Densities of a noisy count with and without one person, at epsilon 1.",
            "Line chart on a logarithmic scale: the density without the person stays between the "
            "other one divided by e and multiplied by e, and touches both.",
        ),
    ]


def errors_of_means(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The error of each private mean on [0, 1], by rows times epsilon."""
    progress(Step("Drawing the errors of the means", 0))
    settings = sorted(
        (setting for setting in means.SETTINGS if (setting.lower, setting.upper) == (0, 1)),
        key=lambda setting: setting.size * setting.epsilon,
    )
    runs = [_computed(findings, setting.name) for setting in settings]
    drawing = figures.lines(
        [setting.size * setting.epsilon for setting in settings],
        {method: [run[method] for run in runs] for method in means.METHODS},
        title="Mean absolute error over the range",
        x_label="rows times epsilon",
        y_label="error",
        log=True,
        log_x=True,
    )
    words = "Errors of the private means on [0, 1], by rows times epsilon; Algorithm 3 breaks its "
    words += "promise."
    return [Heading("Private means"), Figure(drawing, words, f"{words} {_caption(runs[-1])}")]


def rates_of_selection(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The score error rate of each method, by the number of items that are sought."""
    progress(Step("Drawing the rates of selection", 0))
    counts = list(top_c.PUBLISHED)
    runs = [_computed(findings, top_c.run_name(count)) for count in counts]
    drawing = figures.lines(
        counts,
        {method: [run[f"{method}, {top_c.SCORE}"] for run in runs] for method in top_c.METHODS},
        title="What the chosen items lack of the best",
        x_label="c, how many items are sought",
        y_label="score error rate",
        percent=True,
    )
    words = "Score error rates at epsilon 0.1 on 10,000 Zipf counts: where all counts are known "
    words += "beforehand, the exponential mechanism chooses best."
    return [Heading("The best few"), Figure(drawing, words, f"{words} {_caption(runs[-1])}")]


def _density(x: float, centre: float, scale: float) -> float:
    return exp(-abs(x - centre) / scale) / (2 * scale)


def _computed(findings: Findings, run: str) -> dict[str, float]:
    rows: Sequence[Row] = findings.by_run()[run]
    return {row.cell: float(row.computed) for row in rows}


def _caption(values: dict[str, float]) -> str:
    return "Rightmost: " + ", ".join(f"{name} {value:.3g}" for name, value in values.items()) + "."
