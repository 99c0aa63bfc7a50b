"""Whether a graph is as declared: classes, caps, bounds."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.queries.rdf.graphs import EX, write

from celosia.accounting.amounts import Spending
from celosia.core.errors import InputError
from celosia.core.messages import speaking
from celosia.queries.policy.values import ENTITIES, ColumnPolicy, Graph, Policy, TablePolicy, Unit
from celosia.queries.rdf.compliance import MOST_EXAMPLES, Violation, check_graph
from celosia.queries.rdf.file_loader import load
from celosia.queries.rdf.store import GraphStore

NAMES = ("age", "likes", "price", "sells", "city")
CLASSES = (("User", ("ex:age", "ex:likes")), ("Shop", ("ex:price", "ex:sells", "ex:age")))


def declared(*, unit: str = "person", most: dict[str, int] | None = None) -> Policy:
    """Users and shops, with a public city; ages from 0 to 120."""
    owned = unit != "triple"

    def table(name: str) -> TablePolicy:
        lower, upper = (Fraction(0), Fraction(120)) if name == "age" else (None, None)
        return TablePolicy(
            name=f"ex:{name}",
            columns=(
                ColumnPolicy(name="subject", type="integer", most=(most or {}).get(name)),
                ColumnPolicy(name="object", type="integer", most=(most or {}).get(f"{name} of")),
                ColumnPolicy(name="number", type="number", lower=lower, upper=upper),
            ),
            public=name == "city",
            references=(("subject", ENTITIES, "subject"),) if owned and name != "city" else (),
            key=("subject", "object"),
        )

    return Policy(
        name="people",
        tables=tuple(map(table, NAMES)),
        budget=Spending(epsilon=Fraction(1)),
        unit=Unit(name=unit, table=ENTITIES, key="subject") if owned else Unit(name="triple"),
        graph=Graph(
            store="graph",
            predicates=tuple((f"{EX}{name}", f"ex:{name}") for name in NAMES),
            classes=CLASSES if owned else (),
        ),
    )


def checked(facts: list[str], policy: Policy, folder: Path) -> list[Violation]:
    text = f"@prefix : <{EX}> .\n" + "".join(f"{fact} .\n" for fact in facts)
    load(write(folder / "a.ttl", text), folder / "graph", overwrite=True)
    with GraphStore.open(folder / "graph") as store:
        return [each for each in check_graph(store, policy) if each.kind != "no facts"]


def test_a_graph_that_complies_has_no_violation(tmp_path: Path) -> None:
    facts = [":ann :age 7; :likes :x; :city :z", ":bob :price 3; :sells :x; :age 120", ":z :city 1"]
    assert checked(facts, declared(), tmp_path) == []


def test_entities_of_no_single_class_are_shown(tmp_path: Path) -> None:
    facts = [f":e{number} :likes :x; :price 3" for number in range(MOST_EXAMPLES + 4)]
    (found,) = checked([*facts, ":ok :likes :x; :age 3"], declared(), tmp_path)
    assert (found.kind, found.is_error, found.count) == ("class", True, MOST_EXAMPLES + 4)
    assert found.predicates == ("ex:likes", "ex:price")
    assert len(found.examples) == MOST_EXAMPLES
    assert set(found.examples) <= {f"<{EX}e{number}>" for number in range(MOST_EXAMPLES + 4)}
    assert str(found).startswith(f"{MOST_EXAMPLES + 4} persons with ex:likes, ex:price")
    assert found.as_dict()["error"] is True


def test_classes_do_not_matter_where_facts_are_protected(tmp_path: Path) -> None:
    assert checked([":e :likes :x; :price 3"], declared(unit="triple"), tmp_path) == []


def test_facts_beyond_a_cap_are_noted(tmp_path: Path) -> None:
    facts = [":a :likes :x, :y, :z", ":b :likes :x, :y", ":c :likes :x"]
    policy = declared(unit="triple", most={"likes": 1, "likes of": 2})
    subjects, objects = checked(facts, policy, tmp_path)
    assert (subjects.kind, subjects.is_error, subjects.count) == ("cap", False, 2)
    assert "3 facts are left out" in str(subjects)
    with speaking("es"):
        assert "3 hechos quedan fuera de cada respuesta." in str(subjects)
    assert subjects.examples == (f"<{EX}a>", f"<{EX}b>")
    assert (objects.count, objects.examples) == (1, (f"<{EX}x>",))
    assert "1 fact is left out" in str(objects)


def test_numbers_outside_of_bounds_are_noted(tmp_path: Path) -> None:
    facts = [":a :age 120.5", ":b :age -1, 0", ":c :age 120", ':d :age "old", :x']
    outside, without = checked(facts, declared(), tmp_path)
    assert (outside.kind, outside.count) == ("bounds", 2)
    assert outside.examples == (f"<{EX}a>", f"<{EX}b>")
    assert (without.kind, without.count, without.examples) == ("not a number", 2, (f"<{EX}d>",))


def test_a_predicate_without_facts_is_noted(tmp_path: Path) -> None:
    load(write(tmp_path / "a.ttl", f"<urn:a> <{EX}age> 3 ."), tmp_path / "graph")
    with GraphStore.open(tmp_path / "graph") as store:
        found = check_graph(store, declared())
    assert {each.kind for each in found} == {"no facts"}
    assert {each.predicates for each in found} == {(f"ex:{name}",) for name in NAMES[1:]}
    assert not any(each.is_error for each in found)


def test_a_policy_of_tables_is_refused(tmp_path: Path) -> None:
    load(write(tmp_path / "a.ttl", "<urn:a> <urn:b> 3 ."), tmp_path / "graph")
    policy = Policy(name="shop", tables=(), budget=Spending(epsilon=Fraction(1)))
    with GraphStore.open(tmp_path / "graph") as store, pytest.raises(InputError) as refusal:
        check_graph(store, policy)
    assert refusal.value.code == "CEL-Q235"


@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.sets(
        st.tuples(st.integers(0, 5), st.sampled_from(NAMES), st.integers(0, 5)),
        min_size=1,
        max_size=40,
    )
)
def test_violations_are_those_found_by_hand(
    tmp_path: Path, drawn: set[tuple[int, str, int]]
) -> None:
    facts = [f":s{s} :{p} {50 * o}" for s, p, o in sorted(drawn)]
    found = checked(facts, declared(most={"likes": 2}), tmp_path)
    had = {s: {f"ex:{p}" for t, p, _ in drawn if t == s and p != "city"} for s, *_ in drawn}
    misfits = Counter(
        tuple(sorted(mine))
        for mine in had.values()
        if not any(mine <= set(members) for _, members in CLASSES)
    )
    assert {each.predicates: each.count for each in found if each.kind == "class"} == misfits
    likes = Counter(s for s, p, _ in drawn if p == "likes")
    beyond = sum(count > 2 for count in likes.values())
    assert sum(each.count for each in found if each.kind == "cap") == beyond
    outside = sum(p == "age" and 50 * o > 120 for _, p, o in drawn)
    assert sum(each.count for each in found if each.kind == "bounds") == outside
