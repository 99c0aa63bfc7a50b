"""A graph behind a vault: the same planner, ledger and answers as for tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from celosia.core.errors import BudgetExceeded, InputError, QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries import Vault
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.rdf.file_loader import load

PEOPLE = 400
POLICY = """\
name = "people"
unit = { name = "UNIT" }
budget = { epsilon = 20, delta = 1e-6 }
elastic = true

[graph]
store = "people.graph"

[graph.prefixes]
foaf = "http://xmlns.com/foaf/0.1/"
ex = "http://example.org/"

[graph.classes.Person]
predicates = ["foaf:age", "foaf:knows", "ex:city"]

[graph.predicates."foaf:age"]
most_per_subject = 1
lower = 0
upper = 100

[graph.predicates."ex:city"]
most_per_subject = 1
keys = ["ex:Zurich", "ex:Bern", "ex:Nowhere"]

[graph.predicates."ex:country"]
public = true
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of people who know the next two, three quarters of them in Zurich."""
    place = tmp_path_factory.mktemp("graph")
    start = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix ex: <http://example.org/> .\n"
    lines = [
        f"ex:p{i} foaf:age {20 + i % 50} ; ex:city ex:{'Bern' if i % 4 == 0 else 'Zurich'} ; "
        f"foaf:knows ex:p{(i + 1) % PEOPLE}, ex:p{(i + 2) % PEOPLE} .\n"
        for i in range(PEOPLE)
    ]
    public = "ex:Zurich ex:country ex:CH . ex:Bern ex:country ex:CH .\n"
    (place / "people.ttl").write_text(start + "".join(lines) + public)
    load([place / "people.ttl"], place / "people.graph")
    for unit in ("person", "triple"):
        (place / f"{unit}.toml").write_text(POLICY.replace("UNIT", unit))
    return place


@pytest.fixture
def vault(folder: Path) -> Iterator[Vault]:
    with Vault.open(folder / "person.toml", rng=Seeded(5)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "true", "method", "within"),
    [
        # Laplace noise of scale 1 / epsilon is beyond 20 of them once in e^20 draws; caps that are
        # chosen leave a part of epsilon, and a cap of 2 doubles the noise.
        ("{ ?x foaf:age ?a }", PEOPLE, "capped", 4),
        ("{ ?x foaf:age ?a . ?x foaf:knows ?y }", 2 * PEOPLE, "chosen-cap", 20),
        ("{ ?x ex:city ?c . ?c ex:country ex:CH }", PEOPLE, "capped", 4),
        ("{ ?x foaf:age ?a . FILTER(?a < 30) }", 80, "capped", 4),
        ("{ ?x foaf:knows/foaf:age ?a }", 2 * PEOPLE, "r2t-cap", 60),
    ],
)
def test_counts_of_patterns_are_near_the_truth(
    vault: Vault, query: str, true: int, method: str, within: int
) -> None:
    answer = vault.sparql(f"SELECT (COUNT(*) AS ?n) WHERE {query}", epsilon=5)
    assert answer.method == method
    assert abs(answer.value - true) <= within


def test_entities_that_are_counted_count_once_each(vault: Vault) -> None:
    query = "SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE { ?x foaf:knows ?y }"
    (part,) = vault.explain(query).parts
    assert part.bound == "each person counts once"
    # Noise of scale 1/5: beyond 4 once in e^20 draws.
    assert abs(vault.sparql(query, epsilon=5).value - PEOPLE) <= 4


def test_groups_are_shown_by_the_words_of_the_policy(vault: Vault) -> None:
    answer = vault.sparql(
        "SELECT ?c (COUNT(*) AS ?n) (AVG(?a) AS ?age) "
        "WHERE { ?x ex:city ?c ; foaf:age ?a } GROUP BY ?c ORDER BY DESC(?n)",
        epsilon=15,
    )
    assert [row["c"] for row in answer.rows] == ["ex:Zurich", "ex:Bern", "ex:Nowhere"]
    assert abs(answer.rows[0]["n"] - 300) <= 8
    assert abs(answer.rows[0]["age"] - 44.5) <= 3


def test_a_public_pattern_is_exact_and_free(vault: Vault) -> None:
    answer = vault.sparql("SELECT (COUNT(*) AS ?n) WHERE { ?x ex:country ?y }", epsilon=1)
    assert (answer.value, answer.epsilon) == (2, 0)


PUBLIC_ONLY = """
name = "public"
unit = { name = "UNIT" }
budget = { epsilon = 1 }
graph.store = "people.graph"
graph.prefixes = { ex = "http://example.org/" }
graph.predicates = { "ex:country" = { public = true } }
"""


@pytest.mark.parametrize("unit", ["person", "triple"])
def test_a_graph_of_public_predicates_alone_is_asked_for_nothing(folder: Path, unit: str) -> None:
    policy = folder / f"public-{unit}.toml"
    policy.write_text(PUBLIC_ONLY.replace("UNIT", unit))
    with Vault.open(policy) as vault:
        for predicate in ("ex:country", "?p"):
            answer = vault.sparql(
                f"SELECT (COUNT(*) AS ?n) WHERE {{ ?x {predicate} ?y }}", epsilon=1
            )
            assert (answer.value, answer.epsilon, answer.interval()) == (2, 0, (2, 2))


def test_the_same_question_is_free_however_it_is_written(vault: Vault) -> None:
    first = vault.sparql("SELECT (COUNT(*) AS ?n) WHERE { ?x foaf:age ?a }", epsilon=1)
    again = vault.sparql(
        "PREFIX f: <http://xmlns.com/foaf/0.1/> SELECT (COUNT(?who) AS ?n) { ?who f:age ?y . }",
        epsilon=1,
    )
    assert again.stored
    assert again.value == first.value


def test_facts_may_be_the_unit(folder: Path) -> None:
    with Vault.open(folder / "triple.toml", rng=Seeded(5)) as vault:
        one = vault.sparql("SELECT (COUNT(*) AS ?n) WHERE { ?x foaf:knows ?y }", epsilon=5)
        assert abs(one.value - 2 * PEOPLE) <= 4
        query = "SELECT (COUNT(*) AS ?n) WHERE { ?x foaf:age ?a . ?x ex:city ?c }"
        plan = vault.explain(query)
        assert plan.method == "global"  # functional properties: one fact moves one solution
        star = vault.sparql(query, epsilon=5)
        assert abs(star.value - PEOPLE) <= 8
        path = "SELECT (COUNT(*) AS ?n) WHERE { ?x foaf:knows ?y . ?y foaf:knows ?z }"
        assert vault.explain(path, delta=1e-8).method == "elastic"
        assert "triple" in str(star.guarantee)


def test_each_policy_is_asked_in_its_own_language(vault: Vault) -> None:
    with pytest.raises(InputError, match="SPARQL, not in SQL") as caught:
        vault.sql('SELECT COUNT(*) FROM "foaf:age"', epsilon=1)
    assert caught.value.key == "CEL-Q271.other_language"


def test_refusals_cost_nothing_and_the_budget_ends(vault: Vault) -> None:
    with pytest.raises(QueryRefused):
        vault.sparql("SELECT (COUNT(*) AS ?n) WHERE { ?x ex:salary ?s }", epsilon=1)
    vault.sparql("SELECT (COUNT(*) AS ?n) WHERE { ?x foaf:age ?a }", epsilon=15)
    with pytest.raises(BudgetExceeded):
        vault.sparql("SELECT (COUNT(*) AS ?n) WHERE { ?x ex:city ?a }", epsilon=15)


CHANGED = """\
name = "changed"
unit = { name = "triple" }
neighbours = "change-one"
budget = { epsilon = 1 }

