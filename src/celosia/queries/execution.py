"""The execution of one charged question, in a time that no row decides, and its release.

Whether it accepts a query depends on the question and the types of columns, which the refusal may
therefore tell. No row is read to find out (see `SqlEngine.understands`), so neither a refusal nor
the time that it takes reveals data.

How long an engine runs, and whether it fails, depends on rows. So what fails, or has not ended in
time, is answered with what the plan releases on the empty database; the answer is recorded and told
at moments that the plan has fixed; and what happened is noted for the curator alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from celosia.accounting.ledger import Ledger, Request, Reservation, StoredAnswer
from celosia.accounting.ledger.store import EXCEEDED_DEADLINE, FAILED_QUERY
from celosia.core.errors import EngineError, PrivacyError, QueryRefused
from celosia.core.messages import Message, one_unit, unit_word, unit_words
from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.core.release import Guarantee, Provenance
from celosia.mechanisms.guarantees import WEAK
from celosia.mechanisms.values import below_zero, format_rounded_up
from celosia.queries import deadlines
from celosia.queries.algebra import scans
from celosia.queries.answer import Intervals, QueryAnswer
from celosia.queries.emission import Target
from celosia.queries.planning import Plan
from celosia.queries.policy import Policy, policy_hash
from celosia.queries.post_processing import post_process
from celosia.queries.request import QueryRequest
from celosia.queries.results import (
    Outcome,
    execute_plan,
    execute_plan_on_empty,
    list_planned_queries,
)
from celosia.queries.row_state import RowState, RowStates
from celosia.queries.sessions import check_declarations_of_plan

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.engines import SqlEngine
    from celosia.engines.sql import Reader
    from celosia.queries.emission.target import Dialect


ANYBODY = "anybody"
"""Who asks, where the policy names nobody."""


def charge_of(plan: Plan, policy: Policy, request: QueryRequest) -> Request:
    """What the ledger charges for a plan."""
    if request.analyst is None and policy.analysts:
        raise QueryRefused("CEL-Q141")
    plain = Request(
        analyst=ANYBODY if request.analyst is None else request.analyst,
        question=plan.normalised,
        epsilon=plan.epsilon,
        delta=plan.delta,
        parameters=plan.parameters,
    )
    try:
        return replace(plain, loss=plan.loss)
    except PrivacyError:  # parts that were rounded up one by one add up to a hair more
        return plain


def check_accepted(
    plan: Plan, engine: SqlEngine, *, cast: Callable[[exp.Expr], exp.Expr], timeout: float
) -> None:
    """Let the database look at every query of a plan, without running it.

    Args:
        plan: how the question will be answered.
        engine: the owner's database.
        cast: what is done to each query before it is asked.
        timeout: the seconds that each look may take.

    Raises:
        QueryRefused: CEL-Q162 it does not accept one, CEL-Q127 one cannot be written for it.
    """
    try:
        if all(
            engine.understands(cast(each), timeout=timeout) for each in list_planned_queries(plan)
        ):
            return
    except RecursionError:
        pass  # too deep to be written, which the question alone decides
    except EngineError as error:
        if error.code != "CEL-E011":
            return  # the database is gone: a failure like any other, see `Vault.sql`
    raise QueryRefused("CEL-Q162")


TIMEOUT = 600.0
"""Seconds that one query of the engine may take."""


class Execution:
    """The steps of one question: `prepare`, then the charge, then `begin`, `release`, `wait`.

    A simulation is not for release: it neither waits nor hides failures.

    Args:
        plan: how the question is answered.
        policy: what is declared.
        engine: the owner's database.
        cast: what is done to each query before it is asked.
        rng: where randomness comes from.
        version: of the rows when they were last compared with the policy.
        states: what is known of the rows.
        timeout: the most seconds that the engine may take.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        policy: Policy,
        engine: SqlEngine,
        cast: Callable[[exp.Expr], exp.Expr],
        rng: Source,
        version: object | None,
        states: RowStates,
        timeout: float,
    ) -> None:
        self._plan = plan
        self._policy = policy
        self._engine = engine
        self._cast = cast
        self._rng = rng
        self._version = version
        self._states = states
        self._timeout = timeout
        self._begun = 0.0
        self._fallback: Outcome | None = None

    def prepare(self) -> None:
        """Draw what is released should the question fail: noise on zero.

        It also loads and compiles what the answer will need, before its time begins to run.
        """
        if self._rng.simulation:
            return
        for step in self._plan.steps:
            step.prepare()
        self._fallback = execute_plan_on_empty(self._plan, rng=self._rng)

    def begin(self) -> None:
        """Let the time run: the question is charged, and rows may be touched."""
        self._begun = time.monotonic()

    def wait(self) -> None:
        """Return at the deadline; a whole number of deadlines later if it was missed."""
        self._wait_for(1)

    def release(self, reserved: Reservation, ledger: Ledger) -> tuple[Outcome, StoredAnswer]:
        """The released numbers, recorded; also the moment of the record tells nothing."""
        try:
            outcome, incident = self._carried_out(self._moment(deadlines.GIVEN_UP))
        except BaseException as error:
            failure = isinstance(error, EngineError)
            ledger.fail(reserved, "CEL-Q140" if failure else "CEL-C001")
            raise
        self._wait_for(deadlines.RECORDED)
        kept = ledger.seal(reserved, outcome.as_dict())
        if incident is not None:
            with suppress(Exception):  # the analyst must not learn of it by this either
                ledger.note_incident(reserved, incident)
        return outcome, kept

    def _carried_out(self, until: float) -> tuple[Outcome, str | None]:
        """The numbers of the plan, or the fallback with what went wrong."""
        if self._rng.simulation:
            return self._measured(self._timeout), None
        if self._fallback is None:
            self.prepare()
        assert self._fallback is not None
        attempt = deadlines.Attempt(lambda end: self._measured(end - time.monotonic()))
        outcome = attempt.run(until)
        if outcome is not None:
            return outcome, None
        return self._fallback, FAILED_QUERY if attempt.ended else EXCEEDED_DEADLINE

    def _measured(self, seconds: float) -> Outcome:
        """The numbers of the plan, all from one state of the rows."""
        limit = time.monotonic() + min(seconds, self._timeout)
        try:
            known = self._states.find(self._engine.state)
            if known is not None:
                outcome = self._measured_by(limit, known)
                if self._engine.state == known.state:
                    self._states.keep(known)
                    return outcome
                # Rows changed in between: what is known may not hold for those that were read.
            return self._measured_by(limit, None)
        except Exception:  # noqa: S110 - what it says may reveal data
            pass
        raise unanswered_error()

    def _measured_by(self, limit: float, known: RowState | None) -> Outcome:
        """The numbers of the plan by a moment, with what is known of the rows."""
        target = Target(policy=self._policy, dialect=cast("Dialect", self._engine.dialect))
        with self._engine.snapshot(timeout=lambda: limit - time.monotonic()) as read:

            def execute(query: exp.Expr) -> Any:
                if time.monotonic() > limit:
                    raise TimeoutError
                if known is not None:
                    query = known.without_search(query, read, target=target, cast=self._cast)
                return read(self._cast(query))

            self._check_declared(read, known)
            return execute_plan(self._plan, execute, rng=self._rng)

    def _check_declared(self, read: Reader, known: RowState | None) -> None:
        """Look again at what is declared of rows, where they may have changed.

        Bounds rest on unique columns; and rows without an owner are refused if the policy says so.
        The check sees the same rows as the answer.
        """
        version, engine = self._engine.version, self._engine
        tables = {scan.table for each in self._plan.original.each for scan in scans(each.source)}
        if (version is not None and version == self._version) or (
            known is not None and tables <= known.checked
        ):
            return
        check_declarations_of_plan(self._plan, self._policy, engine.dialect, read, cast=self._cast)
        if known is not None:
            known.checked.update(tables)

    def _moment(self, share: float) -> float:
        """When a share of the deadline is over."""
        return self._begun + share * self._plan.deadline

    def _wait_for(self, share: float) -> None:
        if not self._rng.simulation:
            deadlines.wait_for(self._moment(share), period=self._plan.deadline)


