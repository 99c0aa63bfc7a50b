"""The one shape of every protocol of local differential privacy.

`protocol.client().privatise(values)` makes reports on devices; `protocol.server()` absorbs them,
merges with other servers, and estimates. A server's state is whole numbers that only grow, so
merging is exact and knows no order. Everything that decides about reports is in the parameters of
the protocol, and their fingerprint travels with every batch.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.blankets import Blanket
from celosia.accounting.losses import Loss, PureLoss
from celosia.collect.estimates import POSTS, Estimates, Summary, check_significance, post_process
from celosia.collect.reports import Packed, Reports
from celosia.collect.state import State, read_state, write_state
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Method, Parameter, checked, parameter
from celosia.core.numbers import exact, exactly
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System

if TYPE_CHECKING:
    from celosia.accounting.shuffling import ShuffledLoss
    from celosia.collect.memory import Memory

FORM = "celosia protocol 1"
BlanketShares = tuple[Fraction, Fraction]
"""Hits and overlap, as in `amplify_by_shuffling`."""
Estimated = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Raw counts and their standard errors."""
Estimator = Callable[[tuple[Hashable, ...]], Estimated]
EPSILON = Parameter(name="epsilon", kind="exact", least=1e-6, most=10**4, start=4, is_main=True)
"""Below, a coin of 32 bits cannot tell the truth from a lie; above, there is nothing to protect."""
MOST = 2**62 - 1
"""No count of a state goes beyond, so that the sum of two is below 2^63."""


def as_key(key: Any) -> str:
    """A name of a collection; ValueError where it is none."""
    if not isinstance(key, str) or not 0 < len(key.encode()) <= 48:
        raise ValueError
    return key


