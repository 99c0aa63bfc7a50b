"""The four joins of the thesis asked of a shop of the TPC-H kind: exact numbers, bounds and noise.

The customer with all orders is protected by our own ways, and a single row by the elastic ones.
Parts and suppliers are public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.core.resources import WorkFolder
from celosia.datasets import Shop
from celosia.lab.sql.flex import FlexFacts, thesis_delta
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.queries.algebra import Question
from celosia.queries.bounds.capped_total import CappedTotal
from celosia.queries.bounds.caps import ladder
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.facts import DeclaredFacts, Facts
from celosia.queries.bounds.noise import smooth_noise
from celosia.queries.bounds.private_cap import ContributionSummary, PrivateCap
from celosia.queries.bounds.r2t import R2T
from celosia.queries.bounds.r2t_cap import R2TCap
from celosia.queries.bounds.smooth_sensitivity import SmoothBound, choose_beta, smooth
from celosia.queries.bounds.stability import Rule
from celosia.queries.emission import Target, contribution_totals_query
from celosia.queries.emission.contribution_levels import read_totals
from celosia.queries.ownership import attach_owners
from celosia.queries.policy import Policy, load_policy
from celosia.queries.policy.values import TablePolicy, Unit
from celosia.queries.sql import compile as compiled

EPSILON = 1
MOST = 2**20
"""What one customer may add where no cap is declared."""
CAPS = {("orders", "custkey"): 50, ("lineitem", "orderkey"): 7, ("partsupp", "partkey"): 4}
"""What is declared by the ways that need caps: the bounds of the benchmark, kept in truth."""
KEYS = (
    *CAPS,
    ("customer", "custkey"),
    ("orders", "orderkey"),
    ("lineitem", "partkey"),
    ("partsupp", "suppkey"),
    ("supplier", "suppkey"),
)
TIMEOUT = 600.0

_CHAIN = (
    "JOIN customer ON orders.custkey = customer.custkey",
    "JOIN lineitem ON orders.orderkey = lineitem.orderkey",
    "JOIN partsupp ON lineitem.partkey = partsupp.partkey",
    "JOIN supplier ON supplier.suppkey = partsupp.suppkey",
)


@dataclass(frozen=True, slots=True)
class JoinQuery:
    """One of the eight questions, and everything exact that answers are made of.

    For the curator's eyes only.
    """

    joins: int
    distinct: bool
    people: ContributionSummary
    published: SmoothBound
    """The bound of FLEX from true frequencies, all tables private, over all distances."""
    elastic: SmoothBound
    """Our bound from frequencies measured on the data, parts and suppliers public."""
    row_cap: int
    """The most that one row moves the answer, if the declared caps are kept."""
    customer_cap: int
    """The most that one customer adds, if the declared caps are kept."""

    @property
    def exact(self) -> int:
        """The exact answer."""
        return int(self.people.totals[-1])

    @property
    def name(self) -> str:
        """What is asked, in words."""
        key = "lab.sql.joins_distinct_orders" if self.distinct else "lab.sql.joins_rows"
        return Message(key, joins=self.joins)

    @staticmethod
    def elastic_errors(bound: SmoothBound, runs: int, rng: Source) -> list[int]:
        """Errors of answers by a smooth bound, one row protected."""
        return list(smooth_noise(bound.bound, epsilon=EPSILON, size=runs, rng=rng))

    def row_errors(self, runs: int, rng: Source) -> list[int]:
        """Errors of answers under declared caps, one row protected."""
        law = DiscreteLaplace(Fraction(self.row_cap) / EPSILON)
        return [int(each) for each in law.draw(runs, rng)]

    def capped_errors(self, runs: int, rng: Source) -> list[int]:
        """Errors of answers under a declared cap for each customer."""
        mechanism = CappedTotal(epsilon=EPSILON, cap=self.customer_cap)
        return [mechanism.release(self.exact, rng=rng) - self.exact for _ in range(runs)]

    def r2t_errors(self, runs: int, rng: Source) -> tuple[list[float], list[float]]:
        """Errors of the race to the top: of the published answer, and of ours without penalty."""
        r2t = R2T(epsilon=EPSILON, most=MOST)
        found = [r2t.measure(list(self.people.totals), rng=rng) for _ in range(runs)]
        lower = [each.parts["lower"] - self.exact for each in found]
        return lower, [each.value - self.exact for each in found]

    def r2t_cap_errors(self, runs: int, rng: Source) -> list[float]:
        """Errors under a cap that R2T chooses."""
        mechanism = R2TCap(epsilon=EPSILON, most=MOST)
        totals = list(self.people.totals)
        return [mechanism.release(totals, rng=rng) - self.exact for _ in range(runs)]

    def chosen_cap_errors(self, runs: int, rng: Source) -> list[float]:
        """Errors under a cap that is chosen by noisy numbers of customers."""
        mechanism = PrivateCap(epsilon=EPSILON, most=MOST)
        return [mechanism.release(self.people, rng=rng) - self.exact for _ in range(runs)]


def query(joins: int, *, distinct: bool) -> str:
    """The SQL text of a question.

    >>> query(1, distinct=True)[:36]
    'SELECT COUNT(DISTINCT orders.orderke'
    """
    start = "SELECT COUNT(DISTINCT orders.orderkey) FROM" if distinct else "SELECT COUNT(*) FROM"
    return " ".join([start, "orders", *_CHAIN[:joins]])


@contextmanager
def save_shop(shop: Shop) -> Iterator[Path]:
    """The policy file of a shop, beside its tables, for a while."""
    with WorkFolder() as folder:
        yield shop.save(folder)


def run_queries(
    shop: Shop, path: Path, *, joins: Sequence[int] = (1, 2, 3, 4), delta: float | None = None
) -> Iterator[JoinQuery]:
    """The questions, plain and distinct, with exact numbers from DuckDB.

    Args:
        shop: its tables, to measure frequencies on.
        path: of its policy, as `save_shop` gives it.
        joins: which of the four.
        delta: of the elastic bound; that of the thesis if None.
    """
    from celosia.engines import DuckDBEngine  # loads a database

    policy = load_policy(path)
    files = {table: policy.database.resolve_path(file) for table, file in policy.database.files}
    measured = DeclaredFacts(
        replace(policy, unit=Unit(), elastic=True),
        {(table, name): most_frequent(shop, table, name) for table, name in CAPS},
    )
    everything = FlexFacts({key: most_frequent(shop, *key) for key in KEYS})
    chance = thesis_delta() if delta is None else delta
    capped = DeclaredFacts(_with_caps(policy))
    caps, target = ladder(MOST), Target(policy=policy)
    with DuckDBEngine(files=files) as engine:
        for number in joins:
            for distinct in (False, True):
                question = compiled(query(number, distinct=distinct), policy)
                owned = attach_owners(question.source, policy=policy)
                made = contribution_totals_query(question, owned, caps=[caps], target=target)
                rows = engine.run(made, timeout=TIMEOUT)
                ((levels, totals),) = read_totals(rows, question, caps=[caps])
                people = ContributionSummary(levels, totals)
                yield JoinQuery(
                    joins=number,
                    distinct=distinct,
                    people=people,
                    published=_smooth(question, everything, chance, "elastic"),
                    elastic=_smooth(question, measured, chance, "tight"),
                    row_cap=_limit(question, capped),
                    customer_cap=CAPS["orders", "custkey"] if distinct else _of_customer(number),
                )


def most_frequent(shop: Shop, table: str, name: str) -> int:
    """The most rows of a table that share a value: it depends on the data."""
    return int(shop.tables[table][name].value_counts()["count"].max())  # type: ignore[arg-type]


def _smooth(question: Question, facts: Facts, delta: float, rule: Rule) -> SmoothBound:
    growth = elastic_sensitivity(question, question.aggregates[0], facts=facts, rule=rule).growth
    return smooth(growth, beta=choose_beta(EPSILON, delta))


def _limit(question: Question, facts: DeclaredFacts) -> int:
    limit = elastic_sensitivity(question, question.aggregates[0], facts=facts).limit
    assert limit is not None  # all keys have caps
    return int(limit)


def _of_customer(joins: int) -> int:
    """Orders of a customer, lines of each, suppliers of each part."""
    found = 1
    for cap in list(CAPS.values())[:joins]:
        found *= cap
    return found


def _with_caps(policy: Policy) -> Policy:
    return replace(policy, tables=tuple(_capped(table) for table in policy.tables), unit=Unit())


def _capped(table: TablePolicy) -> TablePolicy:
    columns = tuple(
        replace(each, most=CAPS.get((table.name, each.name), each.most)) for each in table.columns
    )
    return replace(table, columns=columns)