def unanswered_error(*, charged: bool = True) -> EngineError:
    """The one error of everything that fails while data is read."""
    return EngineError("CEL-Q140.charged" if charged else "CEL-Q140.free")


MADE_BY = "celosia.queries.Vault"
COUNTS = frozenset({"rows", "count", "distinct"})


def build_answer(
    outcome: Outcome,
    kept: StoredAnswer,
    request: QueryRequest,
    *,
    policy: Policy,
    rng: Source,
    stored: bool,
    price: str | None = None,
) -> QueryAnswer:
    """The answer of released numbers."""
    plan = outcome.plan

    def at(sureness: float) -> Intervals:
        return [bounds for _, bounds in outcome.table(sureness)]

    table = outcome.table_with_noise(request.confidence)
    return QueryAnswer(
        question=plan.question_text,
        rows=[row for row, _, _ in table],
        intervals=[bounds for _, bounds, _ in table],
        noise=[noise for _, _, noise in table],
        confidence=request.confidence,
        epsilon=float(plan.epsilon),
        delta=float(plan.delta),
        method=plan.method,
        caps=outcome.caps(),
        entry=kept.reservation,
        head=str(kept.head),
        stored=stored,
        answered=kept.at,
        columns=list(plan.columns),
        price=price,
        at=at,
        guarantee=make_guarantee(plan, policy, simulation=rng.simulation),
        provenance=Provenance.now(MADE_BY, _parameters(plan, policy), seed=rng.seed),
        warnings=(*_warnings(plan, policy), *_below_zero(outcome)),
    )


