"""Data that may be asked and not seen: private SQL and SPARQL under a policy, with a ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Unpack, cast

from celosia.accounting.ledger import Ledger, Reservation
from celosia.core.errors import EngineError, InputError, QueryRefused
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source, System
from celosia.core.resources import Closeable, WorkFolder
from celosia.mechanisms.parameters import check_confidence
from celosia.queries import sessions
from celosia.queries.catalogue import check_comparisons, read_columns
from celosia.queries.declaration_checks import CheckRecord
from celosia.queries.execution import (
    TIMEOUT,
    Execution,
    answer_public,
    build_answer,
    charge_of,
    check_accepted,
    unanswered_error,
)
from celosia.queries.paths import ledger_path, synopsis_path, trace_paths
from celosia.queries.planning import Plan, make_plan
from celosia.queries.policy import Policy, check_against_database, check_policy, load_policy
from celosia.queries.policy.database import DatabaseColumns
from celosia.queries.request import QueryOptions, QueryRequest
from celosia.queries.results import Outcome
from celosia.queries.row_state import RowStates

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.engines import SqlEngine
    from celosia.queries.answer import QueryAnswer
    from celosia.queries.comparison import Comparison
    from celosia.queries.planning.public_queries import PublicStep
    from celosia.queries.post_processing import Kind
    from celosia.queries.rdf.remote_engine import RemoteEngine
    from celosia.queries.workloads.plan import WorkloadPlan
    from celosia.queries.workloads.questions import WorkloadQuestion
    from celosia.queries.workloads.run import Synopsis, WorkloadAnswer

PLANNING = 10.0
"""Seconds that the public tables of a question may take to be aggregated when it is planned."""


class Vault(Closeable):
    """Data under a policy: ask tables with `sql` and a graph with `sparql`.

    `explain` shows how a question would be answered, and its price, before anything is spent.

    Guarantee: all answers together keep the promise of the policy's budget, for the unit and the
    neighbours that it names. Everything an analyst sees before an answer (plan, price, refusal) is
    made of the policy and the question. It assumes that what the policy declares is true.
    """

    def __init__(
        self,
        policy: Policy,
        account: Callable[[], Ledger],
        engine: SqlEngine,
        *,
        rng: Source,
        types: DatabaseColumns,
        version: object | None = None,
        states: RowStates | None = None,
    ) -> None:
        """Use `Vault.open`, which also checks the policy against the database."""
        self.policy = policy
        self.timeout = TIMEOUT
        self._account = account
        self._ledger: Ledger | None = None
        self._opening = Lock()
        self._engine = engine
        self._rng = rng
        self._types = types
        self._cast = sessions.make_rewriter(policy, types, engine, timeout=TIMEOUT)
        self._version = version
        self._states = RowStates(None) if states is None else states
        self._scratch: WorkFolder | None = None
        self._synopsis: Synopsis | None = None
        self._synopsis_path: Path | None = None
        self._ledger_place: str | Path | None = None

    @classmethod
    def open(
        cls,
        policy: str | Path | Policy,
        *,
        ledger: str | Path | None = None,
        rng: Source | None = None,
        new_ledger: bool = False,
    ) -> Vault:
        """Open the database of a policy and the ledger of its budget; for the curator.

        Tables, columns and types are compared with the policy, and columns that it declares unique
        are checked, because bounds rest on them: here, unless the files are as they were when they
        were checked before, and where the database neither enforces it nor keeps its rows as they
        are, again with every answer. Rows without an owner are refused in the same way, where the
        policy says so (`ownerless`). A ledger is begun by the first charge, not here.

        Args:
            policy: a policy file, or a policy.
            ledger: a file, or the URL of a PostgreSQL database; by default a file beside the
                policy file that has its name and ends in `.ledger.sqlite`.
            rng: where randomness comes from; a seed makes every answer a simulation, which is
                charged to a ledger of its own that is thrown away, unless one is given.
            new_ledger: whether to begin a ledger also where files beside the policy file tell that
                one was lost; what was spent before is then forgotten. Recorded in the ledger.

        Raises:
            InputError: the policy is wrong, or does not fit the database; CEL-Q152 a column that is
                declared unique is not, CEL-Q116 there is no place for a ledger, CEL-Q018 keys of
                types that cannot be compared safely, CEL-Q018 a collation that merges texts,
                CEL-Q152 rows without an owner that the policy refuses.
            PrivacyError: CEL-Q102, CEL-Q103 the ledger was kept for something else; CEL-Q306 it is
                lost.
            EngineError: the database or the ledger cannot be opened.
        """
        source = System() if rng is None else rng
        declared = _policy(policy)
        scratch = None
        if ledger is None and source.simulation:
            scratch = WorkFolder()
            ledger = Path(scratch.name) / "simulation.ledger.sqlite"
        place = ledger_path(policy) if ledger is None else ledger
        record = CheckRecord(declared, None if source.simulation else place)
        engine = sessions.open_engine(declared)
        try:
            version, state = engine.version, engine.state
            types = read_columns(engine, timeout=TIMEOUT)
            check_against_database(declared, types)
            sessions.check_declarations(
                declared, engine, types=types, timeout=TIMEOUT, record=record
            )
            account = sessions.make_ledger_opener(
                declared,
                place,
                simulation=source.simulation,
                traces=() if source.simulation else trace_paths(policy),
                new_ledger=new_ledger,
                on_open=lambda: record.save(engine),
            )
        except BaseException:
            engine.close()
            if scratch is not None:
                scratch.cleanup()
            raise
        states = RowStates(state, [table.name for table in declared.tables])
        made = cls(
            declared, account, engine, rng=source, types=types, version=version, states=states
        )
        made._scratch = scratch
        made._synopsis_path = synopsis_path(place)
        made._ledger_place = place
        return made

    @property
    def ledger(self) -> Ledger:
        """The account of all answers; one that does not stand yet is begun by the first look."""
        with self._opening:
            if self._ledger is None:
                self._ledger = self._account()
            return self._ledger

    def explain(
        self, query: str, *, epsilon: float = 1, delta: float = 0, method: str | None = None
    ) -> Plan:
        """How a query would be answered, when, at what price and with what error; costs nothing.

        No private data is touched: the plan is made of the policy and the query. Public tables may
        be read, where it matters how often their values repeat.

        Raises:
            InputError: a parameter or the text is wrong.
            QueryRefused: what cannot be promised, with what would make it answerable; CEL-Q300 an
                epsilon below the least one of the policy.
        """
        return self.plan(QueryRequest(query, epsilon=epsilon, delta=delta, method=method))

    def plan(self, request: QueryRequest) -> Plan:
        """`explain` of a request."""
        plan = self._plan(request)
        if plan.method != "public":
            sessions.ceilings_of(self.policy).check_price(plan.epsilon)
            plan = replace(plan, price=self._price_note(plan, request))
        return plan

    def answer_columns(self, request: QueryRequest) -> dict[str, Kind]:
        """The columns of the answer to a request, with the kinds of their values; costs nothing.

        Raises:
            InputError, QueryRefused: as for `explain`.
        """
        from celosia.queries.answer_columns import answer_kinds, kind_of  # few doors need it
        from celosia.queries.emission.target import Target

        self._check_language(request)
        plan = self.plan(request)
        if plan.method == "public":
            found = answer_public(
                plan, self._public_rows(plan), request, policy=self.policy, rng=self._rng
            )
            return {name: kind_of([row[name] for row in found.rows]) for name in found.columns}
        return answer_kinds(plan, Target(policy=self.policy, dialect=self.policy.database.kind))

    def least_epsilon(
        self, query: str, *, error: float | str, delta: float = 0, method: str | None = None
    ) -> float:
        """The least epsilon whose typical error is at most the wished one; costs nothing.

        Args:
            query: one SELECT.
            error: in the unit of the answer, such as 25 for a count that may be off by 25; or as a
                share of the answer, such as "5%", where the question was answered before.
            delta: as for `explain`.
            method: as for `explain`.

        Raises:
            InputError: CEL-I060 the error is not above 0.
            QueryRefused: CEL-Q332 the budget does not allow it, the error is not public, or nothing
                public tells how large the answer is.
        """
        from celosia.queries import accuracy  # few questions are asked this way

        goal = accuracy.ErrorGoal.read(error)
        request = QueryRequest(query, epsilon=1, delta=delta, method=method)
        known = self._released(request) if goal.is_share else None
        if goal.is_share and known is None:
            raise QueryRefused("CEL-Q332.no_size", share=goal.size)
        return accuracy.least_epsilon(
            lambda epsilon: self.plan(replace(request, epsilon=epsilon)),
            goal=goal,
            least=self.policy.least_epsilon,
            most=self.policy.budget.epsilon,
            error_of=accuracy.worst_error
            if known is None
            else partial(accuracy.relative_error, known=known),
        )

    def _released(self, request: QueryRequest) -> Outcome | None:
        """What was released last for a question, at any price; None if nothing was.

        Nothing is charged: an answer that is stored is public. Where copies of answers are sold
        none is looked at.
        """
        market = self.policy.market
        standing = None if self._ledger_place is None else Ledger.open_view(self._ledger_place)
        if standing is None or (market is not None and market.repeated != "free"):
            return None
        standing.close()
        question = self._plan(request).normalised
        for record in reversed(self.ledger.history()):
            if record.status != "sealed" or record.repeated or record.question != question:
                continue
            paid = replace(
                request,
                epsilon=cast("float", record.epsilon),
                delta=max(float(record.delta), request.delta),
                analyst=record.analyst,
            )
            plan = self._plan(paid)
            charge = charge_of(plan, self.policy, paid)
            if self.ledger.has_answer(charge):
                kept = self.ledger.reserve(charge)
                assert not isinstance(kept, Reservation), "a stored answer is never charged again"
                return Outcome.from_dict(plan, kept.answer)
        return None

    def _price_note(
        self, plan: Plan, request: QueryRequest, *, is_charged: bool = True
    ) -> str | None:
        if self.policy.market is None:
            return None
        from celosia.queries.sales import price_note  # most policies do without

        if not is_charged:
            return Message("queries.sales.free")
        return price_note(self.policy, plan.epsilon, request.analyst)

    def _plan(self, request: QueryRequest) -> Plan:
        remote = self._remote
        count = sessions.make_public_counter(self.policy, self._ask)
        if remote is not None:
            count = partial(remote.count_public, timeout=min(PLANNING, self.timeout))
        plan = make_plan(
            request,
            self.policy,
            count=count,
            execute_public=self._ask_public if remote is None else None,
        )
        check_comparisons(plan.original, self.policy, self._types)
        if remote is not None:
            from celosia.queries.planning.remote import ask_by_aggregates  # few policies need it

            plan = ask_by_aggregates(plan, request.query, self.policy)
        return replace(plan, deadline=min(plan.deadline, self.timeout))

    def sparql(self, query: str, **options: Unpack[QueryOptions]) -> QueryAnswer:
        """The noisy answer of a SPARQL query about the graph of the policy, see `sql`.

        Raises:
            InputError: CEL-Q240, CEL-Q271 the text is wrong, or the policy has no graph.
            QueryRefused, BudgetExceeded, EngineError: as in `sql`.
        """
        return self.ask(QueryRequest(query, language="SPARQL", **options))

    def sql(self, query: str, **options: Unpack[QueryOptions]) -> QueryAnswer:
        """The noisy answer of a query, charged before the data is touched.

        It comes at the deadline of its plan, never sooner, so that its time tells nothing about
        the data. What fails or does not end by then is answered with what the plan releases on the
        empty database, noise on zero; only the curator's ledger knows (`Ledger.incidents`). A
        simulation neither waits nor hides failures.

        The same question with the same parameters gets the same answer again, for free, also when
        rows have changed since: the answer says when it was first given.

        Args:
            query: one SELECT.
            options: `epsilon`, which must be given, `delta`, `method`, `confidence`, `analyst` and
                `fresh`, as in `QueryRequest`.

        Raises:
            InputError: a parameter or the text is wrong; nothing was charged.
            QueryRefused: what cannot be promised, costs too little (CEL-Q300), or the database does
                not accept (CEL-Q162); nothing was charged.
            BudgetExceeded: CEL-Q110, CEL-Q111 the budget, or CEL-Q301 a ceiling of the day does not
                allow it; nothing was charged.
            EngineError: CEL-Q140 the database failed in a simulation; the charge stays.
        """
        return self.ask(QueryRequest(query, language="SQL", **options))

    def ask(
        self,
        request: QueryRequest,
        *,
        before_release: Callable[[QueryAnswer], object] | None = None,
    ) -> QueryAnswer:
        """The noisy answer of a request, see `sql`.

        Args:
            request: in the language of the policy.
            before_release: called with the answer before its deadline: what is done there, such as
                writing it down, takes no time after it. It must not raise.
        """
        check_confidence(request.confidence)
        self._check_language(request)
        plan = self._plan(request)
        if plan.method == "public":
            rows = self._public_rows(plan)
            answer = answer_public(plan, rows, request, policy=self.policy, rng=self._rng)
            if before_release is not None:
                before_release(answer)
            return answer
        charge = charge_of(plan, self.policy, request)
        execution = self._execution(plan)
        if request.fresh or not self.ledger.has_answer(charge):
            sessions.ceilings_of(self.policy).check_price(charge.epsilon)
            check_accepted(plan, self._engine, cast=self._cast, timeout=self.timeout)
            execution.prepare()
        market = self.policy.market
        price = None if market is None else market.price(charge.epsilon, request.analyst)
        reserved = self.ledger.reserve(
            charge,
            fresh=request.fresh,
            price=price,
            repeated_price=None if market is None or market.repeated == "free" else price,
        )
        # All before this follows from the question and the ledger; all after it from rows too.
        execution.begin()
        if isinstance(reserved, Reservation):
            outcome, kept = execution.release(reserved, self.ledger)
        else:
            kept = reserved
            outcome = Outcome.from_dict(plan, kept.answer)
        answer = build_answer(
            outcome,
            kept,
            request,
            policy=self.policy,
            rng=self._rng,
            stored=not isinstance(reserved, Reservation),
            price=self._price_note(
                plan, request, is_charged=kept.charged is not None or kept is not reserved
            ),
        )
        if before_release is not None:
            before_release(answer)
        execution.wait()
        return answer

    def plan_workload(
        self,
        questions: Sequence[str | WorkloadQuestion],
        *,
        epsilon: float,
        analyst: str | None = None,
    ) -> WorkloadPlan:
        """How questions would be answered together, and with what errors; costs nothing.

        Args:
            questions: texts, or `WorkloadQuestion`s with their weights or wished errors.
            epsilon: of all of them together.
            analyst: as for `sql`.

        Raises:
            InputError: CEL-Q344 there are none; and what is wrong with one of them.
            QueryRefused: one of them cannot be promised.
        """
        from celosia.queries.workloads.plan import plan_workload  # few questions come in numbers

        return plan_workload(self, questions, epsilon=epsilon, analyst=analyst)

    def workload(
        self,
        questions: Sequence[str | WorkloadQuestion],
        *,
        epsilon: float,
        analyst: str | None = None,
        confidence: float = 0.95,
    ) -> WorkloadAnswer:
        """Answer questions together, with less noise than one by one for the same budget.

        What is measured is charged question by question; the sum is checked before. The measured
        tables stay in the ledger as a synopsis: `from_synopsis` answers questions about them.

        Raises:
            InputError, QueryRefused: as for `plan_workload`.
            BudgetExceeded: CEL-Q110, CEL-Q111 the budget does not allow all of it.
        """
        from celosia.queries.workloads.run import WorkloadRun

        check_confidence(confidence)
        plan = self.plan_workload(questions, epsilon=epsilon, analyst=analyst)
        answer = WorkloadRun(self, analyst=analyst, confidence=confidence).run(plan)
        self._synopses().add(plan)
        return answer

    def from_synopsis(
        self, query: str, *, analyst: str | None = None, confidence: float = 0.95
    ) -> QueryAnswer:
        """Answer a question from what workloads have measured; nothing is charged.

        Raises:
            QueryRefused: CEL-Q344 no workload has measured its cells.
        """
        from celosia.queries.workloads.run import WorkloadRun

        check_confidence(confidence)
        run = WorkloadRun(self, analyst=analyst, confidence=confidence)
        return self._synopses().answer(run, query)

    def _synopses(self) -> Synopsis:
        from celosia.queries.workloads.run import Synopsis

        if self._synopsis is None:
            self._synopsis = Synopsis(self._synopsis_path)
        return self._synopsis

    def compare(
        self,
        request: QueryRequest,
        *,
        runs: int = 1,
        name: str = "",
        progress: Progress = silent,
    ) -> Comparison:
        """The true answer of a question beside private ones; for the curator, never for analysts.

        Nothing is charged, because nothing is released: what is returned contains true answers.

        Raises:
            InputError: CEL-Q213 the request names an analyst; and those of `plan`.
            QueryRefused: as for `plan`.
            EngineError: CEL-Q140 the database failed.
        """
        from celosia.queries.comparison import compare  # no answer needs it

        if request.analyst is not None:
            raise InputError("CEL-Q213.curator", option="--analyst")
        self._check_language(request)
        plan = self._plan(request)
        try:
            return compare(
                plan,
                request,
                self.policy,
                self._ask,
                rng=self._rng,
                runs=runs,
                name=name,
                progress=progress,
                exact=None
                if self._remote is None
                else partial(self._remote.exact_rows, timeout=self.timeout),
            )
        except EngineError:  # what it says may reveal data
            pass
        raise unanswered_error(charged=False)

    def public_schema(self) -> dict[str, Any]:
        """What anybody may know: tables, columns, types, bounds, keys, unit and budgets."""
        from celosia.queries.public_schema import public_schema  # no answer needs it

        return public_schema(self.policy)

    def close(self) -> None:
        """Let go of the database and the ledger."""
        self._engine.close()
        if self._ledger is not None:
            self._ledger.close()
        if self._scratch is not None:
            self._scratch.cleanup()

    def __repr__(self) -> str:
        return f"Vault({self.policy.name!r})"

    def _check_language(self, request: QueryRequest) -> None:
        spoken = "SQL" if self.policy.graph is None else "SPARQL"
        if request.language not in {None, spoken}:
            raise InputError(
                "CEL-Q271.other_language",
                right_language=spoken,
                language=request.language,
                method=spoken.lower(),
            )

    @property
    def _remote(self) -> RemoteEngine | None:
        """The engine, where it is an endpoint that is asked by aggregates."""
        return cast("RemoteEngine", self._engine) if self._engine.dialect == "sparql" else None

    def _ask(self, query: exp.Expr) -> Any:
        return self._engine.run(self._cast(query), timeout=self.timeout)

    def _public_rows(self, plan: Plan) -> list[dict[str, Any]]:
        (step,) = plan.steps
        try:
            return cast("PublicStep", step).rows(self._ask)
        except EngineError:
            pass
        raise unanswered_error(charged=False)

    def _execution(self, plan: Plan) -> Execution:
        return Execution(
            plan,
            policy=self.policy,
            engine=self._engine,
            cast=self._cast,
            rng=self._rng,
            version=self._version,
            states=self._states,
            timeout=self.timeout,
        )

    def _ask_public(self, query: exp.Expr) -> Any:
        """What planning asks of public tables; bounded, because it comes before any charge."""
        return self._engine.run(self._cast(query), timeout=min(PLANNING, self.timeout))


def _policy(policy: str | Path | Policy) -> Policy:
    if isinstance(policy, Policy):
        check_policy(policy)
        return policy
    return load_policy(policy)
