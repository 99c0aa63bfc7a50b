"""What devices, aggregators and collector tell each other, as bytes: in files and over HTTP alike.

A message has 21 bytes of head: the mark `CLP1`, what is inside (1 byte), the fingerprint of the
task (8 bytes) and the number of records (8 bytes, the lowest first). A record of shares is a nonce
(16 bytes), the part for everybody, and the share; a record of checks a nonce and a verifier.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from celosia.collect.secure.prio3 import NONCE, Report
from celosia.collect.secure.tasks import SecureTask
from celosia.core.errors import InputError

MARK = b"CLP1"
_HEAD = struct.Struct("<4sB8sQ")
Role = Literal["leader", "helper"]
ROLES: tuple[Role, Role] = ("leader", "helper")
SHARES, CHECKS, SUMS, DECISIONS, NONCES = 0, 2, 4, 6, 8
"""What is inside; the first three are one more for the helper."""
SET = 16
"""Bytes that tell sets of reports apart."""
Share = tuple[bytes, bytes, bytes]
"""A nonce, the part for everybody and the share of one aggregator."""
Decision = tuple[bool, bytes]
"""Whether a report is valid, and the verifier of who says so."""


@dataclass(frozen=True, slots=True)
class AggregateShare:
    """The sum of one aggregator, with its noise; it tells nothing without the other one."""

    reports: int
    refused: int
    nonces: bytes
    """Which reports were added up."""
    total: bytes


def pack_shares(task: SecureTask, role: Role, reports: Iterable[Report]) -> bytes:
    """The shares of reports for one aggregator."""
    number = ROLES.index(role)
    records = [each.nonce + each.public + each.shares[number] for each in reports]
    return _pack(task, SHARES + number, records)


def unpack_shares(task: SecureTask, role: Role, data: bytes) -> list[Share]:
    """What `pack_shares` has written.

    Raises:
        InputError: CEL-R096 damaged, of another task or of another role.
    """
    number = ROLES.index(role)
    public = NONCE + task.algorithm.public_bytes
    size = public + task.algorithm.share_bytes(number)
    records = _unpack(task, SHARES + number, size, data)
    return [(each[:NONCE], each[NONCE:public], each[public:]) for each in records]


def split_shares(task: SecureTask, role: Role, data: bytes, most: int) -> list[bytes]:
    """Shares in pieces of at most so many reports.

    Raises:
        InputError: CEL-R096 damaged, of another task or of another role.
    """
    records = [b"".join(each) for each in unpack_shares(task, role, data)]
    kind = SHARES + ROLES.index(role)
    return [_pack(task, kind, records[at : at + most]) for at in range(0, len(records), most)]


def pack_checks(task: SecureTask, role: Role, checks: dict[bytes, bytes]) -> bytes:
    """Verifiers by the nonces of their reports."""
    records = [nonce + verifier for nonce, verifier in checks.items()]
    return _pack(task, CHECKS + ROLES.index(role), records)


def unpack_checks(task: SecureTask, role: Role, data: bytes) -> dict[bytes, bytes]:
    """What the aggregator of a role has told.

    Raises:
        InputError: CEL-R096 damaged, of another task or of another role.
    """
    size = NONCE + task.algorithm.verifier_bytes
    records = _unpack(task, CHECKS + ROLES.index(role), size, data)
    return {record[:NONCE]: record[NONCE:] for record in records}


def pack_sum(task: SecureTask, role: Role, share: AggregateShare) -> bytes:
    """The sum of one aggregator."""
    record = struct.pack("<QQ", share.reports, share.refused) + share.nonces + share.total
    return _pack(task, SUMS + ROLES.index(role), [record])


def unpack_sum(task: SecureTask, role: Role, data: bytes) -> AggregateShare:
    """The sum of the aggregator of a role.

    Raises:
        InputError: CEL-R096 damaged, of another task or of another role.
    """
    size = 16 + SET + task.circuit.outputs * task.circuit.field.size
    records = _unpack(task, SUMS + ROLES.index(role), size, data)
    if len(records) != 1:
        raise InputError("CEL-R096.damaged")
    record = records[0]
    reports, refused = struct.unpack("<QQ", record[:16])
    return AggregateShare(reports, refused, record[16 : 16 + SET], record[16 + SET :])


def pack_decisions(task: SecureTask, decisions: dict[bytes, Decision]) -> bytes:
    """What the helper has found of reports, by their nonces."""
    records = [nonce + bytes([valid]) + verifier for nonce, (valid, verifier) in decisions.items()]
    return _pack(task, DECISIONS, records)


def unpack_decisions(task: SecureTask, data: bytes) -> dict[bytes, Decision]:
    """What `pack_decisions` has written.

    Raises:
        InputError: CEL-R096 damaged, or of another task.
    """
    size = NONCE + 1 + task.algorithm.verifier_bytes
    records = _unpack(task, DECISIONS, size, data)
    return {each[:NONCE]: (each[NONCE] == 1, each[NONCE + 1 :]) for each in records}


def pack_nonces(task: SecureTask, nonces: Sequence[bytes]) -> bytes:
    """The reports of a batch."""
    return _pack(task, NONCES, nonces)


def unpack_nonces(task: SecureTask, data: bytes) -> list[bytes]:
    """What `pack_nonces` has written.

    Raises:
        InputError: CEL-R096 damaged, or of another task.
    """
    return _unpack(task, NONCES, NONCE, data)


def _pack(task: SecureTask, kind: int, records: Sequence[bytes]) -> bytes:
    return _HEAD.pack(MARK, kind, task.fingerprint, len(records)) + b"".join(records)


def _unpack(task: SecureTask, kind: int, size: int, data: bytes) -> list[bytes]:
    if len(data) < _HEAD.size or data[:4] != MARK:
        raise InputError("CEL-R096.damaged")
    _, found, fingerprint, count = _HEAD.unpack(data[: _HEAD.size])
    if fingerprint != task.fingerprint or found != kind:
        raise InputError("CEL-R096.other")
    if len(data) != _HEAD.size + count * size:
        raise InputError("CEL-R096.damaged")
    return [data[at : at + size] for at in range(_HEAD.size, len(data), size)]
