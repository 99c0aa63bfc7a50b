"""What cannot be promised is refused, each construct with its own code and in its own words."""

from __future__ import annotations

import re
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.queries.sparql.graphs import policy_of

from celosia.core.catalogue import explanations
from celosia.core.errors import CelosiaError, InputError, QueryRefused
from celosia.queries.policy.values import Policy
from celosia.queries.sparql import compile

CASES = [
    line.split(" ", 1)
    for line in Path(__file__).with_name("refusals.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
NAMES = ["ex:p", "ex:q", "ex:age"]
POLICY = policy_of(NAMES, keys={"ex:q": (1, 2)}, bounds={"ex:age": (0, 120)})
ELSEWHERE = {"CEL-Q253", "CEL-Q271"}
"""Codes of other policies, tested by themselves."""


def refused(query: str, policy: Policy = POLICY) -> CelosiaError:
    with pytest.raises(CelosiaError) as caught:
        compile(query, policy)
    return caught.value


@pytest.mark.parametrize(("key", "query"), CASES, ids=[query[:60] for _, query in CASES])
def test_a_query_is_refused_with_its_code(key: str, query: str) -> None:
    error = refused(query)
    assert error.key == key, error
    assert isinstance(error, InputError if error.code == "CEL-Q240" else QueryRefused)
    assert error.what.endswith(".")
    assert error.why
    assert error.fix


def test_a_refusal_is_whole_in_spanish() -> None:
    english = re.compile(r"\b(the|is|are|of|and|or|not|with|that)\b|\{[a-z]+\}")
    for _, query in CASES:
        text = refused(query).render("es")
        assert english.search(text) is None, text


def test_every_code_of_the_range_is_met() -> None:
    mine = {code for code in explanations() if re.fullmatch(r"CEL-Q2[4-7]\d", code)}
    assert {key.partition(".")[0] for key, _ in CASES} | ELSEWHERE == mine


def test_a_refusal_shows_the_place() -> None:
    error = refused("SELECT (COUNT(*) AS ?n)\nWHERE { ?s ex:p ?o .\n  GRAPH ?g { ?s ex:q ?x } }")
    assert (error.details["line"], error.details["column"]) == (3, 3)
    late = refused("SELECT (COUNT(*) AS ?n)\nWHERE { ?s ex:p ?o .\n  FILTER(?oo > 1) }")
    assert (late.details["line"], late.details["column"]) == (3, 10)


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("SELECT (COUNT(*) AS ?n)\n{ ?s no:p ?o }", (2, 6)),
        ("SELECT (COUNT(*) AS ?n)\n{ ?s <p> ?o }", (2, 6)),
        ("SELECT (COUNT(*) AS ?n)\n{ ?s ex:p ?o BIND(1 AS ?o) }", (2, 24)),
        ("SELECT (GROUP_CONCAT(?o) AS ?n) { ?s ex:p ?o }", (1, 9)),
        ("SELECT ?o (COUNT(*) AS ?n) { ?s ex:p ?o }\nGROUP BY ?o", (2, 10)),
    ],
)
def test_a_place_is_that_of_the_name_in_the_clause_that_is_meant(
    query: str, place: tuple[int, int]
) -> None:
    details = refused(query).details
    assert (details["line"], details["column"]) == place


def test_nearly_every_refusal_of_a_construct_has_a_place() -> None:
    """Limits of the whole text, literals as subjects and hidden predicates stand nowhere."""
    without = {key for key, query in CASES if "line" not in refused(query).details}
    assert {key for key in without if not key.startswith(("CEL-Q240", "CEL-Q243"))} == {
        "CEL-Q253.literal_subject",
        "CEL-Q253.undeclared",  # `a`, and the predicates of lists
        "CEL-Q258.function",  # an aggregate where none may be
    }


def test_text_that_is_broken_shows_the_place() -> None:
    broken = refused("SELECT (COUNT(*) AS ?n)\nWHERE { ?s ex:p ?o . ) }")
    assert broken.details["line"] == 2
    assert "(line 2, column" in str(broken)


def test_keywords_in_names_texts_and_remarks_are_no_keywords() -> None:
    policy = policy_of(["ex:optional"])
    compile(
        "SELECT (COUNT(*) AS ?union) # MINUS\n"
        "{ ?service ex:optional ?from FILTER(?from != 'EXISTS { SELECT }') }",
        policy,
    )


def test_an_undeclared_predicate_is_answered_with_the_nearest_declared_one() -> None:
    assert "did you mean 'ex:age'?" in str(refused("SELECT (COUNT(*) AS ?n) { ?s ex:ago ?o }"))
    messages = {
        str(refused(f"SELECT (COUNT(*) AS ?n) {{ ?s ex:{name} ?o }}")).replace(name, "?")
        for name in ("diagnosis", "zzzzzzzzz", "subject")
    }
    assert len(messages) == 1
    assert "is private and cannot be asked" in messages.pop()


def test_a_variable_predicate_stands_for_all_declared_ones() -> None:
    query = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    compile(query, POLICY)
    compile(query, policy_of(NAMES, entity=True))
    compile(query, policy_of(NAMES, public=["ex:q"]))
    compile(query, policy_of(NAMES, public=list(NAMES), entity=True))
    compile(query, policy_of(NAMES, public=["ex:q"], entity=True))


def test_a_policy_without_a_graph_is_not_asked_in_sparql() -> None:
    without = replace(POLICY, graph=None)
    assert refused("SELECT (COUNT(*) AS ?n) { ?s ex:p ?o }", without).code == "CEL-Q271"


def test_what_is_not_a_text_is_no_query() -> None:
    for wrong in (None, 5, b"SELECT"):
        with pytest.raises(InputError, match="a query is a text"):
            compile(wrong, POLICY)  # type: ignore[arg-type]


def test_long_queries_are_refused_and_not_parsed() -> None:
    start = "SELECT (COUNT(*) AS ?n) { ?s ex:p ?o "
    begun = time.process_time()
    assert refused(start + "FILTER(?o > 1) " * 5_000 + "}").code == "CEL-Q243"
    assert refused(start + ". ?s ex:p ?o " * 60 + "}").code == "CEL-Q243"
    assert refused(start + "; ex:p ?x " * 60 + "}").code == "CEL-Q243"
    assert refused(start + "FILTER(?o IN (" + "1, " * 3_000 + "1)) }").code == "CEL-Q243"
    assert refused(start + "FILTER" + "(" * 3_000).code == "CEL-Q243"
    assert time.process_time() - begun < 5


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetched(*_: object, **__: object) -> None:
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", fetched)
    monkeypatch.setattr(socket, "getaddrinfo", fetched)
    refused("SELECT (COUNT(*) AS ?n) FROM <http://example.org/g> { ?s ex:p ?o }")
    refused("SELECT (COUNT(*) AS ?n) { SERVICE <http://example.org/s> { ?s ex:p ?o } }")
    compile("PREFIX f: <http://example.org/> SELECT (COUNT(*) AS ?n) { ?s f:p f:x }", POLICY)
