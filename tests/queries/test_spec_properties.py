"""The properties that the specification of private queries asks for, and where each is tested."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log, prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.queries.bounds import graphs
from tests.queries.bounds.evaluator import answer
from tests.queries.bounds.neighbours import Tables, local
from tests.queries.bounds.plain_facts import PlainFacts
from tests.queries.named_tests import is_there
from tests.queries.vaults import BY_ROW, opened, shop
from tests.tables.models.small_classes import classes_of, column_of

from celosia.core.errors import QueryRefused
from celosia.core.randomness import Seeded
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.queries.algebra import Aggregate, Column, Join, Question, Scan
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.noise import smooth_noise
from celosia.queries.bounds.smooth_sensitivity import smooth
from celosia.queries.bounds.star_schema import star_bound
from celosia.queries.planning import make_plan
from celosia.queries.planning.elastic import ElasticStep
from celosia.queries.policy import read_policy
from celosia.queries.request import QueryRequest
from celosia.queries.results import execute_plan
from celosia.tables.models import DistinctDiversity, KAnonymity

BOUNDS = "tests/queries/bounds/"
HERE = "tests/queries/test_spec_properties.py::"
COMPAT = "tests/lab/sparql/test_original_analysis.py::"
PROPERTIES: dict[int, list[str]] = {
    1: [
        BOUNDS + "test_local_sensitivity.py::"
        "test_local_sensitivity_never_exceeds_the_bound_at_distance_0",
        BOUNDS + "test_local_sensitivity.py::"
        "test_local_sensitivity_of_every_neighbour_never_exceeds_the_bound_at_distance_1",
        BOUNDS + "test_graph_sensitivity.py::"
        "test_local_sensitivity_never_exceeds_the_bound_at_distance_0",
        BOUNDS + "test_graph_sensitivity.py::"
        "test_local_sensitivity_of_every_neighbour_never_exceeds_the_bound_at_distance_1",
    ],
    2: [
        BOUNDS + "test_local_sensitivity.py::"
        "test_smooth_bounds_of_neighbours_differ_by_a_factor_of_at_most_e_to_the_beta"
    ],
    3: [
        BOUNDS + "test_local_sensitivity.py::test_bounds_do_not_fall_with_the_distance",
        BOUNDS + "test_smooth_sensitivity.py::test_bounds_and_scales_fall_with_epsilon_and_delta",
    ],
    4: [BOUNDS + "test_smooth_sensitivity.py::test_the_search_goes_on_after_the_first_decrease"],
    5: [
        HERE + "test_the_counter_example_of_three_patterns_has_the_bound_of_its_size",
        BOUNDS + "test_graph_bounds.py::test_the_graph_on_which_the_first_analysis_failed",
        COMPAT + "test_the_broken_analysis_says_6_where_one_fact_moves_any_number",
    ],
    6: [
        COMPAT + "test_the_fifteen_printed_sensitivities",
        COMPAT + "test_the_sensitivities_of_stars_follow_their_recurrence",
    ],
    7: [
        "tests/lab/sql/test_flex.py::test_the_four_printed_sensitivities",
        "tests/lab/sql/test_flex.py::test_the_twelve_bounds_behind_the_columns",
    ],
    8: [
        HERE + "test_the_frequency_that_is_measured_is_that_of_the_most_frequent_value",
        BOUNDS + "test_graph_bounds.py::"
        "test_the_measured_frequency_is_the_largest_and_not_that_of_the_last_term",
    ],
    9: [HERE + "test_noise_has_the_mean_the_median_and_the_signs_of_laplace"],
    10: [
        HERE + "test_outputs_of_neighbours_differ_by_at_most_e_to_the_epsilon",
        "tests/queries/test_secrecy.py::test_an_audit_of_the_whole_way_finds_no_violation",
    ],
    11: [
        BOUNDS + "test_stability.py::test_the_order_in_which_joins_are_written_does_not_matter",
        BOUNDS + "test_local_sensitivity.py::"
        "test_all_orders_and_tables_apart_are_never_looser_than_the_published_rule",
    ],
    12: [
        "tests/queries/test_answers.py::test_public_tables_are_answered_exactly_for_nothing",
        BOUNDS + "test_stability.py::"
        "test_capped_functional_stars_have_sensitivity_1_at_every_distance",
        BOUNDS + "test_graph_bounds.py::"
        "test_a_star_of_functional_properties_has_sensitivity_1_at_every_distance",
    ],
    13: [
        "tests/queries/threats/test_accounts.py::"
        "test_ten_times_a_tenth_is_one_and_the_eleventh_touches_nothing",
        "tests/accounting/ledger/test_ledger.py::test_deltas_are_spent_too",
    ],
    14: [
        "tests/queries/test_secrecy.py::"
        "test_a_released_answer_holds_no_true_count_scale_or_frequency"
    ],
    15: [
        HERE + "test_chains_of_stars_have_the_bound_of_their_links",
        BOUNDS + "test_star_schema.py::"
        "test_no_change_of_an_entity_moves_a_count_of_roots_by_more_than_the_bound",
        BOUNDS + "test_star_schema.py::test_what_has_no_bound_is_refused",
    ],
    16: [HERE + "test_published_tables_have_the_k_and_the_l_that_are_said"],
    17: [
        "tests/lab/sql/test_study.py::test_every_part_is_reproduced",
        "tests/lab/sparql/test_study.py::"
        "test_every_shape_is_answered_at_every_epsilon_by_every_way",
    ],
}


@pytest.mark.parametrize("number", PROPERTIES)
def test_the_tests_of_a_property_are_there(number: int) -> None:
    assert [name for name in PROPERTIES[number] if not is_there(name)] == []


@pytest.mark.parametrize("links", [(3,), (3, 2)])
def test_chains_of_stars_have_the_bound_of_their_links(links: tuple[int, ...]) -> None:
    """Property 15: mp + k, and (mp1 + k)(mp2 + k), where an entity is of one class.

    An entity may be of all classes, so a vault adds up the stars that it can be the centre of.
    """
    names = ("p", "q", "r")[: len(links) + 1]
    policy = graphs.policy(names, entity=True)
    assert policy.graph is not None
    classes = tuple((name, (f"ex:{name}",)) for name in names)
    apart = replace(policy, graph=replace(policy.graph, classes=classes))
    pattern = " . ".join(f"?v{place} {name} ?v{place + 1}" for place, name in enumerate(names))
    question = graphs.question(pattern, policy, "DISTINCT ?v0")
    measured = {f"t{place}": number for place, number in enumerate(links, start=1)}
    one = star_bound(question, policy=apart, measured=measured, one_class_each=True)
    whole = star_bound(question, policy=apart, measured=measured)
    for k in range(5):
        products = [prod(each + k for each in links[:place]) for place in range(len(links) + 1)]
        assert one.at(k) == max(products) == products[-1]
        assert whole.at(k) == sum(products)
    wrong = graphs.question(pattern, policy, "DISTINCT ?v1")
    with pytest.raises(QueryRefused) as refused:
        star_bound(wrong, policy=policy, measured=measured)
    assert refused.value.code == "CEL-Q072"


@pytest.mark.parametrize("size", [5, 10, 20, 50])
def test_the_counter_example_of_three_patterns_has_the_bound_of_its_size(size: int) -> None:
    """Property 5: one more row of the last table meets all of the others."""
    p, q, r = Scan("P", "p"), Scan("Q", "q"), Scan("R", "r")
    first = Join(p, q, ((Column("p", "x"), Column("q", "x")),))
    source = Join(first, r, ((Column("q", "y"), Column("r", "y")),))
    question = Question(source, (Aggregate("rows", "n"),))
    database: Tables = {
        "P": [{"x": n, "y": 0} for n in range(size)],
        "Q": [{"x": n, "y": 0} for n in range(size)],
        "R": [{"x": 1, "y": 0}],
    }
    known = {("P", "x"): 1, ("Q", "x"): 1, ("Q", "y"): size, ("R", "y"): 1}
    bound = elastic_sensitivity(
        question, question.aggregates[0], facts=PlainFacts(known), rule="elastic"
    )

    def ask(tables: Tables) -> dict[tuple[Any, ...], Any]:
        return {(): answer(question, tables)[()][0]}

    assert local(ask, database, "R", [{"x": 0, "y": 0}]) == size
    assert [bound.at(0), bound.at(1)] == [size, 2 * (size + 1)]


ELASTIC = replace(BY_ROW, elastic=True)
TRIPLES = [("a", 1), ("b", 1), ("b", 2), ("c", 1), ("c", 2), ("c", 3)]


def test_the_frequency_that_is_measured_is_that_of_the_most_frequent_value(tmp_path: Path) -> None:
    """Property 8: a self-join on the subject asks for it; 3, not the 1 of the first subject."""
    names = {"a": 1, "b": 2, "c": 3}
    rows = shop(Random(1)) | {
        "message": [{"sender": names[subject], "receiver": value} for subject, value in TRIPLES]
    }
    query = "SELECT COUNT(*) AS n FROM message m JOIN message w ON m.sender = w.sender"
    with opened(rows, tmp_path, ELASTIC) as vault:
        plan = vault.explain(query, epsilon=1, delta=1e-6, method="elastic")
        told: list[Any] = []

        def ask(tree: Any) -> Any:
            told.append(vault._ask(tree))
            return told[-1]

        execute_plan(plan, ask, rng=Seeded(1))
    assert told == [[(14, 3)]]


@pytest.mark.statistical
@pytest.mark.parametrize("draw", ["noise", "secret scale"])
def test_noise_has_the_mean_the_median_and_the_signs_of_laplace(draw: str) -> None:
    """Property 9: 2 % are 6 standard errors of the mean of 1e5 draws and 4.4 of the median."""
    scale, size = 5000, 100_000

    def drawn(seed: int) -> Any:
        if draw == "noise":
            return DiscreteLaplace(Fraction(scale)).draw(size, Seeded(seed))
        return np.array(smooth_noise(Fraction(2500), epsilon=1, size=size, rng=Seeded(seed)))

    noise = drawn(7)
    assert abs(np.abs(noise).mean() / scale - 1) < 0.02
    assert abs(np.median(np.abs(noise)) / (scale * log(2)) - 1) < 0.02
    assert abs((noise > 0).mean() - 0.5) < 5 * 0.5 / size**0.5
    assert (noise == drawn(7)).all()
    assert (noise != drawn(8)).any()


def test_noise_of_a_measured_scale_is_drawn_for_the_epsilon_that_is_charged(tmp_path: Path) -> None:
    query = "SELECT COUNT(*) AS n FROM orders o JOIN orders q ON o.person = q.person"
    with opened(shop(Random(3), people=6, orders=20), tmp_path, ELASTIC) as vault:
        plan = vault.explain(query, epsilon=1, delta=1e-6, method="elastic")
        (step,) = plan.steps
        assert isinstance(step, ElasticStep)
        ((exact, *counts),) = vault._ask(*step.queries(None))
        measured = dict(zip(step.columns, map(int, counts), strict=True))
        (bound,) = [step._bound(total, measured) for total in step.totals]
        scale = smooth(bound.growth, beta=step.beta).bound * bound.unit
        (noise,) = smooth_noise(scale, epsilon=Fraction(plan.epsilon), size=1, rng=Seeded(1))
        (found,) = step.measure(vault._ask, group_keys=None, rng=Seeded(1))
    assert noise != 0
    assert found.values == (int(exact) + noise,)


@pytest.mark.statistical
def test_outputs_of_neighbours_differ_by_at_most_e_to_the_epsilon(tmp_path: Path) -> None:
    """Property 10, for noise of a secret scale: bins with 100 outputs or more, 5 errors."""
    rows = shop(Random(3), people=6, orders=20)
    fewer = rows | {"orders": rows["orders"][1:]}
    query = "SELECT COUNT(*) AS n FROM orders o JOIN orders q ON o.person = q.person"
    counts = []
    for each in (rows, fewer):
        with opened(each, tmp_path, ELASTIC) as vault:
            plan = vault.explain(query, epsilon=1, delta=1e-6, method="elastic")
            (step,) = plan.steps
            told: list[Any] = []

            def ask(tree: Any, *, of: Any = vault, kept: list[Any] = told) -> Any:
                if not kept:
                    kept.append(of._ask(tree))
                return kept[0]

            values = [
                step.measure(ask, group_keys=None, rng=Seeded(seed))[0].values[0]
                for seed in range(1000)
            ]
        edges = [-np.inf, -200, -100, -50, 0, 25, 50, 75, 100, 150, 200, 300, np.inf]
        counts.append(np.histogram(values, edges)[0])
    seen = 0
    for one, other in zip(*counts, strict=True):
        if min(one, other) >= 100:
            seen += 1
            slack = 5 * (1 / one + 1 / other) ** 0.5
            assert abs(log(one / other)) <= 1 + slack
    assert seen >= 3


TABLES: dict[str, tuple[list[tuple[str, list[str]]], int, int]] = {
    "figure 3, anonymised": (
        [
            ("122**, 18-19, M", ["Arthritis", "Cold"]),
            ("*, 27, *", ["Heart problem", "Flu", "Arthritis"]),
            ("12391, >=30, F", ["Diabetes", "Flu"]),
        ],
        2,
        2,
    ),
    "table 1": (
        [
            ("130XX, <30", ["Heart", "Heart", "Viral", "Viral"]),
            ("1485X, >=40", ["Cancer", "Heart", "Viral", "Viral"]),
            ("130XX, 3X", ["Cancer"] * 4),
        ],
        4,
        1,
    ),
    "table 2": (
        [
            ("1305X, <=40", ["Heart", "Viral", "Cancer", "Cancer"]),
            ("1485X, >40", ["Cancer", "Heart", "Viral", "Viral"]),
            ("1306X, <=40", ["Heart", "Viral", "Cancer", "Cancer"]),
        ],
        4,
        3,
    ),
    "table 3": (
        [
            ("476**, 2*", ["gastric ulcer", "gastritis", "stomach cancer"]),
            ("4790*, >=40", ["gastritis", "flu", "bronchitis"]),
            ("476**, 3*", ["bronchitis", "pneumonia", "stomach cancer"]),
        ],
        3,
        3,
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_published_tables_have_the_k_and_the_l_that_are_said(name: str) -> None:
    """Property 16."""
    groups, k, most = TABLES[name]
    values = sorted({value for _, found in groups for value in found})
    counts = [[found.count(value) for value in values] for _, found in groups]
    classes = classes_of(column_of(np.sum(counts, axis=0).tolist()), counts)
    assert KAnonymity(k).holds(classes).all()
    assert not KAnonymity(k + 1).holds(classes).all()
    if most > 1:
        assert DistinctDiversity(most, "disease").holds(classes).all()
    assert not DistinctDiversity(most + 1, "disease").holds(classes).all()


FLEX = read_policy(
    """
