"""Tokens of curators and analysts: kept as hashes, expiring and revocable.

A token is 256 bits from the operating system, so its SHA-256 is enough: a slow, salted hash is for
passwords, which people choose and others can guess; nobody can try 2^256 tokens, however fast the
hash. Who reads the file learns no token.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy import exc

from celosia.accounting.ledger.ledger import CHARGED
from celosia.core.errors import EngineError, InputError
from celosia.core.messages import say
from celosia.core.numbers import real
from celosia.queries.service.errors import no_token

Role = Literal["analyst", "curator"]

LONGEST_DAYS = 366
NOBODY = "0" * 64
"""Stands for the hash of a token that there is not."""
_TOKEN = re.compile(r"celosia_([0-9a-f]{16})_[0-9a-f]{64}")
_DAY = 86_400

METADATA = sa.MetaData()
TOKENS = sa.Table(
    "celosia_tokens",
    METADATA,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("role", sa.String(10), nullable=False),
    sa.Column("name", sa.String(100), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("expires", sa.Float, nullable=False),
    sa.Column("revoked", sa.Float),
)
CHARGES = sa.Table(CHARGED, METADATA, sa.Column("first", sa.Float, primary_key=True))
"""When a question was first charged. A ledger must stand from then on, see `ledger.traces`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """The record of a token, without its text. Times are in seconds since 1970."""

    id: str
    """Its public part, which tells tokens apart in lists and logs."""
    role: Role
    name: str
    """Of the analyst, as the policy and the ledger name them, or of the curator."""
    created: float
    expires: float
    revoked: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, times in words."""
        times = {"created": self.created, "expires": self.expires, "revoked": self.revoked}
        return asdict(self) | {name: _format_time(moment) for name, moment in times.items()}

    def __str__(self) -> str:
        key = "queries.service.token"
        if self.revoked is not None:
            key = "queries.service.revoked_token"
        at = _format_time(self.expires)
        return say(key, id=self.id, role=self.role, name=self.name, at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that was just made. Its text is shown now, and never again."""

    text: str = field(repr=False)
    token: Token

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, the text included."""
        return self.token.as_dict() | {"text": self.text}


class TokenStore:
    """A small file of tokens, for its owner only; several processes may use it.

    Every check reads the file, so that a token is of no use from the moment it is revoked.

    Raises:
        EngineError: CEL-Q181 the file cannot be read or written, or is something else.
    """

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path).absolute()
        self._clock = clock
        self._has_charges = False
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError:
            raise EngineError("CEL-Q181.tokens") from None
        url = sa.URL.create("sqlite", database=str(self.path))
        # A connection for each call: threads share nothing.
        self._engine = sa.create_engine(url, poolclass=sa.NullPool, hide_parameters=True)
        sa.event.listen(self._engine, "connect", _prepare)
        with self._connection() as connection:
            METADATA.create_all(connection)

    def create(self, *, role: Role, name: str, days: float = 30) -> NewToken:
        """Make a token; only its hash is kept.

        Args:
            role: analyst or curator.
            name: whom it stands for.
            days: until it expires, at most 366.

        Raises:
            InputError: CEL-Q182 one of these is wrong.
        """
        _check(role, name, days)
        now = self._clock()
        token = Token(id=token_hex(8), role=role, name=name, created=now, expires=now + days * _DAY)
        text = f"celosia_{token.id}_{token_hex(32)}"
        with self._connection() as connection:
            connection.execute(sa.insert(TOKENS).values(asdict(token) | {"hash": _hash(text)}))
        return NewToken(text=text, token=token)

    def holder(self, text: str) -> Token:
        """The token that a text is.

        Raises:
            AccessDenied: CEL-Q171 it is none that is good now; which of the reasons is not told.
        """
        found = _TOKEN.fullmatch(text)
        name = found[1] if found else ""
        with self._connection() as connection:
            row = connection.execute(sa.select(TOKENS).where(TOKENS.c.id == name)).one_or_none()
        # An unknown name is compared too, and in the same time as a wrong secret.
        is_same = compare_digest(_hash(text), NOBODY if row is None else row.hash)
        if row is None or not is_same:
            raise no_token()
        token = _token(row)
        if token.revoked is not None or self._clock() >= token.expires:
            raise no_token()
        return token

    def revoke(self, name: str) -> Token:
        """End a token, by its public part; revoking twice changes nothing.

        Raises:
            InputError: CEL-Q173 there is no such token.
        """
        with self._connection() as connection:
            ends = sa.update(TOKENS).where(TOKENS.c.id == name, TOKENS.c.revoked.is_(None))
            connection.execute(ends.values(revoked=self._clock()))
            row = connection.execute(sa.select(TOKENS).where(TOKENS.c.id == name)).one_or_none()
        if row is None:
            raise InputError("CEL-Q173.token")
        return _token(row)

    def tokens(self) -> tuple[Token, ...]:
        """All tokens that were ever made, in the order of their making."""
        wanted = sa.select(TOKENS).order_by(TOKENS.c.created, TOKENS.c.id)
        with self._connection() as connection:
            return tuple(_token(row) for row in connection.execute(wanted))

    def has_curator(self) -> bool:
        """Whether somebody holds a good token of a curator."""
        now = self._clock()
        return any(
            each.role == "curator" and each.revoked is None and now < each.expires
            for each in self.tokens()
        )

    def note_charge(self) -> None:
        """Keep that questions were charged, so that a ledger that is lost later is missed."""
        if self._has_charges:
            return
        with self._connection() as connection:
            if connection.execute(sa.select(CHARGES)).first() is None:
                connection.execute(sa.insert(CHARGES).values(first=self._clock()))
        self._has_charges = True

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    @contextmanager
    def _connection(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except exc.SQLAlchemyError:
            raise EngineError("CEL-Q181.tokens") from None


def _prepare(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA synchronous = FULL")


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _token(row: Any) -> Token:
    return Token(
        id=row.id,
        role=row.role,
        name=row.name,
        created=row.created,
        expires=row.expires,
        revoked=row.revoked,
    )


def _format_time(moment: float | None) -> str | None:
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def _check(role: object, name: object, days: object) -> None:
    number = real(days)
    if role not in get_args(Role):
        problem = "CEL-Q182.role"
    elif not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 100:
        problem = "CEL-Q182.name"
    elif number is None or not 0 < number <= LONGEST_DAYS:
        problem = "CEL-Q182.days"
    else:
        return
    raise InputError(problem, days=LONGEST_DAYS)
