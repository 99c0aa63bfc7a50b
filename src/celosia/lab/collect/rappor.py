"""RAPPOR: Tables 5.12 to 5.15, with one cohort as there.

Errors of least squares are known in closed form once the hash functions are; the published runs
were fitted by a positive Lasso, so they are compared with runs of ours that are fitted by
non-negative least squares. With one hash function the published code had a constant for it (C-16f):
all values set the same bit, and its fit gave all users to the first of them. Epsilons of one report
were printed in decimal logarithms (C-16b).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.collect.rappor.rappor import Rappor, RapporServer
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.lab.collect import aggregates
from celosia.lab.collect.identities import correlation, identities, times, unordered
from celosia.lab.collect.law import ErrorLaw, compare_among, one_run, pooled_rmse, rmse
from celosia.lab.collect.publication import (
    MANY_RANGE,
    Counts,
    Line,
    exponential_counts,
    generator,
    keys,
    normal_counts,
    table,
)
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import SIGMAS, compare_printed
from celosia.lab.tolerance import Tolerance, at_most
from celosia.sketches.hashing import digests

Floats = NDArray[np.float64]
RUNS = 12
"""Of drawn aggregates, each with hash functions of its own."""
FEW_BITS = 16
"""Which cannot tell 26 values apart."""
REPAIRED_MOST = 1700.0
"""The mean error with eight cohorts of 16 bits and up to 32 hash functions, at most, by simulations
independent of this one (788 to 1,622)."""
Chances = tuple[float, float, float]
TABLE_CHANCES: Chances = (0.5, 0.5, 0.75)
"""f, p and q of the first tables."""
LINEAR_FROM = 2500
"""Users from whom on the fixed part of the time does not count."""


def rows(progress: Progress) -> list[Row]:
    """Every line of the tables."""
    counts = exponential_counts()
    found: list[Row] = []
    lines = table("rappor")
    reference = {(line["bits"], line["hashes"]): line for line in table("rappor_reference")}
    for done, line in enumerate(lines):
        progress(Step(Message("lab.collect.rappor_of_500_000_users"), done, len(lines)))
        run = Message("lab.collect.rappor_m_k", bits=line["bits"], hashes=line["hashes"])
        found += identities(run, line, users=500_000, spread=MANY_RANGE)
        found += correlation(run, line, counts)
        found += _sizes(
            run, line, counts, reference.get((line["bits"], line["hashes"])), 870 + done
        )
    lines = table("rappor_chances")
    for done, line in enumerate(lines):
        progress(Step(Message("lab.collect.rappor_with_other_chances"), done, len(lines)))
        found += _chances(line, counts, 900 + done)
    for done, line in enumerate(table("rappor_users")):
        progress(Step(Message("lab.collect.rappor_of_other_tables"), done, 11))
        users = int(line["users"])
        real, run = normal_counts(users), Message("lab.collect.rappor_of_users", users=users)
        fits = [_fit(each, real) for each in _servers((128, 8, 1), real, 970 + done)]
        ours = [100 / users * float(np.mean(np.abs(fit - real))) for fit in fits]
        found.append(
            compare_among(run, _beside(Message("lab.collect.percent_error")), line["percent"], ours)
        )
        found += [*times(run, line), unordered(run, line["pearson"])]
    return [*found, *_times()]


def _beside(error: str) -> Message:
    return Message("lab.collect.beside_ours", error=error)


def _servers(
    sizes: tuple[int, int, int], counts: Counts, seed: int, *, chances: Chances = TABLE_CHANCES
) -> Iterator[RapporServer]:
    """Servers with so many bits, hash functions and cohorts."""
    drawn = generator(Seeded(seed))
    for key in keys(f"rappor {seed}", RUNS):
        yield aggregates.rappor(_protocol(sizes, chances, key=key), counts, drawn)


def _protocol(sizes: tuple[int, int, int], chances: Chances, *, key: str = "rappor") -> Rappor:
    bits, hashes, cohorts = sizes
    f, p, q = chances
    return Rappor(bits=bits, hashes=hashes, cohorts=cohorts, key=key, f=f, p=p, q=q)


def _fit(server: RapporServer, counts: Counts) -> Floats:
    """Counts of at least 0 by least squares, as the published fit but for its penalty."""
    from scipy.optimize import nnls

    counted = server.bit_counts()
    design = counted.design(digests(np.arange(counts.size)))
    found: Floats = nnls(design.toarray().T, counted.target)[0]
    return found


def one_fit(counts: Counts) -> Floats:
    """What one run with 128 bits and eight hash functions estimates."""
    return _fit(next(_servers((128, 8, 1), counts, 990)), counts)


def law(protocol: Rappor, counts: Counts) -> ErrorLaw:
    """Of the errors of least squares with these hash functions, for one cohort."""
    low, high = (float(each) for each in protocol.chances)
    values, users = digests(np.arange(counts.size)), int(counts.sum())
    filters = protocol.filters(values, np.zeros(counts.size, dtype=np.int64)).astype(np.float64)
    there = counts @ filters
    noise = there * high * (1 - high) + (users - there) * low * (1 - low)
    solver = np.linalg.pinv(filters.T)
    spread = (solver * noise) @ solver.T / (high - low) ** 2
    variances = np.diagonal(spread).copy()
    return ErrorLaw(variances, tails=2 * float(np.sum(spread**2) - np.sum(variances**2)))


def _sizes(
    run: str, line: Line, counts: Counts, reference: Line | None, seed: int
) -> Iterator[Row]:
    bits, hashes = int(line["bits"]), int(line["hashes"])
    if hashes == 1:
        yield from _constant(run, line, counts)
    if bits <= FEW_BITS:
        yield from _too_few(run, bits, hashes, counts, seed)
        return
    servers = list(_servers((bits, hashes, 1), counts, seed))
    fits = [_fit(each, counts) for each in servers]
    errors = [rmse(each, counts) for each in fits]
    means = [float(np.mean(np.abs(each - counts))) for each in fits]
    if hashes > 1:
        yield compare_among(run, _beside("RMSE"), line["rmse"], errors)
        yield compare_among(
            run, _beside(Message("lab.collect.mean_error")), line["mean_error"], means
        )
    if reference is not None:
        # Those are means of eight runs themselves.
        for cell, column, ours in (
            (Message("lab.collect.mean_error"), "mean_error", means),
            ("RMSE", "rmse", errors),
        ):
            deviation = float(np.std(ours, ddof=1)) * sqrt(1 / 8 + 1 / RUNS)
            yield compare_printed(
                run,
                Message("lab.collect.of_eight_independent_runs_beside_ours", cell=cell),
                reference[column],
                float(np.mean(ours)),
                error=deviation,
                kind="simulation",
            )
    yield from _least_squares(run, servers, counts)


def _least_squares(run: str, servers: list[RapporServer], counts: Counts) -> Iterator[Row]:
    """Unbiased estimates of the server itself against their closed form, run by run."""
    laws, errors = [], []
    for server in servers:
        try:
            found = server.estimate(range(counts.size)).counts
        except InputError:  # two values have the same bits: with one hash function often so
            continue
        laws.append(law(server.protocol, counts))
        errors.append(rmse(found, counts))
    if not laws:
        return
    expected = pooled_rmse([each.rmse for each in laws])
    spread = sqrt(sum((each.spread * each.rmse**2) ** 2 for each in laws))
    near = Tolerance(
        relative=SIGMAS * spread / (len(laws) * expected**2),
        why=Message("lab.tolerance.pooled", sigmas=SIGMAS, runs=len(laws)),
    )
    cell = Message("lab.collect.rmse_by_theory_beside_runs_of", laws=len(laws))
    yield compare(run, cell, expected, pooled_rmse(errors), near, kind="theory")


def _constant(run: str, line: Line, counts: Counts) -> Iterator[Row]:
    """All users in one bit, and all of them given to the most common value."""
    protocol = _protocol((2, 1, 1), TABLE_CHANCES)
    low, high = (float(each) for each in protocol.chances)
    users, top = int(counts.sum()), int(counts[0])
    error = sqrt(users * high * (1 - high)) / (high - low)  # of all users, from one bit
    rest = float(counts[1:] @ counts[1:])
    expected = sqrt(((users - top) ** 2 + rest) / counts.size)
    for cell, text, value, slope in (
        (
            Message("lab.collect.mean_error"),
            line["mean_error"],
            2 * (users - top) / counts.size,
            1 / counts.size,
        ),
        ("RMSE", line["rmse"], expected, (users - top) / counts.size / expected),
    ):
        words = Message("lab.collect.wrong_c_16f_that_of_one", cell=cell)
        near, wrong = one_run(text, error * slope), Message("lab.wrong.constant_hash")
        yield compare(run, words, float(text), value, near, wrong=wrong)


def _too_few(run: str, bits: int, hashes: int, counts: Counts, seed: int) -> Iterator[Row]:
    """Too few bits for so many values: our server says so; cohorts put it right."""
    server = next(_servers((bits, hashes, 1), counts, seed))
    try:
        said = str(server.estimate(range(counts.size)))
    except InputError as refusal:
        said = refusal.code
    cell = Message("lab.collect.16_bits_for_26_values_refused")
    yield compare(run, cell, "CEL-R033", said, kind="promise")
    if hashes <= 2 * bits:
        fits = [_fit(each, counts) for each in _servers((bits, hashes, 8), counts, seed)]
        mean = float(np.mean([np.mean(np.abs(each - counts)) for each in fits]))
        limit = REPAIRED_MOST
        cell = Message("lab.collect.mean_error_of_runs_of_ours", runs=RUNS)
        most = at_most(limit, Message("lab.tolerance.simulated_before"))
        yield compare(run, cell, limit, mean, most, kind="simulation")


def _chances(line: Line, counts: Counts, seed: int) -> Iterator[Row]:
    run = Message("lab.collect.rappor_f_p_q", f=line["f"], p=line["p"], q=line["q"])
    chances = float(line["f"]), float(line["p"]), float(line["q"])
    made = _protocol((128, 8, 1), chances)
    one = float(made.epsilon)
    yield compare_printed(run, "lab.collect.lasting_epsilon", line["lasting"], made.lasting_epsilon)
    yield compare_printed(
        run,
        "lab.collect.epsilon_of_one_report_wrong_as",
        line["one_log10"],
        one / log(10),
        wrong=Message("lab.wrong.decimal_logarithm"),
    )
    yield compare_printed(
        run, "lab.collect.epsilon_of_one_report", line["one"], one, kind="program"
    )
    percent = 100 * float(line["mean_error"]) / int(counts.sum())
    yield compare_printed(
        run, "lab.collect.percent_error_100_mean_error_users", line["percent"], percent
    )
    servers = _servers((128, 8, 1), counts, seed, chances=chances)
    fits = [_fit(each, counts) for each in servers]
    means = [float(np.mean(np.abs(each - counts))) for each in fits]
    yield compare_among(run, _beside(Message("lab.collect.mean_error")), line["mean_error"], means)


def _times() -> Iterator[Row]:
    """The server's time was said to go by the domain; it goes by the number of reports (C-19)."""
    lines = [line for line in table("rappor_users") if int(line["users"]) >= LINEAR_FROM]
    each = [1e3 * float(line["server_ms"]) / int(line["users"]) for line in lines]
    run = Message("lab.collect.rappor_the_published_servers_time")
    cell = Message("lab.collect.largest_over_smallest_microseconds_a_report")
    linear = at_most(1.1, Message("lab.tolerance.linear_time"))
    yield compare(run, cell, 1.1, max(each) / min(each), linear, kind="theory")
