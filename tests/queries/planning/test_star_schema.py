"""Method "elastic" where entities of a graph are protected."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.queries.bounds.graphs import policy

from celosia.core.errors import QueryRefused
from celosia.queries.planning.planner import make_plan
from celosia.queries.planning.star_schema import StarSchemaStep
from celosia.queries.request import QueryRequest

POLICY = policy(("p", "q"), entity=True)
ROOTS = "SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE { ?x ex:p ?y . ?y ex:q ?z }"


def test_a_count_of_roots_is_planned_with_the_bound_of_stars() -> None:
    plan = make_plan(QueryRequest(ROOTS, epsilon=1, delta=1e-6, method="elastic"), POLICY)
    (step,), (part,) = plan.steps, plan.parts
    assert isinstance(step, StarSchemaStep)
    assert plan.method == "elastic"
    assert part.bound == "elastic sensitivity of entities (1 + mf(ex:p.object))"
    assert plan.delta == part.delta > 0


@pytest.mark.parametrize(
    ("query", "given", "delta", "code"),
    [
        (ROOTS, POLICY, 0, "CEL-Q148"),
        (ROOTS, replace(POLICY, elastic=False), 1e-6, "CEL-Q143"),
        (ROOTS.replace("?x) AS", "?y) AS"), POLICY, 1e-6, "CEL-Q072"),
        (ROOTS.replace("DISTINCT ?x", "*"), POLICY, 1e-6, "CEL-Q073"),
    ],
)
def test_what_it_cannot_promise_is_refused(
    query: str, given: object, delta: float, code: str
) -> None:
    with pytest.raises(QueryRefused) as refused:
        make_plan(QueryRequest(query, epsilon=1, delta=delta, method="elastic"), given)  # type: ignore[arg-type]
    assert refused.value.code == code
