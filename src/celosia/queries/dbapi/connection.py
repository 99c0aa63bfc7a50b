"""Connections and cursors of PEP 249 over a vault, here or behind a service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from celosia.core.errors import InputError
from celosia.core.resources import Closeable
from celosia.queries.dbapi import exceptions
from celosia.queries.dbapi.exceptions import translate, translating
from celosia.queries.dbapi.values import bind, type_of
from celosia.queries.request import QueryRequest

if TYPE_CHECKING:
    from celosia.core.randomness import Source
    from celosia.queries.answer import QueryAnswer
    from celosia.queries.service import Client
    from celosia.queries.vault import Vault

Column = tuple[str, type | None, None, None, None, None, None]


def connect(
    target: str | Path | Vault | Client,
    *,
    epsilon: float | None = None,
    delta: float = 0,
    method: str | None = None,
    confidence: float = 0.95,
    intervals: bool = False,
    rank_intervals: bool = False,
    analyst: str | None = None,
    token: str | None = None,
    ledger: str | Path | None = None,
    rng: Source | None = None,
    plain: bool = False,
) -> Connection:
    """Open a policy or a service for questions.

    Args:
        target: a policy file, the https address of a service, or a vault or client that is open
            already and stays open.
        epsilon: the price of every question, unless its cursor has another one.
        delta: of every question, for mechanisms that need it.
        method: how one person's part is bounded; the planner's choice if None.
        confidence: of the intervals.
        intervals: whether each number is followed by the columns of its bounds.
        rank_intervals: whether MIN, MAX and quantiles pay for bounds of theirs.
        analyst: who asks, for a policy; a service knows it by the token.
        token: for a service, as its curator gave it.
        ledger: for a policy, as for `Vault.open`.
        rng: for a policy; a seed makes every answer a simulation.
        plain: whether a token may travel to another machine without HTTPS.

    Raises:
        Error: what `Vault.open` or `Client` raises, as an exception of PEP 249.
    """
    with translating():
        vault = _open(target, token=token, ledger=ledger, rng=rng, plain=plain)
    request = QueryRequest(
        "",
        epsilon=0 if epsilon is None else epsilon,
        delta=delta,
        method=method,
        confidence=confidence,
        analyst=analyst,
        rank_intervals=rank_intervals,
    )
    return Connection(vault, request, intervals=intervals, owns=vault is not target)


def _open(
    target: str | Path | Vault | Client,
    *,
    token: str | None,
    ledger: str | Path | None,
    rng: Source | None,
    plain: bool,
) -> Vault | Client:
    if isinstance(target, str) and target.startswith(("http://", "https://")):
        from celosia.queries.service import Client  # HTTP is part of an extra

        return Client(target, token or "", plain=plain)
    if isinstance(target, str | Path):
        from celosia.queries.vault import Vault  # engines are heavy

        return Vault.open(target, ledger=ledger, rng=rng)
    return target


class Connection(Closeable):
    """Questions to one vault at one price; a context manager. Nothing can be written.

    Args:
        vault: what is asked.
        request: the price and the other options of each question.
        intervals: whether each number is followed by the columns of its bounds.
        owns: whether `close` closes the vault too.
    """

    Warning = exceptions.Warning
    Error = exceptions.Error
    InterfaceError = exceptions.InterfaceError
    DatabaseError = exceptions.DatabaseError
    DataError = exceptions.DataError
    OperationalError = exceptions.OperationalError
    IntegrityError = exceptions.IntegrityError
    InternalError = exceptions.InternalError
    ProgrammingError = exceptions.ProgrammingError
    NotSupportedError = exceptions.NotSupportedError

    def __init__(
        self, vault: Vault | Client, request: QueryRequest, *, intervals: bool, owns: bool
    ) -> None:
        self._vault: Vault | Client | None = vault
        self._owns = owns
        self.request = request
        self.intervals = intervals

    @property
    def vault(self) -> Vault | Client:
        """What is asked, for plans, the public schema and the ledger.

        Raises:
            InterfaceError: CEL-Q341 the connection is closed.
        """
        if self._vault is None:
            raise exceptions.InterfaceError(InputError("CEL-Q341.closed"))
        return self._vault

    def cursor(self) -> Cursor:
        """A cursor for one question at a time."""
        _ = self.vault
        return Cursor(self)

    def commit(self) -> None:
        """Do nothing: an answer is charged and recorded before it is given."""
        _ = self.vault

    def rollback(self) -> None:
        """Do nothing: an answer that was given cannot be taken back, nor its price."""
        _ = self.vault

    def close(self) -> None:
        """Let go of the vault, if this connection opened it."""
        vault, self._vault = self._vault, None
        if vault is not None and self._owns:
            vault.close()


class Cursor(Closeable):
    """The rows of one answer at a time."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self.epsilon: float | None = None
        """The price of the questions of this cursor; that of its connection if None."""
        self.answer: QueryAnswer | None = None
        """The whole of the last answer: intervals, promise, entry of the ledger, warnings."""
        self.description: tuple[Column, ...] | None = None
        self.rowcount = -1
        self._rows: Iterator[tuple[Any, ...]] | None = None
        self._is_closed = False

    def execute(self, operation: str, parameters: Sequence[Any] | None = None) -> Cursor:
        """Ask one question, at the price of the cursor or else of the connection.

        Args:
            operation: one SELECT.
            parameters: the values of its question marks, in order.

        Raises:
            ProgrammingError: the text, a parameter or the price is wrong; nothing was charged.
            NotSupportedError: the answer cannot be promised; nothing was charged.
            OperationalError: the budget does not allow it, or the service is out of reach.
        """
        self._check_open()
        self.answer, self.description, self._rows, self.rowcount = None, None, None, -1
        vault, options = self.connection.vault, self.connection.request
        price = self.epsilon or options.epsilon
        with translating():
            if not price:
                raise InputError("CEL-Q341.no_price")
            text = bind(operation, parameters) if parameters else operation
            self.answer = vault.ask(replace(options, query=text, epsilon=price))
        self._show(self.answer)
        return self

    def _show(self, answer: QueryAnswer) -> None:
        columns = answer.as_columns(bounds=self.connection.intervals)
        self.description = tuple(
            (name, type_of(values), None, None, None, None, None)
            for name, values in columns.items()
        )
        self.rowcount = len(answer.rows)
        self._rows = zip(*columns.values(), strict=True)

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[Any]]) -> NoReturn:
        """Refuse: PEP 249 has it for statements that write."""
        raise translate(InputError("CEL-Q341.many"))

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None after the last one."""
        return next(self._left(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows, `arraysize` of them unless told otherwise."""
        wanted = self.arraysize if size is None else size
        return list(islice(self._left(), wanted))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        return list(self._left())

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Do nothing, as PEP 249 allows."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing, as PEP 249 allows."""

    def close(self) -> None:
        """Let go of the rows."""
        self._is_closed, self._rows = True, None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._left()

    def _check_open(self) -> None:
        if self._is_closed:
            raise exceptions.InterfaceError(InputError("CEL-Q341.closed"))

    def _left(self) -> Iterator[tuple[Any, ...]]:
        self._check_open()
        if self._rows is None:
            raise exceptions.InterfaceError(InputError("CEL-Q341.no_answer"))
        return self._rows
