"""The compiler of SPARQL: a text to a question of the relational algebra, or to a refusal.

The text becomes the syntax tree of one SELECT query by rdflib's parser, and nothing else of rdflib.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from threading import Lock
from typing import Any

from sqlglot import exp

from celosia.core.errors import InputError, QueryRefused
from celosia.queries.algebra import PostProcessing, Question
from celosia.queries.policy.values import Graph, Policy
from celosia.queries.sparql.comparisons import ORDERS, compare_typed, typed_constant
from celosia.queries.sparql.constants import Constant, TermReader, resolve
from celosia.queries.sparql.datasets import read_dataset
from celosia.queries.sparql.outputs import AGGREGATE, Outputs
from celosia.queries.sparql.refusals import (
    locate,
    locate_misread,
    no_parser,
    not_sparql,
    refusal,
)
from celosia.queries.sparql.scanner import scan
from celosia.queries.sparql.solutions import Solver
from celosia.queries.sparql.trees import is_variable, name_of, part_of, strip_layers, walk_tree
from celosia.queries.sparql.values import TypedValue, disjunction
from celosia.queries.sql.operators import conjoin


def parse(query: str) -> tuple[Any, dict[str, str], str | None]:
    """The tree of the one SELECT query of a text, the prefixes that it declares, and its base.

    Names and numbers are left as they are written: rdflib would spell some of them anew, and `+5`
    is another term than `5`. Decimals and doubles with a sign it spells anew all the same. Nothing
    is fetched or evaluated.

    Raises:
        InputError: CEL-Q240, the text is not SPARQL.
        QueryRefused: CEL-Q242 to CEL-Q247, CEL-Q260 and CEL-Q261.
        EngineError: CEL-Q229, rdflib is not installed.
    """
    prologue, tree = _tree(query)
    if name_of(tree) != "SelectQuery":
        raise not_sparql("CEL-Q240.not_a_select")
    base: str | None = None
    declared = {}
    for each in prologue:
        if each.name == "Base":
            base = resolve(str(each["iri"]), base)
        else:
            declared[str(part_of(each, "prefix") or "")] = resolve(str(each["iri"]), base)
    return tree, declared, base


def _tree(query: str) -> tuple[Any, Any]:
    try:  # 0.3 s, only where SPARQL is read
        from pyparsing import ParseBaseException
        from rdflib.plugins.sparql.parser import parseQuery
    except ImportError:
        raise no_parser() from None
    try:
        with _as_written():
            if "#" in query or "\\" in query:  # there may be a comment or an escape
                prologue, tree = parseQuery(query)
            else:
                prologue, tree = _without_comments().parse_string(query, parse_all=True)
    except ParseBaseException as error:
        raise not_sparql("CEL-Q240.unreadable", at=(error.lineno, error.column)) from None
    except RecursionError:
        raise refusal("CEL-Q243.too_deep") from None
    except Exception:  # a fault of the parser on odd text is still no SPARQL
        raise not_sparql("CEL-Q240.unreadable") from None
    return prologue, tree


_SPELLING = Lock()
"""How rdflib spells numbers is a setting of the whole process."""


@contextmanager
def _as_written() -> Iterator[None]:
    """Let rdflib keep the spelling of numbers for as long as one text is read."""
    import rdflib

    with _SPELLING:
        before, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
        try:
            yield
        finally:
            rdflib.NORMALIZE_LITERALS = before


@cache
def _without_comments() -> Any:
    """The same grammar for texts without comments, which are looked for before every word.

    That takes half of the time of `parseQuery`. rdflib's own grammar stays as it is.
    """
    from rdflib.plugins.sparql.parser import Query

    made: dict[int, Any] = {}

    def plain(element: Any) -> Any:
        if id(element) not in made:
            made[id(element)] = same = copy(element)
            same.ignoreExprs = []
            if getattr(element, "expr", None) is not None:
                same.expr = plain(element.expr)
            if hasattr(element, "exprs"):
                same.exprs = [plain(each) for each in element.exprs]
        return made[id(element)]

    return plain(Query)


# What is done with the noisy answers costs nothing: post-processing keeps the promise. An aggregate
# that only HAVING or ORDER BY refers to is asked for as well, and not shown.
def read_post_processing(query: Any, outputs: Outputs, reader: TermReader) -> PostProcessing:
    """Read the post-processing of a query.

    Raises:
        QueryRefused: CEL-Q268, and all that an aggregate may be refused for.
    """
    order, limits = part_of(query, "orderby"), part_of(query, "limitoffset")
    return PostProcessing(
        having=read_having(query, outputs, reader),
        order=tuple(_ordered(each, outputs) for each in order["condition"]) if order else (),
        limit=_count(part_of(limits, "limit"), "LIMIT") if limits is not None else None,
        offset=(_count(part_of(limits, "offset"), "OFFSET") or 0) if limits is not None else 0,
        computed=outputs.calculations(),
        columns=tuple(outputs.shown),
    )


def read_having(query: Any, outputs: Outputs, reader: TermReader) -> exp.Expression | None:
    """The condition of HAVING on the names of answers; None without one."""
    having = part_of(query, "having")
    condition: exp.Expression | None = None
    for each in having["condition"] if having is not None else ():
        part = _condition(each, outputs, reader)
        condition = part if condition is None else conjoin(condition, part)
    return condition


def _condition(node: Any, outputs: Outputs, reader: TermReader) -> exp.Expression:
    node = strip_layers(node)
    match name_of(node):
        case "ConditionalAndExpression":
            made = _condition(node["expr"], outputs, reader)
            for each in node["other"]:
                made = conjoin(made, _condition(each, outputs, reader))
            return made
        case "ConditionalOrExpression":
            parts = [node["expr"], *node["other"]]
            return disjunction(*(_condition(each, outputs, reader) for each in parts))
        case "UnaryNot":
            return exp.Not(this=exp.Paren(this=_condition(node["expr"], outputs, reader)))
        case "RelationalExpression" if str(node["op"]) in ("=", "!=", *ORDERS):
            sides = [_answer(node[each], outputs, reader) for each in ("expr", "other")]
            return compare_typed(str(node["op"]), *sides)
    raise refusal("CEL-Q268.having")


def _answer(node: Any, outputs: Outputs, reader: TermReader) -> TypedValue:
    node = strip_layers(node)
    name = name_of(node)
    if name.startswith("Aggregate_"):
        return _column(outputs.aggregate_name(node))
    if is_variable(node):
        return _column(_named(str(node), outputs, "HAVING"))
    if name in ("", "literal"):
        constant: Constant = reader.constant(node)
        if constant.sort == "number":
            return typed_constant(constant)
    raise refusal("CEL-Q268.having_sides")


def _column(name: str) -> TypedValue:
    return TypedValue("number", exp.column(name, quoted=True))


def _named(name: str, outputs: Outputs, clause: str) -> str:
    if name not in outputs.aggregates:
        raise refusal("CEL-Q268.not_an_aggregate", clause=clause, variable=name)
    return name


def _ordered(node: Any, outputs: Outputs) -> tuple[str, bool]:
    inner = strip_layers(node["expr"])
    if is_variable(inner):
        name = _named(str(inner), outputs, "ORDER BY")
    elif name_of(inner).startswith("Aggregate_"):
        name = outputs.aggregate_name(inner)
    else:
        raise refusal("CEL-Q268.order_by")
    return name, str(part_of(node, "order") or "").upper() == "DESC"


def _count(node: Any, clause: str) -> int | None:
    if node is None:
        return None
    text = str(node)
    if not (text.isdecimal() and text.isascii() and len(text) <= 9):
        raise refusal("CEL-Q268.not_a_number", clause=clause)
    return int(text)


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
    words = scan(query)
    try:
        return _compile_query(query, policy, policy.graph)
    except QueryRefused as error:
        raise locate(error, words) from None
    except InputError as error:
        raise locate_misread(error, words) from None
    except RecursionError:
        raise refusal("CEL-Q243.too_deep") from None


def _compile_query(query: str, policy: Policy, graph: Graph) -> Question:
    tree, declared, base = parse(query)
    reader = TermReader(dict(graph.prefixes) | declared, base)
    dataset = read_dataset(tree, graph, reader)
    solver = Solver(
        policy,
        graph,
        reader,
        described_names(tree),
        described_names(tree, besides=("Filter",)),
        counts_once=_counts_once(tree),
        dataset=dataset,
        active=dataset.default,
    )
    if part_of(tree, "valuesClause") is not None:
        raise refusal("CEL-Q260.after_where")
    found = solver.solve(tree["where"])
    outputs = Outputs(found, policy, solver.reading(found.scope))
    outputs.read(tree)
    done = read_post_processing(tree, outputs, reader)
    aggregates, keys = outputs.parts()
    return Question(found.relation, aggregates, keys, done, wording=solver.wording)


def described_names(tree: Any, *, besides: tuple[str, ...] = ()) -> frozenset[str]:
    """The names of all variables outside of triple patterns, VALUES, and what else is named."""
    if is_variable(tree):
        return frozenset({str(tree)})
    parts: Iterable[Any] = ()
    if isinstance(tree, dict):
        if name_of(tree) in ("TriplesBlock", "InlineData", "ValuesClause", *besides):
            return frozenset()
        parts = tree.values()
    elif not isinstance(tree, str) and hasattr(tree, "__iter__"):
        parts = tree
    return frozenset[str]().union(*(described_names(each, besides=besides) for each in parts))


def _counts_once(tree: Any) -> bool:
    """Whether no aggregate of a query depends on how often a solution comes."""
    calls = [
        each
        for word in ("projection", "having", "orderby")
        for each in walk_tree(part_of(tree, word))
        if name_of(each).startswith(AGGREGATE)
    ]
    words = [name_of(each).removeprefix(AGGREGATE) for each in calls]
    return all(
        word in ("Min", "Max") or (bool(part_of(each, "distinct")) and each["vars"] != "*")
        for word, each in zip(words, calls, strict=True)
    )
