"""Private means compared: the mean absolute error of each, by as many draws as were published.

The published errors fit one sample of Beta(2, 5) values for each size, which was not printed. All
methods depend on the sample by its size and its mean alone, so the mean is what has to be known. It
follows from the error of the exponential mechanism, which is computed here without draws: it is the
printed one at a mean of .26 for 20 rows and of .31 for 100, to two digits; .7 and 1.5 standard
errors from the 2/7 of the law. With 1000 rows the mean makes no difference to that error, and 2/7
is taken. So two cells fix two means (those of epsilon 0.1), and the 23 others are checks.

The published algorithms have continuous noise on the count and do not clip. Ours have whole noise,
which for few rows errs less before clipping, because no count lies between 1 and 2. So Algorithms 1
and 4 as published are drawn with the noise of the count on a fine grid; the clipped column is what
`NormalisedMean` releases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import e, log, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded, Source
from celosia.lab.findings import Row
from celosia.lab.mechanisms.broken import (
    BrokenClampedMean,
    BrokenNoisyCountMean,
    BrokenResampledMean,
)
from celosia.lab.mechanisms.cells import comparing
from celosia.mechanisms import DiscreteLaplace, ExponentialMean, NormalisedMean, SumCountMean
from celosia.mechanisms.statistics.bounded_grid import exact_sum
from celosia.mechanisms.statistics.mean import RatioMean

compare_equal, compare_printed = comparing("program")


def broken_averages() -> Iterator[Row]:
    """The rows of Algorithms 1 (as misprinted), 2 and 3."""
    yield from _misprinted()
    yield from _resampled()
    yield from _clamped()


def _misprinted() -> Iterator[Row]:
    run = Message("lab.mechanisms.algorithm_1_on_100_101_epsilon")
    yield compare_printed(
        run,
        "lab.mechanisms.loss_of_the_sum_as_misprinted",
        "50.5",
        BrokenNoisyCountMean().sum_epsilon,
    )
    ours = SumCountMean(epsilon=1, lower=100, upper=101)
    yield compare_equal(
        run, "lab.mechanisms.loss_of_the_whole_with_the", 1.0, ours.privacy_loss().pure
    )


def _resampled() -> Iterator[Row]:
    run = Message("lab.mechanisms.algorithm_2_on_1_1_epsilon")
    for copies, text in ((1, "2.7183"), (2, "3.1370034"), (1000, "4.4321")):
        broken = BrokenResampledMean(copies=copies)
        first, second = (broken.density(data, -1.0) for data in broken.neighbours)
        slip = Message("lab.mechanisms.the_thesis_says_2e") if copies == 1 else ""
        yield compare_printed(
            run,
            Message("lab.mechanisms.ratio_at_1_n", copies=copies, slip=slip),
            text,
            first / second,
            printed=2 * e if slip else None,
            wrong=Message("lab.wrong.density_of_a_quotient") if slip else "",
        )
    broken = BrokenResampledMean()
    first, second = broken.chances
    yield compare_printed(run, "lab.mechanisms.n_20_at_most_99", ".09516", first)
    yield compare_printed(run, "lab.mechanisms.the_same_on_the_neighbour", ".02495", second)
    yield compare_printed(run, "lab.mechanisms.loss_of_that_event", "1.3385", broken.shown_epsilon)
    yield compare_equal(run, "lab.mechanisms.true_level", 2.0, broken.true_epsilon)


def _clamped() -> Iterator[Row]:
    run = Message("lab.mechanisms.algorithm_3_on_0_1")
    first, second = BrokenClampedMean(epsilon=0.1).chances
    yield compare_printed(run, "lab.mechanisms.between_ends_of_one", ".0475813", second)
    yield compare_printed(run, "lab.mechanisms.between_ends_of_both", ".0951626", first)
    yield compare_equal(run, "lab.mechanisms.their_ratio", 2.0, first / second)
    for epsilon, text in ((0.1, ".7431"), (1.0, "1.1931")):
        worst = _worst(BrokenClampedMean(epsilon=epsilon))
        words = Message("lab.mechanisms.epsilon_true_level_claimed", epsilon=epsilon)
        yield compare_printed(run, words, text, worst)
    turn = 2 * log(2)
    yield compare_printed(run, "lab.mechanisms.epsilon_from_which_the_claim_holds", "1.3863", turn)
    yield compare_equal(
        run, "lab.mechanisms.true_level_there", turn, BrokenClampedMean(epsilon=turn).true_epsilon
    )


def _worst(broken: BrokenClampedMean) -> float:
    """The largest loss between a table of up to three rows and the same with one row more."""
    places, points = np.linspace(0, 1, 6), np.linspace(0, 1, 11)
    worst = 0.0
    for count in range(4):
        for *values, extra in product(places, repeat=count + 1):
            one, other = np.array(values), np.array([*values, extra])
            inside = [broken.density(one, z) / broken.density(other, z) for z in points]
            ends = zip(broken.ends(one), broken.ends(other), strict=True)
            ratios = [*inside, *(first / second for first, second in ends)]
            worst = max(worst, *(abs(log(ratio)) for ratio in ratios))
    return worst


Floats = NDArray[np.float64]

DRAWS = 400_000
"""Of each published error, and of each one here."""

FINE = 2**20
"""Parts of a row in which the noise of a count is as good as continuous."""

EXPONENTIAL = Message("lab.mechanisms.exponential")
METHODS = (
    Message("lab.mechanisms.algorithm_1"),
    EXPONENTIAL,
    Message("lab.mechanisms.algorithm_4"),
    Message("lab.mechanisms.algorithm_4_clipped"),
    Message("lab.mechanisms.algorithm_3_not_private"),
)


@dataclass(frozen=True, slots=True)
class MeanSetting:
    """One line of the published table."""

    lower: float
    upper: float
    size: int
    epsilon: float
    mean: float
    """Of the sample, as a part of the range."""
    texts: tuple[str, ...]
    """The printed errors over the range, in the order of `METHODS`."""

    @property
    def name(self) -> str:
        """The run that its cells belong to."""
        known = "" if self.size == 1000 else Message("lab.mechanisms.mean_implied", mean=self.mean)
        return Message.of("lab.mechanisms.averages_n", self, known=known)


SETTINGS = (
    MeanSetting(0, 1, 1000, 1, 2 / 7, (".00213", ".00200", ".00114", ".00114", ".00100")),
    MeanSetting(20, 80, 1000, 1, 2 / 7, (".00306", ".00199", ".00113", ".00113", ".00100")),
    MeanSetting(0, 1, 100, 0.1, 0.31, (".254", ".150", ".134", ".112", ".098")),
    MeanSetting(0, 1, 20, 0.1, 0.26, ("1.147", ".264", ".618", ".275", ".295")),
    MeanSetting(0, 1, 20, 0.01, 0.26, ("2.50", ".303", "1.32", ".316", ".471")),
)

RATIOS = ((0, "2.1", "2.0", "1.1", "1.0"), (1, "3", "2.0", "1.1", "1.0"))
"""Errors of Algorithm 1, exponential, Algorithms 4 and 3 in units of range / (n epsilon)."""


@dataclass(frozen=True, slots=True)
class MeanError:
    """A mean absolute error, and the deviation of one draw."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, errors: Floats) -> MeanError:
        """From many draws."""
        return cls(float(errors.mean()), float(errors.std()))


