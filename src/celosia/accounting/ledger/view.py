"""A ledger opened for reading: the sums of its entries, history, verification and export."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from celosia.accounting.amounts import Spending
from celosia.accounting.filters import DELTA, EPSILON, Filter, Price
from celosia.accounting.ledger import chain
from celosia.accounting.ledger.charges import Record, Request, list_records, stated_loss
from celosia.accounting.ledger.store import Connection, Incident, Store, day_of
from celosia.accounting.ledger.terms import Terms
from celosia.accounting.loss_readers import loss_from_dict
from celosia.accounting.losses import Loss
from celosia.core import errors
from celosia.core.files import replacing
from celosia.core.messages import did_you_mean, say
from celosia.core.resources import Closeable

if TYPE_CHECKING:
    from celosia.accounting.accountant import Accountant


def write_export(entries: Iterable[chain.Entry], path: Path, *, overwrite: bool) -> None:
    """Write one line for each entry: its number, its text, its hash and the one before."""
    with replacing(path, overwrite=overwrite) as draft, draft.open("w", encoding="ascii") as lines:
        for entry in entries:
            lines.write(f"{chain.canonical(entry.as_dict())}\n")


def verify_export(path: str | Path, *, anchor: chain.Head | str | None = None) -> chain.Head:
    """Check each link of an exported ledger; returns its head.

    Args:
        path: the file.
        anchor: a head from a release, which the ledger must hold.

    Raises:
        PrivacyError: CEL-Q104 a line was edited, removed or moved; CEL-Q104 the anchor is missing.
    """
    wanted = chain.Head.parse(anchor) if isinstance(anchor, str) else anchor
    head = chain.check_chain(_read(Path(path)), anchor=wanted)
    if head is None:
        raise chain.broken_chain_error(0)
    return head


def _read(path: Path) -> Iterator[chain.Entry]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines):
            try:
                yield chain.Entry(**json.loads(line))
            except (TypeError, ValueError):
                raise chain.broken_chain_error(number) from None


@dataclass(frozen=True, slots=True)
class Charge:
    """The cost of a reservation, whether it was sealed, failed or never ended."""

    analyst: str
    epsilon: Fraction
    delta: Fraction
    loss: Loss
    key: str

    @classmethod
    def of(cls, request: Request, key: str) -> Charge:
        """The cost of a request, just as it will be read back from its entry."""
        loss = loss_from_dict((request.loss or request.stated).as_dict())
        return cls(request.analyst, request.epsilon, request.delta, loss, key)

    def price(self, rule: Filter) -> Price:
        """The price under a rule.

        Sums charge what was asked for. Other rules read the finer loss, or where it cannot be paid
        in their currency, what was asked for as well; which of the two depends on the loss alone.

        Raises:
            PrivacyError: CEL-B062 the rule has no price for it.
        """
        # A filter is proven for prices that are fixed with each loss (Rogers, Roth, Ullman & Vadhan
        # 2016): to take the cheaper one by what is left would be a rule that answers can choose.
        if rule.name == "basic":
            return Price({EPSILON: self.epsilon, DELTA: self.delta})
        try:
            return chain.round_price_up(rule.price(self.loss))
        except errors.PrivacyError:
            return chain.round_price_up(rule.price(stated_loss(self.epsilon, self.delta)))


class Account:
    """A limit and what was spent of it."""

    def __init__(self, rule: Filter) -> None:
        self.rule = rule
        self.spent = rule.nothing

    def add(self, charge: Charge) -> None:
        """Count a charge."""
        self.spent = self.spent + charge.price(self.rule)

    @property
    def remaining(self) -> Price:
        """The remainder of each limit, and the epsilon that it amounts to."""
        return self.rule.told(self.spent.subtracted_from(self.rule.limits))

    @property
    def told(self) -> Price:
        """What was spent, and the epsilon that it amounts to."""
        return self.rule.told(self.spent)

    def check(self, charge: Charge, code: str) -> None:
        """Refuse a charge that would exceed the limit.

        Raises:
            BudgetExceeded: with the code that is given, the price and what remains.
        """
        price = charge.price(self.rule)
        # Before the charge, never after it: a filter stops ahead of the release that would exceed.
        if self.rule.admits(self.spent + price):
            return
        raise errors.BudgetExceeded(
            code,
            analyst=charge.analyst,
            price=price,
            left=self.remaining,
            requested=price.as_dict(),
            remaining=self.remaining.as_dict(),
        )


class State:
    """The sum of a chain. Entries only ever add to it: there is no way to give back."""

    def __init__(self) -> None:
        self.head: chain.Head | None = None
        self._terms: Terms | None = None
        self.reservations: dict[int, tuple[str, Charge]] = {}
        """By number: the hash of the entry, and its charge."""
        self.ended: dict[int, chain.Head] = {}
        """The entry with which a reservation was sealed or failed."""
        self.answers: dict[str, chain.Head] = {}
        """The entry that holds the answer to a question.

        The first where there are several, or the last one that was asked for as a fresh one.
        """
        self.fresh: set[int] = set()
        """Reservations whose answer takes the place of the one before."""
        self.pending: Counter[Loss] = Counter()
        """Losses that the tight account has not counted yet."""
        self.paid: set[tuple[str, str]] = set()
        """Analysts with the questions that they have paid for."""
        self.question_counts: Counter[tuple[str, str]] = Counter()
        """Charged questions by analyst and day, in universal time."""
        self._total: Account | None = None
        self._accounts: dict[str, Account] = {}

    @property
    def terms(self) -> Terms:
        """The terms in force."""
        if self._terms is None:
            raise chain.broken_chain_error(0)
        return self._terms

    @property
    def total(self) -> Account:
        """The account of the data set."""
        if self._total is None:
            raise chain.broken_chain_error(0)
        return self._total

    def account(self, analyst: str) -> Account:
        """The account of an analyst; that of the data set where analysts have no limits."""
        if not self.terms.analysts:
            return self.total
        if analyst not in self._accounts:
            raise errors.QueryRefused(
                "CEL-Q109", analyst=analyst, hint=did_you_mean(analyst, self._accounts)
            )
        return self._accounts[analyst]

    def check(self, charge: Charge) -> None:
        """Refuse a charge that the analyst or all analysts together may not make.

        Raises:
            QueryRefused: CEL-Q109 the policy does not name the analyst.
            BudgetExceeded: CEL-Q110 the limit of the data set, CEL-Q111 that of the analyst.
        """
        own = self.account(charge.analyst)
        self.total.check(charge, "CEL-Q110")
        own.check(charge, "CEL-Q111")

    def add(self, entry: chain.Entry) -> None:
        """Count the next entry.

        Raises:
            PrivacyError: CEL-Q104 it does not follow from the entries before it.
        """
        if not entry.follows(self.head):
            raise chain.broken_chain_error(entry.sequence)
        try:
            self._count(entry)
        except (KeyError, TypeError, ValueError, AttributeError, errors.CelosiaError):
            # The hash fits and the content does not: written by another program.
            raise chain.broken_chain_error(entry.sequence) from None
        self.head = entry.head

    def _count(self, entry: chain.Entry) -> None:
        values = entry.values()
        kind = values["kind"]
        if (kind == "opened") != (entry.sequence == 0):
            raise chain.broken_chain_error(entry.sequence)
        if kind in {"opened", "policy"}:
            self._enforce(Terms.from_dict(values["terms"]))
        elif kind == "reserved":
            self._charge(
                entry,
                Charge(
                    values["analyst"],
                    chain.parse_amount(values["epsilon"]),
                    chain.parse_amount(values["delta"]),
                    loss_from_dict(values["loss"]),
                    values["key"],
                ),
            )
            self.paid.add((values["analyst"], values["key"]))
            self.question_counts[values["analyst"], day_of(values["at"])] += 1
            if values.get("fresh") is True:
                self.fresh.add(entry.sequence)
        elif kind == "sold":  # a copy of a released answer: money, and no budget
            self.paid.add((values["analyst"], values["key"]))
        elif kind in {"sealed", "failed"}:
            begun = values["reservation"]
            if begun in self.ended:  # one charge pays for one answer
                raise chain.broken_chain_error(entry.sequence)
            _, charge = self.reservations[begun]
            self.ended[begun] = entry.head  # its charge stays, also where it failed
            if kind == "sealed" and begun in self.fresh:
                self.answers[charge.key] = entry.head
            elif kind == "sealed":
                self.answers.setdefault(charge.key, entry.head)
        else:
            raise chain.broken_chain_error(entry.sequence)

    def _charge(self, entry: chain.Entry, charge: Charge) -> None:
        self.total.add(charge)
        if charge.analyst in self._accounts:
            self._accounts[charge.analyst].add(charge)
        self.reservations[entry.sequence] = (entry.hash, charge)
        self.pending[charge.loss] += 1

    def _enforce(self, terms: Terms) -> None:
        # All charges so far count against the new limits too: a new policy forgives nothing.
        def opened(limit: Spending, who: str | None) -> Account:
            account = Account(terms.filter_of(limit))
            for _, charge in self.reservations.values():
                if who in {None, charge.analyst}:
                    account.add(charge)
            return account

        total = opened(terms.total, None)
        accounts = {name: opened(limit, name) for name, limit in terms.analysts.items()}
        self._terms, self._total, self._accounts = terms, total, accounts


class LedgerView(Closeable):
    """A ledger that is read: what was spent, by whom, and whether every entry is as it was written.

    `Ledger.open_view` gives one of a ledger that stands. Nothing here writes.
    """

    def __init__(self, store: Store) -> None:
        """Use `Ledger.open_view`."""
        self._store = store
        self._lock = RLock()
        self._state = State()
        self._running: Accountant | None = None
        self._last_written: chain.Head | None = None
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
    def head(self) -> chain.Head:
        """The last entry: print it in every release."""
        state = self._current()
        if state.head is None:
            raise chain.broken_chain_error(0)
        return state.head

    @property
    def spent(self) -> Price:
        """The sum of all charges, also of those that never ended."""
        return self._current().total.told

    @property
    def remaining(self) -> Price:
        """The remainder of the total."""
        return self._current().total.remaining

    def price_of(self, sequence: int) -> Price:
        """What a charge costs in the currency of the total; nothing for a copy that was sold."""
        state = self._current()
        if sequence not in state.reservations:
            return state.total.rule.nothing
        return state.reservations[sequence][1].price(state.total.rule)

    def spent_by(self, analyst: str) -> Price:
        """The sum of the charges of an analyst; of all, where analysts have no limits."""
        return self._current().account(analyst).told

    def remaining_of(self, analyst: str) -> Price:
        """The remainder of an analyst's limit; of the total, where analysts have none."""
        return self._current().account(analyst).remaining

    def tight_epsilon(self, delta: float) -> float:
        """The least epsilon that is known to hold with a delta for everything charged so far.

        It is for the report: it holds for losses that were fixed beforehand. What may be spent is
        decided by the rule of the ledger, which holds without that.
        """
        from celosia.accounting.accountant import Accountant  # a report asks for it, no question

        with self._lock:
            account = self._running = self._running or Accountant()
            pending = self._current().pending
            for loss in tuple(pending):
                account.add(loss, times=pending[loss])
                del pending[loss]
            return account.epsilon(delta)

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

    def verify(self, *, anchor: chain.Head | str | None = None) -> chain.Head:
        """Read all entries again and check each link, up to the head known here.

        Args:
            anchor: a head from a release, which the ledger must hold.

        Raises:
            PrivacyError: CEL-Q104 it was changed from outside; CEL-Q104 it does not hold the
                anchor.
        """
        wanted = chain.Head.parse(anchor) if isinstance(anchor, str) else anchor
        head = chain.check_chain(self._entries(), anchor=wanted)
        if head is None:
            raise chain.broken_chain_error(0)
        return head

    def export(self, path: str | Path, *, overwrite: bool = False) -> chain.Head:
        """Write all entries as JSON lines that `verify_export` can check anywhere."""
        entries = self._entries()
        write_export(entries, Path(path), overwrite=overwrite)
        return entries[-1].head

    def close(self) -> None:
        """Let go of the database; nothing waits to be written."""
        with self._lock:
            self._closed = True
            self._store.close()

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
            raise errors.EngineError("CEL-Q115.closed")
        with self._store.transaction(writing=writing) as connection:
            self._catch_up(connection)
            yield connection

    def _current(self) -> State:
        with self._lock, self._transaction(writing=False):
            return self._state

    def _entries(self) -> tuple[chain.Entry, ...]:
        with self._lock, self._transaction(writing=False) as connection:
            entries = tuple(self._store.read(connection))
            if chain.check_chain(entries, anchor=self._state.head) != self._state.head:
                raise chain.rollback_error()
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
                raise chain.rollback_error()
        for entry in entries:
            state.add(entry)
            if entry.head == self._last_written:
                self._last_written = None
        # A charge that was committed here and cannot be read back would be spent a second time.
        if self._last_written is not None:
            raise chain.rollback_error()
        # The chain alone looks whole after its end was cut off; the head beside it does not.
        if state.head != self._store.head(connection):
            raise chain.broken_chain_error(0 if state.head is None else state.head.sequence + 1)
