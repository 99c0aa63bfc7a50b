"""Counts over a graph of a shop: median errors of 20 answers in per cent, and seconds.

All queries of WatDiv with their published constants, and open, with a variable in the place of the
constant, over a million facts of our generator (`--rows` is the number of facts). Epsilon is 1, and
an entity is protected with all its private facts: `people` has the catalogue public, `everything`
nothing. A count is large enough to be answered well if it is 500 times what the largest entity adds
to it; the bar is then 10 per cent. `what helps` tells of all others why they miss it, the epsilon
at which they would not, and the error if entities are counted instead of solutions.

Seconds are those of one answer: private, of a whole vault with planning and ledger; plain, the same
count over the same store without caps or noise; and of pyoxigraph, which has all facts in memory.
The bar is twice plain after 100 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench.timing import once, seconds
from celosia.core.randomness import Seeded
from celosia.datasets.watdiv import watdiv
from celosia.lab.sparql.shop import Shop, ShopQuery, cached_executor, shop_queries, store_triples
from celosia.queries.bounds.r2t_program import Incidence, program_totals
from celosia.queries.emission import Target, count_query, distinct_count_query
from celosia.queries.planning import Plan, linear_programs
from celosia.queries.results import execute_plan
from celosia.queries.vault import Vault

RUNS = 20
FEW_RUNS = 5
TRIPLES = 1_000_000
EPSILON = 1.0
LARGE, PER_CENT = 500, 10.0
ALLOWANCE = 0.1
"""Seconds for planning, the ledger and noise, before times are compared."""
SCOPES = ("people", "everything")


def run(*, rows: int = TRIPLES) -> dict[str, dict[str, Any]]:
    """Errors in per cent by query and policy, what helps where they are large, and seconds."""
    graph, wanted = watdiv(rows), shop_queries(rows)
    found: dict[str, dict[str, Any]] = {"graph": {str(graph): ""}, "count": {}}
    with store_triples(rows) as folder:
        with _programs_once():
            for scope in SCOPES:
                found |= _useful(folder, wanted, scope, found["count"])
        found |= _costs(folder, wanted, rows)
    return found


def _useful(
    folder: Path, wanted: list[ShopQuery], scope: Any, counts: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    errors: dict[str, Any] = {}
    adds: dict[str, Any] = {}
    methods: dict[str, Any] = {}
    helps: dict[str, Any] = {}
    large: list[str] = []
    rng = Seeded(2026)
    with Shop(folder, unit="entity", private=scope) as shop:
        ask = cached_executor(shop.run)
        for each in wanted:
            exact, largest = shop.exact(each), shop.largest(each)
            counts[each.name], adds[each.name] = exact, largest
            plan = shop.plan(each, epsilon=EPSILON)
            methods[each.name] = plan.method
            error = _error(plan, exact, ask, rng)
            errors[each.name] = _short(error)
            if exact and exact >= LARGE * largest:
                large.append(each.name)
            elif not exact or error >= PER_CENT:
                helps[each.name] = _advice(shop, each, exact, largest)
    useful = [name for name in large if errors[name] < PER_CENT]
    return {
        f"one entity adds at most, {scope}": adds,
        f"method, {scope}": methods,
        f"per cent, {scope}": errors,
        f"what helps, {scope}": helps,
        f"useful, {scope}": {
            f"counts of {LARGE} largest entities and more": len(large),
            f"of them below {PER_CENT:g} per cent": len(useful),
            "others": ", ".join(name for name in large if name not in useful) or "none",
        },
    }


def _error(plan: Plan, exact: int, ask: Any, rng: Seeded, runs: int = RUNS) -> float:
    """The median error in per cent."""
    if plan.method == "public":
        return 0.0
    values: list[Any] = []
    for _ in range(runs):
        ((row, _),) = execute_plan(plan, ask, rng=rng).table(0.95)
        values += row.values()
    off = median(abs(value - exact) for value in values)
    return float(100 * off / exact) if exact else inf


def _advice(shop: Shop, each: ShopQuery, exact: int, largest: int) -> str:
    """Why a count is far off, and what would bring it near."""
    if not exact:
        return "nothing to count: noise is all there is"
    told = f"one entity is behind 1 / {exact / max(largest, 1):.0f} of it"
    ask, rng = cached_executor(shop.run), Seeded(1)
    for epsilon in (3.0, 10.0, 30.0, 100.0):
        plan = shop.plan(each, epsilon=epsilon)
        if _error(plan, exact, ask, rng, FEW_RUNS) < PER_CENT:
            told += f"; epsilon {epsilon:g} is enough"
            break
    best = min(_distinct(shop, each), default=None)
    if best is not None:
        told += f"; {best[2]:,} different {best[1]}: typically {_short(best[0])} per cent"
    return told


def _distinct(shop: Shop, each: ShopQuery) -> Iterator[tuple[float, str, int]]:
    """Expected errors of counts of different entities, for each subject that is a variable."""
    for variable in dict.fromkeys(re.findall(r"(?:^|\. )(\?v\d+) ", each.pattern)):
        text = re.sub(r"COUNT\(\?v\d+\)", f"COUNT(DISTINCT {variable})", each.text)
        counted = ShopQuery(each.name, each.query, text)
        plan, question = shop.plan(counted, epsilon=EPSILON), shop.question(counted)
        column = question.aggregates[0].argument
        assert column is not None
        tree = distinct_count_query(question.source, column, target=Target(policy=shop.policy))
        exact = int(shop.run(tree)[0][0])
        error = sum(part.error for part in plan.parts if part.error is not None)
        if exact and plan.method != "public":
            yield 100 * error / exact, variable, exact


def _costs(folder: Path, wanted: list[ShopQuery], rows: int) -> dict[str, dict[str, Any]]:
    plain: dict[str, float] = {}
    private: dict[str, float] = {}
    times: dict[str, float] = {}
    slower: dict[str, float] = {}
    oxigraph = _oxigraph(wanted, rows)
    for scope in SCOPES:
        with Shop(folder, unit="entity", private=scope) as shop:  # type: ignore[arg-type]
            target = Target(policy=shop.plain)
            with Vault.open(shop.path, rng=Seeded(1)) as vault:
                for each in wanted:
                    tree = count_query(shop.question(each).source, target=target)
                    name = f"{each.name}, {scope}"
                    plain[name] = seconds(partial(shop.run, tree), repeat=3)
                    private[name] = _answered(vault, each)
                    times[name] = max(0.0, private[name] - ALLOWANCE) / plain[name]
                    slower[name] = private[name] / oxigraph[each.name]
    return {
        "seconds, plain": {name: round(value, 4) for name, value in plain.items()},
        "seconds, private": {name: round(value, 4) for name, value in private.items()},
        "seconds, pyoxigraph": {name: round(value, 4) for name, value in oxigraph.items()},
        "times plain, after 100 ms": {name: round(value, 2) for name, value in times.items()},
        "times pyoxigraph": {name: round(value, 2) for name, value in slower.items()},
        "cost": {
            "answers": len(times),
            "within twice plain and 100 ms": sum(value <= 2 for value in times.values()),
            "within pyoxigraph and 100 ms": sum(
                private[f"{name}, {scope}"] <= value + ALLOWANCE
                for name, value in oxigraph.items()
                for scope in SCOPES
            ),
        },
    }


def _answered(vault: Vault, each: ShopQuery) -> float:
    """The median time of three answers, each to another question."""
    times = []
    for number in range(4):
        started = perf_counter()
        vault.sparql(each.text, epsilon=0.01 + number * 1e-6)
        times.append(perf_counter() - started)
    return median(times[1:])


def _oxigraph(wanted: list[ShopQuery], rows: int) -> dict[str, float]:
    import pyoxigraph  # for comparison only

    store = pyoxigraph.Store()
    lines = b"".join(watdiv(rows).lines())
    store.bulk_load(lines, format=pyoxigraph.RdfFormat.N_TRIPLES)
    found = {}
    for each in wanted:
        ask = partial(_first, store, each.text)
        first = once(ask)
        found[each.name] = first if first > 1 else seconds(ask, repeat=3)
    return found


def _first(store: Any, text: str) -> Any:
    return next(iter(store.query(text)))


def _short(number: float) -> float:
    return float(f"{number:.3g}")


@contextmanager
def _programs_once() -> Iterator[None]:
    """Solve every linear program once: all answers of a plan share it, and only noise differs."""
    kept: dict[Any, Any] = {}

    def remembered(incidence: Incidence, caps: Any) -> Any:
        arrays = (incidence.rows, incidence.people, incidence.amounts, incidence.results)
        key = (*(None if each is None else each.tobytes() for each in arrays), tuple(caps))
        if key not in kept:
            kept[key] = program_totals(incidence, caps)
        return kept[key]

    vars(linear_programs)["program_totals"] = remembered
    try:
        yield
    finally:
        vars(linear_programs)["program_totals"] = program_totals
