"""Odd queries are answered with a question or a refusal, never with anything else.

Ten thousand of them with `CELOSIA_FUZZ=10000`, from another start with `CELOSIA_FUZZ_SEED=7`.
"""

from __future__ import annotations

import os

import pytest
from tests.effort import examples
from tests.queries.sparql.graphs import EX, Both
from tests.queries.sparql.mutants import queries
from tests.queries.sparql.test_meaning import INTEGER, POLICY, TARGET

from celosia.core.errors import CelosiaError, InputError, QueryRefused
from celosia.queries.algebra import Question
from celosia.queries.emission import count_query, distinct_count_query
from celosia.queries.sparql import compile
from celosia.queries.sql import describe, normalise

NUMBER = int(os.environ.get("CELOSIA_FUZZ", examples(1000)))
SEED = int(os.environ.get("CELOSIA_FUZZ_SEED", "1"))

_OBJECTS = [f"<{EX}n1>", f"<{EX}n2>", "_:b", '"a"', '"a"@en', f'"2"{INTEGER}', f'"1"{INTEGER}']
GRAPH = Both(
    [
        (subject, f"<{EX}{predicate}>", term)
        for number, term in enumerate(_OBJECTS)
        for place, predicate in enumerate("pqr")
        for subject in (f"<{EX}n1>", f"<{EX}n2>", "_:b")
        if (number * 5 + place * 3 + len(subject)) % 4
    ],
    POLICY,
)


def counted(question: Question) -> int | None:
    """What the engine counts; None for questions that are more than one count."""
    aggregate = question.aggregates[0]
    if len(question.aggregates) > 1 or question.keys or question.post_processing.having is not None:
        return None
    if question.post_processing.limit is not None or question.post_processing.offset:
        return None
    if aggregate.kind == "rows":
        tree = count_query(question.source, target=TARGET)
    elif aggregate.kind == "distinct" and aggregate.argument is not None:
        tree = distinct_count_query(question.source, aggregate.argument, target=TARGET)
    else:
        return None
    [(number,)] = GRAPH.duckdb.execute(TARGET.text(tree)).fetchall()
    return int(number)


def test_odd_queries_never_crash_and_mean_what_pyoxigraph_finds() -> None:
    codes: set[str] = set()
    passed = 0
    for query in queries(SEED, NUMBER):
        try:
            question = compile(query, POLICY)
        except (InputError, QueryRefused) as error:
            codes.add(error.code)
            continue
        passed += 1
        assert str(describe(question))
        assert normalise(question)
        number = counted(question)
        if number is not None:
            [solution] = GRAPH.exact(query)
            assert int(solution[0].value) == number, query
    assert codes <= {f"CEL-Q2{number}" for number in range(40, 80)}
    assert passed > NUMBER // 20  # some are good questions, or nothing was tried


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "\x00",
        "\ud800",
        "SELECT (COUNT(*) AS ?n) { ?s ex:p '\ud800' }",
        "SELECT " * 200,
        "(" * 500,
        "SELECT (COUNT(*) AS ?n) { ?s ex:p ?o }\u202e",
        "SELECT (COUNT(*) AS ?n) { ?s ex:p ?o } <",
        "🙂",
    ],
)
def test_texts_that_are_no_queries_are_refused(text: str) -> None:
    with pytest.raises(CelosiaError):
        compile(text, POLICY)