@dataclass(frozen=True, kw_only=True)
class Protocol(Method, ABC):
    """How values become reports, and reports become estimates.

    Args:
        epsilon: of one report, for any two values of one person.
        key: the name of the collection; it decides all hash functions.
    """

    epsilon: float | Fraction = field(metadata={"parameter": EPSILON})
    key: str = parameter("celosia", kind="text", check=as_key, allowed="collect.allowed.key")

    @abstractmethod
    def client(self, *, rng: Source | None = None) -> Client:
        """The side of the device; without `rng` it draws from the operating system."""

    @abstractmethod
    def server(self) -> Server:
        """An empty server."""

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """The bits of one report."""

    @abstractmethod
    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the raw estimate of one value.

        Args:
            users: how many reports there are.
            count: how many of them have the value.
            squares: the sum of the squared counts of all other values, for collisions.
        """

    @property
    def loss(self) -> Loss:
        """The privacy loss of one report for its sender."""
        price = exactly(self.epsilon)
        return PureLoss(price)

    @property
    def lasting_epsilon(self) -> float:
        """What all reports of one person on one unchanged value cost together, however many.

        Infinite where nothing is memoised: then a fresh report is a fresh cost.
        """
        return float("inf")

    @property
    def blanket(self) -> BlanketShares | Blanket | None:
        """What reports have in common whatever their values are.

        Of two levels of likelihood, the shares of the blanket that one value, and that two values,
        make likelier; of more levels the law of it. None where it is not known: then what holds for
        any protocol is told of shuffled reports.
        """
        return None

    def shuffled(self, reports: int) -> ShuffledLoss:
        """The loss of one report among others, for a reader who sees them shuffled.

        It holds if the shuffler is honest, and if the others have made their reports as they
        should. If the shuffler works together with the reader, `loss` holds.

        >>> from celosia.collect import KaryResponse
        >>> protocol = KaryResponse(epsilon=4, domain=("car", "bus", "bike"))
        >>> print(f"{protocol.shuffled(1_000_000).epsilon(1e-8):.3f}")
        0.045

        Args:
            reports: how many are shuffled together.
        """
        from celosia.accounting.shuffling import amplify_by_shuffling

        found = self.blanket
        if not isinstance(found, tuple):
            return amplify_by_shuffling(self.loss.pure, reports=reports, blanket=found)
        hits, overlap = found
        return amplify_by_shuffling(self.loss.pure, reports=reports, hits=hits, overlap=overlap)

    def parameters(self) -> dict[str, Any]:
        """All that decides about reports, as plain values: what the fingerprint is made of.

        `as_dict` is for people and files. This form never changes, because collections under way
        are known by it.
        """
        found: dict[str, Any] = {"protocol": self.method_name}
        for each in fields(self):
            found[each.name] = _plain(getattr(self, each.name))
        return found

    @cached_property
    def fingerprint(self) -> bytes:
        """8 bytes that tell protocols and their parameters apart."""
        said = json.dumps([FORM, self.parameters()], sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(said.encode(), digest_size=8).digest()


def check_report_epsilon(method: str, epsilon: object, *, name: str = "epsilon") -> Fraction:
    """An epsilon of a report as an exact number.

    Raises:
        InputError: CEL-I060 it is no number from 1e-6 to 10,000.
    """
    found: Fraction = checked(method, replace(EPSILON, name=name), epsilon)
    return found


def _plain(value: Any) -> Any:
    """A parameter for JSON; equal numbers are written alike, so 2, 2.0 and 4/2 are one epsilon."""
    if isinstance(value, (float, Fraction, Decimal, np.integer, np.floating)):
        number = exact(value)
        if number is not None:
            return int(number) if number.denominator == 1 else str(number)
    return list(map(_plain, value)) if isinstance(value, tuple) else value


class Client(ABC):
    """The side of the device: sees values, sends reports."""

    def __init__(self, protocol: Protocol, *, rng: Source | None = None) -> None:
        self.protocol = protocol
        self.rng = System() if rng is None else rng

    def privatise(self, values: Any) -> Reports:
        """Reports of one value (a text, a whole number) or of many, each from its own device."""
        listed = [values] if isinstance(values, (str, bytes, int, np.integer)) else values
        return Reports(self.protocol.fingerprint, self._encode(listed))

    def batches(
        self, values: Any, *, size: int = 2**16, progress: Progress = silent
    ) -> Iterator[Reports]:
        """Reports of many values, batch by batch: memory for `size` reports is all it takes."""
        for start in range(0, len(values), size):
            progress(Step(Message("collect.stage.report"), start, len(values)))
            yield self.privatise(values[start : start + size])

    @abstractmethod
    def _encode(self, values: Any) -> Packed:
        """One report for each value."""


class RememberingClient(Client):
    """The side of a device that may remember: with a memory, it tells what it told before."""

    def __init__(
        self, protocol: Protocol, *, rng: Source | None = None, memory: Memory | None = None
    ) -> None:
        super().__init__(protocol, rng=rng)
        self.memory = memory


class Server(ABC):
    """The side of the collector: sees reports, and keeps sums of them."""

    finds: ClassVar[bool] = False
    """Whether `find` needs no candidates."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.users = 0

    def absorb(self, reports: Reports | bytes) -> Self:
        """Count a batch; all of it, or nothing where something is wrong with it.

        Raises:
            InputError: CEL-R001, CEL-R002 damaged, CEL-R004 made under other parameters.
        """
        batch = Reports.from_bytes(reports) if isinstance(reports, bytes) else reports
        self._same(batch.fingerprint)
        self._count(batch.packed)
        self.users += len(batch)
        return self

    def merge(self, other: Server) -> Self:
        """Take in what another server has counted.

        Raises:
            InputError: CEL-R004 it counts another protocol, or other parameters.
        """
        self._same(other.protocol.fingerprint)
        self._add(other.users, other._state())
        return self

    def estimate(self, candidates: Sequence[Hashable], *, post: str = "raw") -> Estimates:
        """How many reports have each candidate, with standard errors.

        Args:
            candidates: a public list: the values asked about.
            post: `raw` for single values, `norm-sub` for a whole histogram (candidates are all
                values that there are), or another of `POSTS`.

        Raises:
            InputError: CEL-R005 there is no such post-processing, CEL-R009 a text in the place of a
                list.
        """
        return self._answer(candidates, post, self._estimate)

    def find(
        self,
        candidates: Sequence[Hashable] | None = None,
        *,
        significance: float = 0.05,
        progress: Progress = silent,
    ) -> Estimates:
        """The values that are there beyond chance, the most common first.

        Args:
            candidates: a public list to find them in; a server that `finds` needs none.
            significance: the chance of any false discovery.
            progress: called now and then.

        Raises:
            InputError: CEL-R009 a text in the place of a list, CEL-I060 the significance is not
                between 0 and 1, CEL-R104 there are no candidates, and values cannot be found
                without.
        """
        level = check_significance(significance)
        if candidates is None and not self.finds:
            raise InputError("CEL-R104", protocol_name=self.protocol.method_name)
        return self._find(None if candidates is None else _as_tuple(candidates), level, progress)

    def summary(self) -> Summary | None:
        """What the reports tell that is no list of values; None where they tell of values."""
        return None

    def _answer(self, candidates: Sequence[Hashable], post: str, estimator: Estimator) -> Estimates:
        """Estimates by one way to make them, after post-processing."""
        listed = _as_tuple(candidates)
        if post not in POSTS:
            raise InputError("CEL-R005", post=post, posts=", ".join(POSTS))
        counts, errors = estimator(listed)
        shown = post_process(counts, self.users, kind=post)
        return Estimates(self.protocol.method_name, listed, shown, errors, self.users, post, counts)

    def to_bytes(self) -> bytes:
        """The whole state, to be read by `load`."""
        return write_state(self.protocol.fingerprint, self.users, self._state())

    def load(self, data: bytes) -> Self:
        """Take in a state that `to_bytes` has written, as by `merge`.

        Raises:
            InputError: CEL-R004 of other parameters, CEL-R006 damaged, CEL-R008 far too large.
        """
        found, users, arrays = read_state(data)
        self._same(found)
        if not self._fits(arrays):
            raise InputError("CEL-R006.form")
        self._add(users, arrays)
        return self

    def _fits(self, state: State) -> bool:
        """Whether a state has the form of this one, so that it can be added."""
        mine = {name: each.shape for name, each in self._state().items()}
        return mine == {name: each.shape for name, each in state.items()}

    def _add(self, users: int, state: State) -> None:
        """Add counts of the same form; all of them, or none where a sum would be too large."""
        mine = self._state()
        pairs = [(each, state[name]) for name, each in mine.items()]
        # Each side is within +-2^62, hence the sum within 64 bits; a sum beyond is refused later.
        if self.users + users > MOST or any(
            side.size and max(int(side.max()), -int(side.min())) > MOST
            for pair in pairs
            for side in pair
        ):
            raise InputError("CEL-R008")
        for ours, theirs in pairs:
            np.add(ours, theirs, out=ours)
        self.users += users

    def _same(self, fingerprint: bytes) -> None:
        if fingerprint != self.protocol.fingerprint:
            raise InputError("CEL-R004.other_parameters")

    def _find(
        self, candidates: tuple[Hashable, ...] | None, significance: float, progress: Progress
    ) -> Estimates:
        """As `find`; without candidates only if this server finds values by itself."""
        if candidates is None:
            return self._find_all(significance, progress)
        return self.estimate(candidates).significant(significance)

    def _find_all(self, significance: float, progress: Progress) -> Estimates:
        """The values that a server finds which `finds`."""
        raise AssertionError("this server has nothing to find values with")

    @abstractmethod
    def _count(self, packed: Packed) -> None:
        """Add reports to the state; refuse them before anything is changed."""

    @abstractmethod
    def _state(self) -> State:
        """The whole-number arrays that are all of the state, by name; to be changed in place."""

    @abstractmethod
    def _estimate(self, candidates: tuple[Hashable, ...]) -> Estimated:
        """Raw counts and their standard errors."""


def _as_tuple(candidates: Sequence[Hashable]) -> tuple[Hashable, ...]:
    if isinstance(candidates, (str, bytes)):
        raise InputError("CEL-R009")
    return tuple(candidates)
