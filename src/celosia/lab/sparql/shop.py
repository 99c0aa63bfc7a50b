"""The queries of WatDiv over a graph of ours: exact counts, and what entities add to them.

All of it is for the curator only only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sqlglot import exp

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.resources import Closeable, WorkFolder
from celosia.datasets.watdiv import QUERIES, Query, policy, watdiv
from celosia.lab.sparql.original_analysis import compat_sensitivity, list_frequencies, patterns
from celosia.queries.algebra import Question
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.facts import DeclaredFacts
from celosia.queries.bounds.growth import Growth
from celosia.queries.bounds.star_schema import find_required_links, star_bound
from celosia.queries.emission import Target, count_query, incidence_query
from celosia.queries.ownership import attach_owners
from celosia.queries.planning import Plan, make_plan
from celosia.queries.planning.star_schema import most_linked_query
from celosia.queries.policy import Policy, load_policy
from celosia.queries.request import QueryRequest
from celosia.queries.sessions import make_public_counter, open_engine
from celosia.queries.sparql import compile as compiled

if TYPE_CHECKING:
    from celosia.engines import SqlEngine

TIMEOUT = 600.0
Private = Literal["people", "everything"]
STORE = "watdiv.graph"


@dataclass(frozen=True, slots=True)
class ShopQuery:
    """One query in the form in which it is asked."""

    name: str
    """F1, or F1 open where a variable stands for the published constant."""
    query: Query
    text: str

    @property
    def pattern(self) -> str:
        """What is counted over, with the constants or variables of this form."""
        return self.text.partition("{ ")[2].rpartition(" }")[0]


def shop_queries(triples: int, *, closed: bool = True) -> list[ShopQuery]:
    """All queries over a graph of so many facts, the open form first."""
    found = []
    for name, query in QUERIES.items():
        if query.open is not None:
            found.append(ShopQuery(Message("lab.sparql.open", name=name), query, query.open))
        if query.open is None or closed:
            found.append(ShopQuery(name, query, query.fitting(triples)))
    return found


@contextmanager
def store_triples(triples: int, *, progress: Progress = silent) -> Iterator[Path]:
    """A folder with the store of a graph, for a while."""
    with WorkFolder() as folder:
        watdiv(triples).load(Path(folder) / STORE, progress=progress)
        yield Path(folder)


class Shop(Closeable):
    """A store under one of the policies of the generator, with its engine; a context manager."""

    def __init__(self, folder: Path, *, unit: Literal["entity", "triple"], private: Private):
        """Write the policy into the folder of the store, and open the store."""
        self.path = folder / f"{unit}-{private}.toml"
        self.path.write_text(policy(unit=unit, private=private, store=STORE), "utf-8")
        self.policy: Policy = load_policy(self.path)
        self._stack = ExitStack()
        self.engine: SqlEngine = open_engine(self.policy)
        self._stack.callback(self.engine.close)

    def close(self) -> None:
        """Let go of what it holds."""
        self._stack.close()

    @cached_property
    def elastic(self) -> Policy:
        """The same policy, with frequencies measured on the data."""
        return replace(self.policy, elastic=True)

    @cached_property
    def plain(self) -> Policy:
        """The same policy without caps, for counting as anybody would."""
        tables = tuple(
            replace(table, columns=tuple(replace(each, most=None) for each in table.columns))
            for table in self.policy.tables
        )
        return replace(self.policy, tables=tables)

    def run(self, tree: Any) -> Any:
        """The rows of a query."""
        return self.engine.run(tree, timeout=TIMEOUT)

    def question(self, each: ShopQuery) -> Question:
        """What is asked, in the algebra."""
        return compiled(each.text, self.policy)

    def exact(self, each: ShopQuery) -> int:
        """The count without noise, with all declared caps kept."""
        tree = count_query(self.question(each).source, target=Target(policy=self.policy))
        ((found,),) = self.run(tree)
        return int(found)

    def plan(self, each: ShopQuery, *, epsilon: float, method: str | None = None) -> Plan:
        """How the planner would answer."""
        count = make_public_counter(self.policy, self.run)
        return make_plan(
            QueryRequest(each.text, epsilon=epsilon, method=method), self.policy, count=count
        )

    def largest(self, each: ShopQuery) -> int:
        """The most solutions that one entity is a part of; 0 if none is private."""
        question = self.question(each)
        owned = attach_owners(question.source, policy=self.policy)
        if not owned.owners:
            return 0
        tree = incidence_query(question, owned, target=Target(policy=self.policy))
        found: Counter[int] = Counter()
        for *people, weight in self.run(tree):
            for person in set(people):  # all are entities, numbered together
                found[person] += int(weight)
        return max(found.values(), default=0)

    @cached_property
    def frequencies(self) -> dict[tuple[str, str], int]:
        """The most facts that share a value, by predicate and place."""
        return {
            (table.name, word): int(self.run(_most_frequent(table.name, word))[0][0])
            for table in self.policy.tables
            for word in ("subject", "object")
            if table.column(word) is not None
        }

    def broken(self, each: ShopQuery) -> int | None:
        """The sensitivity by the broken analysis, with true frequencies; None if it has none."""
        try:
            return compat_sensitivity(patterns(each.pattern), list_frequencies(self.frequencies))
        except ValueError:
            return None

    def of_facts(self, each: ShopQuery) -> Growth:
        """How far one fact moves the count, from measured frequencies and declared caps."""
        question = self.question(each)
        facts = DeclaredFacts(self.elastic, self.frequencies)
        return elastic_sensitivity(question, question.aggregates[0], facts=facts).growth

    def of_entities(self, each: ShopQuery) -> Growth:
        """How far one entity moves the count, from measured links and declared caps.

        Raises:
            QueryRefused: CEL-Q070, CEL-Q072, CEL-Q073 there is no bound.
        """
        question = self.question(each)
        stars, links = find_required_links(question, policy=self.elastic)
        target = Target(policy=self.elastic)
        measured = {
            link.name: int(self.run(most_linked_query(stars, link, target=target))[0][0])
            for link in links
        }
        return star_bound(question, policy=self.elastic, measured=measured)


def _most_frequent(table: str, word: str) -> exp.Expr:
    facts = exp.Table(this=exp.to_identifier(table, quoted=True))
    counted = exp.alias_(exp.Count(this=exp.Star()), "n")
    sizes = exp.Select(expressions=[counted], from_=exp.From(this=facts)).group_by(
        exp.column(word, quoted=True)
    )
    most = exp.func("COALESCE", exp.Max(this=exp.column("n")), exp.Literal.number(0))
    return exp.Select(expressions=[most], from_=exp.From(this=sizes.subquery("sizes")))


def cached_executor(ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An engine that is asked every question once."""
    kept: dict[str, Any] = {}

    def remembered(tree: Any) -> Any:
        words = tree.sql("duckdb")
        if words not in kept:
            kept[words] = ask(tree)
        return kept[words]

    return remembered
