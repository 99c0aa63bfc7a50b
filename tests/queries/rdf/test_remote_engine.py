"""An endpoint asked by aggregates: the exact numbers of a copy, and caps that it enforces."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pyoxigraph as ox
import pytest
from tests.effort import some
from tests.queries.rdf.test_endpoint import Endpoint

from celosia.cli.frame import JsonOutputs
from celosia.cli.rdf.check import check
from celosia.core.errors import EngineError, InputError, QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries import QueryRequest, Vault
from celosia.queries.declared_sizes import undeclared_sizes
from celosia.queries.planning import Plan
from celosia.queries.planning.remote import DEADLINE, REMOTE, RemoteStep
from celosia.queries.policy import read_policy
from celosia.queries.policy.writer import policy_text
from celosia.queries.rdf.file_loader import load
from celosia.queries.results import list_planned_queries
from celosia.queries.sparql.remote import RemoteQuestion

POLICY = """\
name = "people"
unit = { name = "UNIT" }
neighbours = "RELATION"
budget = { epsilon = 20 }
deadline = 0.4

[graph]
PLACE

[graph.prefixes]
ex = "http://example.org/"

[graph.classes.Person]
predicates = ["ex:age", "ex:knows", "ex:in", "ex:paid"]

[graph.predicates."ex:age"]
most_per_subject = 1
lower = 0
upper = 100

[graph.predicates."ex:knows"]
most_per_subject = 3

[graph.predicates."ex:in"]
most_per_subject = 2
keys = ["ex:place1", "ex:place2", "ex:place9"]

[graph.predicates."ex:paid"]
most_per_subject = 2
lower = -10
upper = 10
grid = 0.01

