"""Reports as bits, and on their way from devices to a server.

Fields of fixed width stand one after the other. A report takes a whole number of bytes; the bits
that are left over at its end are 0. A field of w bits holds a whole number below 2^w, lowest bit
first, so bit i of a report is bit i mod 8 of its byte i // 8.

A batch is written as 24 bytes and the reports: the mark `CLR1`, the length of a report in bytes (4
bytes), the fingerprint of the protocol (8 bytes) and the number of reports (8 bytes), numbers with
the lowest byte first; then the reports, one after the other.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError

Packed = NDArray[np.uint8]
"""Reports by bytes."""


def bits_for(options: int) -> int:
    """The bits that tell apart so many options: 10 for 1,024, 0 for a single one.

    >>> bits_for(1024), bits_for(1025), bits_for(1)
    (10, 11, 0)
    """
    return (options - 1).bit_length()


def pack(fields: Sequence[tuple[NDArray[np.integer], int]]) -> Packed:
    """Reports made of fields, each a number for each report and its width in bits (at most 63).

    >>> pack([(np.array([1, 0]), 1), (np.array([5, 1000]), 10)]).tolist()
    [[11, 0], [208, 7]]
    """
    reports = fields[0][0].size
    total = sum(width for _, width in fields)
    made = np.zeros((reports, -(-total // 8)), dtype=np.uint8)
    start = 0
    for numbers, width in fields:
        values = numbers.astype(np.uint64, copy=False)
        at, left = start, width
        while left > 0:  # byte by byte: as many bits of the field as the byte has room for
            byte, shift = divmod(at, 8)
            taken = min(8 - shift, left)
            part = (values & np.uint64(2**taken - 1)).astype(np.uint8)
            made[:, byte] |= part << np.uint8(shift)
            values = values >> np.uint64(taken)
            at, left = at + taken, left - taken
        start += width
    return made


def unpack(reports: Packed, widths: Sequence[int]) -> list[NDArray[np.int64]]:
    """The fields of reports again; the inverse of `pack`.

    Raises:
        InputError: CEL-R001 reports are of another length, or bits beyond their fields are set.
    """
    check_form(reports, sum(widths))
    found = []
    start = 0
    for width in widths:
        found.append(field_at(reports, start, width))
        start += width
    return found


def check_form(reports: Packed, total: int) -> None:
    """Refuse reports that are not `total` bits, followed by bits of 0 to the end of their byte.

    Raises:
        InputError: CEL-R001 reports are of another length, or bits beyond their fields are set.
    """
    size = -(-total // 8)
    spare = 8 * size - total
    if (
        reports.dtype != np.uint8
        or reports.ndim != 2
        or reports.shape[1] != size
        or (spare and reports.size and np.any(reports[:, -1] >> np.uint8(8 - spare)))
    ):
        raise malformed()


def field_at(reports: Packed, start: int, width: int) -> NDArray[np.int64]:
    """One field of reports of the right form: the `width` bits from bit `start` on."""
    values = np.zeros(reports.shape[0], dtype=np.uint64)
    at, done = start, 0
    while done < width:
        byte, shift = divmod(at, 8)
        taken = min(8 - shift, width - done)
        part = (reports[:, byte] >> np.uint8(shift)) & np.uint8(2**taken - 1)
        values |= part.astype(np.uint64) << np.uint64(done)
        at, done = at + taken, done + taken
    return values.view(np.int64)


def malformed() -> InputError:
    """The error for reports that no client of the protocol can have made."""
    return InputError("CEL-R001")


def join(parts: Sequence[tuple[Packed, int]]) -> Packed:
    """Packed reports put one after the other, bit by bit, each with its number of bits.

    >>> join([(np.array([[5]], np.uint8), 3), (np.array([[255, 1]], np.uint8), 9)]).tolist()
    [[253, 15]]
    """
    total = sum(bits for _, bits in parts)
    made = np.zeros((parts[0][0].shape[0], -(-total // 8) + 1), dtype=np.uint8)
    start = 0
    for reports, bits in parts:
        byte, shift = divmod(start, 8)
        size = reports.shape[1]
        made[:, byte : byte + size] |= reports << np.uint8(shift)
        if shift:
            made[:, byte + 1 : byte + 1 + size] |= reports >> np.uint8(8 - shift)
        start += bits
    return made[:, :-1]


def cut(reports: Packed, start: int, bits: int) -> Packed:
    """The part of joined reports that has `bits` bits from bit `start` on."""
    byte, shift = divmod(start, 8)
    size = -(-bits // 8)
    found = reports[:, byte : byte + size] >> np.uint8(shift)
    if shift:
        after = reports[:, byte + 1 : byte + 1 + size]
        found[:, : after.shape[1]] |= after << np.uint8(8 - shift)
    if bits % 8:
        found[:, -1] &= np.uint8(2 ** (bits % 8) - 1)
    return found


MARK = b"CLR1"
_HEAD = struct.Struct("<4sI8sQ")
HEAD = _HEAD.size
"""Bytes that stand before the reports."""


@dataclass(frozen=True, slots=True)
class Reports:
    """Reports of one protocol. They hold nothing but what was privatised."""

    fingerprint: bytes
    """Of the protocol and all its parameters: 8 bytes."""
    packed: Packed = field(repr=False)
    """One row of bytes for each report."""

    def __len__(self) -> int:
        return int(self.packed.shape[0])

    def to_bytes(self) -> bytes:
        """The batch as it travels, see the module."""
        count, size = self.packed.shape
        return self.head(size, self.fingerprint, count) + self.packed.tobytes()

    @staticmethod
    def head(size: int, fingerprint: bytes, count: int) -> bytes:
        """The 24 bytes that stand before so many reports of so many bytes."""
        return _HEAD.pack(MARK, size, fingerprint, count)

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Reports:
        """A batch as it was written.

        Raises:
            InputError: CEL-R002 it is none, or was cut off.
        """
        view = memoryview(data)
        size, fingerprint, count = read_head(view[:HEAD])
        body = view[HEAD:]
        if count * size != len(body):
            raise _damaged()
        packed = np.frombuffer(body, dtype=np.uint8).reshape(count, size)
        return cls(fingerprint, packed)


def read_head(head: bytes | memoryview) -> tuple[int, bytes, int]:
    """The bytes of a report, the fingerprint and the number of reports, from the first 24 bytes.

    Raises:
        InputError: CEL-R002 this is no batch, or was cut off.
    """
    if len(head) != HEAD or bytes(head[:4]) != MARK:
        raise _damaged()
    _, size, fingerprint, count = _HEAD.unpack(head)
    if not size:
        raise _damaged()
    return size, fingerprint, count


def _damaged() -> InputError:
    return InputError("CEL-R002.damaged")