def answer_public(
    plan: Plan,
    rows: list[dict[str, Any]],
    request: QueryRequest,
    *,
    policy: Policy,
    rng: Source,
) -> QueryAnswer:
    """The exact answer of public tables, or predicates."""
    kept = [
        row
        for _, row in post_process(list(map(plan.label_keys, rows)), plan.question.post_processing)
    ]
    words = {each.name for each in plan.question.aggregates}
    is_graph = policy.graph is not None
    exact = [{name: (value, value) for name, value in row.items() if name in words} for row in kept]
    return QueryAnswer(
        question=plan.question_text,
        rows=kept,
        intervals=exact,  # type: ignore[arg-type]
        noise=[dict.fromkeys(row, 0.0) for row in exact],
        confidence=request.confidence,
        epsilon=0.0,
        method=plan.method,
        columns=list(plan.columns),
        at=lambda _: exact,  # type: ignore[arg-type,return-value]
        guarantee=Guarantee(
            promise=Message(
                "queries.promise.exact_predicates" if is_graph else "queries.promise.exact_tables"
            ),
            unit=unit_word(plan.neighbours.unit),
            protects=Message("queries.promise.nothing_private"),
            assumes=(
                Message(
                    "queries.promise.public_predicates"
                    if is_graph
                    else "queries.promise.public_tables"
                ),
            ),
            simulation=rng.simulation,
        ),
        provenance=Provenance.now(MADE_BY, {"question": plan.question_text}, seed=rng.seed),
    )


def make_guarantee(plan: Plan, policy: Policy, *, simulation: bool) -> Guarantee:
    """The promise of the answer of a plan."""
    name = plan.neighbours.unit
    one, unit, units = one_unit(name), unit_word(name), unit_words(name)
    epsilon, delta = format_rounded_up(float(plan.epsilon)), format_rounded_up(float(plan.delta))
    factor = format_rounded_up(math.exp(float(plan.epsilon)), 4)
    subject = Message("queries.promise.held", one=one)
    if plan.neighbours.relation is Relation.ADD_REMOVE:
        subject = Message("queries.promise.present", one=one)
    protects = Message("queries.promise.protects", subject=subject, factor=factor)
    promise = Message("queries.promise.pure", epsilon=epsilon)
    if plan.delta:
        protects = Message(
            "queries.promise.protects_approximately", subject=subject, factor=factor, delta=delta
        )
        promise = Message("queries.promise.approximate", epsilon=epsilon, delta=delta)
    assumes = [Message("queries.assumes.declarations")]
    if policy.graph is not None and not policy.unit.is_row:
        assumes.append(Message("queries.assumes.subjects", unit=unit))
    if policy.graph is not None and policy.graph.endpoint:
        assumes.append(Message("queries.assumes.endpoint", unit=unit))
    elif policy.graph is None and not policy.unit.is_row:
        assumes.append(_assume_people(policy))
    leaves = [Message("queries.leaves_open.sum"), Message("queries.leaves_open.many")]
    if policy.unit.is_row:
        leaves.append(Message("queries.leaves_open.several_rows", units=units, one=one))
    if plan.neighbours.relation is Relation.CHANGE_ONE:
        leaves.append(Message("queries.leaves_open.number", units=units))
    return Guarantee(
        promise=promise,
        unit=unit,
        protects=protects,
        neighbours=plan.neighbours.message,
        assumes=tuple(assumes),
        leaves_open=tuple(leaves),
        simulation=simulation,
    )


def _assume_people(policy: Policy) -> Message:
    unit = policy.unit
    if unit.columns:
        columns = ", ".join(".".join(each) for each in unit.columns)
        return Message("queries.assumes.columns", unit=unit.name, columns=columns)
    return Message("queries.assumes.foreign_keys", unit=unit.name, table=unit.table, key=unit.key)


def _parameters(plan: Plan, policy: Policy) -> dict[str, Any]:
    return {
        "question": plan.question_text,
        "epsilon": float(plan.epsilon),
        "delta": float(plan.delta),
        "method": plan.method,
        "policy": policy_hash(policy),
    }


def _warnings(plan: Plan, policy: Policy) -> tuple[str, ...]:
    warnings: list[str] = []
    if plan.epsilon >= WEAK:
        warnings.append(Message("queries.warning.epsilon", epsilon=float(plan.epsilon)))
    if plan.delta:
        from celosia.accounting.belief import delta_warning

        unlikely = delta_warning(plan.delta, policy.people)
        warnings += [] if unlikely is None else [unlikely]
    return (*warnings, *plan.notes)


def _below_zero(outcome: Outcome) -> list[str]:
    """A warning where noise took a single count below zero."""
    recipes = outcome.plan.derivations
    if (
        len(recipes) != 1
        or outcome.group_keys is not None
        or recipes[0].aggregate.kind not in COUNTS
    ):
        return []
    (name,) = recipes[0].totals
    return [below_zero()] if outcome.measured[name].values[0] < 0 else []
