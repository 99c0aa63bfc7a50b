"""The durable record of what was spent of a data set, and the traces of one that was lost.

An answer takes three steps, and their order is what keeps the account safe when a process dies:

1. `reserve` checks the budget and charges the request in one transaction. It returns once the
   charge is on disk, and only then may rows be read. Two processes cannot both spend the last of
   a budget, because the check and the charge are under one write lock.
2. The caller reads the rows and draws the noise.
3. `seal` puts the answer on disk before it is released. The same question later gets this very
   answer: a copy is post-processing and costs nothing (Dwork & Roth 2014, Prop. 2.1), whereas fresh
   noise would have to be paid.

A crash after step 1 leaves a charge without an answer, so the account may count too much and never
too little. No step gives a charge back: whether a query fails may depend on the rows, so a failure
is an output that has to be paid as well.

A ledger that is deleted would begin anew with nothing spent, and so would all budgets. The service
notes charges in two other files: its audit log has the entry of each answer, and the file of tokens
keeps that something was charged at all.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from secrets import token_hex
from typing import Any

from celosia.accounting.ledger import chain
from celosia.accounting.ledger.charges import Request, Reservation, StoredAnswer, read_stored_answer
from celosia.accounting.ledger.store import (
    COUNTED_KINDS,
    Connection,
    Incident,
    Store,
    check_kind,
    day_of,
    file_exists,
    now_in_utc,
)
from celosia.accounting.ledger.terms import Ceilings, Limit, Terms
from celosia.accounting.ledger.view import Charge, LedgerView
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import Neighbours
from celosia.core.numbers import exact

_REASON = re.compile(r"[A-Za-z0-9_-]{1,40}")


class Ledger(LedgerView):
    """A durable account: reserve before the data is touched, seal what was released.

    Guarantee: as long as every release is reserved first, all of them together keep the promise of
    the total, and those that one analyst asked for, the limit of the analyst, also when each is
    chosen by the answers to the earlier ones (see `accounting.filters`). A charge is on disk before
    `reserve` returns and is never taken back, whatever fails afterwards; several processes may
    use the same ledger. The limit of an analyst rations what the analyst may make us spend: an
    answer that was released to one may be given to all.

    A copy of the ledger that is put back in its place is noticed by the heads that releases print,
    given as `anchor`; while a process has it open, also without one. Each transaction looks whether
    the ledger still is the one that was opened (a file by its device and inode, and every ledger by
    the hash of the last entry that was seen, which stands for all entries before it), and refuses
    to go on with another one.
    """

    def __init__(
        self,
        store: Store,
        terms: Terms,
        *,
        ceilings: Ceilings | None = None,
        clock: Callable[[], datetime] = now_in_utc,
    ) -> None:
        """Use `Ledger.open`."""
        super().__init__(store)
        self._terms = terms
        self._ceilings = Ceilings() if ceilings is None else ceilings
        self._clock = clock
        self._appended: list[chain.Head] = []

    @classmethod
    def open_view(cls, location: str | Path) -> LedgerView | None:
        """Open the ledger at a location for reading only; None where no ledger was begun.

        Nothing is created or changed there, whatever the file holds.

        Raises:
            InputError: CEL-Q116 not a location that keeps anything.
            PrivacyError: CEL-Q104 it was changed from outside.
            EngineError: CEL-Q101, CEL-Q114 the database is not there, or cannot be read; CEL-Q114
                the file is no database.
        """
        if not file_exists(location):
            return None
        view = LedgerView(Store(location, read_only=True))
        try:
            exists = view.exists
        except BaseException:
            view.close()
            raise
        if not exists:
            view.close()
            return None
        return view

    @classmethod
    def open(
        cls,
        location: str | Path,
        *,
        dataset: str,
        total: Limit,
        policy_hash: str,
        analysts: Mapping[str, Limit] | None = None,
        rule: str = "basic",
        anchor: chain.Head | str | None = None,
        enlarge: bool = False,
        patience: float = 30.0,
        ceilings: Ceilings | None = None,
        clock: Callable[[], datetime] = now_in_utc,
        after_loss: bool = False,
        convert: bool = False,
        neighbours: Neighbours | None = None,
    ) -> Ledger:
        """Open a ledger, or begin one.

        All its entries are read and checked. A policy that has changed is recorded as an entry.

        Args:
            location: a file, or the URL of a PostgreSQL database (one ledger in each; `options` of
                the URL can choose a schema).
            dataset: what the ledger is kept for.
            total: the most that may be spent of it, as a `Spending` or (epsilon, delta).
            policy_hash: of the policy that these limits come from.
            analysts: who may ask, and how much each; anybody, if empty.
            rule: how charges add up, a filter of `Allowance`; fixed when the ledger is begun.
            anchor: a head from a release; the ledger must hold it.
            enlarge: whether limits may be larger than those that the ledger was kept with.
            patience: seconds to wait for other processes that write.
            ceilings: what one analyst may do in one day; as the policy of `policy_hash` says.
            clock: the time now, in universal time.
            after_loss: whether a new ledger takes the place of a lost one, which is recorded in its
                first entry.
            convert: whether the budget may be one in another currency than before. All charges so
                far count in it, by their recorded losses. The new promise holds if the new limit
                was not chosen by the answers so far.
            neighbours: whom the budget protects, where no policy says it.

        Raises:
            InputError: CEL-Q100, CEL-Q105, CEL-Q116 wrong arguments.
            PrivacyError: CEL-Q102 a ledger of something else; CEL-Q103 larger limits; CEL-Q104 it
                was changed from outside; CEL-Q104 it is older than the anchor.
            EngineError: CEL-Q101, CEL-Q114 the database is not there, or cannot be written.
        """
        terms = Terms.of(
            dataset=dataset,
            policy=policy_hash,
            rule=rule,
            total=total,
            analysts=analysts or {},
            neighbours=neighbours,
        )
        wanted = chain.Head.parse(anchor) if isinstance(anchor, str) else anchor
        if wanted is not None and not file_exists(location):
            raise chain.rollback_error()  # before `Store` would create an empty file
        ledger = cls(Store(location, patience=patience), terms, ceilings=ceilings, clock=clock)
        try:
            ledger._begin(wanted, enlarge=enlarge, after_loss=after_loss, convert=convert)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def _begin(
        self, anchor: chain.Head | None, *, enlarge: bool, after_loss: bool, convert: bool
    ) -> None:
        with self._writing() as connection:
            if anchor is not None:
                self._check_holds(connection, anchor)
            if self._state.head is None:
                # With a random name no two ledgers share a hash, even with equal terms: the head of
                # one is never accepted as an anchor of the other.
                values = {"terms": self._terms.as_dict(), "name": token_hex(16)}
                noted = {"after_loss": True} if after_loss else {}
                self._append(connection, "opened", **values, **noted)
            elif self._state.terms != self._terms:
                old = self._state.terms
                self._terms.check_follows(old, enlarge=enlarge, convert=convert)
                noted = {"converted": True} if self._terms.account != old.account else {}
                self._append(
                    connection, "policy", terms=self._terms.as_dict(), enlarge=enlarge, **noted
                )

    def reserve(
        self,
        request: Request,
        *,
        fresh: bool = False,
        price: Fraction | None = None,
        repeated_price: Fraction | None = None,
    ) -> Reservation | StoredAnswer:
        """Charge a request, or find the answer that the same question was given before.

        Args:
            request: what is asked, and at which price.
            fresh: whether to charge also where an answer is stored; once sealed, the new answer is
                the one that is given again.
            price: in money, where the policy has a market.
            repeated_price: in money, for a stored answer that the analyst has not paid for yet.

        Raises:
            BudgetExceeded: CEL-Q110 the total or CEL-Q111 the limit of the analyst does not allow
                it; CEL-Q301 a ceiling of the day is reached; nothing was recorded.
            QueryRefused: CEL-Q109 the policy does not name the analyst; CEL-Q300 it costs too
                little.
            PrivacyError: CEL-Q102 the policy has changed since the ledger was opened; CEL-B062 the
                rule has no price for the loss.
            EngineError: CEL-Q114 it could not be recorded: do not touch the data.
        """
        with self._writing() as connection:
            self._check_terms()
            key = request.key(self._terms.policy)
            charge = Charge.of(request, key)
            self._state.account(request.analyst)  # an analyst without an account gets nothing
            if key in self._state.answers and not fresh:
                # Free, and before all ceilings: a stored answer tells nothing new.
                is_sold = (
                    repeated_price is not None and (request.analyst, key) not in self._state.paid
                )
                if repeated_price is not None and is_sold:
                    sold = {"analyst": request.analyst, "question": request.question, "key": key}
                    amount = chain.format_fraction(repeated_price)
                    self._append(connection, "sold", **sold, price=amount)
                kept = self._stored_answer(connection, self._state.answers[key])
                return replace(kept, charged=repeated_price if is_sold else None)
            self._ceilings.check_price(request.epsilon)
            self._check_ceilings(connection, request.analyst)
            # The sums come from entries read within this transaction, and its write lock keeps
            # other processes from adding to them before the charge is on disk.
            self._state.check(charge)
            values = request.as_dict() | ({"fresh": True} if fresh else {})
            values |= {} if price is None else {"price": chain.format_fraction(price)}
            entry = self._append(connection, "reserved", key=key, **values)
        return Reservation(
            sequence=entry.sequence,
            hash=entry.hash,
            key=key,
            analyst=request.analyst,
            epsilon=request.epsilon,
            delta=request.delta,
        )

    def check(self, request: Request) -> None:
        """Refuse a request that would not fit now, without recording anything.

        Raises:
            BudgetExceeded: CEL-Q110 the total or CEL-Q111 the limit of the analyst.
        """
        with self._lock, self._transaction(writing=False):
            self._state.check(Charge.of(request, ""))

    def has_answer(self, request: Request) -> bool:
        """Whether the same question was answered before, so that asking again costs nothing."""
        with self._lock, self._transaction(writing=False):
            return request.key(self._terms.policy) in self._state.answers

    def seal(self, reservation: Reservation, answer: Any) -> StoredAnswer:
        """Record what was released, as plain JSON values; it may be given again for free.

        Sealing the same answer twice changes nothing.

        Raises:
            InputError: CEL-Q112 the answer is not plain; CEL-Q112 the reservation is not of this
                ledger, or has ended.
            EngineError: CEL-Q114 it could not be recorded: do not release the answer.
        """
        try:
            plain = json.loads(chain.canonical(answer))
        except (TypeError, ValueError, RecursionError):
            raise InputError("CEL-Q112.answer") from None
        with self._writing() as connection:
            ended = self._end_of(reservation)
            if ended is not None:
                # One charge pays for one answer; only the same answer may be sealed again.
                entry = self._read_entry(connection, ended)
                values = entry.values()
                if values["kind"] != "sealed" or values["answer"] != plain:
                    raise InputError("CEL-Q112.not_open", sequence=reservation.sequence)
                return read_stored_answer(entry)
            entry = self._append(
                connection, "sealed", reservation=reservation.sequence, answer=plain
            )
        return read_stored_answer(entry)

    def fail(self, reservation: Reservation, reason: str) -> None:
        """Record that nothing was released. The charge stays: failing may depend on data.

        Args:
            reservation: that was made for it.
            reason: a code, such as CEL-X001; never a message, which may reveal data.

        Raises:
            InputError: CEL-Q112 the reason is not a code; CEL-Q112 as for `seal`.
        """
        if not isinstance(reason, str) or not _REASON.fullmatch(reason):
            raise InputError("CEL-Q112.reason")
        with self._writing() as connection:
            if self._end_of(reservation) is not None:
                raise InputError("CEL-Q112.not_open", sequence=reservation.sequence)
            self._append(connection, "failed", reservation=reservation.sequence, reason=reason)

    def note_incident(self, reservation: Reservation, kind: str) -> None:
        """Record what happened to a question beside the chain, for the curator only.

        It is on disk when this returns. Noting the same kind twice changes nothing.

        Args:
            reservation: of the question, whether it has ended or not.
            kind: a word, such as those of `ledger.incidents`; never a message, which may reveal
                data. `exceeded-deadline` counts against `exceeded_per_day`.

        Raises:
            InputError: CEL-Q303 the kind is not a word; CEL-Q112 the reservation is not of this
                ledger.
            EngineError: CEL-Q114 it could not be recorded.
        """
        check_kind(kind)
        with self._writing() as connection:
            self._end_of(reservation)
            self._store.add_incident(
                connection,
                Incident(
                    at=self._now(),
                    analyst=reservation.analyst,
                    entry=reservation.sequence,
                    kind=kind,
                ),
            )

    def _check_ceilings(self, connection: Connection, analyst: str) -> None:
        """Refuse a question beyond a ceiling, in the transaction that would charge it."""
        today = day_of(self._now())
        exceeded = 0
        if self._ceilings.exceeded_per_day is not None:
            exceeded = self._store.count_incidents(
                connection, analyst=analyst, day=today, kinds=COUNTED_KINDS
            )
        self._ceilings.check(
            questions=self._state.question_counts[analyst, today], exceeded=exceeded
        )

    def _now(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="seconds")

    def _check_holds(self, connection: Connection, anchor: chain.Head) -> None:
        """Refuse a ledger without an entry; every link was checked when entries were counted."""
        entry = next(self._store.read(connection, since=anchor.sequence, most=1), None)
        if entry is None or entry.head != anchor:
            raise chain.rollback_error()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction that may append; once it is on disk, its entry must stay.

        `_catch_up` looks for the entry later. It is noted only after the commit: an entry that was
        rolled back is rightly missing.
        """
        with self._lock:
            self._appended.clear()
            with self._transaction(writing=True) as connection:
                yield connection
            if self._appended:
                self._last_written = self._appended[-1]

    def _append(self, connection: Connection, kind: str, **values: Any) -> chain.Entry:
        entry = chain.Entry.create(self._state.head, {"kind": kind, "at": self._now(), **values})
        self._store.append(connection, entry)
        self._appended.append(entry.head)
        return entry

    def _check_terms(self) -> None:
        if self._state.terms != self._terms:
            raise PrivacyError("CEL-Q102.changed")

    def _end_of(self, reservation: Reservation) -> chain.Head | None:
        # The hash too: the number alone may be that of another ledger's entry.
        known = self._state.reservations.get(reservation.sequence)
        if known is None or known[0] != reservation.hash:
            raise InputError("CEL-Q112.not_open", sequence=reservation.sequence)
        return self._state.ended.get(reservation.sequence)

    def _stored_answer(self, connection: Connection, head: chain.Head) -> StoredAnswer:
        return read_stored_answer(self._read_entry(connection, head))

    def _read_entry(self, connection: Connection, head: chain.Head) -> chain.Entry:
        entry = next(self._store.read(connection, since=head.sequence, most=1), None)
        if entry is None or entry.head != head or not entry.is_unchanged:
            raise chain.broken_chain_error(head.sequence)
        return entry


