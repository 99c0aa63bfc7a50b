"""Heavy hitters without a dictionary: a tree of prefixes, grown only where it is common."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.blankets import Blanket
from celosia.collect.estimates import Estimates, check_significance
from celosia.collect.oracles.pure import Floats, fingerprint_of
from celosia.collect.protocol import BlanketShares, Client, Protocol, Server
from celosia.collect.registry import PROTOCOLS
from celosia.collect.reports import Packed, check_form, malformed
from celosia.collect.state import State
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import method_from_dict, parameter
from celosia.core.numbers import exact
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source

MOST_BITS = 62
MOST_LETTERS = 256


@dataclass(frozen=True)
class PrefixLevels:
    """Prefixes of numbers of `bits` bits (from the highest on), or of texts over an `alphabet`.

    A text shorter than its level is its own prefix, and does not grow any more.

    >>> tree = PrefixLevels(8, 0, 4, 2, "", False)
    >>> tree.lengths, tree.cut(np.array([0b10110001]), 1).tolist(), tree.longer((0b1011,), 0)
    ((4, 6, 8), [44], (44, 45, 46, 47))
    """

    bits: int
    length: int
    first: int
    step: int
    alphabet: str
    slow: bool
    """Whether the tree grows by single bits or letters where no step is given."""

    def __post_init__(self) -> None:
        texts = isinstance(self.alphabet, str) and len(self.alphabet) > 1
        fits = (
            2 <= len(set(self.alphabet)) == len(self.alphabet)
            and 1 <= self.length <= MOST_LETTERS
            and not self.bits
            if texts
            else 1 <= self.bits <= MOST_BITS and not self.length and not self.alphabet
        )
        if not fits or self.first < 0 or self.step < 0:
            raise InputError(
                "CEL-R057.neither_bits_nor_letters", most_bits=MOST_BITS, most_letters=MOST_LETTERS
            )
        few = texts and len(self.alphabet) > 40  # then two letters at once are too many
        first, step = ((1 if few else 2), (1 if few else 2)) if texts else (12, 8)
        if self.slow:
            first, step = (1, 1) if texts else (4, 1)
        object.__setattr__(self, "first", min(self.first or first, self.whole))
        object.__setattr__(self, "step", self.step or step)

    @property
    def whole(self) -> int:
        """The bits or letters of whole values."""
        return self.bits or self.length

    @property
    def lengths(self) -> tuple[int, ...]:
        """The bits or letters of each level."""
        return (*range(self.first, self.whole, self.step), self.whole)

    @property
    def levels(self) -> int:
        """How many there are."""
        return len(self.lengths)

    @property
    def starts(self) -> int:
        """The prefixes of the first level."""
        return self._options(self.first)

    @property
    def branches(self) -> int:
        """What one prefix grows into."""
        return self._options(self.step)

    def _options(self, step: int) -> int:
        if self.bits:
            return int(2**step)
        return sum(len(self.alphabet) ** letters for letters in range(step + 1))

    def start(self) -> tuple[Hashable, ...]:
        """All prefixes of the first level."""
        return tuple(range(self.starts)) if self.bits else tuple(self._texts(self.first))

    def longer(self, prefixes: tuple[Any, ...], level: int) -> tuple[Hashable, ...]:
        """All that prefixes of a level can be in the next one."""
        here, there = self.lengths[level], self.lengths[level + 1]
        if self.bits:
            more = there - here
            return tuple((each << more) + low for each in prefixes for low in range(2**more))
        ends = self._texts(there - here)
        return tuple(
            each + end for each in prefixes for end in (ends if len(each) == here else [""])
        )

    def _texts(self, most: int) -> list[str]:
        return [
            "".join(letters)
            for size in range(most + 1)
            for letters in product(self.alphabet, repeat=size)
        ]

    def cut(self, values: NDArray[Any], level: int) -> NDArray[Any]:
        """The prefixes of values that belong to a level."""
        length = self.lengths[level]
        if self.bits:
            return values >> (self.bits - length)
        return np.array([each[:length] for each in values.tolist()], dtype=object)

    def check_values(self, values: Any) -> NDArray[Any]:
        """Values as an array, all of the kind that the tree is for.

        Raises:
            InputError: CEL-R058 a value is not; which one is not told.
        """
        listed = values.to_numpy() if hasattr(values, "to_numpy") else values
        if self.bits and isinstance(listed, np.ndarray) and listed.dtype.kind in "iu":
            fits = not listed.size or (int(listed.min()) >= 0 and int(listed.max()) < 2**self.bits)
            if fits:
                return listed.astype(np.int64)
            raise _foreign()
        listed = listed.tolist() if isinstance(listed, np.ndarray) else list(listed)
        if self.bits:
            if all(type(each) is int and 0 <= each < 2**self.bits for each in listed):
                return np.array(listed, dtype=np.int64)
            raise _foreign()
        letters = set(self.alphabet)
        if not all(
            isinstance(each, str) and len(each) <= self.length and letters.issuperset(each)
            for each in listed
        ):
            raise _foreign()
        made = np.empty(len(listed), dtype=object)
        made[:] = listed
        return made


def _foreign() -> InputError:
    return InputError("CEL-R058")


MOST_CANDIDATES = 2**22
LEVEL_BITS = 8
ORACLES = ("olh", "cms", "hcms", "rappor")
"""Protocols that need no domain, and estimate how common any value is."""


def _letters(alphabet: Any) -> str:
    if not isinstance(alphabet, str):
        raise TypeError
    return alphabet


def _oracle(oracle: Any) -> str | Protocol:
    """The name of a protocol, one, or what a file says of one."""
    if isinstance(oracle, Mapping):
        known = {name: PROTOCOLS[name] for name in ORACLES}
        return method_from_dict(known, oracle, what="protocol")
    if not isinstance(oracle, (str, Protocol)):
        raise TypeError
    return oracle


@dataclass(frozen=True, kw_only=True)
class PrefixTree(Protocol):
    """Common values among all whole numbers of some bits, or all texts over an alphabet.

    Every device chooses a level of the tree at random, and reports only the prefix of its value
    that belongs there, through an oracle that needs no domain. The server starts with all prefixes
    of the first level, keeps those that are significantly common, makes them longer by a step, and
    so on to whole values. A report starts with a byte for its level; then comes the oracle's
    report.

    `pem` takes long steps and keeps at most `keep` prefixes of each level. `treehist` goes on by
    one bit or letter, and keeps whatever is significant, as far as memory allows.

    Guarantee: epsilon-LDP for each report, between any two values: the level does not depend on
    the value, and each device sends one oracle report of epsilon. Every further report of a person
    costs as much.

    Reference: Wang, Li & Jha 2018, "Locally Differentially Private Heavy Hitter Identification"
    (PEM); Bassily, Nissim, Stemmer & Thakurta 2017, "Practical Locally Private Heavy Hitters"
    (TreeHist).

    Args:
        epsilon: of one report, for any two values of one person.
        key: the name of the collection; it decides all hash functions.
        bits: of values that are whole numbers from 0 on.
        alphabet: the letters of values that are texts.
        length: the most letters of a text.
        variant: pem or treehist.
        oracle: the name of a protocol that needs no domain, or one with the same epsilon.
        first: the bits or letters of the first level; 0 takes a good number.
        step: the bits or letters from level to level; 0 takes a good number.
        keep: the most prefixes that go on from a level.

    Raises:
        InputError: CEL-R057 parameters that make no tree.
    """

    method_name: ClassVar[str] = "pem"

    bits: int = parameter(0, least=0, most=MOST_BITS)
    alphabet: str = parameter("", kind="text", check=_letters, allowed="collect.allowed.letters")
    length: int = parameter(0, least=0, most=MOST_LETTERS)
    variant: Literal["pem", "treehist"] = "pem"
    oracle: str | Protocol = parameter(
        "olh", kind="text", check=_oracle, allowed="collect.allowed.oracle"
    )
    first: int = parameter(0, least=0)
    step: int = parameter(0, least=0)
    keep: int = parameter(64, least=1)

    def check(self) -> None:
        """Refuse parameters that make no tree; take good steps where none are given."""
        tree = self.tree
        for word in ("first", "step"):  # as the tree has chosen them, so that all parameters show
            object.__setattr__(self, word, getattr(tree, word))
        if not 1 <= tree.levels <= 2**LEVEL_BITS:
            raise InputError("CEL-R057.too_many_levels", most=2**LEVEL_BITS)
        if max(tree.starts, self.keep * tree.branches) > MOST_CANDIDATES:
            raise InputError("CEL-R057.too_many_candidates", most=MOST_CANDIDATES)
        _ = self.oracles

    @cached_property
    def tree(self) -> PrefixLevels:
        """The levels, and the prefixes of each."""
        return PrefixLevels(
            self.bits, self.length, self.first, self.step, self.alphabet, self.variant == "treehist"
        )

    @cached_property
    def oracles(self) -> tuple[Protocol, ...]:
        """The protocol of each level; all alike, but with hash functions of their own."""
        if isinstance(self.oracle, Protocol):
            same = exact(self.oracle.epsilon) == exact(self.epsilon)
            if not same or self.oracle.method_name not in ORACLES:
                raise InputError("CEL-R057.other_oracle")
            form = self.oracle
        else:
            if self.oracle not in ORACLES[:-1]:  # RAPPOR must be told what all its reports cost
                raise InputError("CEL-R057.oracle_of_a_domain", oracles=ORACLES[:-1])
            form = PROTOCOLS[self.oracle](epsilon=self.epsilon)
        return tuple(replace(form, key=self._key(level)) for level in range(self.tree.levels))

    def _key(self, level: int) -> str:
        text = f"{self.key}/{level}".encode()
        return hashlib.blake2b(text, digest_size=16).hexdigest()

    def parameters(self) -> dict[str, Any]:
        """All that decides about reports."""
        found = super().parameters()
        found["method"] = found.pop("variant")  # its name when the form was decided
        if isinstance(self.oracle, Protocol):
            found["oracle"] = self.oracle.parameters()
        return found

    @cached_property
    def fingerprint(self) -> bytes:
        """8 bytes that tell trees apart, all parameters of the oracle included."""
        return fingerprint_of(self.parameters() | {"oracle": self.oracles[0].fingerprint.hex()})

    @property
    def blanket(self) -> BlanketShares | Blanket | None:
        """That of the oracle: the level is chosen whatever the value is."""
        return self.oracles[0].blanket

    @property
    def report_bits(self) -> int:
        """A byte for the level, and the oracle's report."""
        return LEVEL_BITS + self.oracles[0].report_bits

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the raw estimate of one whole value: the oracle's, and that of being in the group."""
        levels = self.tree.levels
        group = self.oracles[-1].variance(
            max(1, users // levels), count=count / levels, squares=squares / levels**2
        )
        return group * levels**2 + count * (1 - count / max(1, users)) * (levels - 1)

    def client(self, *, rng: Source | None = None) -> TreeClient:
        return TreeClient(self, rng=rng)

    def server(self) -> TreeServer:
        return TreeServer(self)


class TreeClient(Client):
    """Sends a level, and the oracle's report of the prefix there."""

    protocol: PrefixTree

    def _encode(self, values: Any) -> Packed:
        protocol = self.protocol
        checked = protocol.tree.check_values(values)
        levels = self.rng.integers(protocol.tree.levels, len(checked))
        made = np.empty((len(checked), -(-protocol.report_bits // 8)), dtype=np.uint8)
        made[:, 0] = levels
        for level, oracle in enumerate(protocol.oracles):
            here = np.flatnonzero(levels == level)
            prefixes = protocol.tree.cut(checked[here], level)
            made[here, 1:] = oracle.client(rng=self.rng).privatise(prefixes).packed
        return made


class TreeServer(Server):
    """An oracle's server for each level."""

    finds: ClassVar[bool] = True
    protocol: PrefixTree

    def __init__(self, protocol: PrefixTree) -> None:
        super().__init__(protocol)
        self.levels = [oracle.server() for oracle in protocol.oracles]

    def _count(self, packed: Packed) -> None:
        check_form(packed, self.protocol.report_bits)
        if packed.size and int(packed[:, 0].max()) >= len(self.levels):
            raise malformed()
        fresh = [oracle.server() for oracle in self.protocol.oracles]
        sizes = []
        for level, server in enumerate(fresh):  # all of them, before anything is changed
            rows = np.ascontiguousarray(packed[packed[:, 0] == level, 1:])
            server._count(rows)
            sizes.append(rows.shape[0])
        for mine, server, size in zip(self.levels, fresh, sizes, strict=True):
            mine._add(size, server._state())

    def _state(self) -> State:
        found = {"users": np.array([each.users for each in self.levels], dtype=np.int64)}
        for level, server in enumerate(self.levels):
            found |= {f"{level}/{name}": each for name, each in server._state().items()}
        return found

    def _parts(self, state: State) -> list[State]:
        return [
            {
                name.partition("/")[2]: each
                for name, each in state.items()
                if name.partition("/")[0] == str(level)
            }
            for level in range(len(self.levels))
        ]

    def _fits(self, state: State) -> bool:
        users, parts = state.get("users"), self._parts(state)
        whole_state = 1 + sum(map(len, parts)) == len(state)
        if users is None or users.shape != (len(self.levels),) or not whole_state:
            return False
        return all(
            server._fits(part) for server, part in zip(self.levels, parts, strict=True)
        ) and not np.any(users < 0)

    def _add(self, users: int, state: State) -> None:
        sizes: list[int] = state["users"].tolist()
        if sum(sizes) != users:
            raise InputError("CEL-R006.levels")
        fresh = [oracle.server() for oracle in self.protocol.oracles]
        for server, size, part in zip(fresh, sizes, self._parts(state), strict=True):
            server._add(size, part)  # all of them, before anything is changed
        for mine, server in zip(self.levels, fresh, strict=True):
            mine.merge(server)
        self.users += users

    def _estimate(self, candidates: tuple[Hashable, ...]) -> tuple[Floats, Floats]:
        self.protocol.tree.check_values(list(candidates))
        last = self.levels[-1].estimate(candidates)
        return self._scaled(last)

    def _scaled(self, last: Estimates) -> tuple[Floats, Floats]:
        """Counts of all users from those of the group of the last level, a random sample."""
        if self.users and not last.users:  # nobody was asked, so nothing is known
            return last.counts, np.full(last.counts.size, np.inf)
        share = max(1, last.users) / max(1, self.users)
        likely = np.clip(last.counts, 0, last.users)
        chosen = likely * (1 - likely / max(1, last.users)) * (1 - share)
        return last.counts / share, np.sqrt(last.errors**2 + chosen) / share

    def _find_all(self, significance: float, progress: Progress) -> Estimates:
        return self.heavy_hitters(significance=significance, progress=progress)

    def heavy_hitters(
        self, *, significance: float = 0.05, progress: Progress = silent
    ) -> Estimates:
        """The common values, the most common first.

        A prefix goes on, and a value is told, where its count is above z standard errors; z is such
        that with this chance at most any absent prefix of a level goes on (Bonferroni).

        Args:
            significance: the chance of a false prefix in a level.
            progress: is told every level.

        Raises:
            InputError: CEL-I060 the significance is not between 0 and 1.
        """
        check_significance(significance)
        tree, most = self.protocol.tree, self.protocol.keep
        if self.protocol.variant == "treehist":
            most = MOST_CANDIDATES // tree.branches
        candidates: tuple[Hashable, ...] = tree.start()
        for level, server in enumerate(self.levels):
            progress(Step(Message("collect.stage.grow"), level, len(self.levels)))
            common = server.estimate(candidates).significant(significance).candidates
            last = level == len(self.levels) - 1
            common = common if last else common[:most]
            if not common:
                break
            candidates = common if last else tree.longer(common, level)
        if not common:
            nothing = np.empty(0)
            return Estimates(
                self.protocol.method_name, (), nothing, nothing, self.users, "raw", nothing
            )
        return self.estimate(common)
