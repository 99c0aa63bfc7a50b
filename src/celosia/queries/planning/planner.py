"""From a question and a policy to a plan; what cannot be promised is refused here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from sqlglot import exp

from celosia.core.errors import InputError, QueryRefused
from celosia.core.messages import Message, did_you_mean, unit_words
from celosia.core.neighbours import Neighbours
from celosia.core.numbers import exactly
from celosia.mechanisms.parameters import check_delta, check_epsilon
from celosia.queries.algebra import (
    Column,
    DerivedTable,
    Filter,
    GroupedTable,
    Join,
    LeftJoin,
    Question,
    Scan,
    SemiJoin,
    UnionAll,
    Wording,
    scans,
    walk,
)
from celosia.queries.emission import Target
from celosia.queries.ownership import OwnedRelation, ownerless_notes
from celosia.queries.planning.aggregates import find_required_totals
from celosia.queries.planning.context import MechanismChoice, PlanContext, PlanRequest
from celosia.queries.planning.contribution_bounding import choose_for_people
from celosia.queries.planning.cost import check_cost, choose_deadline, estimate_cost
from celosia.queries.planning.facts import Frequency, PublicFacts
from celosia.queries.planning.key_domains import find_key_domains, public_labels
from celosia.queries.planning.plan import Executor, Plan
from celosia.queries.policy.values import Policy, predicate_numbers
from celosia.queries.request import QueryRequest
from celosia.queries.sql import TextLine, compile, describe, normalise

METHODS = ("capped", "chosen-cap", "r2t", "r2t-cap", "global", "gaussian", "elastic", "top-k")
PREAGGREGATE_ABOVE = 16
"""Rows of public tables that one private row may meet before they are aggregated first."""

MIXED = frozenset({"CEL-Q043.groups_of_several", "CEL-Q043.groups_of_rows"})
"""Sub-queries with groups of many people: what is asked of them may be asked of their answers."""


def make_plan(
    request: QueryRequest,
    policy: Policy,
    *,
    count: Frequency | None = None,
    execute_public: Executor | None = None,
) -> Plan:
    """How a query will be answered, and at what price; no private data is touched.

    Args:
        request: one SELECT, in SQL, or in SPARQL where the policy is of a graph, and its price.
        policy: what is declared.
        count: counts how often values of public tables repeat, where that is not declared.
        execute_public: runs a query about public tables, which are aggregated before they are
            joined where they multiply rows.

    Raises:
        InputError: CEL-I060, CEL-Q020, CEL-Q142 a parameter or the text is wrong.
        QueryRefused: what cannot be promised, with what would make it answerable.
    """
    price = check_epsilon(request.epsilon)
    check_delta(request.delta, zero=True)
    failure = exactly(request.delta)
    chosen_method = check_method(request.method)
    question = compile_query(request.query, policy, execute_public)
    wanted = PlanRequest(
        " ".join(request.query.split()),
        price,
        failure,
        chosen_method,
        count,
        execute_public,
        request.rank_intervals,
    )
    if question.branches:
        from celosia.queries.planning.branches import plan_branches  # only where there are some

        return plan_branches(question, policy, wanted, plan_question)
    try:
        return plan_question(question, policy, wanted)
    except QueryRefused as refused:
        if policy.graph is not None:
            from celosia.queries.sparql.refusals import reword  # tables do without
            from celosia.queries.sparql.scanner import scan

            raise reword(refused, scan(request.query)) from None
        if refused.key not in MIXED:
            raise
        planned = _plan_over_answers(request, question, policy, wanted)
        if planned is None:
            raise
        return planned


def _plan_over_answers(
    request: QueryRequest, question: Question, policy: Policy, wanted: PlanRequest
) -> Plan | None:
    """The plan of a question over groups of many people, from their answers; None without one."""
    with suppress(QueryRefused):
        asked = compile_query(request.query, policy, wanted.execute_public, over_answers=True)
        if asked != question:
            return plan_question(asked, policy, wanted)
    return None


def plan_question(question: Question, policy: Policy, wanted: PlanRequest) -> Plan:
    """How one question will be answered."""
    price, failure, count, execute_public = (
        wanted.epsilon,
        wanted.delta,
        wanted.count,
        wanted.execute_public,
    )
    target = Target(policy=policy, dialect=policy.database.kind)
    neighbours = Neighbours(policy.relation, unit=policy.unit.name)
    if all(_is_public(policy, scan.table) for scan in scans(question.source)):
        from celosia.queries.planning.public_queries import (
            PublicStep,  # only where the plan needs it
        )

        step = PublicStep(question=question, target=target)
        return Plan(
            question_text=wanted.text,
            tree=describe_tree(question, policy, None),
            parts=step.parts,
            epsilon=Fraction(0),
            delta=Fraction(0),
            neighbours=neighbours,
            method="public",
            normalised=normalise(question),
            question=question,
            derivations=(),
            original=question,
            steps=(step,),
            labels=_labels(question, target, execute_public),
        )
    facts = PublicFacts(policy, count)
    question = _bound_sub_queries(question, target, facts)
    cost = estimate_cost(question.source, facts)
    original = question
    if cost.public > PREAGGREGATE_ABOVE and execute_public is not None and count is not None:
        from celosia.queries.planning.preaggregation import (
            preaggregate_public_tables,  # only where the plan needs it
        )

        aggregated = preaggregate_public_tables(question, target, facts, execute_public)
        if aggregated is not None:
            question, target, facts = aggregated.question, aggregated.target, aggregated.facts
            cost = estimate_cost(question.source, facts)
    check_cost(cost)
    context = PlanContext(
        question=question,
        target=target,
        required=find_required_totals(question, target),
        keys=find_key_domains(
            question, target, finds_keys=bool(failure), execute_public=execute_public
        ),
        epsilon=price,
        delta=failure,
        method=wanted.method,
        facts=facts,
        rank_intervals=wanted.rank_intervals,
    )
    choice = _choose_mechanisms(context)
    steps, owned = choice.steps, choice.owned
    parts = tuple(part for step in steps for part in step.parts)
    return Plan(
        question_text=wanted.text,
        tree=describe_tree(question, target.policy, owned),
        parts=parts,
        epsilon=price,
        delta=sum((part.delta for part in parts), Fraction(0)),
        neighbours=neighbours,
        method=choice.method,
        notes=(*(_notes(original, policy) if owned is not None else ()), *choice.notes),
        normalised=normalise(original),
        question=question,
        original=original,
        deadline=choose_deadline(cost, steps, dialect=target.dialect, declared=policy.deadline),
        derivations=tuple(choice.derivations),
        steps=tuple(steps),
        group_keys=context.keys.values,
        labels=_labels(original, target, execute_public),
    )


def _bound_sub_queries(question: Question, target: Target, facts: PublicFacts) -> Question:
    if all(isinstance(each, Scan | Filter | Join | SemiJoin) for each in walk(question.source)):
        return question
    from celosia.queries.planning.sub_queries import (
        bound_sub_queries,  # only where the plan needs it
    )

    return bound_sub_queries(question, target, facts)


def _choose_mechanisms(context: PlanContext) -> MechanismChoice:
    if context.method == "top-k":
        from celosia.queries.planning.top_groups import (
            choose_top_groups,  # only where it is asked for
        )

        return choose_top_groups(context)
    if not context.policy.unit.is_row:
        return choose_for_people(context)
    from celosia.queries.planning.row_level import choose_for_rows  # only where the plan needs it

    return choose_for_rows(context)


def check_method(method: object) -> str | None:
    """The name of a method, or None for the planner's choice."""
    if method is None or method in METHODS:
        return None if method is None else str(method)
    raise InputError(
        "CEL-Q142", method=method, hint=did_you_mean(method, METHODS), methods=", ".join(METHODS)
    )