CHARGED = "celosia_charged"
"""The table in the file of tokens that has a row once something was charged."""
_HEADER = b"SQLite format 3\x00"


def check_not_lost(location: str | Path, files: Iterable[Path]) -> None:
    """Refuse a location without a ledger where other files record that there was one.

    Raises:
        PrivacyError: CEL-Q306.
    """
    standing = Ledger.open_view(location)
    if standing is None:
        check_no_traces(files)
    else:
        standing.close()


def check_no_traces(files: Iterable[Path]) -> None:
    """Refuse to begin a ledger where other files record that there was one.

    A file that cannot be read counts as a trace: it may record a charge.

    Args:
        files: audit logs and files of tokens; one that does not exist tells nothing.
    """
    for path in files:
        if _has_charges(path):
            raise PrivacyError("CEL-Q306", file=path.name, path=str(path))


def known_charges(log: Path) -> tuple[int, Fraction]:
    """The number of charges in an audit log, and the sum of their epsilon."""
    charges: dict[int, Fraction] = {}
    try:
        for line in _lines(log):
            entry, epsilon = line.get("entry"), exact(line.get("epsilon"))
            if isinstance(entry, int) and epsilon is not None:
                charges[entry] = epsilon
    except OSError:
        pass
    return len(charges), sum(charges.values(), Fraction(0))


def _has_charges(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            is_database = file.read(len(_HEADER)) == _HEADER
        if is_database:
            return _was_charged(path)
        return any(map(_is_charge, _lines(path)))
    except FileNotFoundError:
        return False
    except (OSError, sqlite3.Error):
        return True


def _is_charge(line: dict[str, Any]) -> bool:
    # A question that failed while data was read stays charged, and its line has no entry.
    return line.get("entry") is not None or line.get("outcome") == "CEL-Q140"


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    """The lines of an audit log; one that a crash has cut off is no line."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found


def _was_charged(tokens: Path) -> bool:
    with closing(sqlite3.connect(f"{tokens.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        wanted = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        if connection.execute(wanted, (CHARGED,)).fetchone() is None:
            return False  # a file of tokens from before
        return connection.execute(f"SELECT 1 FROM {CHARGED}").fetchone() is not None  # noqa: S608 - our own name
