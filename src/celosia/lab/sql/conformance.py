"""The bounds that FLEX finds in its own tests.

The questions are SQL texts, compiled like anybody's; the rule is the published one, for neighbours
in which one row is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from celosia.accounting.amounts import Spending
from celosia.core.messages import Message
from celosia.core.neighbours import CHANGE_ONE
from celosia.core.progress import Progress
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import compare_equal, compare_printed
from celosia.lab.sql.flex import FlexFacts, flex_smooth
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.growth import Growth
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy
from celosia.queries.sql import compile as compiled

FREQUENCIES = FlexFacts(
    {
        ("orders", "order_id"): 1,
        ("orders", "customer_id"): 100,
        ("orders", "product_id"): 500,
        ("customers", "customer_id"): 1,
        ("customers", "address"): 5,
        ("recommendations", "customer_id"): 250,
        ("recommendations", "product_id"): 2000,
        ("products", "product_id"): 300,
    },
    frozenset({"products"}),
)
COLUMNS = {
    "orders": "order_id customer_id product_id order_date",
    "customers": "customer_id address name",
    "recommendations": "customer_id product_id",
    "products": "product_id",
}
_COUNT = "SELECT COUNT(*) FROM orders"
_TO_RECOMMENDATIONS = "JOIN recommendations ON orders.customer_id = recommendations.customer_id"
_TO_PRODUCTS = "JOIN products ON orders.product_id = products.product_id"
_TO_CUSTOMERS = "orders.customer_id = customers.customer_id"

Expected = dict[int, int]
QUESTIONS: tuple[tuple[str, str, Expected], ...] = (
    ("COUNT(*)", "SELECT COUNT(*) FROM orders", {0: 1, 25: 1}),
    ("COUNT(col)", "SELECT COUNT(order_id) FROM orders", {0: 1, 25: 1}),
    ("COUNT(DISTINCT col)", "SELECT COUNT(DISTINCT product_id) FROM orders", {0: 1, 25: 1}),
    ("WHERE", "SELECT COUNT(*) FROM orders WHERE product_id = 7", {0: 1, 25: 1}),
    ("CTE", "WITH o AS (SELECT order_id FROM orders) SELECT COUNT(*) FROM o", {0: 1, 25: 1}),
    (
        Message("lab.sql.histogram"),
        "SELECT order_date, COUNT(*) FROM orders GROUP BY order_date",
        {0: 2},
    ),
    (Message("lab.sql.join"), f"{_COUNT} {_TO_RECOMMENDATIONS}", {0: 250, 2: 252}),
    (
        Message("lab.sql.histogram_of_a_join"),
        "SELECT orders.product_id, COUNT(*) FROM orders JOIN recommendations "
        "ON orders.customer_id = recommendations.customer_id GROUP BY orders.product_id",
        {0: 500, 10: 520},
    ),
    (Message("lab.sql.comma_join"), f"{_COUNT}, customers WHERE {_TO_CUSTOMERS}", {0: 100}),
    (
        Message("lab.sql.comma_join_one_more_condition"),
        f"{_COUNT}, customers WHERE {_TO_CUSTOMERS} AND product_id = 7",
        {0: 100},
    ),
    (
        Message("lab.sql.two_keys"),
        f"{_COUNT} JOIN customers ON {_TO_CUSTOMERS} AND product_id = address",
        {0: 100},
    ),
    (
        Message("lab.sql.two_joins"),
        f"{_COUNT} JOIN customers ON orders.customer_id = address {_TO_RECOMMENDATIONS}",
        {0: 25_000, 10: 28_600, 25: 34_375},
    ),
    (Message("lab.sql.public_table"), f"{_COUNT} {_TO_PRODUCTS}", {0: 300, 25: 300}),
    (
        Message("lab.sql.public_table_then_a_private_one"),
        f"{_COUNT} {_TO_PRODUCTS} {_TO_RECOMMENDATIONS}",
        {0: 75_000, 25: 82_500},
    ),
    (
        Message("lab.sql.self_join_on_a_key"),
        "SELECT COUNT(*) FROM orders a JOIN orders b ON a.order_id = b.order_id",
        {0: 3},
    ),
    (
        Message("lab.sql.self_join"),
        "SELECT COUNT(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id",
        {0: 201, 2: 205, 15: 231},
    ),
    (
        Message("lab.sql.self_join_after_a_join"),
        f"{_COUNT} JOIN customers ON {_TO_CUSTOMERS} JOIN orders b ON orders.order_id = b.order_id",
        {0: 201},
    ),
    (
        Message("lab.sql.self_join_of_a_sub_query"),
        "WITH r AS (SELECT order_id FROM orders JOIN customers "
        "ON orders.order_id = customers.customer_id) "
        "SELECT COUNT(*) FROM r a JOIN r b ON a.order_id = b.order_id",
        {0: 3},
    ),
    (Message("lab.sql.public_tables_only"), "SELECT COUNT(*) FROM products", {0: 0, 25: 0}),
    (
        Message("lab.sql.public_self_join"),
        "SELECT COUNT(*) FROM products a JOIN products b ON a.product_id = b.product_id",
        {0: 0, 25: 0},
    ),
)

BY_PRODUCT = (
    "SELECT orders.product_id, COUNT(*) FROM orders JOIN recommendations "
    "ON orders.product_id = recommendations.product_id GROUP BY orders.product_id"
)


def rows(progress: Progress) -> list[Row]:
    """The bounds of all questions, and the noise of some."""
    return [*_bounds(), *_smoothed()]


def _bounds() -> Iterator[Row]:
    for name, query, expected in QUESTIONS:
        growth = bound(query)
        for distance, number in expected.items():
            yield compare_equal(
                Message("lab.sql.flex", name=name),
                Message("lab.sql.at_distance", distance=distance),
                number,
                growth.at(distance),
            )


def _smoothed() -> Iterator[Row]:
    queries = {name: query for name, query, _ in QUESTIONS}
    run = Message("lab.sql.flex_smoothed")
    for epsilon, scale in ((0.1, 20.0), (1.0, 2.0)):
        found, _ = flex_smooth(bound(queries["COUNT(*)"]), epsilon=epsilon, delta=1e-8)
        yield compare_equal(
            run, Message("lab.sql.count_epsilon_scale", epsilon=epsilon), scale, 2 * found / epsilon
        )
    found, distance = flex_smooth(bound(queries["join"]), epsilon=0.1, delta=1e-8)
    yield compare_printed(run, "lab.sql.join_epsilon_0_1_bound", "270.4590928149084", found)
    yield compare_equal(run, "lab.sql.join_epsilon_0_1_distance", 132, distance)
    yield compare_equal(run, "lab.sql.join_epsilon_0_1_scale", 5409.181856298167, 20 * found)
    found, distance = flex_smooth(bound(BY_PRODUCT), epsilon=0.1, delta=1e-8)
    yield compare_equal(run, "lab.sql.histogram_of_a_join_on_product", 80_000.0, 20 * found)
    yield compare_equal(run, "lab.sql.histogram_of_a_join_on_product_2", 0, distance)
    found, distance = flex_smooth(bound(queries["comma join"]), epsilon=0.1, delta=1e-10)
    yield compare_printed(
        run, "lab.sql.orders_and_customers_delta_1e_10", "215.4674322436261", found
    )
    yield compare_equal(run, "lab.sql.orders_and_customers_delta_1e_10_2", 374, distance)


def bound(query: str) -> Growth:
    """The published elastic sensitivity of a question to the shop of FLEX, at every distance."""
    question = compiled(query, policy())
    (count,) = question.aggregates
    return elastic_sensitivity(
        question, count, facts=FREQUENCIES, neighbours=CHANGE_ONE, rule="elastic"
    ).growth


@cache
def policy() -> Policy:
    """The shop of FLEX: private but for its products."""
    return Policy(
        name="flex",
        budget=Spending(epsilon=Fraction(1)),
        tables=tuple(
            TablePolicy(
                name=table,
                public=FREQUENCIES.is_public(table),
                columns=tuple(ColumnPolicy(name=name, type="integer") for name in names.split()),
            )
            for table, names in COLUMNS.items()
        ),
    )
