"""The two aggregators: what each does with its shares, and what they publish together.

Files have 21 bytes of head: the mark `CLP1`, what is inside (1 byte), the fingerprint of the task
(8 bytes) and the number of records (8 bytes, the lowest first). Records of shares are a nonce (16
bytes), the part for everybody, and the share; records of checks a nonce and a verifier.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, Literal

from celosia.collect.registry import reason_of
from celosia.collect.secure._keccak import SEED
from celosia.collect.secure.fields import Vector
from celosia.collect.secure.prio3 import NONCE, Check, Report
from celosia.collect.secure.tasks import SecureTask
from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.messages import say
from celosia.core.randomness import Source, System

MARK = b"CLP1"
_HEAD = struct.Struct("<4sB8sQ")
Role = Literal["leader", "helper"]
ROLES: tuple[Role, Role] = ("leader", "helper")
_SHARES, _CHECKS, _SUMS = 0, 2, 4
_SET = 16
"""Bytes that tell sets of reports apart."""


@dataclass(frozen=True, slots=True)
class AggregateShare:
    """The sum of one aggregator, with its noise; it tells nothing without the other one."""

    reports: int
    refused: int
    nonces: bytes
    """Which reports were added up."""
    total: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SecureResult:
    """What both aggregators publish."""

    labels: tuple[Hashable, ...]
    figures: tuple[int, ...]
    error: float
    """The standard error of each figure: that of the noise of both."""
    reports: int
    refused: int
    """Reports that were not valid."""
    epsilon: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "figures": [
                {"value": str(label), "figure": figure}
                for label, figure in zip(self.labels, self.figures, strict=True)
            ],
            "error": self.error,
            "reports": self.reports,
            "refused": self.refused,
            "epsilon": self.epsilon,
        }

    def __str__(self) -> str:
        return say("collect.secure.result", reports=self.reports, refused=self.refused)


class Aggregator:
    """One of two; it holds the shares of its role alone.

    Args:
        task: that all share.
        role: leader or helper; they differ in the form of shares only.
        key: 32 secret bytes that both aggregators have, and no device.

    Raises:
        InputError: CEL-R096 the key is not 32 bytes.
    """

    def __init__(self, task: SecureTask, role: Role, key: bytes) -> None:
        if len(key) != SEED:
            raise InputError("CEL-R096.key")
        self.task = task
        self.number = ROLES.index(role)
        self._key = key
        self._checks: dict[bytes, Check] = {}
        self._unreadable: set[bytes] = set()

    def check(self, shares: Iterable[tuple[bytes, bytes, bytes]]) -> dict[bytes, bytes]:
        """Take shares in, and return what the other aggregator must be told of each report.

        Args:
            shares: the nonce, the part for everybody and the share of this aggregator, for each.

        Raises:
            InputError: CEL-R096 a report comes twice.
        """
        for report in shares:
            nonce = report[0]
            if nonce in self._checks or nonce in self._unreadable:
                raise InputError("CEL-R096.twice")
            try:
                self._checks[nonce] = self.task.algorithm.check(self._key, self.number, report)
            except InputError:  # one client must not spoil the reports of all others
                self._unreadable.add(nonce)
        return {nonce: check.verifier for nonce, check in self._checks.items()}

    def total(self, theirs: dict[bytes, bytes], *, rng: Source | None = None) -> AggregateShare:
        """Add up the shares of all valid reports that both have, with noise.

        Noise is drawn anew by each call: publish one share for one set of reports, and no more.

        Args:
            theirs: what the other aggregator has told.
            rng: of the noise; without it the operating system is.

        Raises:
            InputError: CEL-R096 too few reports are valid.
        """
        algorithm, field = self.task.algorithm, self.task.circuit.field
        total: Vector = [0] * self.task.circuit.outputs
        valid = []
        for nonce, check in self._checks.items():
            told = theirs.get(nonce, b"")
            pair = (told, check.verifier) if self.number else (check.verifier, told)
            if told and algorithm.decide(check, pair):
                total = field.add(total, check.output)
                valid.append(nonce)
        if len(valid) < self.task.least:
            raise InputError("CEL-R096.too_few", least=self.task.least)
        noise = self.task.noise.draw(len(total), System() if rng is None else rng)
        total = field.add(total, [int(each) % field.modulus for each in noise])
        nonces = hashlib.blake2b(b"".join(sorted(valid)), digest_size=_SET).digest()
        refused = len(self._checks) + len(self._unreadable) - len(valid)
        return AggregateShare(len(valid), refused, nonces, field.to_bytes(total))


def combine(task: SecureTask, leader: AggregateShare, helper: AggregateShare) -> SecureResult:
    """What the sums of both aggregators tell together.

    Raises:
        InputError: CEL-R096 they are of different reports.
    """
    if (leader.reports, leader.nonces) != (helper.reports, helper.nonces):
        raise InputError("CEL-R096.different")
    field = task.circuit.field
    found = field.add(field.from_bytes(leader.total), field.from_bytes(helper.total))
    half = field.modulus // 2  # noise may lead below 0
    return SecureResult(
        labels=task.labels,
        figures=tuple(each - field.modulus if each > half else each for each in found),
        error=sqrt(2 * task.noise.variance),
        reports=leader.reports,
        refused=max(leader.refused, helper.refused),
        epsilon=float(task.epsilon),
    )


def write_shares(
    task: SecureTask, reports: Iterable[Report], paths: tuple[Path, Path], *, overwrite: bool
) -> int:
    """Write one file of shares for each aggregator; how many reports."""
    listed = list(reports)
    for number, path in enumerate(paths):
        records = [each.nonce + each.public + each.shares[number] for each in listed]
        _write(task, _SHARES + number, records, path, overwrite=overwrite)
    return len(listed)


def read_shares(task: SecureTask, role: Role, path: Path) -> Iterator[tuple[bytes, bytes, bytes]]:
    """The shares of one aggregator.

    Raises:
        InputError: CEL-R096 the file is damaged, of another task or role.
    """
    number = ROLES.index(role)
    public = NONCE + task.algorithm.public_bytes
    size = public + task.algorithm.share_bytes(number)
    for record in _read(task, _SHARES + number, size, path):
        yield record[:NONCE], record[NONCE:public], record[public:]


def write_checks(
    task: SecureTask, role: Role, checks: dict[bytes, bytes], path: Path, *, overwrite: bool
) -> None:
    """Write what the other aggregator must be told."""
    records = [nonce + verifier for nonce, verifier in checks.items()]
    _write(task, _CHECKS + ROLES.index(role), records, path, overwrite=overwrite)


def read_checks(task: SecureTask, role: Role, path: Path) -> dict[bytes, bytes]:
    """What the aggregator of a role has told."""
    size = NONCE + task.algorithm.verifier_bytes
    records = _read(task, _CHECKS + ROLES.index(role), size, path)
    return {record[:NONCE]: record[NONCE:] for record in records}


def write_sum(
    task: SecureTask, role: Role, share: AggregateShare, path: Path, *, overwrite: bool
) -> None:
    """Write the sum of one aggregator."""
    record = struct.pack("<QQ", share.reports, share.refused) + share.nonces + share.total
    _write(task, _SUMS + ROLES.index(role), [record], path, overwrite=overwrite)


def read_sum(task: SecureTask, role: Role, path: Path) -> AggregateShare:
    """The sum of the aggregator of a role."""
    size = 16 + _SET + task.circuit.outputs * task.circuit.field.size
    records = _read(task, _SUMS + ROLES.index(role), size, path)
    if len(records) != 1:
        raise InputError("CEL-R096.damaged")
    record = records[0]
    reports, refused = struct.unpack("<QQ", record[:16])
    return AggregateShare(reports, refused, record[16 : 16 + _SET], record[16 + _SET :])


def _write(
    task: SecureTask, kind: int, records: list[bytes], path: Path, *, overwrite: bool
) -> None:
    head = _HEAD.pack(MARK, kind, task.fingerprint, len(records))
    with replacing(path, overwrite=overwrite) as draft:
        draft.write_bytes(head + b"".join(records))


def _read(task: SecureTask, kind: int, size: int, path: Path) -> list[bytes]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError("CEL-R096.unreadable", path=str(path), reason=reason_of(error)) from None
    if len(data) < _HEAD.size or data[:4] != MARK:
        raise InputError("CEL-R096.damaged")
    _, found, fingerprint, count = _HEAD.unpack(data[: _HEAD.size])
    if fingerprint != task.fingerprint or found != kind:
        raise InputError("CEL-R096.other")
    if len(data) != _HEAD.size + count * size:
        raise InputError("CEL-R096.damaged")
    return [data[at : at + size] for at in range(_HEAD.size, len(data), size)]
