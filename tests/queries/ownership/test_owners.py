from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from tests.queries.bounds import evaluator
from tests.queries.emission.shop import (
    BY_ROW,
    POLICY,
    Rows,
    Trees,
    capped,
    database,
    tree,
    without,
)

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import (
    Column,
    DerivedTable,
    Filter,
    Join,
    NamedExpression,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
    scans,
)
from celosia.queries.ownership import attach_owners, key_paths
from celosia.queries.policy.values import ColumnPolicy, TablePolicy

PERSON, ORDERS, ITEM, PART = (
    Scan("Person", "p"),
    Scan("orders", "o"),
    Scan("item", "i"),
    Scan("part", "q"),
)
P, O_ID, OP, I_ORDER = (
    Column("p", "id"),
    Column("o", "id"),
    Column("o", "person"),
    Column("i", "order"),
)


def hidden(relation: Relation) -> list[str]:
    return [each.table for each in scans(relation) if each.alias.startswith("celosia")]


def test_the_unit_table_belongs_to_its_key() -> None:
    owned = attach_owners(PERSON, policy=POLICY)
    assert (owned.owners, owned.owner_count) == ((P,), 1)
    assert scans(owned.relation) == (PERSON,)  # nothing is joined to it


def test_people_without_a_key_are_not_taken_for_one_person() -> None:
    # A unique column may hold several NULLs, and all of them would make one group.
    rows: dict[str, Rows] = {"Person": [{"id": None}, {"id": None}, {"id": 7}]}
    for policy in (POLICY, BY_ROW):
        owned = attach_owners(PERSON, policy=policy)
        assert [row[P] for row in evaluator.rows(owned.relation, rows)] == [7]


def test_a_foreign_key_is_the_owner_and_rows_without_one_are_left_out() -> None:
    owned = attach_owners(ORDERS, policy=POLICY)
    assert owned.owners == (OP,)
    rows: dict[str, Rows] = {"orders": [{"id": 1, "person": None}, {"id": 2, "person": 7}]}
    assert [row[OP] for row in evaluator.rows(owned.relation, rows)] == [7]


def test_a_second_step_goes_through_the_parent_that_is_joined_anyway() -> None:
    owned = attach_owners(Join(ITEM, ORDERS, ((I_ORDER, O_ID),)), policy=POLICY)
    assert owned.owners == (OP,)
    assert hidden(owned.relation) == []


def test_a_second_step_goes_through_a_hidden_join_else() -> None:
    for relation in (ITEM, Join(ITEM, ORDERS, ((Column("i", "part"), O_ID),))):
        owned = attach_owners(relation, policy=POLICY)
        assert hidden(owned.relation) == ["orders"]
    assert owned.owner_count == 2


def test_owners_that_keys_force_to_be_equal_are_one() -> None:
    chain = Join(Join(Join(PERSON, ORDERS, ((P, OP),)), ITEM, ((O_ID, I_ORDER),)), PART, ())
    owned = attach_owners(chain, policy=POLICY)
    assert owned.owner_count == 1
    assert hidden(owned.relation) == []
    assert {str(each) for each in owned.determinants[0]} == {"p.id", "o.person", "o.id", "i.order"}
    assert owned.is_determined_by(tree("(o.id)"))
    assert not owned.is_determined_by(tree("o.amount"))
    assert not owned.is_determined_by(tree("o.id + 1"))


def test_equalities_of_where_count_as_well_but_not_under_or() -> None:
    both = Join(PERSON, ORDERS, ())
    assert (
        attach_owners(Filter(both, tree("p.id = o.person AND o.id > 3")), policy=POLICY).owner_count
        == 1
    )
    assert (
        attach_owners(Filter(both, tree("p.id = o.person OR o.id > 3")), policy=POLICY).owner_count
        == 2
    )


def test_nothing_follows_from_equal_numbers_with_fractions() -> None:
    # 2^60 and 2^60 + 1 are two people, and both equal the double 2^60 between them.
    weights = TablePolicy(
        name="weights", columns=(ColumnPolicy(name="w", type="number"),), public=True
    )
    policy = replace(POLICY, tables=(*POLICY.tables, weights))
    other, between = Scan("Person", "x"), Scan("weights", "w")
    left = Join(PERSON, between, ((P, Column("w", "w")),))
    owned = attach_owners(
        Join(left, other, ((Column("w", "w"), Column("x", "id")),)), policy=policy
    )
    assert owned.owners == (P, Column("x", "id"))
    partners = SemiJoin(left, other, ((Column("w", "w"), Column("x", "id")),))
    with pytest.raises(QueryRefused) as refused:
        attach_owners(partners, policy=policy)
    assert refused.value.code == "CEL-Q121"


