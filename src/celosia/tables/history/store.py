"""The history of the releases of one source: a file of SQLite, and its key in a file beside it.

An entry says when a release was made, of which columns, at which levels and under which models;
and for each of its records a keyed fingerprint, that of its person, and the number of its class. No
cell is in it. Entries form a chain: each has a keyed hash of itself and of the one before.

The write lock is held from the moment the earlier releases are read until the new one is
written, so that two releases cannot be made side by side without knowing each other. A commit
is on the disk before the release leaves; what fails afterwards leaves an entry of a release that
nobody has seen, which errs on the safe side.
"""

from __future__ import annotations

import hmac
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import PlainValues, derived
from celosia.tables.history.joint import JointClasses

PATIENCE = 60.0
"""Seconds to wait for another process that publishes."""

_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS releases (
    number INTEGER PRIMARY KEY, facts TEXT NOT NULL, records BLOB NOT NULL, units BLOB NOT NULL,
    classes BLOB NOT NULL, hash TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(PlainValues):
    """One release, without its records: what, when, at which levels."""

    created: str
    """When, in ISO form."""
    columns: tuple[str, ...]
    """The quasi-identifiers."""
    levels: tuple[int | None, ...]
    models: tuple[str, ...]
    """What was promised, in words."""
    unit: str
    """`record`, `person` or `household`."""
    required: int
    """The fewest units that a class must have by the models."""
    rows: int
    shown: int
    """Records of the source, and those that are in a class of the release."""
    classes: int
    joint: dict[str, Any] | None = field(default=None)
    """What the release was worth together with the earlier ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryCheck(PlainValues):
    """Whether a history is as it was written, and its classes are as large as promised."""

    releases: int
    records: int
    """Different records in all releases."""
    broken: tuple[int, ...]
    """The numbers, from 1, of entries that are not as they were written."""
    small: tuple[int, ...]
    """The numbers of releases that have a class with fewer units than they promise."""
    smallest: int
    """The smallest joint class of all releases."""
    below: int
    """Units in joint classes below the least that any release promises."""
    accepted: int
    """Releases that were accepted in writing although joint classes became too small."""

    @property
    @derived
    def holds(self) -> bool:
        """Whether nothing was changed, and joint classes are large or were accepted."""
        return not (self.broken or self.small or (self.below and not self.accepted))

    def __str__(self) -> str:
        return say("tables.history.check", releases=self.releases, smallest=self.smallest)


@dataclass(frozen=True, eq=False, slots=True)
class StoredRelease:
    """An entry with the fingerprints of its records and their classes."""

    entry: Entry
    records: NDArray[np.uint64] = field(repr=False)
    units: NDArray[np.uint64] = field(repr=False)
    class_of: NDArray[np.int64] = field(repr=False)


class ReleaseHistory:
    """The releases of one source, in a transaction that nobody else can write in.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ReleaseHistory.open(Path(folder) / "city.history") as history:
    ...         len(history.entries())
    0
    """

    def __init__(self, connection: sqlite3.Connection, key: bytes) -> None:
        self._connection = connection
        self.key = key

    @classmethod
    @contextmanager
    def open(cls, path: str | Path, *, read_only: bool = False) -> Iterator[ReleaseHistory]:
        """Open the history, which is made if it is not there; what was added counts at the end.

        Raises:
            InputError: CEL-P120 no such history or not one, CEL-P121 its key is missing or another.
        """
        place = Path(path)
        if read_only and not place.is_file():
            raise InputError("CEL-P120.missing", path=str(place))
        if not place.parent.is_dir():
            raise InputError("CEL-I005.folder", folder=place.parent, path=str(place))
        is_new = not place.exists()
        if is_new:
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o600))
        key = _key(place, make=is_new)
        connection = sqlite3.connect(place, timeout=PATIENCE, isolation_level=None)
        try:
            history = cls(connection, key)
            with _ours(place):
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("BEGIN" if read_only else "BEGIN IMMEDIATE")
                history._prepare(place, read_only=read_only)
            yield history
            with _ours(place):
                history.commit()
        finally:
            connection.close()

    def _prepare(self, place: Path, *, read_only: bool) -> None:
        if not read_only:
            for statement in _TABLES.split(";"):
                self._connection.execute(statement)
        mark = blake2b(b"celosia history", key=self.key, digest_size=16).hexdigest()
        found = self._connection.execute("SELECT value FROM about WHERE name = 'key'").fetchone()
        if found is None and not read_only:
            self._connection.execute("INSERT INTO about VALUES ('key', ?)", (mark,))
        elif found is None or not hmac.compare_digest(found[0], mark):
            raise InputError("CEL-P121.other", path=str(place))

    def basis(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns by which records are known; those of the first release hold for all."""
        query = "SELECT value FROM about WHERE name = 'basis'"
        found = self._connection.execute(query).fetchone()
        if found is not None:
            return tuple(json.loads(found[0]))
        self._connection.execute("INSERT INTO about VALUES ('basis', ?)", (json.dumps(names),))
        return tuple(names)

    def entries(self) -> list[Entry]:
        """The releases in their order."""
        rows = self._connection.execute("SELECT facts FROM releases ORDER BY number")
        return [_entry(facts) for (facts,) in rows]

    def releases(self) -> Iterator[StoredRelease]:
        """The releases in their order, with their records."""
        query = "SELECT facts, records, units, classes FROM releases ORDER BY number"
        for facts, records, units, classes in self._connection.execute(query):
            yield StoredRelease(
                _entry(facts),
                np.frombuffer(records, dtype="<u8").astype(np.uint64),
                np.frombuffer(units, dtype="<u8").astype(np.uint64),
                np.frombuffer(classes, dtype="<i4").astype(np.int64),
            )

    def joint(self) -> JointClasses:
        """The joint classes of all releases."""
        joint = JointClasses.none()
        for each in self.releases():
            joint = joint.join(each.records, each.units, each.class_of)
        return joint

    def add(self, release: StoredRelease) -> None:
        """Write one more release."""
        facts = json.dumps(asdict(release.entry), sort_keys=True, ensure_ascii=False)
        blobs = (
            release.records.astype("<u8").tobytes(),
            release.units.astype("<u8").tobytes(),
            release.class_of.astype("<i4").tobytes(),
        )
        self._connection.execute(
            "INSERT INTO releases (facts, records, units, classes, hash) VALUES (?, ?, ?, ?, ?)",
            (facts, *blobs, self._link(self._head(), facts, blobs)),
        )

    def commit(self) -> None:
        """Let what was added count from now on, and others write; without it nothing was added."""
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def broken_links(self) -> list[int]:
        """The numbers, from 1, of entries that are not as they were written."""
        query = "SELECT facts, records, units, classes, hash FROM releases ORDER BY number"
        broken, before = [], ""
        for number, (facts, *blobs, written) in enumerate(self._connection.execute(query), 1):
            if not hmac.compare_digest(self._link(before, facts, blobs), written):
                broken.append(number)
            before = written
        return broken

    def verify(self) -> HistoryCheck:
        """Count every class and every joint class again from the fingerprints."""
        joint, small, required, accepted = JointClasses.none(), [], [1], 0
        for number, each in enumerate(self.releases(), 1):
            alone = JointClasses.none().join(each.records, each.units, each.class_of).sizes()
            if (alone < each.entry.required).any():
                small.append(number)
            required.append(each.entry.required)
            accepted += each.entry.joint is not None and each.entry.joint["accepted"] is not None
            joint = joint.join(each.records, each.units, each.class_of)
        sizes, least = joint.sizes(), min(required[1:], default=1)
        return HistoryCheck(
            releases=len(required) - 1,
            records=joint.records.size,
            broken=tuple(self.broken_links()),
            small=tuple(small),
            smallest=int(sizes.min(initial=int(sizes.sum()))),
            below=int(sizes[sizes < least].sum()),
            accepted=accepted,
        )

    def _link(self, before: str, facts: str, blobs: Sequence[bytes]) -> str:
        """The keyed hash of an entry and of the one before."""
        digest = blake2b(before.encode(), key=self.key, digest_size=32)
        for part in (facts.encode(), *blobs):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        return digest.hexdigest()

    def _head(self) -> str:
        query = "SELECT hash FROM releases ORDER BY number DESC LIMIT 1"
        found = self._connection.execute(query).fetchone()
        return "" if found is None else str(found[0])


def key_path(place: Path) -> Path:
    """Where the key of a history lies."""
    return place.with_name(f"{place.name}.key")


def _key(place: Path, *, make: bool) -> bytes:
    path = key_path(place)
    if make and not path.exists():
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(token_bytes(32))
            file.flush()
            os.fsync(file.fileno())
    try:
        key = path.read_bytes()
    except OSError:
        raise InputError("CEL-P121.missing", path=str(path)) from None
    if len(key) != 32:
        raise InputError("CEL-P121.other", path=str(place))
    return key


def _entry(facts: str) -> Entry:
    return Entry.from_dict(json.loads(facts))


@contextmanager
def _ours(place: Path) -> Iterator[None]:
    """One error for a file that is not a history, or that another process holds for too long."""
    try:
        yield
    except sqlite3.OperationalError as error:
        busy = error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        key = "CEL-P120.busy" if busy else "CEL-P120.not_one"
        raise InputError(key, path=str(place)) from None
    except sqlite3.DatabaseError:
        raise InputError("CEL-P120.not_one", path=str(place)) from None
