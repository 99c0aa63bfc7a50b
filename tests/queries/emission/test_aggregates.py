from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from random import Random

import pytest
import sqlglot
from tests.effort import examples
from tests.queries.bounds import evaluator
from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import POLICY, Rows, Trees, database, tree

from celosia.core.errors import InputError, QueryRefused
from celosia.queries.algebra import (
    Aggregate,
    Column,
    DerivedTable,
    Filter,
    Join,
    Key,
    NamedExpression,
    Question,
    Relation,
    Scan,
    SemiJoin,
)
from celosia.queries.emission import (
    FixedPoint,
    Target,
    count_query,
    distinct_count_query,
    grouped_query,
    sum_query,
)
from celosia.queries.ownership import attach_owners

ORDERS = Scan("orders", "o")
FIXED = FixedPoint(lower=Fraction(-1), upper=Fraction(3), step=Fraction(1, 4))


def steps(value: float | None, fixed: FixedPoint = FIXED) -> int:
    """The plain meaning of a fixed-point value, for values that lie on the grid."""
    if value is None or math.isnan(value):
        return 0
    if math.isinf(value):
        return fixed.high if value > 0 else fixed.low
    return min(max(round(Fraction(value) / fixed.step), fixed.low), fixed.high)


def test_random_relations_are_counted_as_the_evaluator_counts_them(bench: Bench) -> None:
    for seed in range(examples(50)):
        random = Random(seed)
        rows = database(random)
        bench.load(rows)
        for _ in range(6):
            relation, columns = Trees(random).relation(random.choice([1, 2, 2, 3]))
            column = random.choice(columns)[1]
            argument = tree(f'{column.relation}."{column.name}"')
            found = evaluator.rows(relation, rows)
            values = [row[column] for row in found if row[column] is not None]
            target = bench.target()
            assert bench.ask(count_query(relation, target=target)) == [(len(found),)]
            answer = bench.ask(count_query(relation, target=target, argument=argument))
            assert answer == [(len(values),)]
            answer = bench.ask(distinct_count_query(relation, argument, target=target))
            assert answer == [(len(set(values)),)]
            total = bench.ask(sum_query(relation, argument, fixed=FIXED, target=target))
            assert total == [(sum(steps(each) for each in values),)]


def test_random_groups_are_those_of_the_evaluator(bench: Bench) -> None:
    for seed in range(15):
        random = Random(seed)
        rows = database(random)
        bench.load(rows)
        relation, columns = Trees(random).relation(random.choice([1, 2]))
        drawn = [random.choice(columns)[1] for _ in range(3)]
        first, second, third = (tree(f'{each.relation}."{each.name}"') for each in drawn)
        question = Question(
            relation,
            (
                Aggregate("rows", "n"),
                Aggregate("count", "c", third),
                Aggregate("distinct", "d", third),
                Aggregate("sum", "s", third),
            ),
            (Key("first", first), Key("second", second)),
        )
        expected: dict[tuple[object, ...], tuple[object, ...]] = {}
        exact = evaluator.answer(question, rows)
        for key, (n, c, d, _) in exact.items():
            expected[key] = (n, c, d)
        answer = bench.ask(grouped_query(question, target=bench.target(), fixed={"s": FIXED}))
        assert {row[:2]: row[2:5] for row in answer} == expected
        known = [[1, 2, 7], [2, 1]]
        answer = bench.ask(
            grouped_query(question, target=bench.target(), fixed={"s": FIXED}, group_keys=known)
        )
        combinations = [(one, other) for one in known[0] for other in known[1]]
        assert [row[:5] for row in answer] == [
            (*key, *expected.get(key, (0, 0, 0))) for key in combinations
        ]
        sums = {row[:2]: row[5] for row in answer}
        for key in combinations:
            group = [
                row
                for row in evaluator.rows(relation, rows)
                if (row[drawn[0]], row[drawn[1]]) == key
            ]
            assert sums[key] == sum(steps(row[drawn[2]]) for row in group)