def test_two_items_of_one_order_belong_to_one_person() -> None:
    other = Scan("item", "j")
    owned = attach_owners(Join(ITEM, other, ((I_ORDER, Column("j", "order")),)), policy=POLICY)
    assert owned.owner_count == 1
    assert hidden(owned.relation) == ["orders"]


def test_a_self_join_on_something_else_has_two_owners() -> None:
    other = Scan("orders", "x")
    keys = ((Column("o", "amount"), Column("x", "amount")),)
    owned = attach_owners(Join(ORDERS, other, keys), policy=POLICY)
    assert owned.owners == (OP, Column("x", "person"))


def test_a_message_belongs_to_sender_and_receiver() -> None:
    owned = attach_owners(Scan("message", "m"), policy=POLICY)
    assert owned.owners == (Column("m", "sender"), Column("m", "receiver"))
    loop = Filter(Scan("message", "m"), tree("m.sender = m.receiver"))
    assert attach_owners(loop, policy=POLICY).owner_count == 1


def test_public_tables_have_no_owner() -> None:
    assert attach_owners(PART, policy=POLICY).owner_count == 0


def test_sub_queries_hand_their_owners_out() -> None:
    inner = DerivedTable(ITEM, "d", (NamedExpression("k", tree('i."order"')),))
    owned = attach_owners(Join(inner, ORDERS, ((Column("d", "k"), O_ID),)), policy=POLICY)
    assert owned.owner_count == 1  # the order that d was looked up in is the one that is joined
    alone = attach_owners(
        Join(inner, ORDERS, ((Column("d", "k"), Column("o", "amount")),)), policy=POLICY
    )
    assert alone.owner_count == 2


def test_union_all_has_the_owners_of_its_parts() -> None:
    def part(relation: Relation, column: str, alias: str) -> DerivedTable:
        return DerivedTable(relation, alias, (NamedExpression("n", tree(column)),))

    two = UnionAll((part(ORDERS, "o.id", "a"), part(Scan("message", "m"), "m.amount", "b")), "s")
    assert attach_owners(two, policy=POLICY).owner_count == 2
    one = UnionAll((part(ORDERS, "o.person", "a"), part(PERSON, "p.id", "b")), "s")
    owned = attach_owners(one, policy=POLICY)
    assert owned.owner_count == 1
    assert owned.is_determined_by(tree("s.n"))
    mixed = UnionAll((part(ORDERS, "o.id", "a"), part(PART, "q.id", "b")), "s")
    with pytest.raises(QueryRefused, match="public") as caught:
        attach_owners(mixed, policy=POLICY)
    assert caught.value.key == "CEL-Q120.mixed_union"


@pytest.mark.parametrize("negated", [False, True])
def test_partners_of_the_same_person_are_accepted_and_of_others_refused(negated: bool) -> None:
    own = SemiJoin(ORDERS, ITEM, ((O_ID, I_ORDER),), negated=negated)
    owned = attach_owners(own, policy=POLICY)
    assert (owned.owners, hidden(owned.relation)) == ((OP,), [])
    public = SemiJoin(ITEM, PART, ((Column("i", "part"), Column("q", "id")),), negated=negated)
    assert attach_owners(public, policy=POLICY).owner_count == 1
    for left, right, keys in (
        (ORDERS, Scan("orders", "x"), ((Column("o", "amount"), Column("x", "amount")),)),
        (PART, ITEM, ((Column("q", "id"), Column("i", "part")),)),
        (PERSON, Scan("message", "m"), ((P, Column("m", "sender")),)),
    ):
        with pytest.raises(QueryRefused) as caught:
            attach_owners(SemiJoin(left, right, keys, negated=negated), policy=POLICY)
        assert caught.value.code == "CEL-Q121"