[graph]
store = "changed.graph"

[graph.prefixes]
ex = "http://example.org/"

[graph.predicates."ex:p"]
most_per_subject = 5

[graph.predicates."ex:q"]
"""


def test_a_changed_fact_may_get_another_predicate(tmp_path: Path) -> None:
    """One that leaves lets another one in under a cap, and one that comes adds up to that."""
    (tmp_path / "changed.toml").write_text(CHANGED)
    query = "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:q ex:o0 . ?x ex:p ?z FILTER(?z != ex:o0) }"

    def counted(facts: set[str]) -> tuple[int, int]:
        text = "@prefix ex: <http://example.org/> .\n" + "\n".join(sorted(facts))
        (tmp_path / "changed.ttl").write_text(text)
        load(tmp_path / "changed.ttl", tmp_path / "changed.graph", overwrite=True)
        with Vault.open(tmp_path / "changed.toml", rng=Seeded(1)) as vault:
            (step,) = vault.explain(query).steps
            assert isinstance(step, LaplaceStep)
            (asked,) = step.queries(None)
            ((number,),) = vault._ask(asked)
            return int(number), step.shifts[0]

    worst = most = 0
    for name in "abcdef":  # which fact is beyond the cap follows from a hash of its terms
        others = {f"ex:z ex:p ex:o{number} ." for number in range(1, 6)}
        own = {f"ex:{name} ex:p ex:o{number} ." for number in range(6)}
        facts = {f"ex:{name} ex:q ex:o0 ."} | own | others
        before, most = counted(facts)
        after, _ = counted(facts - {f"ex:{name} ex:p ex:o0 ."} | {"ex:z ex:q ex:o0 ."})
        worst = max(worst, abs(after - before))
    assert worst == 6  # above the cap of 5 that either predicate alone would give
    assert worst <= most


def test_what_is_public_is_told_in_the_words_of_graphs(vault: Vault, folder: Path) -> None:
    schema = vault.public_schema()
    assert schema["graph"]["predicates"]["foaf:age"] == "http://xmlns.com/foaf/0.1/age"
    assert schema["graph"]["prefixes"]["ex"] == "http://example.org/"
    keys = schema["tables"]["ex:city"]["columns"]["object"]["keys"]
    assert keys == ["ex:Zurich", "ex:Bern", "ex:Nowhere"]
    assert "people.graph" not in str(schema)
    plan = vault.explain("SELECT (COUNT(*) AS ?n) WHERE { ?x foaf:age ?a }")
    assert plan.parts[0].bound == "each person has at most 1 solutions, by declared caps"
    assert "solutions belong to persons" in plan.tree[0]
    (folder / "strict.toml").write_text(
        (folder / "triple.toml").read_text().replace("elastic = true", "elastic = false")
    )
    with Vault.open(folder / "strict.toml", rng=Seeded(5)) as strict:
        path = "SELECT (COUNT(*) AS ?n) WHERE { ?x foaf:knows ?y . ?y foaf:knows ?z }"
        with pytest.raises(QueryRefused, match="how many facts of foaf:knows") as caught:
            strict.explain(path)
    assert "most_per_" in caught.value.fix


def test_a_plan_speaks_of_the_variables_and_patterns_of_the_question(vault: Vault) -> None:
    query = (
        "SELECT ?c (AVG(?a) AS ?mean) { ?x foaf:knows ?y . ?y foaf:age ?a ; ex:city ?c "
        "FILTER(?a < 30) } GROUP BY ?c"
    )
    plan = vault.explain(query)
    assert [str(each) for each in plan.tree] == [
        "answer c, mean   -- solutions belong to persons: ?x, ?y",
        "  mean = AVG(?a)",
        "  by c = ?c",
        "  join on ?y",
        "    join on ?y",
        "      ?x foaf:knows ?y   -- private",
        "      where ?a < 30",
        "        ?y foaf:age ?a   -- private; at most 1 facts for each ?y",
        "    ?y ex:city ?c   -- private; at most 1 facts for each ?y",
    ]
    assert [each.name for each in plan.parts] == ["SUM(?a)", "COUNT(?a)"]
    assert plan.parts[0].bound.startswith("solutions that count as long as their owners have room")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (
            "SELECT (COUNT(DISTINCT ?x) AS ?n) "
            "{ { ?x foaf:knows ?y } UNION { ?x ex:city ex:Bern } }",
            ("persons: ?x", "COUNT(DISTINCT ?x)", "alternatives (UNION)", "?x ex:city ex:Bern "),
        ),
        (
            "SELECT (SUM(?m) AS ?n) { "
            "{ SELECT ?x (COUNT(*) AS ?m) { ?x foaf:knows ?y } GROUP BY ?x }"
            " FILTER(?m * 2 > 1) }",
            ("persons: ?x", "SUM(?m)", "where (?m * 2) > 1", "groups by ?x", "?m = COUNT(*)"),
        ),
        (
            "SELECT (COUNT(*) AS ?n) { ?x foaf:knows/foaf:age ?a OPTIONAL { ?x ex:city ?c } "
            "FILTER(!BOUND(?c)) }",
            ("persons: ?x, _:hidden1", "left join on ?x", "where !BOUND(?c)", "_:hidden1 foaf:age"),
        ),
        (
            "SELECT (COUNT(*) AS ?n) { ?x foaf:age ?a MINUS { ?x ex:city [] } }",
            ("persons: ?x", "match none on ?x", "?x ex:city _:hidden1"),
        ),
    ],
)
def test_no_plan_shows_a_name_that_the_question_does_not_have(
    vault: Vault, query: str, told: tuple[str, ...]
) -> None:
    plan = vault.explain(query)
    shown = "\n".join(map(str, (*plan.tree, *plan.parts)))
    assert [each for each in told if each not in shown] == []
    assert not re.search(r"\bt[0-9]|celosia|scan|subject|object\b", shown), shown


def test_a_rank_over_several_persons_is_refused_in_the_words_of_graphs(vault: Vault) -> None:
    with pytest.raises(QueryRefused, match="a solution can belong to several persons") as caught:
        vault.explain("SELECT\n(MAX(?a) AS ?n) { ?x foaf:knows ?y . ?y foaf:age ?a }")
    assert (caught.value.details["line"], caught.value.details["column"]) == (2, 2)
