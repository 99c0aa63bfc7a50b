"""Checks of what a policy declares about rows, and the record of those that were done.

To look for repeated values in 15 million rows takes seconds; files that have not changed since need
no second look. The record is a file beside the ledger that holds one digest, and no data: of what
the policy says, of the programs that compared, and of what tells one state of each file of rows
from another (place, number, size, times of the last changes).

A record that is in doubt does not count, and the rows are checked again:

- It is of this user or of the administrator, and no other user can write it. A user who can write
  it could change the policy and the ledger as well.
- The time of the last change of a file is set by the system (`ctime`), so a file that is written
  and given its old date counts as changed. Windows keeps no such time, and no record.
- A file that changed just before it was looked at could change again within one tick of its clock:
  no record is kept of it until it has been at rest for some seconds.
- Views in the database may depend on the day or on chance: no record is kept of it.
- PostgreSQL tells only an open vault whether rows have changed (`SqlEngine.state`), and Spark does
  not: no record is kept. What they do not enforce is checked when a vault is opened, and again
  with every answer whose rows may have changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from celosia.accounting.ledger.store import parse_location
from celosia.core.errors import InputError
from celosia.core.methods import PlainValues
from celosia.core.release import installed_version
from celosia.engines.sql import REST, DuckDBEngine
from celosia.queries import catalogue
from celosia.queries.emission.syntax import (
    as_alias,
    column,
    identifier,
)
from celosia.queries.ownership.paths import OwnerPath, owner_paths
from celosia.queries.policy.database import DatabaseColumns
from celosia.queries.policy.values import Policy, TablePolicy, policy_hash

if TYPE_CHECKING:
    from celosia.engines import SqlEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerCounts(PlainValues):
    """Counts of a table's rows with and without an owner, along one path to the unit.

    The numbers are exact and private: they are for the curator.
    """

    table: str
    column: str
    """The column with which the way to the unit begins."""
    rows: int
    without_owner: int
    """Rows that lead to no key of a person: left out of every answer."""
    owner_missing: int
    """Rows whose person is missing in the table of the unit: counted, as that person's."""

    @property
    def is_complete(self) -> bool:
        """Whether each row leads to a person that the table of the unit holds."""
        return not self.without_owner and not self.owner_missing


def count_owners(
    policy: Policy, engine: SqlEngine, *, types: DatabaseColumns, timeout: float
) -> tuple[OwnerCounts, ...]:
    """The counts of all private tables, in one state of the rows; for the curator only.

    Unique columns must have been checked before: each row then has one way along the joins.
    """
    if policy.unit.is_row or policy.graph is not None:
        return ()
    cast = catalogue.make_text_cast(policy, types)
    with engine.snapshot(timeout=timeout) as read:
        return tuple(
            _counts(path, lambda query: read(cast(query)))
            for table in policy.tables
            if not table.public
            for path in owner_paths(table, policy)
        )


def check_owners(
    policy: Policy, engine: SqlEngine, *, types: DatabaseColumns, timeout: float
) -> None:
    """Refuse rows without an owner, where the policy says so; for the curator only.

    Raises:
        InputError: CEL-Q152.
    """
    if not any(map(policy.refuses_ownerless, policy.tables)):
        return
    cast = catalogue.make_text_cast(policy, types)
    with engine.snapshot(timeout=timeout) as read:
        check_owners_of_tables(
            policy, policy.tables, lambda query: read(cast(query)), dialect=engine.dialect
        )


def check_owners_of_tables(
    policy: Policy, tables: Iterable[TablePolicy], execute: catalogue.Executor, *, dialect: str
) -> None:
    """Check some tables only, in one state of the data.

    What the server enforces by foreign keys and NOT NULL is believed, and costs nothing.

    Raises:
        InputError: CEL-Q152.
    """
    wanted = [table for table in tables if policy.refuses_ownerless(table)]
    if not wanted:
        return
    enforced = catalogue.read_foreign_keys(execute, dialect)
    for table in wanted:
        for path in owner_paths(table, policy):
            if not _is_enforced(path, enforced):
                refuse_ownerless(policy, [_counts(path, execute)])


def refuse_ownerless(policy: Policy, counts: Iterable[OwnerCounts]) -> None:
    """Refuse rows without an owner that were counted, in tables whose policy says so."""
    for each in counts:
        table = policy.table(each.table)
        if each.is_complete or table is None or not policy.refuses_ownerless(table):
            continue
        unit = policy.unit
        where = {"unit_name": unit.name, "table": each.table, "column": each.column}
        if unit.columns:
            raise InputError("CEL-Q152.ownerless_by_columns", **where)
        raise InputError("CEL-Q152.ownerless", unit_table=unit.table, **where)


def _is_enforced(path: OwnerPath, enforced: catalogue.EnforcedConstraints) -> bool:
    links = [(table.lower(), word.lower()) for table, word in path.links]
    targets = [(table.lower(), word.lower()) for table, word in path.targets]
    return enforced.filled.issuperset(links) and enforced.references.issuperset(
        (*link, *target) for link, target in zip(links, targets, strict=False)
    )


