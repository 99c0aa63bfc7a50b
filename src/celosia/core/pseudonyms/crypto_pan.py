"""Prefix-preserving pseudonyms of IP addresses: Crypto-PAn (Xu, Fan, Ammar & Moon 2002).

Bit i of an address is flipped by the top bit of AES(first i bits of the address, then the remaining
bits of a pad). Two addresses share exactly as many leading bits after as before. It is a pseudonym
and promises nothing formal: an attacker who injects probes, or knows some addresses, learns the
prefixes of all the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError

KEY_BYTES = 32
"""16 bytes are the AES key; the other 16, encrypted, are the pad."""

_BLOCK = 16
_BATCH = 1 << 16
"""Addresses that go down the levels together, so that their blocks stay in the cache."""


@dataclass(frozen=True, slots=True)
class CryptoPan:
    """Prefix-preserving encryption of addresses under one key.

    Args:
        key: 32 secret bytes. Whoever holds them can decrypt every address.

    Raises:
        InputError: CEL-I071 the key has another length; CEL-I070 cryptography is not installed.

    >>> import numpy as np
    >>> pan = CryptoPan(bytes(range(32)))
    >>> masked = pan.ipv4(np.array([0xC0000201, 0xC00002C8], dtype=np.uint32))  # 192.0.2.1 and .200
    >>> bool(masked[0] >> 8 == masked[1] >> 8)
    True
    """

    key: bytes = field(repr=False)
    _pad: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.key, bytes) or len(self.key) != KEY_BYTES:
            raise InputError("CEL-I071", needed=KEY_BYTES)
        object.__setattr__(self, "_pad", _aes(self.key[:_BLOCK], self.key[_BLOCK:]))

    def ipv4(self, addresses: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Pseudonyms of IPv4 addresses, each as one number, in the same order."""
        distinct, places = np.unique(np.asarray(addresses, dtype=np.uint32), return_inverse=True)
        words = distinct.astype(np.uint64)[:, None] << np.uint64(32)
        masked = self._masked(words, 32)[:, 0] >> np.uint64(32)
        return masked.astype(np.uint32)[places.reshape(-1)]

    def ipv6(self, addresses: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Pseudonyms of IPv6 addresses, each a row of two numbers: the high and the low 64 bits."""
        words = np.asarray(addresses, dtype=np.uint64).reshape(-1, 2)
        distinct, places = np.unique(words, axis=0, return_inverse=True)
        return self._masked(distinct, 128)[places.reshape(-1)]

    def _masked(self, words: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
        """Sorted distinct addresses, encrypted; `words` holds them from their top bit on."""
        masked = words.copy()
        for start in range(0, len(words), _BATCH):
            batch = words[start : start + _BATCH]
            masked[start : start + _BATCH] ^= self._mask(batch, bits)
        return masked

    def _mask(self, words: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
        pad = np.frombuffer(self._pad, dtype=">u8").astype(np.uint64)
        mask = np.zeros_like(words)
        # The addresses are sorted: those with a common prefix stand together.
        is_first = np.zeros(len(words), dtype=bool)
        is_first[:1] = True
        for level in range(bits):
            word, bit = divmod(level, 64)
            if level:
                before, place = divmod(level - 1, 64)
                flips = (words[1:, before] ^ words[:-1, before]) >> np.uint64(63 - place)
                is_first[1:] |= (flips & np.uint64(1)).astype(bool)
            firsts = words[is_first]
            blocks = np.empty((len(firsts), 2), dtype=">u8")
            blocks[:] = pad
            blocks[:, :word] = firsts[:, :word]
            if bit:
                kept = np.uint64(~((1 << (64 - bit)) - 1) & 0xFFFFFFFFFFFFFFFF)
                blocks[:, word] = (firsts[:, word] & kept) | (pad[word] & ~kept)
            ciphered = np.frombuffer(_aes(self.key[:_BLOCK], blocks.tobytes()), dtype=np.uint8)
            tops = (ciphered[::_BLOCK] >> 7).astype(np.uint64)
            mask[:, word] |= tops[np.cumsum(is_first) - 1] << np.uint64(63 - bit)
        return mask


def _aes(key: bytes, blocks: bytes) -> bytes:
    """Each block of 16 bytes encrypted by itself: a keyed function of prefixes, not of a text."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # optional
    except ImportError:
        raise InputError("CEL-I070") from None
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - see above
    return encryptor.update(blocks) + encryptor.finalize()
