"""A ledger opened for reading: sums, history and verification."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Self

from celosia.accounting.accountant import Accountant
from celosia.accounting.filters import Price
from celosia.core.errors import EngineError
from celosia.core.messages import say
from celosia.queries.ledger.chain import (
    Entry,
    Head,
    broken_chain_error,
    check_chain,
    rollback_error,
)
from celosia.queries.ledger.database import Connection
from celosia.queries.ledger.exports import write_export
from celosia.queries.ledger.incidents import Incident
from celosia.queries.ledger.records import Record, list_records
from celosia.queries.ledger.state import State
from celosia.queries.ledger.store import Store
from celosia.queries.ledger.terms import Terms


class LedgerView:
    """A ledger that is read: what was spent, by whom, and whether every entry is as it was written.

    `Ledger.open_view` gives one of a ledger that stands. Nothing here writes.
    """

    def __init__(self, store: Store) -> None:
        """Use `Ledger.open_view`."""
        self._store = store
        self._lock = RLock()
        self._state = State()
        self._running = Accountant()
        self._last_written: Head | None = None
        """The last entry that was written here, until it is read back."""
        self._closed = False

    @property
    def exists(self) -> bool:
        """Whether there is a ledger: its tables, with a first entry."""
        if not self._store.has_tables():
            return False
        with self._lock, self._transaction(writing=False):
            return self._state.head is not None

    @property
    def terms(self) -> Terms:
        """The data set, the policy and the limits in force."""
        return self._current().terms

    @property
    def head(self) -> Head:
        """The last entry: print it in every release."""
        state = self._current()
        if state.head is None:
            raise broken_chain_error(0)
        return state.head

    @property
    def spent(self) -> Price:
        """The sum of all charges, also of those that never ended."""
        return self._current().total.spent

    @property
    def remaining(self) -> Price:
        """The remainder of the total."""
        return self._current().total.remaining

    def spent_by(self, analyst: str) -> Price:
        """The sum of the charges of an analyst; of all, where analysts have no limits."""
        return self._current().account(analyst).spent

    def remaining_of(self, analyst: str) -> Price:
        """The remainder of an analyst's limit; of the total, where analysts have none."""
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
        return list_records(self._entries(), analyst=analyst)

    def incidents(
        self, analyst: str | None = None, *, kind: str | None = None
    ) -> tuple[Incident, ...]:
        """Incidents while questions were answered; for the curator, never for an analyst.

        Incidents may depend on the rows, so they are no entries of the chain, and no release,
        history or export shows them.

        Args:
            analyst: only those of one analyst.
            kind: only those of one kind.
        """
        with self._lock, self._transaction(writing=False) as connection:
            found = self._store.incidents(connection)
        return tuple(
            each for each in found if analyst in {None, each.analyst} and kind in {None, each.kind}
        )

    def verify(self, *, anchor: Head | str | None = None) -> Head:
        """Read all entries again and check each link, up to the head known here.

        Args:
            anchor: a head from a release, which the ledger must hold.

        Raises:
            PrivacyError: CEL-Q104 it was changed from outside; CEL-Q106 it does not hold the
                anchor.
        """
        wanted = Head.parse(anchor) if isinstance(anchor, str) else anchor
        head = check_chain(self._entries(), anchor=wanted)
        if head is None:
            raise broken_chain_error(0)
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

    def __enter__(self) -> Self:
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
        return say(
            "queries.ledger.summary",
            dataset=state.terms.dataset,
            charges=len(state.reservations),
            left=state.total.remaining,
        )

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        if self._closed:
            raise EngineError("CEL-Q115.closed")
        with self._store.transaction(writing=writing) as connection:
            self._catch_up(connection)
            yield connection

    def _current(self) -> State:
        with self._lock, self._transaction(writing=False):
            return self._state

    def _entries(self) -> tuple[Entry, ...]:
        with self._lock, self._transaction(writing=False) as connection:
            entries = tuple(self._store.read(connection))
            if check_chain(entries, anchor=self._state.head) != self._state.head:
                raise rollback_error()
            return entries

    def _catch_up(self, connection: Connection) -> None:
        """Count what other processes, and this one, have written since the last time.

        The sums come from entries that were read and checked, never from memory of a write that
        may or may not have reached the disk.
        """
        state = self._state
        known = state.head
        # Read from the last known entry on: where that one has changed or is gone, the ledger was
        # replaced or cut, and what follows would be counted on top of the wrong sum.
        entries = self._store.read(connection, since=0 if known is None else known.sequence)
        if known is not None:
            last = next(entries, None)
            if last is None or last.head != known:
                raise rollback_error()
        for entry in entries:
            state.add(entry)
            if entry.head == self._last_written:
                self._last_written = None
        # A charge that was committed here and cannot be read back would be spent a second time.
        if self._last_written is not None:
            raise rollback_error()
        # The chain alone looks whole after its end was cut off; the head beside it does not.
        if state.head != self._store.head(connection):
            raise broken_chain_error(0 if state.head is None else state.head.sequence + 1)
