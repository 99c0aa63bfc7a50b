"""Reports on their way from devices to a server: packed bits, and which protocol made them.

A batch is written as 24 bytes and the reports: the mark `CLR1`, the length of a report in bytes (4
bytes), the fingerprint of the protocol (8 bytes) and the number of reports (8 bytes), numbers with
the lowest byte first; then the reports, one after the other.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from celosia.collect.fields import Packed
from celosia.core.errors import InputError

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
