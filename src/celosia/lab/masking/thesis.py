"""What a thesis on telemetry says of masking: its figures, and two slips in them (C-3, C-4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Seeded
from celosia.lab.findings import Row, compare
from celosia.lab.masking import publication
from celosia.lab.masking.equivalence_classes import EquivalenceClasses
from celosia.lab.masking.medical import apply_method
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.tolerance import Tolerance, at_most
from celosia.tables.masking import Microaggregation, Noise, RankSwap, Recoding, TopBottom

compare_equal, compare_printed = comparing("program")

JOBS = ("Back-End developer", "Front-End developer")


def rows(progress: Progress = silent) -> list[Row]:
    """All of them."""
    return [*_classes(), *_coding(), *_averages(), *_swaps(), *_noise()]


def _classes() -> Iterator[Row]:
    for run, frame, least in (
        ("Fig. 2.2", publication.HOMOGENEOUS, 1),
        ("Fig. 2.3", publication.DIVERSIFIED, 2),
    ):
        crowds = EquivalenceClasses.of(frame, ("age", "zip"), "disease")
        yield compare_equal(run, "k", 3, crowds.k, kind=None)
        yield compare_equal(run, "lab.masking.distinct_l", least, min(crowds.distinct), kind=None)


def _coding() -> Iterator[Row]:
    run = Message("lab.masking.recoding_and_coding_of_ends")
    names = ("minor", "young", "adult", "retired")
    ages = pl.DataFrame({"age": [0, 17, 18, 34, 35, 64, 65, 98]})
    groups = apply_method(Recoding(breaks=(0, 18, 35, 65, 99), labels=names), ages, "age")["age"]
    wanted = " ".join(name for name in names for _ in range(2))
    yield compare_equal(run, "lab.masking.ages_at_the_ends_half_open", wanted, " ".join(groups))
    leaves = pl.DataFrame({"job": JOBS})
    tree = {"method": "tree", "tree": {"Software developer": list(JOBS)}}
    jobs = apply_method(Recoding(hierarchy=tree), leaves, "job")["job"]
    yield compare_equal(
        run,
        "lab.masking.both_developers",
        "Software developer",
        " ".join(sorted(set(jobs))),
        kind=None,
    )
    numbers = pl.DataFrame({"n": [15, 4]})
    yield compare_equal(
        run,
        "lab.masking.15_with_the_top_10",
        ">10",
        apply_method(TopBottom(top=10), numbers, "n")["n"][0],
        kind=None,
    )
    yield compare_equal(
        run,
        "lab.masking.4_with_the_bottom_5",
        "<5",
        apply_method(TopBottom(bottom=5), numbers, "n")["n"][1],
    )


def _averages() -> Iterator[Row]:
    found = apply_method(Microaggregation(k=2, by="job"), publication.PAY, "salary")["salary"]
    for place, mean in ((0, 3100.0), (1, 3100.0), (2, 2855.0), (3, 2855.0)):
        yield compare_equal(
            "lab.masking.figs_2_8_and_2_9",
            Message("lab.masking.salary_of_row", place=place + 1),
            mean,
            float(found[place]),
            kind=None,
        )


def _swaps() -> Iterator[Row]:
    """Every value has one partner within reach, so nothing is left to chance."""
    run = Message("lab.masking.swapping_within_20_of_the_range")
    low, high = publication.TEMPERATURE_RANGE
    yield compare_equal(run, "lab.masking.largest_difference", 0.54, 0.2 * (high - low), kind=None)
    frame = pl.DataFrame({"t": publication.TEMPERATURES})
    by_value = RankSwap(range_percent=20, value_range=publication.TEMPERATURE_RANGE)
    found = apply_method(by_value, frame, "t")["t"].to_numpy()
    yield compare_equal(
        run,
        "lab.masking.temperatures",
        _listed(publication.SWAPPED_TEMPERATURES),
        _listed(found),
        kind=None,
    )
    apart = float(np.abs(found - np.array(publication.TEMPERATURES)).max())
    cell = Message("lab.masking.a_value_moves_by_at_most")
    most = at_most(0.54 + 1e-12, Message("lab.tolerance.floats"))
    yield compare(run, cell, 0.54, apart, most, kind="promise")
    by_rank = apply_method(RankSwap(percent=20), frame, "t")["t"].to_list()
    yield compare_equal(
        run,
        "lab.masking.by_ranks_as_moore_has_it",
        _listed(publication.SWAPPED_TEMPERATURES),
        _listed(by_rank),
    )


def _noise() -> Iterator[Row]:
    """C-3: a variance was taken for a standard deviation."""
    run = Message("lab.masking.noise_on_weights_alpha_0_1")
    weights, noise = np.array(publication.WEIGHTS), np.array(publication.PRINTED_NOISE)
    yield compare_printed(
        run,
        "lab.masking.variance_of_the_weights_in_print",
        "221.82",
        float(weights.var()),
        printed=221.81,
        wrong=Message("lab.wrong.cut_digit"),
    )
    frame = pl.DataFrame({"weight": publication.WEIGHTS})
    facts = Noise(alpha=0.1).apply(frame, ["weight"], rng=Seeded(1)).facts
    deviation = float(facts["weight"]["noise"])
    yield compare_printed(run, "lab.masking.deviation_of_the_noise", "4.71", deviation)
    wrong = 0.1 * float(weights.var())
    yield compare_printed(run, "lab.masking.deviation_as_it_was_taken_c", "22.18", wrong)
    # Squares of six normal numbers sum to 0.3 to 24 but for once in 2,000, the deviation being 1.
    for cell, scale, fits in (
        (Message("lab.masking.noise_of_right_deviation"), deviation, "no"),
        (Message("lab.masking.noise_of_wrong_deviation"), wrong, "yes"),
    ):
        total = float(((noise / scale) ** 2).sum())
        yield compare_equal(run, cell, fits, "yes" if 0.3 < total < 24 else "no")
    drawn = Message("lab.not_run.drawn")
    yield Row(run, Message("lab.masking.noise_as_printed"), _listed(noise), None, not_run=drawn)
    for place, printed in enumerate(publication.NOISY_WEIGHTS):
        words = Message("lab.masking.weight_of_row", place=place + 1)
        total = float(weights[place] + noise[place])
        cut = Tolerance(
            least=printed - 0.006, most=printed + 0.106, why=Message("lab.tolerance.cut_sums")
        )
        yield compare(run, words, printed, total, cut)


def _listed(values: object) -> str:
    return " ".join(f"{each:g}" for each in values)  # type: ignore[attr-defined]