def _counts(path: OwnerPath, execute: catalogue.Executor) -> OwnerCounts:
    """Follow the way by outer joins: a key that is not found is NULL."""
    source = exp.Select(
        from_=exp.From(this=_aliased(path.table, 0)),
        joins=[
            exp.Join(
                this=_aliased(table, place),
                side="LEFT",
                on=exp.EQ(
                    this=column(path.links[place - 1][1], _alias(place - 1)),
                    expression=column(key, _alias(place)),
                ),
            )
            for place, (table, key) in enumerate(path.targets, 1)
        ],
    )
    last = len(path.links) - 1
    reached = column(path.links[last][1], _alias(last))
    found = column(path.targets[last][1], _alias(last + 1)) if path.ends_at_key else reached
    query = source.select(
        as_alias(exp.Count(this=exp.Star()), "rows_all"),
        as_alias(exp.Count(this=reached.copy()), "rows_reached"),
        as_alias(exp.Count(this=found.copy()), "rows_found"),
    )
    ((rows, known, held),) = execute(query)
    return OwnerCounts(
        table=path.table,
        column=path.column,
        rows=int(rows),
        without_owner=int(rows) - int(known),
        owner_missing=int(known) - int(held),
    )


def _alias(place: int) -> str:
    return f"step_{place}"


def _aliased(table: str, place: int) -> exp.Table:
    return exp.Table(this=identifier(table), alias=exp.TableAlias(this=identifier(_alias(place))))


FORM = "celosia check record 1"
"""Another number makes all records void: raise it whenever more is checked than before."""


class CheckRecord:
    """The record of an earlier check of a policy's rows.

    Make it before the rows are opened: it looks at the files as they are then.

    Args:
        policy: what was declared.
        ledger: the place of the ledger, beside which the record is; None to keep none.
    """

    def __init__(self, policy: Policy, ledger: str | Path | None) -> None:
        self._policy = policy
        self._file = None if ledger is None else record_path(ledger)
        self._begun = time.time()
        self._state = None if self._file is None else _state(policy)

    def is_valid(self, engine: SqlEngine) -> bool:
        """Whether the rows that the engine has opened were checked before, in just this state."""
        if self._file is None or not self._is_fixed(engine):
            return False
        text = _trusted_text(self._file)
        return text is not None and text == self._digest()

    def save(self, engine: SqlEngine) -> None:
        """Record that the rows were checked, if they are sure to be the same since.

        What cannot be written is checked again next time.
        """
        if self._file is None or not self._is_fixed(engine) or not self._is_at_rest():
            return
        digest = self._digest()
        if _trusted_text(self._file) == digest:
            return
        with suppress(OSError):
            _write(self._file, digest)

    def _is_fixed(self, engine: SqlEngine) -> bool:
        """Whether the engine shows what is in the files, and these are as they were at first."""
        fixed = isinstance(engine, DuckDBEngine) and engine.is_fixed
        return fixed and self._state is not None and self._state == _state(self._policy)

    def _is_at_rest(self) -> bool:
        assert self._state is not None
        latest = max((time for _, stamp in self._state for time in stamp[3:]), default=0)
        return latest / 1e9 + REST <= self._begun

    def _digest(self) -> str:
        """The digest of this state, 64 hexadecimal digits: the whole content of a record."""
        programs = [FORM, installed_version("celosia"), installed_version("duckdb")]
        facts = [*programs, policy_hash(self._policy), self._state]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def record_path(ledger: str | Path) -> Path | None:
    """The file of the record beside a ledger; None for a ledger that is no file."""
    place = parse_location(ledger)
    return place.with_name(f"{place.name}.checked") if isinstance(place, Path) else None


def _state(policy: Policy) -> list[tuple[str, tuple[int, ...]]] | None:
    """The files of a policy with what changes when they are written; None if that is not known."""
    database = policy.database
    if database.kind != "duckdb" or policy.graph is not None or os.name == "nt":
        return None
    written = [path for _, path in database.files]
    try:
        files = [Path(database.resolve_path(each)).resolve(strict=True) for each in written]
        if database.path is not None:
            file = Path(database.resolve_path(database.path)).resolve(strict=True)
            log = file.with_name(f"{file.name}.wal")  # changes that are not in the file yet
            files += [file, log] if log.exists() else [file]
        return [(str(file), _stamp(file)) for file in sorted(files)]
    except OSError:
        return None


def _stamp(file: Path) -> tuple[int, ...]:
    """The number, the size and the times of a file of its own.

    Raises:
        OSError: it is gone, or it is a folder, whose times do not depend on the files in it.
    """
    found = file.stat()
    if not stat.S_ISREG(found.st_mode):
        raise FileNotFoundError(file)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _write(file: Path, text: str) -> None:
    """Put a file in place as a whole, for this user alone."""
    number, draft = tempfile.mkstemp(prefix=".celosia-", dir=file.parent)
    try:
        with os.fdopen(number, "w", encoding="ascii") as opened:
            opened.write(text)
        os.replace(draft, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _trusted_text(file: Path) -> str | None:
    """The text of a record; None if there is none, or if another user could have written it."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
            found = os.fstat(opened.fileno())
            own = found.st_uid in (0, os.geteuid()) and not found.st_mode & 0o022
            if not own or not stat.S_ISREG(found.st_mode):
                return None
            return opened.read(100).decode("ascii")
    except (OSError, UnicodeDecodeError):
        return None