def compile_query(
    query: str,
    policy: Policy,
    execute_public: Executor | None = None,
    *,
    over_answers: bool = False,
) -> Question:
    """The question of a text: a graph is asked in SPARQL, tables in SQL.

    Args:
        query: the text.
        policy: what is declared.
        execute_public: runs a query about public tables, for values that the question takes from
            them.
        over_answers: whether aggregates over groups of many people are taken of noisy answers.

    Raises:
        InputError: the text is not of the language.
        QueryRefused: what cannot be promised.
    """
    if policy.graph is None:
        evaluate = None if execute_public is None else partial(_evaluate, policy, execute_public)
        return compile(
            query,
            policy,
            dialect=query_language(policy),
            evaluate=evaluate,
            over_answers=over_answers,
        )
    from celosia.queries import sparql  # loads a parser that tables do without

    return sparql.compile(query, policy)


def _evaluate(policy: Policy, execute: Executor, question: Question) -> list[dict[str, Any]]:
    """The exact rows of a question about public tables."""
    from celosia.queries.planning.public_queries import PublicStep  # few questions have one
    from celosia.queries.post_processing import post_process

    target = Target(policy=policy, dialect=policy.database.kind)
    rows = PublicStep(question=question, target=target).rows(execute)
    return [row for _, row in post_process(rows, question.post_processing)]


def query_language(policy: Policy) -> Literal["duckdb", "postgres"]:
    """Whose SQL questions are written in: a policy on Spark is asked as one on DuckDB.

    So a question means the same there, down to its quotes and its division; what Spark runs is
    written for Spark.
    """
    return "postgres" if policy.database.kind == "postgres" else "duckdb"


