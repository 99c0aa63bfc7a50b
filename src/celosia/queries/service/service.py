"""What the routes do: each a call of the vault, its ledger or the tokens, noted and enveloped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

from celosia.accounting.ledger import Ledger
from celosia.core.errors import CelosiaError, InputError
from celosia.core.messages import Message
from celosia.core.numbers import exact
from celosia.queries.policy.values import Policy
from celosia.queries.request import QueryRequest
from celosia.queries.service import errors
from celosia.queries.service.audit_log import AuditLine, AuditLog, question_hash
from celosia.queries.service.envelope import Reply, error_reply, success_reply
from celosia.queries.service.errors import hidden_error, too_busy
from celosia.queries.service.limits import Limits, RateLimit
from celosia.queries.service.metrics import CONTENT, Metrics
from celosia.queries.service.oidc import OidcTokens
from celosia.queries.service.refusals import Refusals
from celosia.queries.service.tokens import Role, Token, TokenStore


class WorkerPool:
    """A few threads with a short queue.

    Work may wait for its place for so many seconds. Once begun it keeps to a time of its own, the
    deadline of its plan; work that is still not done after twice as long goes on in its thread, for
    a thread cannot be stopped, and keeps its place until it ends: so there are never more at once
    than was said.
    """

    def __init__(self, *, places: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(places, thread_name_prefix="celosia")
        self._most = places + waiting
        self._seconds = seconds
        self._inside = 0
        self._lock = Lock()

    async def run(self, work: Callable[[], Reply]) -> Reply:
        """What some work replies.

        Whatever is raised becomes a reply inside the thread: an exception that nobody fetches
        would be written to the log of the event loop, with its words.

        Raises:
            TooBusy: CEL-Q178 it did not find a place, or not in time; it has not begun.
        """
        with self._lock:
            if self._inside >= self._most:
                raise too_busy()
            self._inside += 1
        begun = self._pool.submit(_replied, work)
        begun.add_done_callback(self._leave)
        ended = asyncio.wrap_future(begun)
        await asyncio.wait({ended}, timeout=self._seconds)
        if begun.cancel():
            raise too_busy()
        await asyncio.wait({ended}, timeout=2 * self._seconds)
        return begun.result() if begun.done() else error_reply(hidden_error())

    @property
    def inside(self) -> int:
        """How much work is under way or waits for a place."""
        return self._inside

    def _leave(self, _done: Future[Reply]) -> None:
        with self._lock:
            self._inside -= 1

    def close(self) -> None:
        """Take no more work, and wait for what is under way."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _replied(work: Callable[[], Reply]) -> Reply:
    try:
        return work()
    except BaseException as error:  # also what a library in Rust panics with
        return error_reply(error)


LOGGER = logging.getLogger(__name__)

SIGNED_DOTS = 2
"""Dots of a signed token; those of our own have none."""
REFUSALS_NOTED = 60
"""A minute: who has no token must not be able to fill the disk with lines about it."""


class VaultProtocol(Protocol):
    """What the service needs of a `Vault`."""

    @property
    def policy(self) -> Policy:
        """What was declared."""

    @property
    def ledger(self) -> Ledger:
        """What was spent."""

    def ask(self, request: QueryRequest, *, before_release: Callable[[Any], object]) -> Any:
        """Answer a request at its deadline; the answer is given out once before, to be written."""

    def plan(self, request: QueryRequest) -> Any:
        """Say how it would be answered."""

    def answer_columns(self, request: QueryRequest) -> dict[str, Any]:
        """The columns of its answer, with the kinds of their values."""

    def public_schema(self) -> dict[str, Any]:
        """What may be request about."""

    def __exit__(self, *_: Any) -> Any:
        """Let go of the database."""


