"""Secret keys: pseudonyms, keyed numbers and keyed orders from HMAC-SHA-256, and the key file.

A hash without a key hides nothing: domains of people are small and are listed in minutes. With a
key, equal values get equal pseudonyms within one scope, and values of two scopes cannot be linked
without the key. The scope is therefore the linkage promise of a pseudonym.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import stat
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from celosia.core.errors import InputError
from celosia.core.randomness import Source, System

BYTES = 32
"""A key has as many bits as the hash."""

LENGTH = 13
"""Characters of a pseudonym, of 5 bits each: 65 bits."""

BITS_OF_MANY = 50
MANY = 10**5
"""Above so many values, pseudonyms of fewer bits than that would collide."""

_BREAK = b"\x1f"
"""Between the parts of what is hashed."""

_HEADER = b"celosia key 1\n"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

Some = TypeVar("Some")


@dataclass(frozen=True, slots=True)
class Key:
    """A secret of 32 bytes. It is never printed, and belongs in no release.

    Args:
        secret: the 32 bytes.
        simulation: whether it was drawn from a seed, so that anyone can draw it again.

    Raises:
        InputError: CEL-I071 the secret has another length.

    >>> Key(bytes(range(32))).pseudonym("person", "2026-01", "maria garcia")
    'XF5NS2HGCIKM6'
    >>> Key(bytes(range(32)))
    Key(simulation=False)
    """

    secret: bytes = field(repr=False)
    simulation: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) != BYTES:
            raise InputError("CEL-I071", needed=BYTES)

    @classmethod
    def new(cls, rng: Source | None = None) -> Key:
        """A new key, from the entropy of the operating system unless a source is given."""
        rng = System() if rng is None else rng
        return cls(rng.raw(BYTES), rng.simulation)

    @classmethod
    def load(cls, path: str | Path) -> Key:
        """Read a key file.

        Raises:
            InputError: CEL-I072 the file is missing, is no key, or can be read by other users.
        """
        file = Path(path)
        try:
            mode = file.stat().st_mode
            content = file.read_bytes()
        except OSError:
            raise InputError("CEL-I072.missing", path=file) from None
        if os.name == "posix" and mode & _OTHERS:
            raise InputError("CEL-I072.readable", path=file)
        head, _, secret = content.partition(_HEADER)
        try:
            found = bytes.fromhex(secret.decode("ascii").strip())
        except ValueError:
            found = b""
        if head or len(found) != BYTES:
            raise InputError("CEL-I072.no_key", path=file)
        return cls(found)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a key file that only its owner can read (mode 600).

        Raises:
            InputError: CEL-I004 the file exists.
        """
        from celosia.core.files import replacing

        file = Path(path)
        with replacing(file, overwrite=overwrite, secret=True) as draft:
            draft.write_bytes(_HEADER + self.secret.hex().encode("ascii") + b"\n")
        return file

    def fingerprint(self) -> str:
        """What tells two keys apart and nothing else about them; it may be published.

        >>> Key(bytes(range(32))).fingerprint()
        'LK4M-HEWC'
        """
        text = _base32(self._digest("fingerprint"))[:8]
        return f"{text[:4]}-{text[4:]}"

    def derive(self, purpose: str) -> Key:
        """Another key for one purpose, from which this one cannot be found."""
        return Key(self._digest("derive", purpose), self.simulation)

    def pseudonym(self, kind: str, scope: str, form: str, *, length: int = LENGTH) -> str:
        """The first `length` base32 characters of HMAC-SHA-256(key, kind, scope, form).

        Args:
            kind: of the value; equal texts of two kinds get different pseudonyms.
            scope: where equal values get equal pseudonyms: the linkage promise.
            form: the value in its `normal_form`.
            length: characters, of 5 bits each.
        """
        return _base32(self._digest(kind, scope, form))[:length]

    def number(self, bound: int, *parts: str) -> int:
        """A number in [0, bound) that depends on the key and the parts, exactly uniform over keys.

        >>> Key(bytes(range(32))).number(10, "shift", "person 7")
        8
        """
        size = (bound.bit_length() + 7) // 8 + 1
        limit = 256**size - 256**size % bound
        attempt = 0
        while True:
            drawn = int.from_bytes(self.stream(size, str(attempt), *parts))
            if drawn < limit:
                return drawn % bound
            attempt += 1

    def order(self, values: Iterable[Some], *parts: str) -> list[Some]:
        """The values in an order that depends on the key: sorted by their HMAC.

        >>> Key(bytes(range(32))).order(["Ana", "Eva", "Luz"], "names")
        ['Ana', 'Luz', 'Eva']
        """
        return sorted(values, key=lambda each: self._digest("order", *parts, str(each)))

    def stream(self, size: int, *parts: str) -> bytes:
        """Bytes that depend on the key and the parts; longer ones begin with shorter ones."""
        blocks = -(-size // BYTES)
        return b"".join(self._digest("number", str(block), *parts) for block in range(blocks))[
            :size
        ]

    def _digest(self, *parts: str) -> bytes:
        # A break inside a part is written as an escape, so that no two lists of parts are alike.
        encoded = (
            part.encode("utf-8", "surrogatepass")
            .replace(b"\x10", b"\x10\x10")
            .replace(_BREAK, b"\x10u")
            for part in parts
        )
        return hmac.new(self.secret, _BREAK.join(encoded), hashlib.sha256).digest()


def _base32(digest: bytes) -> str:
    return base64.b32encode(digest).decode("ascii").rstrip("=")


def normal_form(text: str) -> str:
    """The form in which equal values are written alike: NFKC, no case, no accents, one space.

    >>> normal_form("  MARÍA   García ")
    'maria garcia'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = "".join(
        mark for mark in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(mark)
    )
    return " ".join(unicodedata.normalize("NFKC", bare).split())


def check_length(length: int, values: int) -> None:
    """Refuse pseudonyms so short that different values would get the same one."""
    if 5 * length < BITS_OF_MANY and values > MANY:
        raise InputError("CEL-I073", bits=5 * length, values=values, needed=BITS_OF_MANY // 5)


def expected_collisions(values: int, *, bits: int) -> float:
    """How many pairs of different values are expected to get the same pseudonym.

    >>> round(expected_collisions(10**7, bits=32))
    11642
    """
    return values * (values - 1) / 2 / 2.0**bits


def check_outside(key: Path, outputs: Sequence[Path]) -> None:
    """Refuse a key file that would lie inside a folder that is published."""
    place = key.resolve()
    for output in outputs:
        folder = output.resolve()
        if place == folder or folder in place.parents:
            raise InputError("CEL-I072.inside", path=key, folder=output)


def forget(path: str | Path) -> None:
    """Overwrite a key file and remove it: what it could undo can no longer be undone.

    Copies elsewhere (backups, snapshots of the disk, the memory of a solid-state disk) are not
    reached.

    Raises:
        InputError: CEL-I072 the file is missing or is no key.
    """
    file = Path(path)
    Key.load(file)
    with file.open("r+b") as stream:
        size = file.stat().st_size
        for content in (os.urandom(size), bytes(size)):
            stream.seek(0)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    file.unlink()