def _labels(
    question: Question, target: Target, execute_public: Executor | None
) -> Mapping[str, Mapping[Any, str]]:
    """What stands for the numbers of terms that groups are shown for."""
    policy = target.policy
    if policy.graph is None:
        return {}
    addresses, names = zip(*policy.graph.predicates, strict=True)
    words = dict(zip(predicate_numbers(addresses), names, strict=True)) | dict(policy.graph.labels)
    words |= public_labels(question, target, execute_public)
    return {key.name: words for key in question.keys}


def _notes(question: Question, policy: Policy) -> tuple[str, ...]:
    """What happens to rows without an owner; in a graph, every fact has its subject."""
    if policy.graph is not None:
        return ()
    return ownerless_notes([scan.table for scan in scans(question.source)], policy)


def _is_public(policy: Policy, table: str) -> bool:
    declared = policy.table(table)
    return declared is not None and declared.public


def describe_tree(
    question: Question, policy: Policy, owned: OwnedRelation | None
) -> tuple[str, ...]:
    """All lines, the outermost first; each two spaces further in than the one it belongs to."""
    wording = question.wording
    return tuple(_tree_lines(describe(question, wording), 0, policy, owned, wording or Wording()))


def _tree_lines(
    line: TextLine, depth: int, policy: Policy, owned: OwnedRelation | None, wording: Wording
) -> list[Message]:
    rule = _rule(line.of, policy, owned, wording)
    own = Message("queries.tree.plain_line", indent="  " * depth, text=line.text)
    if rule:
        own = Message("queries.tree.line", indent="  " * depth, text=line.text, rule=rule)
    parts = [_tree_lines(each, depth + 1, policy, owned, wording) for each in line.below]
    below = [text for lines in parts for text in lines]
    return [own, *below]


def _rule(  # noqa: PLR0911 - one for each kind of part
    part: object, policy: Policy, owned: OwnedRelation | None, wording: Wording
) -> Message | None:
    match part:
        case Question() if owned is not None:
            nobody = Message("queries.tree.nobody")
            found = (one for each in owned.owners for one in _called(each, owned, wording))
            owners = ", ".join(dict.fromkeys(found)) or nobody
            units = unit_words(policy.unit.name)
            if policy.graph is None:
                return Message("queries.tree.owners", units=units, owners=owners)
            return Message("queries.tree.owners_of_solutions", units=units, owners=owners)
        case Scan(table=table, alias=alias):
            return _scan_rule(table, alias, policy, wording)
        case Join() if owned is None:
            if policy.graph is None:
                return Message("queries.tree.join")
            return Message("queries.tree.join_of_facts")
        case SemiJoin(negated=negated):
            if negated:
                return Message("queries.tree.anti_join")
            return Message("queries.tree.semi_join")
        case LeftJoin():
            return Message("queries.tree.left_join")
        case GroupedTable():
            return Message("queries.tree.grouped")
        case UnionAll():
            return Message("queries.tree.union")
    return None


def _called(column: Column, owned: OwnedRelation, wording: Wording) -> Iterator[str]:
    """What the question calls a column, or those that it is made of."""
    if column in wording.columns:
        yield wording.columns[column]
        return
    behind: list[exp.Expression] = []
    for part in walk(owned.relation):
        match part:
            case UnionAll(alias=column.relation, parts=parts):
                named = [one for each in parts for one in each.columns]
            case DerivedTable(alias=column.relation, columns=columns):
                named = list(columns)
            case GroupedTable(alias=column.relation, keys=keys):
                named = list(keys)
            case _:
                continue
        behind += [one.expression for one in named if one.name == column.name]
    inner = [one for each in behind for one in each.find_all(exp.Column)]
    if not inner or wording == Wording():
        yield str(column)
    for each in inner if wording != Wording() else ():
        yield from _called(Column(each.table, each.name), owned, wording)


def _scan_rule(name: str, alias: str, policy: Policy, wording: Wording) -> Message:
    table = policy.table(name)
    if table is None or table.public:
        return Message("queries.tree.public")
    rule = Message("queries.tree.private")
    for each in table.columns:
        word = wording.columns.get(Column(alias, each.name), each.name)
        if each.unique:
            fact = Message("queries.tree.unique", column=word)
        elif each.most is None:
            continue
        elif policy.graph is None:
            fact = Message("queries.tree.most_rows", most=each.most, column=word)
        else:
            fact = Message("queries.tree.most_facts", most=each.most, column=word)
        rule = Message("queries.tree.several", one=rule, other=fact)
    return rule
