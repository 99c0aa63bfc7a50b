"""The compiler of SPARQL: a text to a question of the relational algebra, or to a refusal."""

from __future__ import annotations

from celosia.core.errors import InputError
from celosia.queries.algebra import Question
from celosia.queries.policy.values import Graph, Policy
from celosia.queries.sparql.conditions import ConditionReader
from celosia.queries.sparql.constants import TermReader
from celosia.queries.sparql.outputs import Outputs
from celosia.queries.sparql.parser import parse
from celosia.queries.sparql.patterns import WhereClause
from celosia.queries.sparql.post_processing import read_post_processing
from celosia.queries.sparql.refusals import refusal
from celosia.queries.sparql.relations import Solutions, make_scans
from celosia.queries.sparql.trees import part_of


def compile(query: str, policy: Policy) -> Question:
    """The question that a SPARQL text asks of the graph of a policy.

    Each triple pattern becomes a scan of its predicate's table; patterns are joined on all the
    variables that they share. What is decided here depends on the text and the policy, never on
    data, and every expression has a value on every row.

    Prefixes of the policy need not be declared again. Numbers are compared as doubles, exactly up
    to 15 digits; infinite ones have no order here.

    Args:
        query: one SELECT query with aggregates.
        policy: of a graph.

    Raises:
        InputError: CEL-Q240, the text is not SPARQL; CEL-Q271, the policy has no graph.
        QueryRefused: CEL-Q242 to CEL-Q253, what cannot be promised, with the place in the text
            where it is known.
    """
    if policy.graph is None:
        raise InputError("CEL-Q271.no_graph")
    try:
        return _compile_query(query, policy, policy.graph)
    except RecursionError:
        raise refusal("CEL-Q243.too_deep") from None


def _compile_query(query: str, policy: Policy, graph: Graph) -> Question:
    tree, declared = parse(query)
    reader = TermReader(dict(graph.prefixes) | declared)
    if part_of(tree, "valuesClause") is not None:
        raise refusal("CEL-Q260.after_where")
    where = WhereClause(reader)
    where.read(tree["where"])
    solutions = Solutions(make_scans(where.patterns, policy), graph.prefixes)
    reading = ConditionReader(reader, solutions.variable_columns, graph.prefixes)
    conditions = reading.all(where.conditions)
    conditions += [reading.among(variable, terms) for variable, terms in where.values]
    source = solutions.join(conditions)
    outputs = Outputs(solutions, policy)
    outputs.read(tree)
    done = read_post_processing(tree, outputs, reader)
    aggregates, keys = outputs.parts()
    return Question(source, aggregates, keys, done)
