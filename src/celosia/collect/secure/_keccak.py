"""TurboSHAKE128 (RFC 9861): the extendable-output function of Prio3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

RATE = 168
"""Bytes that one permutation takes in or gives out."""
DOMAIN = 1

Lanes = NDArray[np.uint64]


def _constants() -> tuple[Lanes, NDArray[np.int64], NDArray[np.int64]]:
    """The last 12 round constants, and the rotations and places of rho and pi (FIPS 202)."""
    register, rounds = 1, []
    for _ in range(24):
        constant = 0
        for power in range(7):
            if register & 1:
                constant |= 1 << (2**power - 1)
            register = (register << 1) ^ (0x171 if register >> 7 else 0)
        rounds.append(constant)
    rotations, places = [0] * 25, [0] * 25
    x, y = 1, 0
    for step in range(24):
        rotations[x + 5 * y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    for x in range(5):
        for y in range(5):
            places[x + 5 * y] = y + 5 * ((2 * x + 3 * y) % 5)
    return np.array(rounds[12:], np.uint64), np.array(rotations), np.array(places)


ROUNDS, ROTATIONS, PLACES = _constants()


@njit()
def permute(lanes: Lanes, rounds: Lanes, turns: NDArray[np.int64], to: NDArray[np.int64]) -> None:
    """Keccak-p[1600, 12] in place."""
    columns = np.empty(5, np.uint64)
    moved = np.empty(25, np.uint64)
    one, whole = np.uint64(1), np.uint64(64)
    for constant in rounds:
        for x in range(5):
            columns[x] = lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
        for at in range(25):
            beside = columns[(at + 1) % 5]
            mixed = columns[(at + 4) % 5] ^ ((beside << one) | (beside >> np.uint64(63)))
            lane = lanes[at] ^ mixed
            turn = np.uint64(turns[at])
            moved[to[at]] = (lane << turn) | (lane >> (whole - turn)) if turn else lane
        for y in range(0, 25, 5):
            for x in range(5):
                lanes[y + x] = moved[y + x] ^ (~moved[y + (x + 1) % 5] & moved[y + (x + 2) % 5])
        lanes[0] ^= constant


class TurboShake128:
    """The stream of a message, in the domain that Prio3 uses.

    >>> TurboShake128(b"").read(8).hex()
    '1e415f1c5983aff2'
    """

    def __init__(self, message: bytes, domain: int = 0x1F) -> None:
        padded = bytearray(message) + bytes([domain])
        padded += bytes(-len(padded) % RATE)
        padded[-1] ^= 0x80
        self._lanes = np.zeros(25, np.uint64)
        for block in np.frombuffer(bytes(padded), "<u8").reshape(-1, RATE // 8):
            self._lanes[: RATE // 8] ^= block
            permute(self._lanes, ROUNDS, ROTATIONS, PLACES)
        self._left = self._lanes[: RATE // 8].tobytes()

    def read(self, size: int) -> bytes:
        """The next bytes."""
        while len(self._left) < size:
            permute(self._lanes, ROUNDS, ROTATIONS, PLACES)
            self._left += self._lanes[: RATE // 8].tobytes()
        found, self._left = self._left[:size], self._left[size:]
        return found


SEED = 32
"""Bytes of a seed."""


def expand(seed: bytes, tag: bytes, binder: bytes) -> TurboShake128:
    """The stream of a seed under a tag, as the standard writes it (XofTurboShake128)."""
    head = len(tag).to_bytes(2, "little") + tag + len(seed).to_bytes(1, "little")
    return TurboShake128(head + seed + binder, DOMAIN)
