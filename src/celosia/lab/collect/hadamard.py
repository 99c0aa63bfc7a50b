"""The Hadamard Count Mean Sketch: Tables 5.3, 5.4, 5.6, 5.8 and the percentages of Figure 5.5.

The published code freed signs of bias with epsilon / 2 (C-13), so all errors of these tables are
those of a fault. It is known in closed form: estimates are 1 + sech(epsilon / 2) times too large,
and shifted by sech(epsilon / 2) n / (m - 1). Each printed RMSE is compared with that of the fault,
our own runs with the theory of the protocol as it should be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.lab.collect import publication
from celosia.lab.collect.broken.debias import BrokenHalfDebias
from celosia.lab.collect.count_mean import MANY_ROWS, collision_tails
from celosia.lab.collect.identities import correlation, identities
from celosia.lab.collect.law import ErrorLaw, one_run, rmse
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import SIGMAS, compare_equal, compare_printed

Floats = NDArray[np.float64]
RUNS = 6
"""Of real reports, for sketches of few rows; one for those of many."""
MOST_RECORDED = 200_000
"""Users of the largest table whose number of values was recorded."""
FAULT = Message("lab.wrong.half_debias")
LEAST_REFUTED = 15_000
"""Users from whom on the fault is larger than what chance does."""


def rows(progress: Progress) -> list[Row]:
    """Every line of the tables."""
    lines = publication.table("hadamard")
    found: list[Row] = []
    for done, line in enumerate(lines):
        progress(Step(Message("lab.collect.hadamard_sketches_of_50_000_values"), done, len(lines)))
        made = HadamardCountMean(epsilon=2, hashes=int(line["hashes"]), width=int(line["width"]))
        run = Message("lab.collect.phcms_k_m", hashes=made.hashes, width=made.width)
        found += identities(run, line, users=50_000, spread=int(np.ptp(publication.EXPONENTIAL_50)))
        chance = law(made, publication.EXPONENTIAL_50)
        largest = (chance.rmse * (1 + SIGMAS * chance.spread)) ** 2
        found += correlation(run, line, publication.EXPONENTIAL_50, noise=largest)
        found += _errors(run, line, made, publication.EXPONENTIAL_50)
    for done, line in enumerate(publication.table("hadamard_epsilon")):
        progress(Step(Message("lab.collect.hadamard_sketches_of_200_000_values"), done, 9))
        made = HadamardCountMean(epsilon=float(line["epsilon"]), hashes=1024, width=256)
        run = Message("lab.collect.phcms_epsilon", epsilon=line["epsilon"])
        found += identities(run, line, users=200_000, spread=int(np.ptp(publication.NORMAL_200)))
        found += _errors(run, line, made, publication.NORMAL_200)
    return [*found, *_users(), *_sizes()]


def law(protocol: HadamardCountMean, counts: publication.Counts) -> ErrorLaw:
    """Of the errors of all values, over coins, rows, places and hash functions."""
    users, squares = int(counts.sum()), float(counts @ counts)
    variances = np.array(
        [protocol.variance(users, count=f, squares=squares - f**2) for f in counts.tolist()]
    )
    noise = users * protocol.debias**2
    return ErrorLaw(
        variances, tails=collision_tails(protocol.hashes, protocol.width, counts, noise)
    )


def faulty(protocol: HadamardCountMean, counts: publication.Counts) -> ErrorLaw:
    """Of the errors that the published code has (C-13)."""
    right, factor = law(protocol, counts), BrokenHalfDebias(epsilon=float(protocol.epsilon)).factor
    shift = (factor - 1) * int(counts.sum()) / (protocol.width - 1)
    biases: Floats = (factor - 1) * counts.astype(np.float64) + shift
    # A bias makes collisions count by their variance too, which `variances` has.
    return ErrorLaw(factor**2 * right.variances, biases, factor**4 * right.tails)


def estimates(protocol: HadamardCountMean, counts: publication.Counts, seed: int) -> Floats:
    """From real reports, one for each user."""
    values = np.repeat(np.arange(counts.size), counts)
    server = protocol.server()
    for batch in protocol.client(rng=Seeded(seed)).batches(values):
        server.absorb(batch)
    return server.estimate(range(counts.size)).counts


@dataclass(frozen=True)
class _Sizes:
    epsilon: float
    hashes: int
    width: int

    def keyed(self, key: str) -> HadamardCountMean:
        return HadamardCountMean(
            epsilon=self.epsilon, hashes=self.hashes, width=self.width, key=key
        )


def _errors(
    run: str, line: dict[str, str], protocol: HadamardCountMean, counts: publication.Counts
) -> Iterator[Row]:
    right, wrong = law(protocol, counts), faulty(protocol, counts)
    yield compare_printed(
        run, "lab.collect.rmse_by_theory_th", line["theory"], right.rmse, kind="program"
    )
    cell = Message("lab.collect.rmse_of_the_published_run_wrong")
    yield wrong.of_rmse(run, cell, line["rmse"], wrong=FAULT)
    sizes = _Sizes(float(protocol.epsilon), protocol.hashes, protocol.width)
    runs = RUNS if protocol.hashes <= MANY_ROWS else 1
    ours = [
        estimates(sizes.keyed(key), counts, seed)
        for seed, key in enumerate(publication.keys(run, runs), start=760)
    ]
    cell = (
        Message("lab.collect.rmse_of_runs_of_ours_real", runs=runs)
        if runs > 1
        else Message("lab.collect.rmse_of_a_run_of_ours_2")
    )
    yield right.of_runs(
        run,
        cell if runs > 1 else Message("lab.collect.real_reports", cell=cell),
        [rmse(each, counts) for each in ours],
    )
    broken = BrokenHalfDebias(epsilon=sizes.epsilon)
    spoiled = [rmse(broken.spoiled(each, protocol.width, counts), counts) for each in ours]
    yield wrong.of_runs(run, Message("lab.collect.rmse_of_the_same_with_the", runs=runs), spoiled)


def _users() -> Iterator[Row]:
    """The percentages of the figure are those of the fault, too large for the protocol itself.

    Those of the fault are about 1 / D, and D, the number of values, was recorded for tables of up
    to 200,000 users only.
    """
    protocol = HadamardCountMean(epsilon=4, hashes=1024, width=256)
    for line in publication.table("sketch_users"):
        users, text = int(line["users"]), line["hcms"]
        counts, run = (
            publication.normal_counts(users),
            Message("lab.collect.phcms_of_users", users=users),
        )
        if users <= MOST_RECORDED:
            wrong = faulty(protocol, counts)
            means, spreads = fold(np.asarray(wrong.biases), np.sqrt(wrong.variances))
            expected = 100 / users * float(np.mean(means))
            error = 100 / users * sqrt(float(np.sum(spreads**2))) / counts.size
            cell = Message("lab.collect.percent_error_of_the_published_run_2")
            near = one_run(text, error)
            yield compare(run, cell, float(text), expected, near, wrong=FAULT)
        if users >= LEAST_REFUTED:
            cell = Message("lab.collect.percent_error_wrong_as_printed_c")
            fitting = law(protocol, counts).of_mean(run, cell, text, scale=100 / users)
            far = replace(fitting.tolerance, refuted=True)
            yield replace(fitting, tolerance=far, wrong=FAULT)


def fold(means: Floats, deviations: Floats) -> tuple[Floats, Floats]:
    """Mean and deviation of the absolute value of normal numbers."""
    ratio = means / deviations
    mean = deviations * sqrt(2 / pi) * np.exp(-(ratio**2) / 2) + means * erf(ratio / sqrt(2))
    return mean, np.sqrt(means**2 + deviations**2 - mean**2)


def _sizes() -> Iterator[Row]:
    for line in publication.table("report_bytes"):
        width = int(line["width"])
        run, protocol = (
            Message("lab.collect.phcms_report_m", width=width),
            HadamardCountMean(epsilon=2, width=width),
        )
        cell = Message("lab.collect.printed_as_kb_c_18c_the_2")
        yield Row(run, cell, int(line["hcms"]), None, not_run=Message("lab.wrong.kilobytes"))
        bits = 1 + 10 + width.bit_length() - 1
        yield compare_equal(
            run,
            "lab.collect.bits_of_our_report_1_log2",
            bits,
            protocol.report_bits,
            kind="theory",
        )
