"""From a question and a policy to a plan; what cannot be promised is refused here."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

from celosia.core.neighbours import Neighbours
from celosia.core.numbers import exact
from celosia.mechanisms.parameters import check_delta, check_epsilon
from celosia.queries.algebra import Question, scans
from celosia.queries.emission import Target
from celosia.queries.ownership import ownerless_notes
from celosia.queries.planning.deadline import deadline_of
from celosia.queries.planning.facts import Frequency, PublicFacts
from celosia.queries.planning.keys import keys_of
from celosia.queries.planning.persons import person_choice
from celosia.queries.planning.plan import Plan
from celosia.queries.planning.refusals import check_method
from celosia.queries.planning.situation import Choice, Situation
from celosia.queries.planning.step import Ask
from celosia.queries.planning.totals import needs_of
from celosia.queries.planning.words import tree_of
from celosia.queries.planning.work import check_work, work_of
from celosia.queries.policy.values import Policy
from celosia.queries.sql import compile, normalised

FOLD_ABOVE = 16
"""Rows of public tables that one private row may meet before they are aggregated first."""


def make_plan(  # noqa: PLR0913 - what a request is made of
    query: str,
    policy: Policy,
    *,
    epsilon: object,
    delta: object = 0,
    method: str | None = None,
    count: Frequency | None = None,
    ask_public: Ask | None = None,
) -> Plan:
    """How a query will be answered, and at what price; no private data is touched.

    Args:
        query: one SELECT, in SQL, or in SPARQL where the policy is of a graph.
        policy: what is declared.
        epsilon: of the whole request.
        delta: of the whole request; charged only where a mechanism needs it.
        method: one of `METHODS`; the planner's choice if None.
        count: counts how often values of public tables repeat, where that is not declared.
        ask_public: runs a query about public tables, which are aggregated before they are joined
            where they multiply rows.

    Raises:
        InputError: CEL-M002, CEL-M003, CEL-Q020, CEL-Q142 a parameter or the text is wrong.
        QueryRefused: what cannot be promised, with what would make it answerable.
    """
    price = check_epsilon(epsilon)
    check_delta(delta, zero=True)
    failure = exact(delta)
    assert failure is not None
    wish = check_method(method)
    target = Target(policy=policy, dialect=policy.database.kind)
    question = compiled(query, policy)
    neighbours = Neighbours(policy.relation, unit=policy.unit.name)
    if all(_is_public(policy, scan.table) for scan in scans(question.source)):
        from celosia.queries.planning.public import PublicStep  # noqa: PLC0415 - only where the plan needs it

        step = PublicStep(question=question, target=target)
        return Plan(
            question_text=" ".join(query.split()),
            steps=tree_of(question, policy, None),
            parts=step.parts,
            epsilon=Fraction(0),
            delta=Fraction(0),
            neighbours=neighbours,
            method="public",
            normalised=normalised(question),
            question=question,
            recipes=(),
            work=(step,),
            labels=_labels(question, policy),
        )
    facts = PublicFacts(policy, count)
    work = work_of(question.source, facts)
    asked = question
    if work.public > FOLD_ABOVE and ask_public is not None and count is not None:
        from celosia.queries.planning.folding import fold_public  # noqa: PLC0415 - only where the plan needs it

        folded = fold_public(question, target, facts, ask_public)
        if folded is not None:
            question, target, facts = folded.question, folded.target, folded.facts
            work = work_of(question.source, facts)
    check_work(work)
    situation = Situation(
        question=question,
        target=target,
        needs=needs_of(question, target),
        keys=keys_of(question, target),
        epsilon=price,
        delta=failure,
        method=wish,
        facts=facts,
    )
    choice = _choice(situation)
    steps, owned = choice.steps, choice.owned
    parts = tuple(part for step in steps for part in step.parts)
    return Plan(
        question_text=" ".join(query.split()),
        steps=tree_of(question, target.policy, owned),
        parts=parts,
        epsilon=price,
        delta=sum((part.delta for part in parts), Fraction(0)),
        neighbours=neighbours,
        method=choice.method,
        notes=_notes(asked, policy) if owned is not None else (),
        normalised=normalised(asked),
        question=question,
        compiled=None if asked is question else asked,
        deadline=deadline_of(work, steps, dialect=target.dialect, declared=policy.deadline),
        recipes=tuple(choice.recipes),
        work=tuple(steps),
        known=situation.keys.known,
        labels=_labels(question, policy),
    )


def _choice(situation: Situation) -> Choice:
    if not situation.policy.unit.is_row:
        return person_choice(situation)
    from celosia.queries.planning.rowwise import row_choice  # noqa: PLC0415 - only where the plan needs it

    return row_choice(situation)


def compiled(query: str, policy: Policy) -> Question:
    """The question of a text: a graph is asked in SPARQL, tables in SQL.

    Raises:
        InputError: the text is not of the language.
        QueryRefused: what cannot be promised.
    """
    if policy.graph is None:
        return compile(query, policy, dialect=language_of(policy))
    from celosia.queries import sparql  # noqa: PLC0415 - loads a parser that tables do without

    return sparql.compile(query, policy)


def language_of(policy: Policy) -> Literal["duckdb", "postgres"]:
    """Whose SQL questions are written in: a policy on Spark is asked as one on DuckDB.

    So a question means the same there, down to its quotes and its division; what Spark runs is
    written for Spark.
    """
    return "postgres" if policy.database.kind == "postgres" else "duckdb"


def _labels(question: Question, policy: Policy) -> Mapping[str, Mapping[Any, str]]:
    """What stands for the numbers of terms that groups are shown for."""
    if policy.graph is None:
        return {}
    words = dict(policy.graph.labels)
    return {key.name: words for key in question.keys}


def _notes(question: Question, policy: Policy) -> tuple[str, ...]:
    """What happens to rows without an owner; in a graph, every fact has its subject."""
    if policy.graph is not None:
        return ()
    return ownerless_notes([scan.table for scan in scans(question.source)], policy)


def _is_public(policy: Policy, table: str) -> bool:
    declared = policy.table(table)
    return declared is not None and declared.public
