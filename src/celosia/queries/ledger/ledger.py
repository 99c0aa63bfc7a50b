"""The durable record of what was spent of a data set."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from threading import RLock
from types import TracebackType
from typing import Any

import sqlalchemy as sa

from celosia.accounting.prices import Price
from celosia.accounting.running import Running
from celosia.core.errors import EngineError, InputError, PrivacyError
from celosia.queries.ledger.chain import Entry, Head, broken, canonical, checked, rolled_back
from celosia.queries.ledger.exports import write_export
from celosia.queries.ledger.records import (
    Record,
    Reservation,
    Stored,
    records_of,
    stored_of,
)
from celosia.queries.ledger.request import Request
from celosia.queries.ledger.state import Charged, State
from celosia.queries.ledger.store import Store
from celosia.queries.ledger.terms import Limit, Terms

_REASON = re.compile(r"[A-Za-z0-9_-]{1,40}")


class Ledger:
    """A durable account: reserve before the data is touched, seal what was released.

    Guarantee: as long as every release is reserved first, all of them together keep the promise of
    the total, and those that one analyst asked for, the limit of the analyst, also when each is
    chosen by the answers to the earlier ones (see `accounting.filters`). A charge is on disk before
    `reserve` returns and is never taken back, whatever fails afterwards; several processes may
    use the same ledger. The limit of an analyst rations what the analyst may make us spend: an
    answer that was released to one may be told to all.

    A copy of the ledger that is put back in its place is noticed by the heads that releases print,
    given as `anchor`; while a process has it open, also without one.
    """

    def __init__(self, store: Store, terms: Terms) -> None:
        """Use `Ledger.open`."""
        self._store = store
        self._terms = terms
        self._lock = RLock()
        self._state = State()
        self._running = Running()
        self._closed = False

    @classmethod
    def open(  # noqa: PLR0913 - what a policy says, each by its name
        cls,
        place: str | Path,
        *,
        dataset: str,
        total: Limit,
        policy_hash: str,
        analysts: Mapping[str, Limit] | None = None,
        rule: str = "basic",
        anchor: Head | str | None = None,
        enlarge: bool = False,
        patience: float = 30.0,
    ) -> Ledger:
        """Open a ledger, or begin one.

        All its entries are read and checked. A policy that has changed is recorded as an entry.

        Args:
            place: a file, or the URL of a PostgreSQL database (one ledger in each; `options` of the
                URL can choose a schema).
            dataset: what the ledger is kept for.
            total: the most that may be spent of it, as a `Spending` or (epsilon, delta).
            policy_hash: of the policy that these limits come from.
            analysts: who may ask, and how much each; anybody, if empty.
            rule: how charges add up, a filter of `Allowance`; fixed when the ledger is begun.
            anchor: a head from a release; the ledger must hold it.
            enlarge: whether limits may be larger than those that the ledger was kept with.
            patience: seconds to wait for other processes that write.

        Raises:
            InputError: CEL-Q100, CEL-Q105, CEL-Q116 wrong arguments.
            PrivacyError: CEL-Q102 a ledger of something else; CEL-Q103 larger limits; CEL-Q104 it
                was changed from outside; CEL-Q106 it is older than the anchor.
            EngineError: CEL-Q101, CEL-Q114 the database is not there, or cannot be written.
        """
        terms = Terms.of(
            dataset=dataset, policy=policy_hash, rule=rule, total=total, analysts=analysts or {}
        )
        wanted = Head.parse(anchor) if isinstance(anchor, str) else anchor
        ledger = cls(Store(place, patience=patience), terms)
        try:
            ledger._begin(wanted, enlarge=enlarge)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def _begin(self, anchor: Head | None, *, enlarge: bool) -> None:
        with self._lock, self._store.transaction(writing=True) as connection:
            self._catch_up(connection)
            if anchor is not None:
                checked(self._store.read(connection), anchor=anchor)
            if self._state.head is None:
                # The random name makes the hashes of every ledger its own.
                self._append(connection, "opened", terms=self._terms.as_dict(), name=token_hex(16))
            elif self._state.terms != self._terms:
                self._terms.check_follows(self._state.terms, enlarge=enlarge)
                self._append(connection, "policy", terms=self._terms.as_dict(), enlarge=enlarge)

    def reserve(self, request: Request) -> Reservation | Stored:
        """Charge a request, or find the answer that the same question was given before.

        Raises:
            BudgetExceeded: CEL-Q110 the total or CEL-Q111 the limit of the analyst does not allow
                it; nothing was recorded.
            QueryRefused: CEL-Q109 the policy does not name the analyst.
            PrivacyError: CEL-Q102 the policy has changed since the ledger was opened; CEL-B062 the
                rule has no price for the loss.
            EngineError: CEL-Q114 it could not be recorded: do not touch the data.
        """
        with self._lock, self._transaction(writing=True) as connection:
            self._check_terms()
            key = request.key(self._terms.policy)
            charged = Charged.of(request, key)
            self._state.account(request.analyst)
            if key in self._state.answers:
                return self._stored(connection, self._state.answers[key])
            self._state.check(charged)
            entry = self._append(connection, "reserved", key=key, **request.as_dict())
        return Reservation(
            sequence=entry.sequence,
            hash=entry.hash,
            key=key,
            analyst=request.analyst,
            epsilon=request.epsilon,
            delta=request.delta,
        )

    def seal(self, reservation: Reservation, answer: Any) -> Stored:
        """Record what was released, as plain JSON values; it may be told again for free.

        Sealing the same answer twice changes nothing.

        Raises:
            InputError: CEL-Q113 the answer is not plain; CEL-Q112 the reservation is not of this
                ledger, or has ended.
            EngineError: CEL-Q114 it could not be recorded: do not release the answer.
        """
        try:
            plain = json.loads(canonical(answer))
        except (TypeError, ValueError, RecursionError):
            raise InputError(
                "CEL-Q113",
                "the answer to be recorded is not made of plain JSON values.",
                why="It could not be told again. Its charge stays.",
                fix="Give numbers, texts, lists and tables; None for NaN and infinity.",
            ) from None
        with self._lock, self._transaction(writing=True) as connection:
            ended = self._end_of(reservation)
            if ended is not None:
                entry = self._entry(connection, ended)
                values = entry.values()
                if values["kind"] != "sealed" or values["answer"] != plain:
                    raise _not_open(reservation)
                return stored_of(entry)
            entry = self._append(
                connection, "sealed", reservation=reservation.sequence, answer=plain
            )
        return stored_of(entry)

    def fail(self, reservation: Reservation, reason: str) -> None:
        """Record that nothing was released. The charge stays: failing may depend on data.

        Args:
            reservation: that was made for it.
            reason: a code, such as CEL-X001; never a message, which may tell of data.

        Raises:
            InputError: CEL-Q118 the reason is not a code; CEL-Q112 as for `seal`.
        """
        if not isinstance(reason, str) or not _REASON.fullmatch(reason):
            raise InputError(
                "CEL-Q118",
                "the reason of a failure must be a code of letters, digits and dashes.",
                why="A message may hold values of the data, and the ledger is shown to analysts.",
                fix="Give the code of the error, such as CEL-X001.",
            )
        with self._lock, self._transaction(writing=True) as connection:
            if self._end_of(reservation) is not None:
                raise _not_open(reservation)
            self._append(connection, "failed", reservation=reservation.sequence, reason=reason)

    @property
    def head(self) -> Head:
        """The last entry: print it in every release."""
        state = self._current()
        if state.head is None:
            raise broken(0)
        return state.head

    @property
    def spent(self) -> Price:
        """The sum of all charges, also of those that never ended."""
        return self._current().total.spent

    @property
    def remaining(self) -> Price:
        """What is left of the total."""
        return self._current().total.remaining

    def spent_by(self, analyst: str) -> Price:
        """The sum of the charges of an analyst; of all, where analysts have no limits."""
        return self._current().account(analyst).spent

    def remaining_of(self, analyst: str) -> Price:
        """What is left of the limit of an analyst; of the total, where analysts have none."""
        return self._current().account(analyst).remaining

    def tight_epsilon(self, delta: float) -> float:
        """The least epsilon that is known to hold with a delta for everything charged so far.

        It is for the report: it holds for losses that were fixed beforehand. What may be spent is
        decided by the rule of the ledger, which holds without that.
        """
        with self._lock:
            pending = self._current().pending
            for loss in tuple(pending):
                self._running.add(loss, times=pending[loss])
                del pending[loss]
            return self._running.epsilon(delta)

    def history(self, analyst: str | None = None) -> tuple[Record, ...]:
        """The charges, with what became of them: of one analyst, or of all."""
        return records_of(self._entries(), analyst=analyst)

    def verify(self, *, anchor: Head | str | None = None) -> Head:
        """Read all entries again and check each link, up to the head known here.

        Args:
            anchor: a head from a release, which the ledger must hold.

        Raises:
            PrivacyError: CEL-Q104 it was changed from outside; CEL-Q106 it does not hold the
                anchor.
        """
        wanted = Head.parse(anchor) if isinstance(anchor, str) else anchor
        head = checked(self._entries(), anchor=wanted)
        if head is None:
            raise broken(0)
        return head

    def export(self, path: str | Path, *, overwrite: bool = False) -> Head:
        """Write all entries as JSON lines that `verify_export` can check anywhere."""
        entries = self._entries()
        write_export(entries, Path(path), overwrite=overwrite)
        return entries[-1].head

    def close(self) -> None:
        """Let go of the database; nothing waits to be written."""
        with self._lock:
            self._closed = True
            self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __str__(self) -> str:
        state = self._current()
        charges = len(state.reservations)
        return f"Ledger of {self._terms.dataset}: {charges} charges, left {state.total.remaining}"

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[sa.Connection]:
        if self._closed:
            raise EngineError(
                "CEL-Q115", "the ledger is closed.", fix="Open it again with Ledger.open."
            )
        with self._store.transaction(writing=writing) as connection:
            self._catch_up(connection)
            yield connection

    def _current(self) -> State:
        with self._lock, self._transaction(writing=False):
            return self._state

    def _entries(self) -> tuple[Entry, ...]:
        with self._lock, self._transaction(writing=False) as connection:
            entries = tuple(self._store.read(connection))
            if checked(entries, anchor=self._state.head) != self._state.head:
                raise rolled_back()
            return entries

    def _catch_up(self, connection: sa.Connection) -> None:
        """Count what other processes, and this one, have written since the last time.

        The sums come from entries that were read and checked, never from memory of a write that
        may or may not have reached the disk.
        """
        state = self._state
        known = state.head
        entries = self._store.read(connection, since=0 if known is None else known.sequence)
        if known is not None:
            last = next(entries, None)
            if last is None or last.head != known:
                raise rolled_back()
        for entry in entries:
            state.add(entry)
        if state.head != self._store.head(connection):
            raise broken(0 if state.head is None else state.head.sequence + 1)

    def _append(self, connection: sa.Connection, kind: str, **values: Any) -> Entry:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        entry = Entry.after(self._state.head, {"kind": kind, "at": at, **values})
        self._store.append(connection, entry)
        return entry

    def _check_terms(self) -> None:
        if self._state.terms != self._terms:
            raise PrivacyError(
                "CEL-Q102",
                "the policy of the ledger has changed since it was opened here.",
                why="Another process has recorded new terms, and questions are charged under one.",
                fix="Load the policy and open the ledger again.",
            )

    def _end_of(self, reservation: Reservation) -> Head | None:
        known = self._state.reservations.get(reservation.sequence)
        if known is None or known[0] != reservation.hash:
            raise _not_open(reservation)
        return self._state.ended.get(reservation.sequence)

    def _stored(self, connection: sa.Connection, head: Head) -> Stored:
        return stored_of(self._entry(connection, head))

    def _entry(self, connection: sa.Connection, head: Head) -> Entry:
        entry = next(self._store.read(connection, since=head.sequence, most=1), None)
        if entry is None or entry.head != head or not entry.unchanged:
            raise broken(head.sequence)
        return entry


def _not_open(reservation: Reservation) -> InputError:
    return InputError(
        "CEL-Q112",
        f"entry {reservation.sequence} is no reservation of this ledger that waits for its end.",
        why="One charge pays for one answer.",
        fix="Reserve again.",
    )
