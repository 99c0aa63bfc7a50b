"""The two aggregators: what each does with its shares, and what they publish together."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from celosia.collect.registry import reason_of
from celosia.collect.secure._keccak import SEED
from celosia.collect.secure.fields import Vector
from celosia.collect.secure.prio3 import Check, Report
from celosia.collect.secure.records import ROLES, SET, AggregateShare, Role, Share, pack_shares
from celosia.collect.secure.tasks import SecureTask
from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.messages import say
from celosia.core.randomness import Source, System


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

    def check(self, shares: Iterable[Share]) -> dict[bytes, bytes]:
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
        algorithm = self.task.algorithm
        valid = {}
        for nonce, check in self._checks.items():
            told = theirs.get(nonce, b"")
            pair = (told, check.verifier) if self.number else (check.verifier, told)
            if told and algorithm.decide(check, pair):
                valid[nonce] = check.output
        refused = len(self._checks) + len(self._unreadable) - len(valid)
        return noisy_sum(self.task, valid, refused=refused, rng=rng)


def noisy_sum(
    task: SecureTask, outputs: Mapping[bytes, Vector], *, refused: int, rng: Source | None
) -> AggregateShare:
    """The sum of the shares of valid reports, by their nonces, with noise that is drawn now.

    Raises:
        InputError: CEL-R096 too few reports are valid.
    """
    if len(outputs) < task.least:
        raise InputError("CEL-R096.too_few", least=task.least)
    field = task.circuit.field
    total: Vector = [0] * task.circuit.outputs
    for output in outputs.values():
        total = field.add(total, output)
    noise = task.noise.draw(len(total), System() if rng is None else rng)
    total = field.add(total, [int(each) % field.modulus for each in noise])
    return AggregateShare(len(outputs), refused, digest_of(outputs), field.to_bytes(total))


def digest_of(nonces: Iterable[bytes]) -> bytes:
    """What tells one set of reports from another."""
    return hashlib.blake2b(b"".join(sorted(nonces)), digest_size=SET).digest()


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
    for role, path in zip(ROLES, paths, strict=True):
        write_file(path, pack_shares(task, role, listed), overwrite=overwrite)
    return len(listed)


def write_file(path: Path, data: bytes, *, overwrite: bool) -> None:
    """Write shares, checks or a sum."""
    with replacing(path, overwrite=overwrite) as draft:
        draft.write_bytes(data)


def read_file(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        InputError: CEL-R096 it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError("CEL-R096.unreadable", path=str(path), reason=reason_of(error)) from None
