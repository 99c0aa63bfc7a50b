"""Format-preserving encryption: FF1 of NIST SP 800-38G, over digits or another alphabet.

A number becomes another number of the same length, and the holder of the key can decrypt it. It is
a permutation of the domain: domains under a million values are refused, since they could be listed.
FF3 and FF3-1 are not offered: they have been attacked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from celosia.core.errors import EngineError, InputError

DIGITS = "0123456789"
LETTERS_AND_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

LEAST_DOMAIN = 10**6
"""NIST SP 800-38G Rev. 1: radix ** length is at least a million."""

_ROUNDS = 10
_BLOCK = 16
_KEY_SIZES = (16, 24, 32)
_MOST = 2**16


@dataclass(frozen=True)
class FF1:
    """A keyed permutation of texts of one length over one alphabet.

    Args:
        key: 16, 24 or 32 secret bytes: a key of AES.
        alphabet: the characters, each once; the radix is their number.

    Raises:
        InputError: CEL-I071 a key of another length.

    >>> ff1 = FF1(bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3C"))
    >>> ff1.encrypt("0123456789"), ff1.decrypt("2433477484")
    ('2433477484', '0123456789')
    """

    key: bytes = field(repr=False)
    alphabet: str = DIGITS

    def __post_init__(self) -> None:
        if not isinstance(self.key, bytes) or len(self.key) not in _KEY_SIZES:
            raise InputError("CEL-I071", needed=_KEY_SIZES[-1])

    def encrypt(self, text: str, tweak: bytes = b"") -> str:
        """The text of the same length that stands for this one.

        Raises:
            InputError: CEL-I074 the text is too short, or has a character outside the alphabet.
            EngineError: CEL-I070 cryptography is not installed.
        """
        return self._permuted(text, tweak, range(_ROUNDS))

    def decrypt(self, text: str, tweak: bytes = b"") -> str:
        """The text that `encrypt` turned into this one."""
        return self._permuted(text, tweak, reversed(range(_ROUNDS)))

    def _permuted(self, text: str, tweak: bytes, rounds: Any) -> str:
        values = self._values(text)
        radix, size = len(self.alphabet), len(values)
        left, right = size // 2, size - size // 2
        width = -(-(radix**right - 1).bit_length() // 8)  # ceil(ceil(right * log2 radix) / 8)
        wanted = 4 * -(-width // 4) + 4
        prefix = bytes([1, 2, 1]) + radix.to_bytes(3) + bytes([10, left % 256])
        prefix += size.to_bytes(4) + len(tweak).to_bytes(4)
        filling = bytes(-(len(tweak) + width + 1) % _BLOCK)
        a, b = _number(values[:left], radix), _number(values[left:], radix)
        rounds = list(rounds)
        forward = rounds[0] == 0
        for each in rounds:
            length = left if each % 2 == 0 else right
            known = b if forward else a
            block = tweak + filling + bytes([each]) + known.to_bytes(width)
            mask = int.from_bytes(self._expanded(self._mac(prefix + block), wanted))
            if forward:
                a, b = b, (a + mask) % radix**length
            else:
                a, b = (b - mask) % radix**length, a
        return self._text(a, left) + self._text(b, right)

    def _values(self, text: str) -> list[int]:
        places = [self.alphabet.find(mark) for mark in text]
        if len(self.alphabet) ** len(text) < LEAST_DOMAIN or len(text) > _MOST:
            raise InputError("CEL-I074.domain", length=len(text), radix=len(self.alphabet))
        if min(places) < 0:
            raise InputError("CEL-I074.character", radix=len(self.alphabet))
        return places

    def _text(self, number: int, length: int) -> str:
        marks = []
        for _ in range(length):
            number, place = divmod(number, len(self.alphabet))
            marks.append(self.alphabet[place])
        return "".join(reversed(marks))

    def _mac(self, message: bytes) -> bytes:
        """The last block of CBC without an initial vector: the PRF of the standard."""
        state = bytes(_BLOCK)
        for start in range(0, len(message), _BLOCK):
            state = self._block(_xor(state, message[start : start + _BLOCK]))
        return state

    def _expanded(self, block: bytes, wanted: int) -> bytes:
        more = (
            self._block(_xor(block, each.to_bytes(_BLOCK)))
            for each in range(1, -(-wanted // _BLOCK))
        )
        return b"".join([block, *more])[:wanted]

    def _block(self, block: bytes) -> bytes:
        return bytes(self._aes.update(block))

    @cached_property
    def _aes(self) -> Any:
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        except ImportError:
            raise EngineError("CEL-I070") from None
        # Single blocks: the chaining is the standard's own, written out above.
        return Cipher(algorithms.AES(self.key), modes.ECB()).encryptor()  # noqa: S305 - one block


def _number(values: list[int], radix: int) -> int:
    found = 0
    for value in values:
        found = found * radix + value
    return found


def _xor(first: bytes, second: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(first, second, strict=True))
