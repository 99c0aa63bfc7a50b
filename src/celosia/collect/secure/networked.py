"""One of two aggregators that run apart: each takes shares of devices, both close batches together.

The leader asks the helper about reports that wait, chooses the valid ones for a batch, and has the
helper close it; the helper closes a batch only where it finds each report valid itself, where there
are enough of them, and where none was in a batch before. Each adds its own noise, once for a batch.

A batch is closed in three steps that are on disk before the next one begins: its reports are
chosen by the leader, summed by the helper, summed by the leader. After a crash the same batch is
asked for again, and goes on from there; a sum that is there is never drawn anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

from celosia.collect.collector.batches import utc_day
from celosia.collect.collector.writer import TooBusy
from celosia.collect.secure._keccak import SEED
from celosia.collect.secure.aggregation import noisy_sum
from celosia.collect.secure.prio3 import NONCE, Check
from celosia.collect.secure.records import (
    ROLES,
    Decision,
    Role,
    Share,
    pack_checks,
    pack_decisions,
    pack_nonces,
    pack_sum,
    unpack_checks,
    unpack_decisions,
    unpack_nonces,
    unpack_shares,
)
from celosia.collect.secure.sealing import public_key, unseal
from celosia.collect.secure.share_folder import ShareFolder, State
from celosia.collect.secure.tasks import SecureTask
from celosia.core.errors import InputError
from celosia.core.methods import Parameter, PlainValues, checked
from celosia.core.randomness import Source, System

AT_ONCE = 256
"""Reports that the helper is asked about at once."""
LARGEST_BATCH = 500_000
"""Reports of one batch; those beyond it wait for the next one."""
WAITING = Parameter(name="waiting", kind="whole", least=1, most=10**9)
WAIT_DAYS = Parameter(name="wait_days", kind="whole", least=1, most=3650, unit="days")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareReceipt(PlainValues):
    """Shares are safely on disk."""

    reports: int
    new: int
    """How many of them were never seen before."""


class Helper(Protocol):
    """The other aggregator, as the leader sees it."""

    def decide(self, checks: bytes) -> bytes:
        """What the helper finds of reports."""

    def close_batch(self, id: str, nonces: bytes) -> None:
        """Have the helper add up these reports; the same ones again change nothing."""


def key_mark(task: SecureTask, key: bytes) -> str:
    """By which two aggregators see that they have the same verify key; it does not tell the key.

    Raises:
        InputError: CEL-R096 the key is not 32 bytes.
    """
    if len(key) != SEED:
        raise InputError("CEL-R096.key")
    made = hashlib.blake2b(task.fingerprint, digest_size=16, key=key, person=b"celosia-verify")
    return made.hexdigest()


class NetworkedAggregator:
    """An aggregator with a folder; it holds the shares of its role alone.

    A share whose other half does not come is dropped once `wait_days` are over, and its report is
    in no batch. The helper never drops a report that it found valid: the leader may have chosen it.

    Args:
        folder: of this aggregator alone.
        task: that all share.
        role: leader or helper.
        key: 32 secret bytes that both aggregators have, and no device.
        waiting: the most reports that may wait; more are sent away.
        wait_days: whole days that a share waits for its other half.
        seal_key: 32 secret bytes of this aggregator alone; then it takes sealed shares only.
        rng: of the noise; without it the operating system is.
        today: the number of the day.

    Raises:
        EngineError: CEL-R074 another process has the folder, CEL-R075 it cannot be read or written.
        InputError: CEL-R076 it belongs to another task, role or verify key, CEL-R096 the key is not
            32 bytes.
    """

    def __init__(
        self,
        folder: str | Path,
        task: SecureTask,
        role: Role,
        key: bytes,
        *,
        waiting: int = 1_000_000,
        wait_days: int = 30,
        seal_key: bytes | None = None,
        rng: Source | None = None,
        today: Callable[[], int] = utc_day,
    ) -> None:
        self.task = task
        self.role: Role = role
        self.key_mark = key_mark(task, key)
        self._key = key
        self._seal_key = seal_key
        self.public_key = None if seal_key is None else public_key(seal_key)
        """To which shares are sealed."""
        self._most: int = checked("aggregator", WAITING, waiting)
        self._wait_days: int = checked("aggregator", WAIT_DAYS, wait_days)
        self._today = today
        self._oldest = 0
        """The day before which nothing waits for its other half any more."""
        self.expired = 0
        """Shares that were dropped since this was opened."""
        self._rng = System() if rng is None else rng
        self._folder = ShareFolder(folder, task, role, self.key_mark)
        self._lock = RLock()
        """Of the folder; never held while the other aggregator is asked."""
        self._closing = RLock()
        """Of batches: one at a time is closed."""

    @property
    def waiting(self) -> int:
        """How many reports wait to be added up."""
        with self._lock:
            return self._folder.count(State.fresh, State.checked, State.valid)

    def take(self, data: bytes) -> ShareReceipt:
        """Take in shares; they are on disk when this returns.

        A report that was seen before is acknowledged and not taken in again, whatever its share.

        Args:
            data: as `pack_shares` writes it; with a seal key as `seal` then seals it.

        Raises:
            InputError: CEL-R096 damaged, of another task or of another role, or not sealed.
            TooBusy: too many reports wait.
            EngineError: CEL-R075 they could not be written.
        """
        if self._seal_key is not None:
            data = unseal(self.task, self.role, data, self._seal_key)
        shares = unpack_shares(self.task, self.role, data)
        with self._lock:
            if self.role == "helper":
                self._expire()
            if self.waiting + len(shares) > self._most:
                raise TooBusy()
            with self._folder.writing():
                new = self._folder.add(shares, self._today())
        return ShareReceipt(reports=len(shares), new=new)

    def decide(self, checks: bytes) -> bytes:
        """As the helper: what it finds of reports that it has, by what the leader has found.

        Raises:
            InputError: CEL-R096 damaged, of another task or of another role.
        """
        theirs = unpack_checks(self.task, "leader", checks)
        with self._closing:
            mine = self._checks(list(theirs))
            found = {}
            for nonce, check in mine.items():
                pair = (theirs[nonce], check.verifier)
                found[nonce] = self.task.algorithm.decide(check, pair)
            with self._lock:
                with self._folder.writing():
                    self._folder.decide(found)
                states = self._folder.states(list(theirs))
        blank = bytes(self.task.algorithm.verifier_bytes)
        told: dict[bytes, Decision] = {
            nonce: (
                state is State.valid or state is State.chosen,
                mine[nonce].verifier if nonce in mine else blank,
            )
            for nonce, state in states.items()
        }
        return pack_decisions(self.task, told)

    def close_batch(self, id: str, nonces: bytes) -> None:
        """As the helper: add up the reports of a batch, once.

        Raises:
            InputError: CEL-R096 too few, or damaged, CEL-R109 a report of it is not there, not
                valid, or was in a batch before; or the batch had other reports.
        """
        listed = unpack_nonces(self.task, nonces)
        if len(set(listed)) < len(listed):
            raise InputError("CEL-R096.twice")
        with self._closing:
            with self._lock:
                found = self._folder.batch(id)
                if found is None:
                    self._choose(id, listed)
                elif found[0] != b"".join(listed):
                    raise InputError("CEL-R109.other_batch")
            self._sum(id)

    def sum_of(self, id: str) -> bytes:
        """The sum of a closed batch, as `unpack_sum` reads it; always the same one.

        Raises:
            InputError: CEL-R109 there is no such batch.
        """
        with self._lock:
            found = self._folder.batch(id)
        if found is None or found[1] is None:
            raise InputError("CEL-R109.no_batch")
        return found[1]

    def close(self) -> None:
        """Let go of the folder; what waits stays there."""
        with self._closing, self._lock:
            self._folder.tidy()
            self._folder.close()

    def _expire(self) -> None:
        """Once a day: drop the shares that have waited too long for their other halves."""
        oldest = self._today() - self._wait_days
        with self._lock:
            if oldest > self._oldest:
                with self._folder.writing():
                    self.expired += self._folder.forget_before(oldest)
                self._oldest = oldest

    def _choose(self, id: str, nonces: Sequence[bytes]) -> None:
        """Choose reports for a batch, if each of them may be in one."""
        if len(nonces) < self.task.least:
            raise InputError("CEL-R096.too_few", least=self.task.least)
        states = self._folder.states(nonces)
        if any(states.get(each) is not State.valid for each in nonces):
            raise InputError("CEL-R109.not_valid")
        with self._folder.writing():
            self._folder.open_batch(id, nonces)

    def _sum(self, id: str) -> None:
        """Add up what is chosen for a batch, and forget its reports; once."""
        with self._lock:
            found = self._folder.batch(id)
            assert found is not None
            if found[1] is not None:
                return
            outputs = dict(self._folder.outputs(id))
            if len(outputs) * NONCE != len(found[0]):  # never: they are chosen in one step
                raise InputError("CEL-R109.not_valid")
            refused = self._folder.count(State.refused)
            share = noisy_sum(self.task, outputs, refused=refused, rng=self._rng)
            with self._folder.writing():
                self._folder.close_batch(id, pack_sum(self.task, self.role, share))
            self._folder.tidy()

    def _checks(self, nonces: Sequence[bytes]) -> dict[bytes, Check]:
        """What this aggregator finds of its shares, found once for each."""
        with self._lock:
            fresh = self._folder.shares(nonces)
        found = {share[0]: self._check(share) for share in fresh}
        with self._lock:
            if found:
                with self._folder.writing():
                    self._folder.keep_checks(found)
            return self._folder.checks(nonces)

    def _check(self, share: Share) -> Check | None:
        try:
            return self.task.algorithm.check(self._key, ROLES.index(self.role), share)
        except InputError:  # one client must not spoil the reports of all others
            return None


class LeadingAggregator(NetworkedAggregator):
    """The leader: it asks the helper, and begins batches.

    Args:
        folder: of this aggregator alone.
        task: that all share.
        key: 32 secret bytes that both aggregators have, and no device.
        helper: the other aggregator.
        settings: as for `NetworkedAggregator`.
    """

    def __init__(
        self, folder: str | Path, task: SecureTask, key: bytes, helper: Helper, **settings: Any
    ) -> None:
        super().__init__(folder, task, "leader", key, **settings)
        self._helper = helper

    def verify(self, ended: Callable[[], bool] = lambda: False) -> int:
        """Check all that waits together with the helper; how many are valid.

        Reports whose other share the helper has not yet wait on, until their days are over: then
        the helper has just been asked about each of them once more.

        Args:
            ended: whether to end early.

        Raises:
            EngineError: CEL-R109 the helper cannot be asked.
        """
        total = 0
        for state in (State.checked, State.fresh):  # so that none is asked about twice
            after = b""
            while not ended():
                with self._closing:
                    with self._lock:
                        some = self._folder.nonces(state, after=after, most=AT_ONCE)
                    if not some:
                        break
                    after = some[-1]
                    total += self._ask(some)
        if not ended():
            self._expire()
        return total

    def collect(self, id: str) -> bytes:
        """Close a batch of all that is valid, and return this sum of it; the helper has the other.

        The same id is the same batch with the same sum, however often it is asked for.

        Raises:
            InputError: CEL-R096 too few reports are valid.
            EngineError: CEL-R109 the helper cannot be asked, or refuses; ask again.
        """
        with self._closing:
            with self._lock:
                found = self._folder.batch(id)
            if found is None:
                self.verify()
                with self._lock:
                    chosen = self._folder.nonces(State.valid, most=LARGEST_BATCH)
                    self._choose(id, chosen)
                    found = self._folder.batch(id)
            assert found is not None
            joined, closed = found
            if closed is None:
                nonces = [joined[at : at + NONCE] for at in range(0, len(joined), NONCE)]
                self._helper.close_batch(id, pack_nonces(self.task, nonces))
                self._sum(id)
        return self.sum_of(id)

    def _ask(self, nonces: Sequence[bytes]) -> int:
        mine = self._checks(nonces)
        blank = bytes(self.task.algorithm.verifier_bytes)  # of what could not be read
        asked = {each: mine[each].verifier if each in mine else blank for each in nonces}
        told = unpack_decisions(
            self.task, self._helper.decide(pack_checks(self.task, self.role, asked))
        )
        decide = self.task.algorithm.decide
        found = {
            nonce: valid and decide(mine[nonce], (mine[nonce].verifier, verifier))
            for nonce, (valid, verifier) in told.items()
            if nonce in mine
        }
        with self._lock, self._folder.writing():
            self._folder.decide(found)
        return sum(found.values())