def rows(progress: Progress) -> list[Row]:
    """Five errors in five settings, what they are in units of the best, and the broken means."""
    found: list[Row] = []
    measured = []
    for done, setting in enumerate(SETTINGS):
        progress(
            Step(Message("lab.mechanisms.drawing_for_n", size=setting.size), done, len(SETTINGS))
        )
        measured.append(_measure(setting, Seeded(470 + done)))
        found += _compare(setting, measured[-1])
    return [*found, *_ratios(measured), *broken_averages()]


def _compare(setting: MeanSetting, errors: Sequence[MeanError]) -> Iterator[Row]:
    for method, text, error in zip(METHODS, setting.texts, errors, strict=True):
        # The published number and ours were each drawn so many times. The exponential mechanism
        # has no chance in it here; what its draws had when it was published is known all the same.
        chance = error.deviation * sqrt((1 if method == EXPONENTIAL else 2) / DRAWS)
        yield compare_printed(
            setting.name, method, text, error.mean, error=chance, kind="simulation"
        )


def _ratios(measured: Sequence[Sequence[MeanError]]) -> Iterator[Row]:
    for place, *texts in RATIOS:
        setting, errors = SETTINGS[place], measured[place]
        unit = 1 / (setting.size * setting.epsilon)
        names = (METHODS[0], METHODS[1], METHODS[2], METHODS[4])
        kept = (errors[0], errors[1], errors[2], errors[4])
        run = Message.of("lab.mechanisms.averages_error_times_n_epsilon_range", setting)
        for name, text, error in zip(names, texts, kept, strict=True):
            chance = error.deviation / unit / sqrt(DRAWS)
            yield compare_printed(
                run, name, text, error.mean / unit, error=chance, kind="simulation"
            )