def test_people_of_groups_are_counted_once_each(bench: Bench) -> None:
    for seed in range(10):
        random = Random(seed)
        rows = database(random)
        bench.load(rows)
        for relation, key in (
            (ORDERS, "o.amount"),
            (Scan("message", "m"), "m.amount"),
            (
                Join(ORDERS, Scan("item", "i"), ((Column("o", "id"), Column("i", "order")),)),
                "i.part",
            ),
        ):
            owned = attach_owners(relation, policy=POLICY)
            for keys in ((Key("k", tree(key)),), ()):
                question = Question(relation, (Aggregate("rows", "n"),), keys)
                query = grouped_query(question, target=bench.target(), owned=owned)
                crowds: dict[tuple[object, ...], set[object]] = {} if keys else {(): set()}
                sizes: Counter[tuple[object, ...]] = Counter()
                for row in evaluator.rows(owned.relation, rows):
                    place = tuple(evaluator.value(each.expression, row) for each in keys)
                    sizes[place] += 1
                    crowds.setdefault(place, set()).update(row[each] for each in owned.owners)
                width = len(keys)
                assert {row[:width]: row[width:] for row in bench.ask(query)} == {
                    place: (sizes[place], len(crowd)) for place, crowd in crowds.items()
                }


def test_known_keys_appear_in_order_even_in_an_empty_table(bench: Bench) -> None:
    bench.load({})
    keys = (Key("k", tree("o.note")),)
    question = Question(ORDERS, (Aggregate("rows", "n"),), keys)
    known = [["b", "quote ' \" %", "a"]]
    query = grouped_query(question, target=bench.target(), group_keys=known)
    assert bench.ask(query) == [("b", 0), ("quote ' \" %", 0), ("a", 0)]
    assert bench.ask(count_query(ORDERS, target=bench.target())) == [(0,)]
    total = sum_query(ORDERS, tree("o.amount"), fixed=FIXED, target=bench.target())
    assert bench.ask(total) == [(0,)]


def test_sums_do_not_depend_on_the_order_of_rows_and_odd_values_are_mapped(bench: Bench) -> None:
    odd = [None, float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, 0.25, -0.75]
    values = [*odd, *[2.0**54, 1.5, 0.1] * 50]
    fixed = FixedPoint(lower=Fraction(-(2**55)), upper=Fraction(2**55), step=Fraction(1, 4))
    expected = sum(round(steps(each, fixed)) for each in values)
    seen = set()
    for seed in range(4):
        Random(seed).shuffle(values)
        rows: Rows = [{"id": n, "Price": value} for n, value in enumerate(values)]
        bench.load({"orders": rows})
        query = sum_query(ORDERS, tree('o."Price"'), fixed=fixed, target=bench.target())
        seen.update(bench.ask(query))
    assert seen == {(expected,)}


def test_neighbouring_sums_differ_by_the_bound_and_no_more(bench: Bench) -> None:
    fixed = FixedPoint(lower=Fraction(0), upper=Fraction(2**54))
    assert fixed.reach == 2**54
    rows: Rows = [{"id": n, "Price": (2.0**54) if n % 3 else 1.0 + n / 7} for n in range(2000)]
    answers = []
    for part in (rows, rows[1:], rows[:1] + rows[2:]):
        bench.load({"orders": part})
        query = sum_query(ORDERS, tree('o."Price"'), fixed=fixed, target=bench.target())
        answers += bench.ask(query)
    (all_rows,), (without_first,), (without_second,) = answers
    assert all_rows - without_first == 1
    assert all_rows - without_second == 2**54


