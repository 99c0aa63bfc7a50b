"""The Count Mean Sketch: Tables 5.1, 5.2, 5.5, 5.7 and the percentages of Figure 5.5."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from celosia.collect.count_mean.count_mean import CountMean
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.lab.collect import aggregates, publication
from celosia.lab.collect.identities import correlation, identities
from celosia.lab.collect.law import ErrorLaw, rmse
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import compare_equal, compare_printed
from celosia.lab.tolerance import Tolerance

RUNS, FEW_RUNS = 20, 1
"""Of drawn aggregates: for sketches of up to and of more than so many rows."""
MANY_ROWS = 4096
OBJECT_BYTES, OBJECT_SLACK = 140, 4
"""What a Python list of m numbers has beside 8 m bytes, as printed."""


def rows(progress: Progress) -> list[Row]:
    """Every line of the tables."""
    lines = publication.table("count_mean")
    found: list[Row] = []
    for done, line in enumerate(lines):
        progress(Step(Message("lab.collect.sketches_of_50_000_values"), done, len(lines)))
        protocol = CountMean(epsilon=2, hashes=int(line["hashes"]), width=int(line["width"]))
        run = Message("lab.collect.pcms_k_m", hashes=protocol.hashes, width=protocol.width)
        found += identities(run, line, users=50_000, spread=int(np.ptp(publication.EXPONENTIAL_50)))
        found += correlation(run, line, publication.EXPONENTIAL_50)
        found += _errors(run, line, protocol, publication.EXPONENTIAL_50, seed=700 + done)
    for done, line in enumerate(publication.table("count_mean_epsilon")):
        progress(Step(Message("lab.collect.sketches_of_200_000_values"), done, 9))
        protocol = CountMean(epsilon=float(line["epsilon"]), hashes=1024, width=256)
        run = Message("lab.collect.pcms_epsilon", epsilon=line["epsilon"])
        found += identities(run, line, users=200_000, spread=int(np.ptp(publication.NORMAL_200)))
        found += _errors(run, line, protocol, publication.NORMAL_200, seed=740 + done)
    return [*found, *_users(), *_sizes()]


def law(protocol: CountMean, counts: publication.Counts, *, single: int = 0) -> ErrorLaw:
    """Of the errors of all values, over coins, rows and hash functions."""
    users, squares = int(counts.sum()) + single, float(counts @ counts) + single
    variances = np.array(
        [protocol.variance(users, count=f, squares=squares - f**2) for f in counts.tolist()]
    )
    noise = users * (protocol.noise + 1 / protocol.width)
    return ErrorLaw(
        variances, tails=collision_tails(protocol.hashes, protocol.width, counts, noise)
    )


def collision_tails(hashes: int, width: int, counts: publication.Counts, noise: float) -> float:
    """What collisions add to the variance of the sum of squared errors.

    Value d' adds f' K / k to the estimate of d, K of Binomial(k, 1/m): its fourth cumulant is
    k p (1 - p) (1 - 6 p (1 - p)). Both estimates share K, and share the noise of a common cell.
    """
    spread = (1 - 1 / width) / width
    # Rows have random numbers of reports, so a value has f'^2 + f' k in a row, squared.
    weights = counts.astype(np.float64) ** 2 + counts * float(hashes)
    fourth = spread * (1 - 6 * spread) / hashes**3 * np.sum(weights**2)
    cumulants = fourth * counts.size
    both = np.outer(counts, counts) * (spread / hashes) + noise / width
    np.fill_diagonal(both, 0)
    scale = (width / (width - 1)) ** 4
    return float(scale * (max(0.0, cumulants) + 2 * np.sum(both**2)))


def real_run(protocol: CountMean, counts: publication.Counts, seed: int) -> NDArray[np.float64]:
    """Estimates from real reports, one for each user."""
    values = np.repeat(np.arange(counts.size), counts)
    server = protocol.server()
    for batch in protocol.client(rng=Seeded(seed)).batches(values):
        server.absorb(batch)
    return server.estimate(range(counts.size)).counts


def _errors(
    run: str, line: dict[str, str], protocol: CountMean, counts: publication.Counts, *, seed: int
) -> Iterator[Row]:
    expected = law(protocol, counts)
    yield compare_printed(
        run, "lab.collect.rmse_by_theory_th", line["theory"], expected.rmse, kind="program"
    )
    yield expected.of_rmse(
        run, Message("lab.collect.rmse_of_the_published_run_beside"), line["rmse"]
    )
    yield expected.of_mean(
        run, Message("lab.collect.mean_error_of_the_published_run"), line["mean_error"]
    )
    drawn = publication.generator(Seeded(seed))
    runs = RUNS if protocol.hashes <= MANY_ROWS else FEW_RUNS
    errors = [rmse(aggregates.count_mean(protocol, counts, drawn), counts) for _ in range(runs)]
    yield expected.of_runs(
        run, Message("lab.collect.rmse_of_runs_of_ours_exact", runs=runs), errors
    )
    if protocol.hashes <= MANY_ROWS:
        one = rmse(real_run(protocol, counts, seed), counts)
        yield expected.of_runs(run, Message("lab.collect.rmse_of_a_run_of_ours"), [one])


def _users() -> Iterator[Row]:
    for line in publication.table("sketch_users"):
        users = int(line["users"])
        expected = law(
            CountMean(epsilon=4, hashes=1024, width=256), publication.normal_counts(users)
        )
        cell = Message("lab.collect.percent_error_of_the_published_run")
        yield expected.of_mean(
            Message("lab.collect.pcms_of_users", users=users), cell, line["cms"], scale=100 / users
        )


def _sizes() -> Iterator[Row]:
    for line in publication.table("report_bytes"):
        width = int(line["width"])
        run, printed_bytes = Message("lab.collect.pcms_report_m", width=width), int(line["cms"])
        cell = Message("lab.collect.printed_as_kb_c_18c_the")
        why = Message("lab.tolerance.python_object")
        near = Tolerance(absolute=OBJECT_SLACK, why=why)
        size, wrong = 8 * width + OBJECT_BYTES, Message("lab.wrong.kilobytes")
        yield compare(run, cell, printed_bytes, size, near, wrong=wrong)
        protocol = CountMean(epsilon=2, hashes=1024, width=width)
        yield compare_equal(
            run,
            "lab.collect.bits_of_our_report_m_log2",
            width + 10,
            protocol.report_bits,
            kind="theory",
        )
