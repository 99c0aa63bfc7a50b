"""Our own answers to the four joins, beside those that elastic sensitivity gives.

The shop is smaller than that of the thesis, so that the study is quick. Noise does not grow with
the shop, so relative errors at scale factor 1 are a tenth of these.

The error of Laplace noise is known: its median is ln 2 times the scale, and the median of n draws
has a standard error of 1 / sqrt(n) scales. The published answer of the race to the top is, but for
a chance of `failure`, not above the exact one and below it by at most two penalties of the least
cap that nobody exceeds (Dong et al. 2022). What follows from the same run without penalty, and by
caps that are chosen in another way, has to be nearer than that answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log, sqrt
from pathlib import Path

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.datasets import Shop, tpch
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import SIGMAS, comparing
from celosia.lab.sql.shop import EPSILON, MOST, JoinQuery, query, run_queries, save_shop
from celosia.lab.tolerance import Tolerance, at_least, at_most
from celosia.queries.bounds.noise import smooth_scale
from celosia.queries.bounds.r2t import R2T
from celosia.queries.bounds.smooth_sensitivity import SmoothBound
from celosia.queries.vault import Vault

compare_equal, _ = comparing("theory")

SCALE = 0.1
RUNS = 400
ERROR = Message("lab.sql.median_relative_error")
METHODS = {
    "published": Message("lab.sql.elastic_sensitivity_as_published_a_row", error=ERROR),
    "elastic": Message("lab.sql.elastic_sensitivity_a_row_parts_and", error=ERROR),
    "row": Message("lab.sql.declared_caps_a_row", error=ERROR),
    "capped": Message("lab.sql.declared_cap_a_customer", error=ERROR),
    "r2t": Message("lab.sql.race_to_the_top_as_published", error=ERROR),
    "unpenalised": Message("lab.sql.race_to_the_top_without_penalty", error=ERROR),
    "r2t_cap": Message("lab.sql.cap_chosen_by_race_to_the", error=ERROR),
    "chosen": Message("lab.sql.cap_chosen_by_numbers_of_customers", error=ERROR),
}
CONFIDENCE = 0.9999


def run_name(query: JoinQuery) -> str:
    """The run of one question."""
    return Message("lab.sql.our_answers_epsilon", name=query.name, epsilon=EPSILON)


def rows(progress: Progress) -> list[Row]:
    """The eight questions by eight ways, and what the vault answers."""
    progress(Step(Message("lab.sql.making_a_shop"), 0))
    shop = tpch(SCALE, maker="celosia")
    with save_shop(shop) as path:
        found = []
        for done, query in enumerate(run_queries(shop, path)):
            progress(Step(Message("lab.sql.answering"), done, 8))
            found += [*_exact(query, shop), *_errors(query, Seeded(700 + done))]
        return [*found, *_by_vault(found, path)]


def _exact(query: JoinQuery, shop: Shop) -> Iterator[Row]:
    """What the joins must give: every order has a customer, every part four suppliers."""
    orders, lines = shop.tables["orders"].height, shop.tables["lineitem"].height
    expected = orders if query.distinct else (orders, lines, 4 * lines, 4 * lines)[query.joins - 1]
    yield compare_equal(run_name(query), "lab.sql.exact_answer", expected, query.exact)


def _errors(query: JoinQuery, rng: Seeded) -> Iterator[Row]:
    run, exact = run_name(query), query.exact
    for method, scale, errors in (
        ("published", _scale(query.published), query.elastic_errors(query.published, RUNS, rng)),
        ("elastic", _scale(query.elastic), query.elastic_errors(query.elastic, RUNS, rng)),
        ("row", float(query.row_cap) / EPSILON, query.row_errors(RUNS, rng)),
        ("capped", float(query.customer_cap) / EPSILON, query.capped_errors(RUNS, rng)),
    ):
        yield _as_predicted(run, METHODS[method], scale, errors, exact)
    lower, values = query.r2t_errors(RUNS, rng)
    published = median_error(lower, exact)
    r2t = R2T(epsilon=EPSILON, most=MOST)
    levels = [place for place, number in enumerate(query.people.levels) if number]
    within = 2 * r2t.penalties[max(levels)]
    held = sum(-within <= each <= 0 for each in lower) / RUNS
    least = 1 - r2t.failure - SIGMAS * sqrt(r2t.failure * (1 - r2t.failure) / RUNS)
    most = at_most(within / exact, Message("lab.tolerance.two_penalties"))
    yield compare(run, METHODS["r2t"], within / exact, published, most, kind="theory")
    cell = Message("lab.sql.race_to_the_top_answers_within")
    enough = at_least(least, Message("lab.tolerance.share_of_runs", sigmas=SIGMAS, runs=RUNS))
    yield compare(run, cell, 1 - r2t.failure, held, enough, kind="theory")
    for method, found in (
        ("unpenalised", values),
        ("r2t_cap", query.r2t_cap_errors(RUNS, rng)),
        ("chosen", query.chosen_cap_errors(RUNS, rng)),
    ):
        nearer = at_most(published, Message("lab.tolerance.no_worse_than_r2t"))
        error = median_error(found, exact)
        yield compare(run, METHODS[method], published, error, nearer, kind="simulation")


def _as_predicted(run: str, cell: str, scale: float, errors: Sequence[float], exact: int) -> Row:
    expected, found = scale * log(2) / exact, median_error(errors, exact)
    # Half a step more, because noise is whole.
    reach = (SIGMAS * scale / sqrt(len(errors)) + 0.5) / exact
    why = Message("lab.tolerance.median_of_noise", sigmas=SIGMAS, runs=len(errors))
    return compare(run, cell, expected, found, Tolerance(absolute=reach, why=why), kind="theory")


def _by_vault(known: Sequence[Row], path: Path) -> Iterator[Row]:
    """What anybody gets who asks: the planner's own choice, in an interval that holds the truth."""
    exact = {row.run: row.expected for row in known if row.cell == "exact answer"}
    questions = [(joins, distinct) for joins in (1, 2, 3, 4) for distinct in (False, True)]
    with Vault.open(path, rng=Seeded(708)) as vault:
        for run, (joins, distinct) in zip(exact, questions, strict=True):
            answer = vault.sql(query(joins, distinct=distinct), epsilon=EPSILON)
            interval = answer.interval(CONFIDENCE)
            truth = int(exact[run] or 0)
            cell = Message("lab.sql.answer_of_the_vault_in_an", confidence=CONFIDENCE)
            low, high = (truth, truth) if interval is None else interval
            # The interval holds the truth if the answer is no farther from it than its ends are.
            near = Tolerance(
                least=truth - (high - answer.value),
                most=truth + (answer.value - low),
                why=Message("lab.tolerance.interval", confidence=CONFIDENCE),
            )
            yield compare(run, cell, truth, answer.value, near, kind="theory")


def _scale(bound: SmoothBound) -> float:
    return float(smooth_scale(bound.bound, epsilon=EPSILON))


def median_error(errors: Sequence[float], exact: int) -> float:
    """The middle of the sizes of errors, over the exact answer."""
    return float(np.median(np.abs(np.array(errors, dtype=np.float64)))) / exact
