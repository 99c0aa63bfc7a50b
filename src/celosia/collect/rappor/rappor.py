"""RAPPOR: Bloom filters behind two stages of randomised response, for values from a known list."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.blankets import Blanket, OwnBits
from celosia.collect.coins import WHOLE
from celosia.collect.protocol import (
    Estimated,
    Protocol,
    RememberingClient,
    Server,
    check_report_epsilon,
)
from celosia.collect.reports import Packed, bits_for, unpack
from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.core.numbers import exact, exactly
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.mechanisms.additive.directed_rounding import float_above, log_above
from celosia.sketches.hashing import Digests, HashFamily, digests

if TYPE_CHECKING:
    from celosia.collect.estimates import Estimates
    from celosia.collect.memory import Due, Memory
    from celosia.collect.rappor.decoding import BitCounts, DecodedValues
    from celosia.collect.state import State

MOST_CELLS = 2**24
"""Cohorts times bits: a server keeps a whole number for each."""
_AT_ONCE = 2**19
"""Bits that are tossed at once: they fit the cache, and memory stays the same for all reports."""

Bits = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Rappor(Protocol):
    """Reports of a Bloom filter, each bit randomised twice.

    A device belongs to one of `cohorts`, each with hash functions of its own. A value sets up to
    `hashes` of `bits` bits. The permanent stage replaces each bit by a fair one with chance `f`;
    with a memory it is done once for each value and kept. The instantaneous stage is fresh in each
    report: a bit is sent as 1 with chance `q` where the kept bit is 1, and `p` where it is 0.

    Guarantee: for any two values of one person, one report is `epsilon`-private, and all reports
    on one unchanged value together are `lasting_epsilon`-private if the client has a memory.
    Every further value costs `lasting_epsilon` again; and that the value has changed, though not
    from what to what, can be seen in reports that are known to be from one device. Chances are
    multiples of 2^-32, and both figures are of the chances as they are tossed.

    Reference: Erlingsson, Pihur, Korolova 2014, "RAPPOR: Randomized Aggregatable
    Privacy-Preserving Ordinal Response".

    Raises:
        InputError: CEL-R030 chances that hide nothing or tell nothing.

    >>> one = Rappor(f=0, p=0.5, q=0.75, hashes=1)
    >>> float(one.epsilon), Rappor(f=0.5, hashes=8).lasting_epsilon
    (1.09861228866811, 17.57779661868976)
    """

    method_name: ClassVar[str] = "rappor"

    epsilon: float | Fraction = field(init=False)
    bits: int = parameter(128, least=2, most=2**16)
    hashes: int = parameter(2, least=1, most=1024)
    cohorts: int = parameter(8, least=1, most=2**16)
    f: float | Fraction = parameter(Fraction(1, 2), kind="exact", least=0, most=1)
    p: float | Fraction = parameter(Fraction(1, 2), kind="exact", least=0, most=1)
    q: float | Fraction = parameter(Fraction(3, 4), kind="exact", least=0, most=1)

    def check(self) -> None:
        """Find what a report costs; refuse chances that hide nothing or tell nothing."""
        if self.cohorts * self.bits > MOST_CELLS:
            raise InputError("CEL-R030.too_many_cells", most=MOST_CELLS)
        low, high = self.chances
        if low == high:
            raise InputError("CEL-R030.says_nothing")
        if 0 in (low, high):
            raise InputError("CEL-R030.gives_away")
        odds = high * (1 - low) / (low * (1 - high))
        price = self.hashes * log_above(max(odds, 1 / odds))
        object.__setattr__(self, "epsilon", check_report_epsilon(self.method_name, price))

    @classmethod
    def for_epsilon(
        cls,
        *,
        lasting: float | Fraction,
        one: float | Fraction,
        bits: int = 128,
        hashes: int = 2,
        cohorts: int = 8,
        key: str = "celosia",
    ) -> Rappor:
        """The RAPPOR that costs at most `one` for one report and `lasting` for all of one value.

        Where `one` is at most half of `lasting`, `p` and `q` are those with the least error for
        rare values (a set bit is sent as a fair coin, as in optimised unary encoding), else
        p = 1 - q.

        Raises:
            InputError: CEL-I060 not an epsilon, CEL-R031 one report would cost more than all.

        >>> made = Rappor.for_epsilon(lasting=8, one=2, hashes=2)
        >>> round(made.lasting_epsilon, 6), round(float(made.epsilon), 6)
        (8.0, 2.0)
        """
        from celosia.collect.rappor.calibration import calibrate  # it tries Rappors

        price = check_report_epsilon(cls.method_name, one, name="one")
        whole = check_report_epsilon(cls.method_name, lasting, name="lasting")
        if price > whole:
            raise InputError("CEL-R031.one_above_lasting")
        sizes = {"bits": bits, "hashes": hashes, "cohorts": cohorts}
        cls(**sizes, key=key)  # refuses wrong sizes before chances are sought for them
        return calibrate(lambda **found: cls(**found, **sizes, key=key), hashes, whole, price)

    @cached_property
    def lies(self) -> int:
        """The permanent stage changes a bit, of 0 or of 1, with a chance of `lies` / 2^32.

        It is half of `f`, rounded up: towards more privacy.
        """
        share = exactly(self.f)
        return ceil(share * WHOLE / 2)

    @cached_property
    def heads(self) -> tuple[int, int]:
        """Of 2^32: the chances of `p` and `q` as they are tossed (a 1 as 1 - 2^-32)."""
        low, high = exact(self.p), exact(self.q)
        assert low is not None
        assert high is not None
        return min(round(low * WHOLE), WHOLE - 1), min(round(high * WHOLE), WHOLE - 1)

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction]:
        """That a bit is sent as 1 where the value does not set it, and where it does: p*, q*."""
        lie = Fraction(self.lies, WHOLE)
        low, high = (Fraction(each, WHOLE) for each in self.heads)
        return low + lie * (high - low), high - lie * (high - low)

    @property
    def own_bits(self) -> OwnBits:
        """The bits of a value; the cohort is drawn whatever the value is."""
        low, high = self.chances
        return OwnBits(own=high, other=low, count=self.hashes)

    @property
    def blanket(self) -> Blanket | None:
        """All bits as if of other values; values that share bits are hidden the better."""
        return Blanket.of_own_bits([self.own_bits])

    @property
    def lasting(self) -> Fraction | None:
        """As `lasting_epsilon`, exactly rounded up; None without a permanent stage."""
        if not self.lies:
            return None
        # Two values differ in at most `hashes` bits each way: 2 * hashes in all.
        return 2 * self.hashes * log_above(Fraction(WHOLE - self.lies, self.lies))

    @property
    def lasting_epsilon(self) -> float:
        price = self.lasting
        return inf if price is None else float_above(price)

    @property
    def report_bits(self) -> int:
        return bits_for(self.cohorts) + self.bits

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the estimate of one value whose bits no other candidate shares.

        Candidates that share bits raise it; `estimate` and `decode` count that in.
        """
        low, high = (float(each) for each in self.chances)
        noise = count * high * (1 - high) + (users - count) * low * (1 - low)
        return noise / (self.hashes * (high - low) ** 2)

    def client(self, *, rng: Source | None = None, memory: Memory | None = None) -> RapporClient:
        return RapporClient(self, rng=rng, memory=memory)

    def server(self) -> RapporServer:
        return RapporServer(self)

    @cached_property
    def family(self) -> HashFamily:
        """The hash functions: those of cohort c are rows c * hashes up to (c + 1) * hashes."""
        rows = self.cohorts * self.hashes
        return HashFamily(key=b"rappor " + self.key.encode(), rows=rows, width=self.bits)

    def filters(self, values: Digests, cohorts: NDArray[np.int64]) -> Bits:
        """The Bloom filters of values, each in its cohort."""
        found = np.zeros((values.size, self.bits), dtype=np.bool_)
        at = np.arange(values.size)
        for row in range(self.hashes):
            found[at, self.family.columns_at(values, cohorts * self.hashes + row)] = True
        return found

    def permanent(self, filters: Bits, rng: Source) -> Bits:
        """The first stage: bits of 0 and of 1 alike are changed with chance f/2."""
        units = np.frombuffer(rng.raw(4 * filters.size), dtype=np.uint32)
        changed: Bits = filters ^ (units < np.uint32(self.lies)).reshape(filters.shape)
        return changed

    def instantaneous(self, kept: Bits, rng: Source) -> Bits:
        """The second stage: fresh bits, 1 with chance q or p."""
        low, high = self.heads
        units = np.frombuffer(rng.raw(4 * kept.size), dtype=np.uint32).reshape(kept.shape)
        sent: Bits = units < np.where(kept, np.uint32(high), np.uint32(low))
        return sent

    def pack_reports(self, cohorts: NDArray[np.int64], sent: Bits) -> Packed:
        """Reports: the cohort, then the bits."""
        width = bits_for(self.cohorts)
        head = (cohorts[:, None] >> np.arange(width)) & 1
        every = np.concatenate([head.astype(np.uint8), sent.astype(np.uint8)], axis=1)
        return np.packbits(every, axis=1, bitorder="little")

    def unpack_reports(self, reports: Packed) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """The cohorts and the bits of reports.

        Raises:
            InputError: CEL-R001 of another form, CEL-R032 of a cohort that there is not.
        """
        width = bits_for(self.cohorts)
        whole, rest = divmod(self.bits, 56)
        cohorts = unpack(reports, [width, *[56] * whole, rest])[0]
        if np.any(cohorts >= self.cohorts):
            raise InputError("CEL-R032")
        every = np.unpackbits(reports, axis=1, bitorder="little", count=self.report_bits)
        return cohorts, every[:, width:]


