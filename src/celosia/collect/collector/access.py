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

    Raises:
        InputError: CEL-R088 a token has less than 32 letters, or two are the same.
    """

    def __init__(
        self, *, curator: str | None = None, senders: Mapping[str, str] | None = None
    ) -> None:
        texts = [*(senders or {}).values(), *([] if curator is None else [curator])]
        if len(set(texts)) < len(texts):
            raise InputError("CEL-R088.same_token")
        self._curator = None if curator is None else _hash(_check_token(curator))
        self._senders = {name: _hash(_check_token(text)) for name, text in (senders or {}).items()}

    @classmethod
    def load(
        cls, *, curator: str | Path | None = None, senders: Iterable[str | Path] = ()
    ) -> Access:
        """Tokens from files, one in each; a sender is called as its file, without the ending.

        Raises:
            InputError: CEL-R088 a file cannot be read, or holds no token.
        """
        listed = [Path(each) for each in senders]
        if len({each.stem for each in listed}) < len(listed):
            raise InputError("CEL-R088.same_name")
        return cls(
            curator=None if curator is None else _read(Path(curator)),
            senders={each.stem: _read(each) for each in listed},
        )

    def is_curator(self, text: str) -> bool:
        """Whether a token is that of the curator."""
        return self._curator is not None and compare_digest(_hash(text), self._curator)

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


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(1000).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError("CEL-R088.unreadable", path=str(path)) from None