def _measure(setting: MeanSetting, rng: Source) -> list[MeanError]:
    """The five errors of a setting, as parts of the range."""
    low, high, epsilon = setting.lower, setting.upper, setting.epsilon
    width = high - low
    values = low + width * sample(setting.size, setting.mean)
    mean = float(values.mean())
    simple = SumCountMean(epsilon=epsilon, lower=low, upper=high)
    centred = NormalisedMean(epsilon=epsilon, lower=low, upper=high)
    clamped = BrokenClampedMean(epsilon=epsilon, lower=low, upper=high)
    first = release_many(simple, values, rng=rng, size=DRAWS, parts=FINE)
    fourth = release_many(centred, values, rng=rng, size=DRAWS, parts=FINE)
    ours = np.clip(release_many(centred, values, rng=rng, size=DRAWS), low, high)
    third = clamped.run(values, rng=rng, size=DRAWS)
    exponential = _exponential_error(values, mean, setting)
    drawn = (first, fourth, ours, third)
    one, four, clipped, three = (MeanError.of(np.abs(some - mean) / width) for some in drawn)
    return [one, exponential, four, clipped, three]


def release_many(
    mechanism: RatioMean, values: Floats, *, rng: Source, size: int, parts: int = 1
) -> Floats:
    """What a mean of ours releases, many times at once, before it is clipped to the range.

    The same sums, laws and rules as in `RatioMean.measure`; only the division is of floats.

    Args:
        mechanism: with its laws, a price and a range.
        values: the rows.
        rng: a seeded source.
        size: how many means.
        parts: of one, for the noise of the count; 1 for whole counts as they are released.
    """
    total = exact_sum(mechanism.addends(values))
    law, law_of_count = mechanism.noises
    of_sum = law.draw(size, rng)
    of_count = DiscreteLaplace(law_of_count.scale * parts).draw(size, rng) / parts
    counts = values.size + of_count
    void = counts <= mechanism.void
    quotients = (total + of_sum) / np.where(void, 1, counts)
    means = float(mechanism.origin) + float(mechanism.unit) * quotients
    return np.where(void, float(mechanism.span.middle), means)


def _exponential_error(values: Floats, mean: float, setting: MeanSetting) -> MeanError:
    """By the exact chance of each of the million points that may be released."""
    low, high = setting.lower, setting.upper
    mechanism = ExponentialMean(epsilon=setting.epsilon, lower=low, upper=high)
    chances = mechanism.probabilities(values)
    points = np.linspace(low, high, chances.size)
    errors = np.abs(points - mean) / (high - low)
    expected = float(chances @ errors)
    return MeanError(expected, sqrt(float(chances @ (errors - expected) ** 2)))


def sample(size: int, mean: float) -> Floats:
    """Values spread evenly over the Beta(2, 5) law, then scaled to have a mean.

    >>> values = sample(20, 0.26)
    >>> round(float(values.mean()), 12), bool(values.max() < 1)
    (0.26, True)
    """
    from scipy.special import betaincinv

    values = np.asarray(betaincinv(2, 5, (np.arange(size) + 0.5) / size), dtype=np.float64)
    return np.asarray(values * (mean / values.mean()))