@dataclass(slots=True)
class Service:
    """The vault behind its limits; used from one event loop, works in threads."""

    factory: Callable[[], VaultProtocol]
    tokens: TokenStore
    audit: AuditLog | None
    limits: Limits
    refusals: Refusals = field(default_factory=Refusals)
    metrics: Metrics = field(default_factory=Metrics)
    oidc: OidcTokens | None = None
    _vault: VaultProtocol | None = None
    _opening: Lock = field(default_factory=Lock)
    _rate: RateLimit = field(init=False)
    _refusals: RateLimit = field(init=False)
    _questions: WorkerPool = field(init=False)
    _others: WorkerPool = field(init=False)

    def __post_init__(self) -> None:
        limits = self.limits
        self._rate = RateLimit(limits.requests_per_minute)
        self._refusals = RateLimit(REFUSALS_NOTED)
        self._questions = WorkerPool(
            places=limits.concurrent, waiting=limits.waiting, seconds=limits.seconds
        )
        # Looking things up must not wait behind questions to the database.
        self._others = WorkerPool(places=2, waiting=limits.waiting, seconds=limits.seconds)

    def open(self) -> VaultProtocol:
        """The vault, opened if it is not yet; what is wrong with it is for the curator's eyes."""
        with self._opening:
            if self._vault is None:
                self._vault = self.factory()
            return self._vault

    def vault(self) -> VaultProtocol:
        """The vault for a request, whose sender may not know why it cannot be opened."""
        if self._vault is not None:
            return self._vault
        try:
            return self.open()
        except Exception as error:
            LOGGER.error("the vault cannot be opened: %s", type(error).__name__)
        raise errors.hidden_error()

    def close(self) -> None:
        """Wait for what is under way, then let go of the vault."""
        self._questions.close()
        self._others.close()
        with self._opening:
            vault, self._vault = self._vault, None
        if vault is not None:
            with suppress(Exception):  # its words may tell of data, and there is nobody to tell
                vault.__exit__(None, None, None)

    async def admit(self, authorization: list[str], *, address: str = "") -> Token:
        """Whoever sends a request. Who has no good token is told so later and later.

        Args:
            authorization: the headers of that name.
            address: of the client.

        Raises:
            AccessDenied: CEL-Q171.
            TooBusy: CEL-Q178.
        """
        holder, arrived = None, self.refusals.clock()
        try:
            scheme, _, text = (authorization if len(authorization) == 1 else [""])[0].partition(" ")
            if scheme.lower() != "bearer":
                raise errors.no_token()
            holder = await asyncio.to_thread(self._holder, text.strip())
            seconds = self._rate.admit(holder.id)
            if seconds:
                raise errors.too_many(seconds)
        except CelosiaError as error:
            if not self._refusals.admit(holder.id if holder else ""):
                await asyncio.to_thread(self._note, "admit", error_reply(error), holder)
            if isinstance(error, errors.AccessDenied):
                await self.refusals.wait(address, arrived)
            raise
        return holder

    def _holder(self, text: str) -> Token:
        """Whoever holds a token of ours, or a signed one of the owner's identity provider."""
        if self.oidc is not None and text.count(".") == SIGNED_DOTS:
            return self.oidc.holder(text)
        return self.tokens.holder(text)

    async def query(self, holder: Token, request: QueryRequest) -> Reply:
        """Answer a question at the deadline of its plan, or refuse it.

        The vault waits for the deadline in its thread, which keeps its place until then: so neither
        the answer nor how long the next one waits tells when the database was done. The bytes of
        the answer and its line in the log are written before the deadline; after it, they are sent.
        """

        def work() -> Reply:
            question, replies = None, list[Reply]()

            def write(answer: Any) -> None:
                replies.append(self._written(answer, holder, request, question))

            try:
                self.check(request)
                vault = self.vault()
                question = self._hash(request)
                vault.ask(request, before_release=write)
            except BaseException as error:  # noted, and told only if it may be
                replies.append(error_reply(error))
                self._note("query", replies[-1], holder, request=request, question=question)
            return replies[-1]

        try:
            return await self._questions.run(work)
        except CelosiaError as error:
            reply = error_reply(error)
            await asyncio.to_thread(self._note, "query", reply, holder)
        return reply

    async def explain(self, holder: Token, request: QueryRequest) -> Reply:
        """How a question would be answered; nothing is spent and no data is touched."""

        def work() -> Reply:
            self.check(request)
            return success_reply(self.vault().plan(request).as_dict())

        return await self.look_up("explain", holder, work)

    async def columns(self, holder: Token, request: QueryRequest) -> Reply:
        """The columns of the answer to a question and their kinds; nothing is spent."""

        def work() -> Reply:
            self.check(request)
            return success_reply(self.vault().answer_columns(request))

        return await self.look_up("explain", holder, work)

    async def look_up(
        self, action: str, holder: Token, work: Callable[[], Reply], *, role: Role | None = None
    ) -> Reply:
        """Anything that touches no data, noted with its outcome.

        Args:
            action: how the log names it.
            holder: who wants it.
            work: done in a thread.
            role: who alone may; anybody with a token if None.
        """

        def noted() -> Reply:
            try:
                if role is not None and holder.role != role:
                    raise errors.not_allowed(role)
                reply = work()
            except BaseException as error:  # noted, and told only if it may be
                reply = error_reply(error)
            self._note(action, reply, holder)
            return reply

        return await self._others.run(noted)

    async def measure(self, holder: Token) -> Reply:
        """The metrics, for curators: they tell what all analysts together have spent."""

        def work() -> Reply:
            ledger = self.vault().ledger
            text = self.metrics.text(
                spent=ledger.spent,
                remaining=ledger.remaining,
                charges=len(ledger.history()),
                inside=self._questions.inside,
                places=self.limits.concurrent,
            )
            return Reply(status=200, body=text.encode("ascii"), media_type=CONTENT)

        return await self.look_up("metrics", holder, work, role="curator")

    def check(self, request: QueryRequest) -> None:
        """Refuse a request beyond the limits, before anything looks at it.

        Raises:
            InputError: CEL-Q175, CEL-Q176, CEL-Q177.
        """
        most = self.limits.query_letters
        if len(request.query) > most:
            raise InputError("CEL-Q176.query", most=most)
        if not _is_text(request.query) or not _is_text(request.method or ""):
            raise errors.bad_body(Message("queries.body.half_a_letter"))
        epsilon, limit = exact(request.epsilon), exact(self.limits.epsilon)
        if epsilon is None or limit is None or epsilon > limit:
            raise InputError("CEL-Q177", most=self.limits.epsilon)

    def _written(
        self, answer: Any, holder: Token, request: QueryRequest, question: str | None
    ) -> Reply:
        """The bytes of an answer, which is noted; it never raises."""
        try:
            reply = success_reply(answer.as_dict())
        except BaseException as error:
            reply = error_reply(error)
        try:
            self._note(
                "query", reply, holder, request=request, question=question, entry=answer.entry
            )
        except BaseException as error:  # what is not noted is not answered
            reply = error_reply(error)
        return reply

    def _hash(self, request: QueryRequest) -> str | None:
        """What the log keeps of a question; it takes as long as planning does."""
        return None if self.audit is None else question_hash(request.query, self.vault().policy)

    def _note(
        self,
        action: str,
        reply: Reply,
        holder: Token | None,
        *,
        request: QueryRequest | None = None,
        question: str | None = None,
        entry: int | None = None,
    ) -> None:
        self.metrics.count(action, reply.code)
        if entry is not None:
            self.tokens.note_charge()
        if self.audit is None:
            return
        self.audit.write(
            AuditLine(
                action=action,
                outcome=reply.code,
                status=reply.status,
                who=holder.name if holder else None,
                role=holder.role if holder else None,
                token=holder.id if holder else None,
                question=self._hash(request) if request and question is None else question,
                epsilon=request.epsilon if request else None,
                delta=request.delta if request else None,
                entry=entry,
            )
        )


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
