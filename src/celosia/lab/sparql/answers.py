"""All query shapes on a graph of ours, at three epsilons, by four ways to bound them.

The broken analysis gets true frequencies, which are more than it had, and is still below what one
fact can move; corrected bounds for one fact and for one entity follow from frequencies and links
measured on the data, so they and their errors are for the curator only; and the planner's own
choice, which is what anybody gets who asks. Noise is drawn from a seed, so rows tell what one
answer looks like; each is checked against the size of its own noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from math import inf, isinf, log
from typing import Any

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.datasets.watdiv import watdiv
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.sparql.original_analysis import compat_scale
from celosia.lab.sparql.shop import (
    Private,
    Shop,
    ShopQuery,
    cached_executor,
    shop_queries,
    store_triples,
)
from celosia.lab.tolerance import Cell, Tolerance
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.queries.bounds.growth import Growth
from celosia.queries.bounds.noise import smooth_noise, smooth_scale
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth
from celosia.queries.planning import Plan
from celosia.queries.rdf.store_loader import check_parser
from celosia.queries.results import execute_plan

compare_equal, _ = comparing("program")

TRIPLES = 20_000
EPSILONS = (0.01, 0.1, 1.0)
DELTA = 1e-6
_SCOPE_NAMES: dict[Private, Message] = {
    "people": Message("lab.sparql.people"),
    "everything": Message("lab.sparql.everything"),
}
SCOPES: tuple[Private, ...] = tuple(_SCOPE_NAMES)
CONFIDENCE = 1 - 1e-7
"""Of each check: about a thousand are made."""
REACH = log(1 / (1 - CONFIDENCE))
"""Scales that Laplace noise keeps to with that chance."""
BROKEN, FACTS = Message("lab.sparql.broken_analysis"), Message("lab.sparql.one_fact_measured")
WHY_NOT = {
    "CEL-Q072": Message("lab.sparql.no_bound_links_lead_elsewhere"),
    "CEL-Q073": Message("lab.sparql.no_bound_a_cap_is_missing"),
}


def run_name(each: ShopQuery, epsilon: float) -> str:
    """The run of one answer."""
    return Message("lab.sparql.epsilon", name=each.name, epsilon=epsilon)


def rows(progress: Progress, *, triples: int = TRIPLES) -> list[Row]:
    """Every query at every epsilon: original, and of each way private, error and bound."""
    progress(Step(Message("lab.sparql.making_a_graph"), 0))
    rng = Seeded(2024)
    found: list[Row] = []
    with store_triples(triples) as folder, ExitStack() as stack:
        entities = {
            scope: stack.enter_context(Shop(folder, unit="entity", private=scope))
            for scope in SCOPES
        }
        facts = stack.enter_context(Shop(folder, unit="triple", private="everything"))
        oracle = _oracle(triples)
        wanted = shop_queries(triples, closed=False)
        for done, each in enumerate(wanted):
            progress(Step(Message("lab.sparql.answering", name=each.name), done, len(wanted)))
            found += _one(each, oracle(each.text), facts, entities, rng)
    return found


def _one(
    each: ShopQuery, truth: int, facts: Shop, entities: dict[Private, Shop], rng: Seeded
) -> Iterator[Row]:
    broken, of_fact, exact = facts.broken(each), facts.of_facts(each), facts.exact(each)
    stars = {scope: _of_entities(shop, each) for scope, shop in entities.items()}
    asks = {scope: cached_executor(shop.run) for scope, shop in entities.items()}
    for epsilon in EPSILONS:
        answer = _AnswerRows(run_name(each, epsilon), exact, epsilon, rng)
        yield compare_equal(answer.run, "lab.sparql.original", truth, exact)
        if broken is not None:
            yield from answer.broken(broken)
        yield from answer.smoothed(FACTS, of_fact)
        for scope, shop in entities.items():
            yield from answer.smoothed(
                Message("lab.sparql.one_entity_measured", scope=_SCOPE_NAMES[scope]), stars[scope]
            )
            plan = shop.plan(each, epsilon=epsilon)
            yield from answer.planned(
                Message("lab.sparql.one_entity_planned", scope=_SCOPE_NAMES[scope]),
                plan,
                asks[scope],
            )


@dataclass(frozen=True, slots=True)
class _AnswerRows:
    """One query at one epsilon."""

    run: str
    exact: int
    epsilon: float
    rng: Seeded

    def broken(self, bound: int) -> Iterator[Row]:
        scale = compat_scale(bound, epsilon=self.epsilon)
        # Whole noise of the same scale: the lab draws no doubles either.
        (noise,) = DiscreteLaplace(Fraction(scale)).draw(1, self.rng)
        yield from self._rows(BROKEN, int(noise), bound, REACH * scale)

    def smoothed(self, method: str, growth: Growth | str) -> Iterator[Row]:
        if isinstance(growth, str):
            yield self._told(Message("lab.sparql.bound", method=method), growth)
            return
        bound = smooth(growth, beta=choose_beta(self.epsilon, DELTA)).bound
        if not bound:
            yield from self._rows(method, 0, 0, 0)
            return
        (noise,) = smooth_noise(bound, epsilon=self.epsilon, size=1, rng=self.rng)
        reach = REACH * float(smooth_scale(bound, epsilon=self.epsilon))
        yield from self._rows(method, noise, float(bound), reach)

    def planned(self, method: str, plan: Plan, ask: Any) -> Iterator[Row]:
        if plan.method == "public":
            yield from self._rows(method, 0, Message("lab.sparql.public"), 0)
            return
        ((row, bounds),) = execute_plan(plan, ask, rng=self.rng).table(CONFIDENCE)
        (value,), (ends,) = row.values(), bounds.values()
        low, high = ends if ends is not None else (-inf, inf)
        found = float(value)
        # The interval holds the truth if the answer is no farther from it than its ends are.
        near = Tolerance(
            least=None if isinf(high) else self.exact - (float(high) - found),
            most=None if isinf(low) else self.exact + (found - float(low)),
            why=Message("lab.tolerance.interval", confidence=CONFIDENCE),
        )
        yield from self._compared(method, found, near)
        parts = reduce(
            lambda first, second: Message("lab.joined.semicolon", first=first, second=second),
            [
                Message("lab.joined.comma", first=plan.method, second=part.bound)
                for part in plan.parts
            ],
        )
        yield self._told(Message("lab.sparql.bound", method=method), parts)

    def _rows(self, method: str, noise: int, bound: float | str, reach: float) -> Iterator[Row]:
        # One more, because noise is whole.
        why = Message("lab.tolerance.laplace_chance", chance=1 - CONFIDENCE)
        yield from self._compared(
            method, self.exact + noise, Tolerance(absolute=reach + 1, why=why)
        )
        yield self._told(Message("lab.sparql.bound", method=method), bound)

    def _compared(self, method: str, answer: float, near: Tolerance) -> Iterator[Row]:
        cell = Message("lab.sparql.private", method=method)
        yield compare(self.run, cell, self.exact, answer, near, kind="program")
        yield self._told(Message("lab.sparql.error", method=method), abs(answer - self.exact))

    def _told(self, cell: str, value: Cell) -> Row:
        """What is shown beside an answer, and compared with nothing."""
        return Row(self.run, cell, None, value, not_run=Message("lab.not_run.told"))


def _of_entities(shop: Shop, each: ShopQuery) -> Growth | str:
    try:
        return shop.of_entities(each)
    except QueryRefused as refusal:
        return WHY_NOT.get(refusal.code, refusal.code)


def _oracle(triples: int) -> Any:
    """Counts of pyoxigraph, which shares nothing with our store but the facts."""
    check_parser()
    import pyoxigraph  # a second store, for this alone

    store = pyoxigraph.Store()
    for lines in watdiv(triples).lines():
        store.bulk_load(lines, format=pyoxigraph.RdfFormat.N_TRIPLES)
    return partial(_counted, store)


def _counted(store: Any, text: str) -> int:
    (row,) = store.query(text)
    return int(row[0].value)