class RapporClient(RememberingClient):
    """The side of the device of RAPPOR."""

    protocol: Rappor

    def _encode(self, values: Any) -> Packed:
        found = digests(values)
        if self.memory is not None:
            rows = [self._remembered(found[at : at + 1], self.memory) for at in range(found.size)]
            empty = np.empty((0, -(-self.protocol.report_bits // 8)), dtype=np.uint8)
            return np.concatenate([empty, *rows])
        step = max(1, _AT_ONCE // self.protocol.bits)
        made = np.empty((found.size, -(-self.protocol.report_bits // 8)), dtype=np.uint8)
        cohorts = self.rng.integers(self.protocol.cohorts, found.size)
        for start in range(0, found.size, step):
            part = slice(start, start + step)
            kept = self.protocol.permanent(
                self.protocol.filters(found[part], cohorts[part]), self.rng
            )
            sent = self.protocol.instantaneous(kept, self.rng)
            made[part] = self.protocol.pack_reports(cohorts[part], sent)
        return made

    def due(self, values: Any) -> list[Due]:
        """What reports of values want to be kept or paid, see `Memory.check`."""
        price = self.protocol.lasting
        if price is None:
            return [(self.protocol, None, Fraction(self.protocol.epsilon))] * len(values)
        return [(self.protocol, _case(each), price) for each in digests(values).tolist()]

    def _remembered(self, value: Digests, memory: Memory) -> Packed:
        """One report of this device: its cohort and its permanent bits are drawn once and kept."""
        protocol = self.protocol
        number = memory.recall(
            protocol,
            b"cohort",
            lambda rng: int(rng.integers(protocol.cohorts, 1)[0]).to_bytes(4, "little"),
        )
        cohort = np.array([int.from_bytes(number, "little")])
        price = protocol.lasting
        if price is None:  # nothing to keep: a filter that was not changed must not be on the disk
            memory.charge(Fraction(protocol.epsilon))
            kept = protocol.filters(value, cohort)
        else:
            answer = memory.recall(
                protocol,
                _case(int(value[0])),
                lambda rng: np.packbits(
                    protocol.permanent(protocol.filters(value, cohort), rng)
                ).tobytes(),
                price=price,
            )
            bits = np.frombuffer(answer, dtype=np.uint8)
            kept = np.unpackbits(bits, count=protocol.bits).astype(np.bool_)[None, :]
        return protocol.pack_reports(cohort, protocol.instantaneous(kept, self.rng))


class RapporServer(Server):
    """The side of the collector of RAPPOR: how often each bit of each cohort was 1."""

    protocol: Rappor

    def __init__(self, protocol: Rappor) -> None:
        super().__init__(protocol)
        self.ones = np.zeros((protocol.cohorts, protocol.bits), dtype=np.int64)
        self.reports = np.zeros(protocol.cohorts, dtype=np.int64)

    def _count(self, packed: Packed) -> None:
        step = max(1, _AT_ONCE // self.protocol.bits)
        ones, reports = np.zeros_like(self.ones), np.zeros_like(self.reports)
        for start in range(0, packed.shape[0], step):
            cohorts, bits = self.protocol.unpack_reports(packed[start : start + step])
            order = np.argsort(cohorts, kind="stable")
            there, first = np.unique(cohorts[order], return_index=True)
            ones[there] += np.add.reduceat(bits[order], first, axis=0, dtype=np.int64)
            reports += np.bincount(cohorts, minlength=self.protocol.cohorts)
        self.ones += ones  # only now: a batch with a bad report is not counted at all
        self.reports += reports

    def _state(self) -> State:
        return {"ones": self.ones, "reports": self.reports}

    def bit_counts(self) -> BitCounts:
        """How many values set each bit of each cohort, without bias."""
        from celosia.collect.rappor.decoding import BitCounts  # SciPy inside

        return BitCounts.of(self.protocol, self.ones, self.reports)

    def _estimate(self, candidates: tuple[Hashable, ...]) -> Estimated:
        from celosia.collect.rappor.decoding import unbiased_estimates  # SciPy inside

        return unbiased_estimates(self.bit_counts(), digests(list(candidates)))

    def _find(
        self, candidates: tuple[Hashable, ...] | None, significance: float, progress: Progress
    ) -> Estimates:
        assert candidates is not None
        return self.decode(candidates, confidence=1 - significance, progress=progress).kept

    def decode(
        self,
        candidates: Sequence[Hashable],
        *,
        confidence: float = 0.95,
        correction: str = "bonferroni",
        penalty: float | None = None,
        progress: Progress = silent,
    ) -> DecodedValues:
        """Which candidates are there, and how many have them; for long lists of candidates.

        Unlike those of `estimate`, counts are of at least 0 before the last step and not without
        bias; there may be more candidates than bits.

        Args:
            candidates: a public list.
            confidence: that no absent value is called detected (`bonferroni`), or the share of
                detected values that are there on average (`fdr`).
            correction: `bonferroni` or `fdr`.
            penalty: of the Lasso that selects, in standard errors of an absent value; 0 selects by
                non-negative least squares. Without it: 0 up to as many candidates as bits of all
                cohorts, the root of 2 ln(candidates) beyond.
            progress: is told of each step.
        """
        from celosia.collect.rappor.decoding import decode  # SciPy inside

        return decode(
            self.bit_counts(),
            tuple(candidates),
            confidence=confidence,
            correction=correction,
            penalty=penalty,
            progress=progress,
        )


def _case(digest: int) -> bytes:
    return b"value" + digest.to_bytes(8, "little")
