"""The execution of one charged question, whose duration does not depend on the data.

How long an engine runs, and whether it fails, depends on rows. So what fails, or has not ended in
time, is answered with what the plan releases on the empty database; the answer is recorded and told
at moments that the plan has fixed; and what happened is noted for the curator alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from celosia.core.errors import EngineError
from celosia.core.randomness import Source
from celosia.queries import deadlines
from celosia.queries.ledger import Ledger, Reservation, StoredAnswer
from celosia.queries.ledger.incidents import EXCEEDED_DEADLINE, FAILED_QUERY
from celosia.queries.planning import Plan
from celosia.queries.policy import Policy
from celosia.queries.results import Outcome, execute_plan, execute_plan_on_empty
from celosia.queries.sessions import check_declarations_of_plan

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.engines import SqlEngine
    from celosia.engines.sql import Reader

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
        timeout: float,
    ) -> None:
        self._plan = plan
        self._policy = policy
        self._engine = engine
        self._cast = cast
        self._rng = rng
        self._version = version
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
            with self._engine.snapshot(timeout=lambda: limit - time.monotonic()) as read:

                def execute(query: exp.Expr) -> Any:
                    if time.monotonic() > limit:
                        raise TimeoutError
                    return read(self._cast(query))

                self._check_declared(read)
                return execute_plan(self._plan, execute, rng=self._rng)
        except Exception:  # noqa: S110 - what it says may reveal data
            pass
        raise unanswered_error()

    def _check_declared(self, read: Reader) -> None:
        """Look again at what is declared of rows, where they may have changed.

        Bounds rest on unique columns; and rows without an owner are refused if the policy says so.
        The check sees the same rows as the answer.
        """
        version, engine = self._engine.version, self._engine
        if version is None or version != self._version:
            check_declarations_of_plan(
                self._plan, self._policy, engine.dialect, read, cast=self._cast
            )

    def _moment(self, share: float) -> float:
        """When a share of the deadline is over."""
        return self._begun + share * self._plan.deadline

    def _wait_for(self, share: float) -> None:
        if not self._rng.simulation:
            deadlines.wait_for(self._moment(share), period=self._plan.deadline)


def unanswered_error(*, charged: bool = True) -> EngineError:
    """The one error of everything that fails while data is read."""
    return EngineError("CEL-Q140.charged" if charged else "CEL-Q140.free")
