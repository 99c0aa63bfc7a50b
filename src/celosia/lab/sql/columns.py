"""The twelve columns of the thesis in distribution: are they Laplace noise of the scales found?

Ten draws of Laplace noise of scale b are on average |x| = b Gamma(10, 1) / 10 from the truth: below
0.3 b with a chance of 0.001 and above 2.5 b with one of 0.0002. All twelve columns together are 120
draws of one law once each is divided by its scale. If it is the law, the distance of their
distribution from it exceeds sqrt(ln(2 / a) / 240) with a chance of at most a (Dvoretzky, Kiefer &
Wolfowitz 1956 with the constant of Massart 1990), and their mean size is 1 +- 1 / sqrt(120).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, erfc, log, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded, Source
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import SIGMAS, compare_printed
from celosia.lab.sql.flex import thesis_sensitivity
from celosia.lab.sql.publication import BOUNDS, DEVIATIONS, TRUTH, Setting, column
from celosia.lab.sql.sensitivities import run_name
from celosia.lab.tolerance import Tolerance, at_most
from celosia.queries.bounds.noise import wide_laplace

Floats = NDArray[np.float64]

LEAST, MOST = 0.3, 2.5
"""What the mean distance of ten draws may be, in units of the scale."""
CHANCE = erfc(SIGMAS / sqrt(2))
"""Of a right law being found wrong: that of a normal variable beyond so many deviations."""
DRAWS = 1000
"""Of ours in each setting."""


def rows(progress: Progress) -> list[Row]:
    """Each column against the scale found for it, and all of them against the law."""
    scales = {setting: scale_of(*setting) for setting in BOUNDS}
    found: list[Row] = []
    drawn = []
    for done, (setting, scale) in enumerate(scales.items()):
        progress(Step(Message("lab.sql.drawing_noise"), done, len(scales)))
        ours = draws(scale, DRAWS, Seeded(600 + done))
        drawn.append(ours / scale)
        found += _one(setting, scale, ours)
    return [*found, *together(scales), *_against(scales, np.concatenate(drawn))]


def scale_of(epsilon: float, joins: int) -> float:
    """The scale of the noise of a setting, as published."""
    return 2 * thesis_sensitivity(joins, epsilon=epsilon)[0] / epsilon


def draws(scale: float, size: int, rng: Source) -> Floats:
    """Exact whole noise of ours of a scale, as floats."""
    return np.array([wide_laplace(ceil(scale), rng) for _ in range(size)], dtype=np.float64)


def _one(setting: Setting, scale: float, ours: Floats) -> Iterator[Row]:
    run, values = run_name(*setting), np.array(column(*setting), dtype=np.float64)
    far = float(np.abs(values - TRUTH).mean())
    mean, shift = DEVIATIONS[setting]
    yield compare_printed(
        run, "lab.sql.mean_distance_of_the_ten_printed", mean, far, kind="program"
    )
    off = float(abs(values.mean() - TRUTH))
    yield compare_printed(run, "lab.sql.distance_of_their_mean", shift, off, kind="program")
    reach = ceil(scale) * log(1 / CHANCE)
    why = Message("lab.tolerance.laplace", sigmas=SIGMAS)
    for place, value in enumerate(column(*setting), start=1):
        cell = Message("lab.sql.printed_answer_beside_the_truth", place=place)
        yield compare(run, cell, value, TRUTH, Tolerance(absolute=reach, why=why))
    usual = Tolerance(least=LEAST, most=MOST, why=Message("lab.tolerance.ten_draws"))
    for name, draws_of in (
        ("lab.sql.mean_distance_over_the_scale_printed", values - TRUTH),
        ("lab.sql.mean_distance_over_the_scale_ours", ours[:10]),
    ):
        size = float(np.abs(draws_of).mean()) / scale
        yield compare(run, name, 1.0, size, usual, kind="theory")


def together(scales: Mapping[Setting, float]) -> Iterator[Row]:
    """The 120 printed answers against Laplace noise of given scales."""
    run, standard = Message("lab.sql.all_120_answers_over_their_scales"), printed_over(scales)
    size = float(np.abs(standard).mean())
    why = Message("lab.tolerance.mean_of_draws", sigmas=SIGMAS, draws=standard.size)
    near = Tolerance(absolute=SIGMAS / sqrt(standard.size), why=why)
    yield compare(run, "lab.sql.mean_distance", 1.0, size, near, kind="theory")
    ordered = np.sort(standard)
    law = np.where(ordered < 0, np.exp(-np.abs(ordered)) / 2, 1 - np.exp(-np.abs(ordered)) / 2)
    steps = np.arange(ordered.size + 1) / ordered.size
    distance = float(np.maximum(steps[1:] - law, law - steps[:-1]).max())
    limit = sqrt(log(2 / CHANCE) / (2 * standard.size))
    yield _at_most(
        run, Message("lab.sql.distance_of_the_distribution_from_laplaces"), limit, distance
    )
    why = Message("lab.tolerance.fair_coin", sigmas=SIGMAS)
    fair = Tolerance(absolute=SIGMAS * sqrt(30), why=why)
    above = int((standard > 0).sum())
    yield compare(run, "lab.sql.answers_above_the_truth_of_60", 60, above, fair, kind="theory")


def _against(scales: Mapping[Setting, float], ours: Floats) -> Iterator[Row]:
    """The printed answers against as many of ours as it takes, by the distance of two samples."""
    theirs = np.sort(printed_over(scales))
    ours = np.sort(ours)
    places = np.concatenate([theirs, ours])
    shares = [np.searchsorted(some, places, side="right") / some.size for some in (theirs, ours)]
    distance = float(np.abs(shares[0] - shares[1]).max())
    # The triangle: each sample is that near to the law but for half the chance.
    limit = sum(sqrt(log(4 / CHANCE) / (2 * some.size)) for some in (theirs, ours))
    run = Message("lab.sql.all_120_answers_over_their_scales")
    yield _at_most(
        run,
        Message("lab.sql.distance_from_the_distribution_of_draws", size=ours.size),
        limit,
        distance,
    )


def printed_over(scales: Mapping[Setting, float]) -> Floats:
    """The noise of all printed answers in units of given scales."""
    return np.concatenate(
        [(np.array(column(*each), dtype=np.float64) - TRUTH) / scales[each] for each in scales]
    )


def _at_most(run: str, cell: str, limit: float, computed: float) -> Row:
    rule = at_most(limit, Message("lab.tolerance.distance_of_distributions", sigmas=SIGMAS))
    return compare(run, cell, limit, computed, rule, kind="theory")