def test_partners_of_partners_must_be_the_same_person_too() -> None:
    loop = Filter(Scan("message", "m"), tree("m.sender = m.receiver"))
    inner = SemiJoin(ORDERS, loop, ((OP, Column("m", "sender")),))
    assert attach_owners(SemiJoin(PERSON, inner, ((P, OP),)), policy=POLICY).owner_count == 1
    inner = SemiJoin(ORDERS, loop, ((O_ID, Column("m", "sender")),))
    with pytest.raises(QueryRefused):
        attach_owners(SemiJoin(PERSON, inner, ((P, OP),)), policy=POLICY)


def test_a_private_table_without_a_way_is_refused_with_the_declaration_to_add() -> None:
    lonely = TablePolicy(name="lonely", columns=POLICY.tables[0].columns)
    policy = replace(POLICY, tables=(*POLICY.tables, lonely))
    with pytest.raises(QueryRefused, match=r"column of 'lonely' references Person\.id") as caught:
        attach_owners(Scan("lonely", "l"), policy=policy)
    assert caught.value.key == "CEL-Q120.nobody"


def test_tables_that_point_in_circles_have_finite_ways() -> None:
    orders = POLICY.tables[1]
    back = replace(
        orders, references=(*orders.references, ("id", "item", "order"), ("id", "orders", "id"))
    )
    policy = replace(POLICY, tables=(POLICY.tables[0], back, *POLICY.tables[2:]))
    assert key_paths(back, policy=policy) == (("person", ()),)


def test_a_cap_must_follow_the_owner() -> None:
    attach_owners(ORDERS, policy=capped(POLICY, "orders", person=2))
    attach_owners(ITEM, policy=capped(POLICY, "item", order=2))
    for table, column in (("item", "part"), ("orders", "amount"), ("message", "sender")):
        with pytest.raises(QueryRefused) as caught:
            attach_owners(Scan(table, "t"), policy=capped(POLICY, table, **{column: 2}))
        is_message = table == "message"
        assert caught.value.key == (
            "CEL-Q120.cap_of_several_paths" if is_message else "CEL-Q120.cap"
        )
        if is_message:
            assert "receiver, sender" in str(caught.value)
        attach_owners(Scan(table, "t"), policy=capped(BY_ROW, table, **{column: 2}))


def test_with_rows_as_unit_each_private_scan_is_itself() -> None:
    owned = attach_owners(Join(PERSON, ORDERS, ((P, OP),)), policy=BY_ROW)
    assert (owned.owners, owned.tables) == ((P, O_ID), ("Person", "orders"))
    other = Scan("orders", "x")
    assert (
        attach_owners(Join(ORDERS, other, ((O_ID, Column("x", "id")),)), policy=BY_ROW).owner_count
        == 1
    )
    unidentified = attach_owners(Join(ORDERS, ITEM, ((O_ID, I_ORDER),)), policy=BY_ROW)
    assert (unidentified.owner_count, unidentified.unidentified) == (2, 1)
    assert attach_owners(SemiJoin(PERSON, ORDERS, ((P, OP),)), policy=BY_ROW).owner_count == 2


@pytest.mark.parametrize("seed", range(400))
def test_without_a_person_exactly_the_rows_of_that_person_are_gone(seed: int) -> None:
    """The definition of a neighbour, on random relations and databases."""
    random = Random(seed)
    trees = Trees(random)
    relation, _ = trees.relation(random.choice([1, 2, 2, 3]))
    try:
        owned = attach_owners(relation, policy=POLICY)
    except QueryRefused:
        return
    rows = database(random, size=4)

    def counted(found: dict[str, list[dict[str, object]]]) -> Counter[tuple[object, ...]]:
        return Counter(
            tuple(row[owner] for owner in owned.owners)
            for row in evaluator.rows(owned.relation, found)
        )

    all_rows = counted(rows)
    assert not any(None in owners for owners in all_rows)
    for person in range(1, 7):
        kept = {key: n for key, n in all_rows.items() if person not in key}
        assert counted(without(person, rows)) == kept
    # What tells an owner tells one only.
    for place, determinants in enumerate(owned.determinants):
        for teller in determinants:
            known: dict[object, set[object]] = {}
            for row in evaluator.rows(owned.relation, rows):
                named = {(each.relation, each.name.lower()): value for each, value in row.items()}
                if (teller.relation, teller.name) in named:
                    value = named[teller.relation, teller.name]
                    known.setdefault(value, set()).add(row[owned.owners[place]])
            assert all(len(each) == 1 for each in known.values())