name = "flex"
database = { path = "flex.duckdb" }
unit = { name = "row" }
budget = { epsilon = 1 }
[tables.orders.columns]
order_id = { type = "integer", unique = true }
customer_id = { type = "integer", most = 100 }
product_id = { type = "integer", most = 500 }
order_date = { type = "text", keys = ["monday", "sunday"] }
price = "number"
[tables.customers.columns]
customer_id = { type = "integer", unique = true }
address = { type = "integer", most = 5 }
name = "text"
"""
)
REFUSED = {
    "rows": "SELECT order_id FROM orders",
    "sum without bounds": "SELECT SUM(price) FROM orders",
    "average without bounds": "SELECT AVG(price) FROM orders",
    "least without bounds": "SELECT MIN(price) FROM orders",
    "largest without bounds": "SELECT MAX(price) FROM orders",
    "count and a constant": "SELECT COUNT(*) + 100 FROM orders",
    "count divided": "SELECT COUNT(*) AS mycount, mycount / 100 FROM orders",
    "count divided outside": "SELECT n / 100 FROM (SELECT COUNT(*) AS n FROM orders) AS o",
    "rounded count": "SELECT ROUND(COUNT(*)) FROM orders",
    "cross join": "SELECT COUNT(*) FROM orders CROSS JOIN customers",
    "join by <": "SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer_id < c.customer_id",
    "join on a constant": "SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer_id = 1",
    "join on TRUE": "SELECT COUNT(*) FROM orders o JOIN customers c ON TRUE",
    "columns of one side": "SELECT COUNT(*) FROM orders o JOIN customers c "
    "ON o.customer_id = o.product_id",
    "join by OR": "SELECT COUNT(*) FROM orders o JOIN customers c "
    "ON o.customer_id = c.customer_id OR o.product_id = c.address",
    "missing frequency": "SELECT COUNT(*) FROM customers a JOIN customers b ON a.name = b.name",
    "join on a rounded key": "SELECT COUNT(*) FROM orders o JOIN customers c "
    "ON ROUND(o.customer_id) = c.customer_id",
    "join on a shifted key": "SELECT COUNT(*) FROM orders o JOIN customers c "
    "ON o.customer_id + 1 = c.customer_id",
    "join on an aggregate": "SELECT COUNT(*) FROM customers c "
    "JOIN (SELECT COUNT(*) AS n FROM orders) AS o ON o.n = c.customer_id",
    "protected key": "SELECT name, COUNT(*) FROM customers GROUP BY name",
    "expression of a protected key": "SELECT UPPER(name) AS u, COUNT(*) FROM customers GROUP BY 1",
    "NOT IN": "SELECT COUNT(*) FROM customers WHERE name NOT IN (SELECT name FROM customers)",
    "EXISTS without a frequency": "SELECT COUNT(*) FROM customers a "
    "WHERE EXISTS (SELECT 1 FROM customers b WHERE b.name = a.name)",
    "left join": "SELECT COUNT(*) FROM orders o LEFT JOIN customers c USING (customer_id)",
    "full join": "SELECT COUNT(*) FROM orders o FULL JOIN customers c USING (customer_id)",
    "UNION": "SELECT COUNT(*) FROM (SELECT customer_id FROM orders UNION "
    "SELECT customer_id FROM customers) AS u",
    "EXCEPT": "SELECT COUNT(*) FROM (SELECT customer_id FROM orders EXCEPT "
    "SELECT customer_id FROM customers) AS u",
}


@pytest.mark.parametrize("name", REFUSED)
def test_every_line_of_the_refusal_list_is_refused_with_a_reason(name: str) -> None:
    """Section 5.2: refused from the policy and the question alone; there is no database here."""
    with pytest.raises(QueryRefused) as refused:
        make_plan(QueryRequest(REFUSED[name], epsilon=1), FLEX)
    assert refused.value.what
    assert refused.value.why
    assert refused.value.fix


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) FROM orders",
        "SELECT COUNT(DISTINCT customer_id) FROM orders WHERE product_id = 3",
        "SELECT order_date, COUNT(*) FROM orders GROUP BY order_date",
        "SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer_id = c.customer_id",
        "SELECT COUNT(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id",
    ],
)
def test_what_is_beside_the_refusal_list_is_answered(query: str) -> None:
    assert make_plan(QueryRequest(query, epsilon=1), FLEX).epsilon == 1
