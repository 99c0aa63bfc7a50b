"""What a device remembers, on its disk: kept answers, and what its reports have cost so far.

A device that is asked daily must not draw fresh noise each time, or the average of its reports is
the truth. So an answer is drawn once and kept, and each new one is paid from a budget for life.
Both are written in one transaction before a report leaves the device: after a power cut either
both are there or neither, and two processes wait for one another.

Kept answers are drawn from a secret of the device and the case that they answer. So a copy of the
file, or one restored from a backup, answers as the original does: comparing the reports of both
averages nothing away. What each has spent is its own, which is why a file that stands at another
place on the disk is refused until somebody says that it was moved. A backup that is written back
into the same file cannot be seen from within.

What kept answers tell the collector: which reports are of one device. Its cohort, the buckets that
it was asked about, and answers that stay the same come back in all its reports, and many of them
together are as good as a name. What reports say about values stays as private as each protocol
states; where devices must not be followed from day to day, take few cohorts and few bits.

What the file tells a thief: the kept (noisy) answers, what was spent, and for each case a keyed
hash; not in which order. With the secret, which is in the file unless it is given from outside, he
can try values from a list and learn which of them the device has ever reported. Without it, he
learns how many answers there are.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from hmac import compare_digest
from pathlib import Path
from typing import Any

from celosia.collect.protocol import Protocol
from celosia.core.errors import BudgetExceeded, InputError, PrivacyError
from celosia.core.messages import say
from celosia.core.randomness import Source, System
from celosia.mechanisms.parameters import check_epsilon

Due = tuple[Protocol, bytes | None, Fraction]
"""An answer that will be wanted: the protocol, its case (None if it is not kept), and its price."""

FORM = 1
_SECRET = 32
_WAIT = 30.0
_TABLES = (
    """CREATE TABLE device (only INTEGER PRIMARY KEY CHECK (only = 1), form INTEGER NOT NULL,
       secret BLOB, proof BLOB NOT NULL, place TEXT NOT NULL, budget TEXT NOT NULL,
       spent TEXT NOT NULL)""",
    # Ordered by a keyed hash: the file does not tell which answer was drawn first.
    "CREATE TABLE answers (tag BLOB PRIMARY KEY, answer BLOB NOT NULL) WITHOUT ROWID",
)


class KeptAnswers(Source):
    """Draws of one case: the same for the same secret and case, in every copy of a memory.

    Uniform to an attacker who does not know the secret (BLAKE2b as a pseudorandom function).
    """

    simulation = False

    def __init__(self, secret: bytes, case: bytes) -> None:
        self._key = hashlib.blake2b(case, key=secret, person=b"celosia draws").digest()
        self._blocks = 0
        self._left = b""

    def raw(self, count: int) -> bytes:
        parts = [self._left]
        have = len(self._left)
        while have < count:
            block = self._blocks.to_bytes(8, "little")
            parts.append(hashlib.blake2b(block, key=self._key).digest())
            have += len(parts[-1])
            self._blocks += 1
        drawn = b"".join(parts)
        self._left = drawn[count:]
        return drawn[:count]


class Memory:
    """The memory of one device: `protocol.client(memory=Memory.open(path, budget=8))`.

    Guarantee: all reports that were made with it cost the person at most `budget`, for life, as
    each protocol states under "lasting". A device whose budget is used up falls silent, which
    tells the collector that it had many different values.
    """

    def __init__(self, path: Path, secret: bytes) -> None:
        """For `open` only."""
        self.path = path
        self._secret = secret

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        budget: float | Fraction | None = None,
        secret: bytes | None = None,
        moved: bool = False,
        rng: Source | None = None,
    ) -> Memory:
        """Open the memory at a path, or begin one there.

        Args:
            path: of the file.
            budget: epsilon for the life of the device; it is set once, at the beginning.
            secret: 16 to 64 bytes from the key store of the device; without it, a secret is drawn
                and kept in the file.
            moved: the file was moved here, and no other copy of it is in use.
            rng: draws the secret of a new memory.

        Raises:
            InputError: CEL-R036 a budget or secret that does not fit, CEL-R037 not a memory.
            PrivacyError: CEL-R038 the file is a copy.
        """
        where = Path(path)
        begun = where.exists() and where.stat().st_size > 0
        price = None if budget is None else check_epsilon(budget, name="budget")
        if price is None and not begun:
            raise InputError("CEL-R036.no_budget")
        if secret is not None and not 16 <= len(secret) <= 64:
            raise InputError("CEL-R036.secret_length")
        if not begun:  # nobody else on the device may read it
            try:
                os.close(os.open(where, os.O_RDWR | os.O_CREAT, 0o600))
            except OSError as error:
                raise _none(where) from error
        with _transaction(where) as database:
            if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                if price is None:
                    raise _none(where)
                own = (rng or System()).raw(_SECRET) if secret is None else secret
                _begin(database, where, own, price, stored=secret is None)
            row = _device(database, where)
            own = row["secret"] if secret is None else secret
            if own is None or not compare_digest(_proof(own), row["proof"]):
                raise InputError("CEL-R036.other_secret")
            if price is not None and str(price) != row["budget"]:
                raise InputError("CEL-R036.other_budget")
            if moved:
                database.execute("UPDATE device SET place = ?", (_place(where),))
            else:
                _in_place(row, where)
        return cls(where, own)

    def recall(
        self,
        protocol: Protocol,
        case: bytes,
        draw: Callable[[Source], bytes],
        *,
        price: Fraction = Fraction(0),
    ) -> bytes:
        """The kept answer of a case; at the first time it is drawn, paid and written to disk.

        Raises:
            BudgetExceeded: CEL-R039 a new answer would cost more than is left; nothing was drawn.
        """
        tag = self._tag(protocol, case)
        with self._transaction() as (database, row):
            found = database.execute("SELECT answer FROM answers WHERE tag = ?", (tag,)).fetchone()
            if found is not None:
                return bytes(found[0])
            _pay(database, row, price)
            answer = draw(KeptAnswers(self._secret, tag))
            database.execute("INSERT INTO answers VALUES (?, ?)", (tag, answer))
        return answer

    def check(self, answers: Iterable[Due]) -> None:
        """Refuse answers that cost more together than is left, before any of them is drawn.

        A report of several answers would else pay for the first of them, and never be sent.

        Raises:
            BudgetExceeded: CEL-R039 they cost more than is left; nothing was drawn or paid.
        """
        with self._transaction() as (database, row):
            queried: set[bytes] = set()
            total = Fraction(0)
            for protocol, case, price in answers:
                if case is not None:  # else it is paid every time
                    tag = self._tag(protocol, case)
                    kept = "SELECT 1 FROM answers WHERE tag = ?"
                    if tag in queried or database.execute(kept, (tag,)).fetchone() is not None:
                        continue
                    queried.add(tag)
                total += price
            _affordable(row, total)

    def _tag(self, protocol: Protocol, case: bytes) -> bytes:
        data = protocol.fingerprint + case
        return hashlib.blake2b(
            data, digest_size=16, key=self._secret, person=b"celosia case"
        ).digest()

    def charge(self, price: Fraction) -> None:
        """Pay for a report that nothing is kept of.

        Raises:
            BudgetExceeded: CEL-R039 it costs more than is left.
        """
        with self._transaction() as (database, row):
            _pay(database, row, price)

    @property
    def budget(self) -> Fraction:
        """Epsilon for the life of the device."""
        return Fraction(self._row()["budget"])

    @property
    def spent(self) -> Fraction:
        """Epsilon of all answers that were drawn."""
        return Fraction(self._row()["spent"])

    def as_dict(self) -> dict[str, Any]:
        row = self._row()
        return {each: float(Fraction(row[each])) for each in ("budget", "spent")}

    def __str__(self) -> str:
        row = self._row()
        spent, budget = (float(Fraction(row[each])) for each in ("spent", "budget"))
        return say("collect.summary.memory", spent=spent, budget=budget)

    def _row(self) -> dict[str, Any]:
        with self._transaction() as (_, row):
            return row

    @contextmanager
    def _transaction(self) -> Iterator[tuple[sqlite3.Connection, dict[str, Any]]]:
        with _transaction(self.path) as database:
            row = _device(database, self.path)
            _in_place(row, self.path)
            yield database, row


@contextmanager
def _transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """All or nothing, alone, and on the disk when it ends; a connection of its own survives forks.

    With the rollback journal (not WAL) the file by itself is the whole memory.
    """
    uri = f"{path.resolve().as_uri()}?mode=rw"  # never a new, empty one in the place of a lost one
    try:
        with closing(
            sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)
        ) as database:
            database.execute("PRAGMA synchronous = EXTRA")
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
    except sqlite3.Error as error:
        raise _none(path) from error


def _begin(
    database: sqlite3.Connection, path: Path, secret: bytes, budget: Fraction, *, stored: bool
) -> None:
    for table in _TABLES:
        database.execute(table)
    kept = secret if stored else None
    row = (1, FORM, kept, _proof(secret), _place(path), str(budget), "0")
    database.execute("INSERT INTO device VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def _device(database: sqlite3.Connection, path: Path) -> dict[str, Any]:
    names = ("form", "secret", "proof", "place", "budget", "spent")
    row = database.execute(
        "SELECT form, secret, proof, place, budget, spent FROM device"
    ).fetchone()
    if row is None or row[0] != FORM:
        raise _none(path)
    return dict(zip(names, row, strict=True))


def _pay(database: sqlite3.Connection, row: dict[str, Any], price: Fraction) -> None:
    spent = _affordable(row, price)
    database.execute("UPDATE device SET spent = ?", (str(spent + price),))


def _affordable(row: dict[str, Any], price: Fraction) -> Fraction:
    """What was spent before, where the price can still be paid."""
    budget, spent = Fraction(row["budget"]), Fraction(row["spent"])
    if spent + price > budget:
        raise BudgetExceeded(
            "CEL-R039", price=float(price), left=float(budget - spent), budget=float(budget)
        )
    return spent


def _proof(secret: bytes) -> bytes:
    return hashlib.blake2b(b"", digest_size=16, key=secret, person=b"celosia proof").digest()


def _place(path: Path) -> str:
    """Which file it is: it stays when the file is renamed, and a copy has another."""
    return str(path.stat().st_ino)


def _in_place(row: dict[str, Any], path: Path) -> None:
    if row["place"] != _place(path):
        raise PrivacyError("CEL-R038")


def _none(path: Path) -> InputError:
    return InputError("CEL-R037", file=path.name)