[graph.predicates."ex:near"]
public = true
"""
STARS = [
    "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:age ?a FILTER(?a > 30) }",
    "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:knows ?y }",
    "SELECT (COUNT(*) AS ?n) "
    "WHERE { ?x ex:knows ?y ; ex:age ?a FILTER(?a IN (20, 40) || !(?a < 50)) }",
    "SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE { ?x ex:in ?p }",
    "SELECT (COUNT(DISTINCT ?y) AS ?n) WHERE { ?x ex:knows ?y }",
    "SELECT (SUM(?a) AS ?n) WHERE { ?x ex:age ?a }",
    "SELECT (SUM(?v) AS ?n) (COUNT(?v) AS ?m) WHERE { ?x ex:paid ?v }",
    "SELECT (AVG(?v) AS ?n) WHERE { ?x ex:paid ?v }",
    "SELECT (SUM(?v * 2 - 1) AS ?n) WHERE { ?x ex:paid ?v }",
    "SELECT ?p (COUNT(*) AS ?n) WHERE { ?x ex:in ?p } GROUP BY ?p",
    "SELECT ?p (SUM(?v) AS ?n) WHERE { ?x ex:in ?p ; ex:paid ?v } GROUP BY ?p",
    "SELECT ?p (COUNT(DISTINCT ?y) AS ?n) WHERE { ?x ex:in ?p ; ex:knows ?y } GROUP BY ?p",
    "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:in ?p . ?p ex:near ?q }",
    "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:knows [] }",
    "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:paid ?v FILTER(CONTAINS(?v, 'th') || ABS(?v) > 5) }",
    "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:paid ?v FILTER(!STRSTARTS(?v, 'x')) }",
    "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:age ?a FILTER(40 / (?a - 20) < 2) }",
    "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:paid ?v FILTER(REGEX(?v, '^no') && STRLEN(?v) = 7) }",
]
FACTS = [
    "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:knows ?y }",
    "SELECT (SUM(?v) AS ?n) WHERE { ?x ex:paid ?v }",
    "SELECT ?p (COUNT(*) AS ?n) WHERE { ?x ex:in ?p } GROUP BY ?p",
    "SELECT (COUNT(DISTINCT ?y) AS ?n) WHERE { ?x ex:knows ?y }",
]
ODD = ["INF", "-INF", "NaN", "1.005", "-0.015", "7", "1e300"]
"""Doubles at the ends of what is clamped and rounded."""
START = "http://example.org/"


def facts(seed: int, *, keeps_caps: bool) -> dict[int, set[str]]:
    """The facts of each person, as N-Triples."""
    draw = random.Random(seed)
    people: dict[int, set[str]] = {}
    for person in range(9):
        found = people[person] = set()

        def say(word: str, target: str, found: set[str] = found, person: int = person) -> None:
            found.add(f"<{START}e{person}> <{START}{word}> {target} .\n")

        def some_of(most: int) -> range:
            return range(draw.randint(0, most if keeps_caps else 3 * most))

        for _ in some_of(1):
            say("age", f'"{draw.choice([20, 40, 60, 130])}"^^<{XSD}integer>')
        for _ in some_of(3):
            say("knows", f"<{START}e{draw.randrange(9)}>")
        for _ in some_of(2):
            say("in", f"<{START}place{draw.randint(1, 3)}>")
        for _ in some_of(2):
            text = f"{draw.uniform(-15, 15):.3f}"
            kind, text = draw.choice([("decimal", text), ("double", draw.choice(ODD))])
            say("paid", draw.choice([f'"{text}"^^<{XSD}{kind}>', '"nothing"']))
        if not keeps_caps and not person:  # as far beyond all caps as two groups show
            found.clear()
            amount = 10 if seed % 2 else -10
            for more in range(4):  # all of them beyond the bounds
                say("paid", f'"{amount + more * amount}"^^<{XSD}decimal>')
            say("in", f"<{START}place1>")
            say("in", f"<{START}place2>")
    return people


XSD = "http://www.w3.org/2001/XMLSchema#"
PUBLIC = "".join(f"<{START}place{one}> <{START}near> <{START}place2> .\n" for one in (1, 2, 3))


@contextmanager
def serving(people: dict[int, set[str]]) -> Iterator[Endpoint]:
    with Endpoint() as server:
        fill(server, people)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def fill(server: Endpoint, people: dict[int, set[str]]) -> None:
    server.graph.clear()
    text = PUBLIC + "".join(line for each in people.values() for line in sorted(each))
    server.graph.load(text.encode(), format=ox.RdfFormat.N_TRIPLES)


def policy(place: str, *, unit: str = "person", relation: str = "add-remove") -> str:
    return POLICY.replace("UNIT", unit).replace("RELATION", relation).replace("PLACE", place)


def opened(folder: Path, text: str, name: str = "policy.toml") -> Vault:
    (folder / name).write_text(text)
    return Vault.open(folder / name, rng=Seeded(7))


def totals(vault: Vault, query: str, plan: Plan | None = None) -> list[list[Any]]:
    """The exact numbers of each query of a plan, before any noise."""
    plan = vault.explain(query) if plan is None else plan
    keys = len(plan.question.keys)
    return [[list(row[keys:]) for row in vault._ask(each)] for each in list_planned_queries(plan)]


@pytest.mark.parametrize("seed", some(range(6), few=1))
def test_the_exact_numbers_are_those_of_a_copy(tmp_path: Path, seed: int) -> None:
    people = facts(seed, keeps_caps=True)
    lines = PUBLIC + "".join(line for each in people.values() for line in each)
    (tmp_path / "facts.nt").write_text(lines)
    load([tmp_path / "facts.nt"], tmp_path / "copy.graph")
    with serving(people) as server, ExitStack() as stack:
        for unit, questions in (("person", STARS), ("triple", FACTS)):
            places = (f'endpoint = "{server.url}"', 'store = "copy.graph"')
            remote, copy = (
                stack.enter_context(opened(tmp_path, policy(each, unit=unit), f"{unit}{at}.toml"))
                for at, each in enumerate(places)
            )
            for query in questions:
                assert totals(remote, query) == totals(copy, query), query


@pytest.mark.parametrize(
    ("unit", "relation"),
    [("person", "add-remove"), ("person", "change-one"), ("triple", "add-remove")],
)
def test_one_unit_moves_the_numbers_by_the_shift_at_most(
    tmp_path: Path, unit: str, relation: str
) -> None:
    """Also where facts do not keep to the declared caps: the queries enforce them."""
    people, moving = facts(1, keeps_caps=False), 0
    with serving(people) as server:
        text = policy(f'endpoint = "{server.url}"', unit=unit, relation=relation)
        with opened(tmp_path, text) as vault:
            stars = dict.fromkeys([*some(STARS, few=5), STARS[10]])
            for query in stars if unit == "person" else FACTS:
                plan = vault.explain(query)
                shifts = [shift for step in plan.steps for shift in _shifts(step)]
                fill(server, people)
                before = totals(vault, query, plan)
                reached = [0] * len(shifts)
                for other in neighbours(people, unit, relation):
                    fill(server, other)
                    for at, moved in enumerate(moves(before, totals(vault, query, plan))):
                        assert moved <= shifts[at], query
                        reached[at] = max(reached[at], moved)
                moving += any(reached)
    assert moving > len(FACTS) // 2, "numbers that nobody moves would show nothing"


def _shifts(step: object) -> tuple[int, ...]:
    assert isinstance(step, RemoteStep)
    return step.shifts


def neighbours(
    people: dict[int, set[str]], unit: str, relation: str
) -> Iterator[dict[int, set[str]]]:
    for person in some(people, few=2 if unit == "triple" else 4):
        if unit == "triple":
            for fact in sorted(people[person]):
                yield people | {person: people[person] - {fact}}
        elif relation == "add-remove":
            yield people | {person: set()}
        else:
            others = facts(2, keeps_caps=False)
            yield people | {person: others[person]}


def moves(before: list[list[Any]], after: list[list[Any]]) -> Iterator[int]:
    """How far each total moved, over all groups."""
    for one, other in zip(before, after, strict=True):
        for columns in zip(zip(*one, strict=True), zip(*other, strict=True), strict=True):
            yield sum(abs(a - b) for a, b in zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("SELECT (COUNT(*) AS ?n) WHERE { ?x ex:knows ?y . ?y ex:age ?a }", "star"),
        ("SELECT (COUNT(*) AS ?n) WHERE { ex:e1 ex:knows ?y }", "star"),
        ("SELECT (COUNT(*) AS ?n) WHERE { ?x ex:age ?a OPTIONAL { ?x ex:in ?p } }", "shape"),
        ("SELECT (COUNT(*) AS ?n) WHERE { { ?x ex:in ?p } UNION { ?x ex:age ?p } }", "shape"),
        ("SELECT (COUNT(*) AS ?n) WHERE { ?x ex:in/ex:near+ ?p }", "shape"),
        ("SELECT (MAX(?a) AS ?n) WHERE { ?x ex:age ?a }", "caps"),
        ("SELECT (COUNT(*) AS ?n) WHERE { ?p ex:near ?q }", "public"),
    ],
)
def test_what_has_no_bound_is_refused_before_it_is_charged(
    tmp_path: Path, query: str, key: str
) -> None:
    with serving({}) as server, opened(tmp_path, policy(f'endpoint = "{server.url}"')) as vault:
        with pytest.raises(QueryRefused) as refused:
            vault.sparql(query, epsilon=1)
        assert refused.value.key == f"CEL-Q346.{key}"
        assert "celosia rdf load" in str(refused.value)
        assert not any("age" in each for each in server.asked)


def test_nothing_is_an_error_for_which_a_server_gives_up_the_query(tmp_path: Path) -> None:
    """Virtuoso does where SPARQL does not; then one fact would decide over the answer."""
    queries = [
        *(STARS[6], *STARS[-4:-1]),
        "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:age ?a FILTER(YEAR(?a) > 1 || CEIL(?a) = 2) }",
        "SELECT (COUNT(*) AS ?n) WHERE { ?x ex:age ?a FILTER(UCASE(?a) = 'A') }",
    ]
    with serving({}) as server, opened(tmp_path, policy(f'endpoint = "{server.url}"')) as vault:
        found = [each for query in queries for each in remote_texts(vault, query)]
    texts = [text for each in found for text in each.texts]
    assert len(texts) >= len(queries)
    for text in texts:
        assert "1/0" not in text, text
        for place in re.finditer(r"\b(CONTAINS|ABS|STRSTARTS|YEAR|CEIL|UCASE|/) ?\(", text):
            start = text[: place.start()].rpartition("IF(")[2]
            assert "isLITERAL" in start or "isNUMERIC" in start or "DATATYPE" in start, text
        for place in re.finditer(r" / ", text):
            assert "!= 0, " in text[: place.start()].rpartition("IF(")[2], text


def remote_texts(vault: Vault, query: str) -> list[RemoteQuestion]:
    return [each.meta[REMOTE] for each in list_planned_queries(vault.explain(query))]


def test_answers_say_what_is_trusted_and_only_aggregates_travel(tmp_path: Path) -> None:
    people = facts(3, keeps_caps=True)
    with (
        serving(people) as server,
        opened(tmp_path, policy(f'endpoint = "{server.url}"')) as vault,
    ):
        answer = vault.sparql(STARS[0], epsilon=1)
        assert any("the endpoint computes" in each for each in answer.guarantee.assumes)
        assert any("cut off at the cap" in each for each in answer.warnings)
        assert all("GROUP BY" in each for each in server.asked[1:])
        compared = vault.compare(QueryRequest(STARS[9], epsilon=1))
    true = {each.group: each.true for each in compared.numbers}
    assert true.keys() >= {("ex:place1",), ("ex:place2",), ("ex:place9",)}
    assert true["ex:place9",] is None


@pytest.mark.parametrize("fault", ["status", "anytime"])
def test_a_server_that_fails_is_answered_with_noise_at_the_deadline(
    tmp_path: Path, fault: str
) -> None:
    with serving(facts(3, keeps_caps=True)) as server:
        (tmp_path / "real.toml").write_text(policy(f'endpoint = "{server.url}"'))
        with Vault.open(tmp_path / "real.toml") as vault:
            server.fault = fault
            answer = vault.sparql(STARS[0], epsilon=1)
            assert isinstance(answer.value, int)
            assert len(vault.ledger.incidents()) == 1


def test_the_place_of_a_graph_is_a_store_or_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    remote = read_policy(policy('endpoint = "https://$HOST/sparql"'))
    assert read_policy(policy_text(remote)) == remote
    with pytest.raises(InputError, match="both a store and an endpoint"):
        read_policy(policy('store = "a"\nendpoint = "https://b/"'))
    with pytest.raises(InputError, match="neither a store nor an endpoint"):
        read_policy(policy(""))
    monkeypatch.delenv("HOST", raising=False)
    with pytest.raises(EngineError, match="cannot be reached"):
        Vault.open(read_policy(policy('endpoint = "http://127.0.0.1:1/"')), ledger="none.sqlite")
    with pytest.raises(InputError) as missing:
        Vault.open(remote, ledger="none.sqlite")
    assert missing.value.code == "CEL-Q017"
    with pytest.raises(InputError) as plain:
        Vault.open(read_policy(policy('endpoint = "http://example.org/"')), ledger="none.sqlite")
    assert plain.value.code == "CEL-Q230"


def test_a_deadline_and_a_check_of_facts_are_as_an_endpoint_needs_them(tmp_path: Path) -> None:
    text = policy('endpoint = "https://example.org/sparql"').replace("deadline = 0.4", "")
    (size,) = undeclared_sizes(read_policy(text))
    assert (size.seconds, "endpoint" in size.message) == (DEADLINE, True)
    (tmp_path / "remote.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        check(tmp_path / "remote.toml", JsonOutputs())
    assert refused.value.key == "CEL-Q235.endpoint"
