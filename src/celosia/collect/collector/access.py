"""Access to the HTTP endpoint: tokens of the curator and of senders, stored as hashes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from celosia.core.errors import InputError

SHORTEST = 32
"""Letters of a token: 32 hexadecimal ones are 128 bits."""


class Access:
    """The token of the curator, and those of senders.

    A token is long and random, so a plain SHA-256 is enough to keep it: an attacker cannot try all.

    Args:
        curator: the token that gives access to estimates; without it HTTP gives no estimates.
        senders: the tokens of senders, by name; without any, anyone may send.
        monitor: the token that gives access to figures of the endpoint; without it nobody has.

    Raises:
        InputError: CEL-R088 a token has less than 32 letters, or two are the same.
    """

    def __init__(
        self,
        *,
        curator: str | None = None,
        senders: Mapping[str, str] | None = None,
        monitor: str | None = None,
    ) -> None:
        single = [each for each in (curator, monitor) if each is not None]
        texts = [*(senders or {}).values(), *single]
        if len(set(texts)) < len(texts):
            raise InputError("CEL-R088.same_token")
        self._curator = None if curator is None else _hash(_check_token(curator))
        self._monitor = None if monitor is None else _hash(_check_token(monitor))
        self._senders = {name: _hash(_check_token(text)) for name, text in (senders or {}).items()}

    @classmethod
    def load(
        cls,
        *,
        curator: str | Path | None = None,
        senders: Iterable[str | Path] = (),
        monitor: str | Path | None = None,
    ) -> Access:
        """Tokens from files, one in each; a sender is called as its file, without the ending.

        Raises:
            InputError: CEL-R088 a file cannot be read, or holds no token.
        """
        listed = [Path(each) for each in senders]
        if len({each.stem for each in listed}) < len(listed):
            raise InputError("CEL-R088.same_name")
        return cls(
            curator=None if curator is None else read_token(Path(curator)),
            senders={each.stem: read_token(each) for each in listed},
            monitor=None if monitor is None else read_token(Path(monitor)),
        )

    def is_curator(self, text: str) -> bool:
        """Whether a token is that of the curator."""
        return self._curator is not None and compare_digest(_hash(text), self._curator)

    def is_monitor(self, text: str) -> bool:
        """Whether a token gives access to figures of the endpoint."""
        return self._monitor is not None and compare_digest(_hash(text), self._monitor)

    def sender(self, text: str) -> str | None:
        """The name of the sender, empty where anyone may send; None where the token is wrong."""
        if not self._senders:
            return ""
        digest, found = _hash(text), None
        for name, kept in self._senders.items():  # all of them, so that time tells nothing
            found = name if compare_digest(digest, kept) else found
        return found


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _check_token(text: str) -> str:
    if len(text) < SHORTEST or not text.isascii() or not text.isprintable() or " " in text:
        raise InputError("CEL-R088.too_short", shortest=SHORTEST)
    return text


def read_token(path: Path) -> str:
    """The token of a file.

    Raises:
        InputError: CEL-R088 it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(1000).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError("CEL-R088.unreadable", path=str(path)) from None