def test_whole_numbers_beyond_doubles_are_added_up_exactly(bench: Bench) -> None:
    big = 2**62 - 1
    rows: Rows = [{"id": n, "amount": big - n} for n in range(100)]
    rows += [{"id": 100, "amount": 2**63 - 1}, {"id": 101, "amount": -(2**63)}]
    bench.load({"orders": rows})
    fixed = FixedPoint(lower=Fraction(-big), upper=Fraction(big))
    query = sum_query(ORDERS, tree("o.amount"), fixed=fixed, target=bench.target())
    assert bench.ask(query) == [(sum(big - n for n in range(100)),)]


@pytest.mark.parametrize(
    ("lower", "upper", "step"), [(1, 0, 1), (0, 1, 0), (0, 1, -1), (0, 2**63, 1), (0, 1, 2**-63)]
)
def test_bounds_without_steps_or_with_too_many_are_refused(
    lower: int, upper: int, step: float
) -> None:
    with pytest.raises((InputError, ZeroDivisionError)) as caught:
        FixedPoint(lower=Fraction(lower), upper=Fraction(upper), step=Fraction(step))
    assert isinstance(caught.value, InputError)
    assert caught.value.key == "CEL-Q130.no_grid"


def test_a_join_of_many_to_many_is_counted_without_being_made(bench: Bench) -> None:
    rows: Rows = [{"order": 1, "part": n % 2, "amount": 1} for n in range(3000)]
    bench.load({"item": rows})
    left: Relation = Filter(Scan("item", "i"), tree("i.amount = 1"))
    join = Join(left, Scan("item", "j"), ((Column("i", "part"), Column("j", "part")),))
    query = count_query(join, target=bench.target())
    assert "SUM" in bench.target().text(query)
    assert bench.ask(query) == [(2 * 1500**2,)]
    unique = Join(ORDERS, Scan("item", "j"), ((Column("o", "id"), Column("j", "order")),))
    assert "SUM" not in bench.target().text(count_query(unique, target=bench.target()))


def test_every_identifier_is_quoted_and_text_stays_text(bench: Bench) -> None:
    rows = {"orders": [{"id": 1, "note": "x'; DROP TABLE orders; --"}]}
    bench.load(rows)
    hostile = tree("o.note = 'x''; DROP TABLE orders; --'")
    alias = 'evil" FROM nowhere; --'
    relation = DerivedTable(Filter(ORDERS, hostile), alias, (NamedExpression('n"', tree("o.id")),))
    assert bench.ask(count_query(relation, target=bench.target())) == [(1,)]
    text = bench.target().text(count_query(relation, target=bench.target()))
    parsed = sqlglot.parse(text, read=bench.dialect)
    assert len(parsed) == 1


def test_aggregates_that_are_not_sums_are_refused() -> None:
    target = Target(policy=POLICY)
    for aggregate, code in (
        (Aggregate("mean", "m", tree("o.amount")), "CEL-Q132"),
        (Aggregate("sum", "m", tree("o.amount")), "CEL-Q132"),
    ):
        with pytest.raises(QueryRefused) as caught:
            grouped_query(Question(ORDERS, (aggregate,)), target=target)
        assert caught.value.code == code
    question = Question(ORDERS, (Aggregate("rows", "n"),), (Key("k", tree("o.id")),))
    wrong_lists: list[list[list[int]]] = [[], [[]], [[1], [2]]]
    for known in wrong_lists:
        with pytest.raises(InputError) as wrong:
            grouped_query(question, target=target, group_keys=known)
        assert wrong.value.key == "CEL-Q130.keys"


def test_anti_joins_keep_rows_whose_key_is_null(bench: Bench) -> None:
    bench.load(
        {
            "orders": [{"id": 1, "person": None}, {"id": 2, "person": 1}],
            "Person": [{"id": 1}],
        }
    )
    keys = ((Column("o", "person"), Column("p", "id")),)
    for negated in (False, True):
        match = SemiJoin(ORDERS, Scan("Person", "p"), keys, negated=negated)
        assert bench.ask(count_query(match, target=bench.target())) == [(1,)]
