"""A database that may be asked and not seen: private SQL under a policy, paid from a ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from celosia.core.errors import EngineError, InputError, PrivacyError, QueryRefused
from celosia.core.randomness import Source, System
from celosia.mechanisms.parameters import check_confidence
from celosia.queries.answering import Outcome, carry_out
from celosia.queries.ledger import Ledger, Request, Reservation
from celosia.queries.opening import check_unique, columns_in, open_engine, public_count
from celosia.queries.planning import Plan, make_plan
from celosia.queries.planning.public import PublicStep
from celosia.queries.policy import Policy, check_against, check_policy, load_policy, policy_hash
from celosia.queries.public_schema import public_schema
from celosia.queries.telling import from_outcome, from_public

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.engines import SqlEngine
    from celosia.queries.answer import QueryAnswer

ANYBODY = "anybody"
"""Who asks, where the policy names nobody."""
TIMEOUT = 600.0
"""Seconds that one query of the engine may take."""


class Vault:
    """A database under a policy: ask with `sql`, see the plan and its price with `explain`.

    Guarantee: all answers together keep the promise of the policy's budget, for the unit and the
    neighbours that it names. Everything an analyst sees before an answer (plan, price, refusal) is
    made of the policy and the question. It assumes that what the policy declares is true.
    """

    def __init__(self, policy: Policy, ledger: Ledger, engine: SqlEngine, *, rng: Source) -> None:
        """Use `Vault.open`, which also checks the policy against the database."""
        self.policy = policy
        self.ledger = ledger
        self.timeout = TIMEOUT
        self._engine = engine
        self._rng = rng
        self._scratch: TemporaryDirectory[str] | None = None

    @classmethod
    def open(
        cls,
        policy: str | Path | Policy,
        *,
        ledger: str | Path | None = None,
        rng: Source | None = None,
    ) -> Vault:
        """Open the database of a policy and the ledger of its budget; for the curator.

        Tables, columns and types are compared with the policy, and columns that it declares unique
        are checked, because bounds rest on them.

        Args:
            policy: a policy file, or a policy.
            ledger: a file, or the URL of a PostgreSQL database; by default a file beside the
                policy file that has its name and ends in `.ledger.sqlite`.
            rng: where randomness comes from; a seed makes every answer a simulation, which is
                charged to a ledger of its own that is thrown away, unless one is given.

        Raises:
            InputError: the policy is wrong, or does not fit the database; CEL-Q152 a column that is
                declared unique is not, CEL-Q153 there is no place for a ledger.
            EngineError: the database or the ledger cannot be opened.
        """
        source = System() if rng is None else rng
        declared = _policy(policy)
        scratch = None
        if ledger is None and source.simulation:
            scratch = TemporaryDirectory(prefix="celosia-")
            ledger = Path(scratch.name) / "simulation.ledger.sqlite"
        place = _beside(policy) if ledger is None else ledger
        engine = open_engine(declared)
        try:
            check_against(declared, columns_in(engine, timeout=TIMEOUT))
            check_unique(declared, engine, timeout=TIMEOUT)
            account = Ledger.open(
                place,
                # A simulation must neither repeat real answers nor be repeated as one.
                dataset=f"{declared.name} (simulation)" if source.simulation else declared.name,
                total=declared.budget,
                policy_hash=policy_hash(declared),
                analysts=dict(declared.analysts),
            )
        except BaseException:
            engine.close()
            if scratch is not None:
                scratch.cleanup()
            raise
        made = cls(declared, account, engine, rng=source)
        made._scratch = scratch
        return made

    def explain(
        self, query: str, *, epsilon: float = 1, delta: float = 0, method: str | None = None
    ) -> Plan:
        """How a query would be answered, at what price and with what error; costs nothing.

        No private data is touched: the plan is made of the policy and the query. Public tables may
        be read, where it matters how often their values repeat.

        Raises:
            InputError: a parameter or the text is wrong.
            QueryRefused: what cannot be promised, with what would make it answerable.
        """
        return make_plan(
            query,
            self.policy,
            epsilon=epsilon,
            delta=delta,
            method=method,
            count=public_count(self.policy, self._ask),
        )

    def sql(  # noqa: PLR0913 - each is a choice of the analyst
        self,
        query: str,
        *,
        epsilon: float,
        delta: float = 0,
        analyst: str | None = None,
        method: str | None = None,
        confidence: float = 0.95,
    ) -> QueryAnswer:
        """The noisy answer of a query, charged before the data is touched.

        The same question with the same parameters gets the same answer again, for free.

        Args:
            query: one SELECT.
            epsilon: of the whole request: all its columns, groups and parts.
            delta: of the whole request; charged only where a mechanism needs it.
            analyst: who asks; needed where the policy names analysts.
            method: one of `METHODS`; the planner's choice if None.
            confidence: of the intervals.

        Raises:
            InputError: a parameter or the text is wrong; nothing was charged.
            QueryRefused: what cannot be promised; nothing was charged.
            BudgetExceeded: CEL-Q110, CEL-Q111 the budget does not allow it; nothing was charged.
            EngineError: CEL-Q140 the database failed; the charge stays.
        """
        check_confidence(confidence)
        plan = self.explain(query, epsilon=epsilon, delta=delta, method=method)
        if plan.method == "public":
            return from_public(plan, self._public_rows(plan), confidence=confidence, rng=self._rng)
        request = self._request(plan, analyst)
        reserved = self.ledger.reserve(request)
        if isinstance(reserved, Reservation):
            outcome = self._carried_out(plan, reserved)
            kept = self.ledger.seal(reserved, outcome.as_dict())
        else:
            kept = reserved
            outcome = Outcome.from_dict(plan, kept.answer)
        return from_outcome(
            outcome,
            kept,
            policy=self.policy,
            confidence=confidence,
            rng=self._rng,
            stored=not isinstance(reserved, Reservation),
        )

    def public_schema(self) -> dict[str, Any]:
        """What anybody may know: tables, columns, types, bounds, keys, unit and budgets."""
        return public_schema(self.policy)

    def close(self) -> None:
        """Let go of the database and the ledger."""
        self._engine.close()
        self.ledger.close()
        if self._scratch is not None:
            self._scratch.cleanup()

    def __enter__(self) -> Vault:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Vault({self.policy.name!r})"

    def _ask(self, query: exp.Expr) -> Any:
        return self._engine.run(query, timeout=self.timeout)

    def _request(self, plan: Plan, analyst: str | None) -> Request:
        if analyst is None and self.policy.analysts:
            raise QueryRefused(
                "CEL-Q141",
                "the policy names analysts, and nobody says who asks.",
                why="Each analyst has a budget of their own.",
                fix="Say who asks: analyst=... or --analyst.",
            )
        plain = Request(
            analyst=ANYBODY if analyst is None else analyst,
            question=plan.normalised,
            epsilon=plan.epsilon,
            delta=plan.delta,
            parameters=plan.parameters,
        )
        try:
            return replace(plain, loss=plan.loss)
        except PrivacyError:  # parts that were rounded up one by one add up to a hair more
            return plain

    def _public_rows(self, plan: Plan) -> list[dict[str, Any]]:
        (step,) = plan.work
        try:
            return cast(PublicStep, step).rows(self._ask)
        except EngineError:
            pass
        raise _failed(charged=False)

    def _carried_out(self, plan: Plan, reserved: Reservation) -> Outcome:
        """The released numbers; whatever fails is one fixed error, and stays charged."""
        try:
            return carry_out(plan, self._ask, rng=self._rng)
        except Exception:  # noqa: S110 - what it says may tell of data
            pass
        except BaseException:
            self.ledger.fail(reserved, "CEL-C001")
            raise
        self.ledger.fail(reserved, "CEL-Q140")
        raise _failed()


def _failed(*, charged: bool = True) -> EngineError:
    """The one error of everything that fails while data is read."""
    return EngineError(
        "CEL-Q140",
        "the question was not answered.",
        why="What went wrong is not told, because it may depend on the data."
        + (" The charge stays." if charged else ""),
        fix="Ask in another way; the owner of the data finds the reason in the log of the "
        "database.",
    )


def _policy(policy: str | Path | Policy) -> Policy:
    if isinstance(policy, Policy):
        check_policy(policy)
        return policy
    return load_policy(policy)


def _beside(policy: str | Path | Policy) -> Path:
    if isinstance(policy, Policy):
        raise InputError(
            "CEL-Q153",
            "a policy that is no file has no place for its ledger.",
            why="What was spent must outlive the program.",
            fix="Give the file or the URL of a ledger: ledger=...",
        )
    path = Path(policy)
    return path.with_name(f"{path.stem}.ledger.sqlite")
