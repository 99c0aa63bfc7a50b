"""RAPPOR for words without a list of them: pieces of words give the candidates."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.blankets import Blanket
from celosia.collect.protocol import (
    Estimated,
    Protocol,
    RememberingClient,
    Server,
    check_report_epsilon,
)
from celosia.collect.rappor.rappor import Rappor, RapporServer
from celosia.collect.reports import Packed, bits_for, unpack
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import method_from_dict, parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source

if TYPE_CHECKING:
    from celosia.collect.estimates import Estimates
    from celosia.collect.memory import Memory
    from celosia.collect.rappor.decoding import DecodedValues
    from celosia.collect.state import State

PAD = "\0"
"""Fills a word up to its length; it is no letter of any alphabet."""


def pair_value(pair: int, first: str, second: str) -> str:
    """The text that stands for two pieces at a pair of positions.

    >>> pair_value(2, "ab", "cd")
    '2:abcd'
    """
    return f"{pair}:{first}{second}"


def pair_candidates(alphabet: str, gram: int) -> list[tuple[str, str]]:
    """All pairs of pieces that a word can have: after its end nothing but its end follows.

    >>> len(pair_candidates("ab", 1))  # aa, ab, ba, bb, a and b before the end, the end twice
    7
    """
    found = []
    for letters in product(alphabet + PAD, repeat=2 * gram):
        text = "".join(letters)
        if PAD not in text.rstrip(PAD):
            found.append((text[:gram], text[gram:]))
    return found


def candidate_words(
    common: dict[tuple[int, int], set[tuple[str, str]]], pieces: int, *, most: int
) -> tuple[str, ...]:
    """The words all of whose pairs of pieces are common, in order.

    Args:
        common: for each pair of positions, which pairs of pieces.
        pieces: of a word.
        most: candidates, also half-way.

    >>> pairs = {("c", "a")}, {("c", "t"), ("c", "r")}, {("a", "t"), ("o", "r")}
    >>> candidate_words(dict(zip([(0, 1), (0, 2), (1, 2)], pairs)), 3, most=10)
    ('cat',)
    """
    paths: list[tuple[str, ...]] = [
        (first,) for first in sorted({each[0] for each in common[0, 1]})
    ]
    for at in range(1, pieces):
        after: dict[str, list[str]] = {}
        for before, piece in sorted(common[at - 1, at]):
            after.setdefault(before, []).append(piece)
        longer: list[tuple[str, ...]] = []
        for path in paths:
            for piece in after.get(path[-1], ()):
                if all((each, piece) in common[place, at] for place, each in enumerate(path)):
                    longer.append((*path, piece))
            if len(longer) > most:
                raise InputError("CEL-R044", most=most)
        paths = longer
    words = {"".join(path).rstrip(PAD) for path in paths}
    return tuple(sorted(words - {""}))


LETTERS = "abcdefghijklmnopqrstuvwxyz"
MOST_PAIRS = 2**20
"""Pairs of pieces that one position pair may have: they are all tried."""


def _rappor(part: Any) -> Rappor:
    """A RAPPOR, or what a file says of one."""
    if isinstance(part, Mapping):
        return method_from_dict({Rappor.method_name: Rappor}, part, what="protocol")
    if not isinstance(part, Rappor):
        raise TypeError
    return part


@dataclass(frozen=True, kw_only=True)
class RapporWords(Protocol):
    """Words of an unknown dictionary: each device reports its word, and two pieces of it.

    A word is cut into pieces of `gram` letters up to `length` letters. Each device draws two
    positions (once, with a memory), and sends the pieces there as one value by the RAPPOR `grams`,
    together with the whole word by the RAPPOR `words`. The server finds which pairs of pieces are
    common at each pair of positions, joins pieces to words wherever all their pairs are common,
    and asks the reports of whole words how many devices have each of these candidates.

    Letters that are not in `alphabet` count as the end of the word. Only pieces that are common
    among the reports of one pair of positions are found, so common words need many reports.

    Guarantee: one report costs the sum of both parts, `epsilon`; with a memory all reports on one
    unchanged word cost the sum of their lasting costs. Positions do not depend on the word.

    Reference: Fanti, Pihur, Erlingsson 2016, "Building a RAPPOR with the Unknown"; here a pair of
    pieces is one value, so that no association has to be estimated between two reports.

    Raises:
        InputError: CEL-R042 an alphabet or a length that does not fit.
    """

    method_name: ClassVar[str] = "rappor-words"

    epsilon: float | Fraction = field(init=False)
    words: Rappor = parameter(check=_rappor, allowed="collect.allowed.rappor")
    grams: Rappor = parameter(check=_rappor, allowed="collect.allowed.rappor")
    alphabet: str = LETTERS
    length: int = parameter(6, least=2, most=64)
    gram: int = parameter(2, least=1, most=8)

    def check(self) -> None:
        """Find what a report costs; refuse an alphabet or a length that does not fit."""
        letters = set(self.alphabet)
        if (
            self.length < 2 * self.gram
            or self.length % self.gram
            or len(letters) != len(self.alphabet)
            or PAD in letters
            or (len(letters) + 1) ** (2 * self.gram) > MOST_PAIRS
        ):
            raise InputError("CEL-R042", most_pairs=MOST_PAIRS)
        price = Fraction(self.words.epsilon) + Fraction(self.grams.epsilon)
        object.__setattr__(self, "epsilon", check_report_epsilon(self.method_name, price))

    @classmethod
    def for_epsilon(
        cls,
        *,
        lasting: float | Fraction,
        one: float | Fraction,
        key: str = "celosia",
        **sizes: Any,
    ) -> RapporWords:
        """Both parts with half of the costs each; `sizes` are alphabet, length and gram."""
        price = check_report_epsilon(cls.method_name, one, name="one")
        whole = check_report_epsilon(cls.method_name, lasting, name="lasting")
        words, grams = (
            Rappor.for_epsilon(lasting=whole / 2, one=price / 2, key=f"{key}/{part}")
            for part in ("words", "grams")
        )
        return cls(words=words, grams=grams, key=key, **sizes)

    def parameters(self) -> dict[str, Any]:
        return {
            "protocol": self.method_name,
            "key": self.key,
            "words": self.words.parameters(),
            "grams": self.grams.parameters(),
            "alphabet": self.alphabet,
            "length": self.length,
            "gram": self.gram,
        }

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of positions, in order."""
        return tuple(combinations(range(self.length // self.gram), 2))

    @property
    def lasting_epsilon(self) -> float:
        both = self.words.lasting_epsilon + self.grams.lasting_epsilon
        return both if both == inf else float(np.nextafter(both, inf))

    @property
    def blanket(self) -> Blanket | None:
        """The bits of both parts; the positions are drawn whatever the word is."""
        return Blanket.of_own_bits([self.words.own_bits, self.grams.own_bits])

    @property
    def report_bits(self) -> int:
        return bits_for(len(self.pairs)) + self.grams.report_bits + self.words.report_bits

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the estimate of one word, as of the RAPPOR of whole words."""
        return self.words.variance(users, count=count, squares=squares)

    def client(self, *, rng: Source | None = None, memory: Memory | None = None) -> WordsClient:
        return WordsClient(self, rng=rng, memory=memory)

    def server(self) -> WordsServer:
        return WordsServer(self)

    def piece_pair(self, word: str, pair: int) -> str:
        """The value that a device reports of a pair of positions."""
        known = "".join(each if each in self.alphabet else PAD for each in word[: self.length])
        end = known.find(PAD)
        padded = (known if end < 0 else known[:end]).ljust(self.length, PAD)
        first, second = (padded[at * self.gram : (at + 1) * self.gram] for at in self.pairs[pair])
        return pair_value(pair, first, second)

    def join_parts(self, pairs: NDArray[np.int64], grams: Packed, words: Packed) -> Packed:
        """Reports: the pair of positions, the report of the pieces, the report of the word."""
        head = (pairs[:, None] >> np.arange(bits_for(len(self.pairs)))) & 1
        parts = [head.astype(np.uint8)]
        for packed, protocol in ((grams, self.grams), (words, self.words)):
            count = protocol.report_bits
            parts.append(np.unpackbits(packed, axis=1, bitorder="little", count=count))
        return np.packbits(np.concatenate(parts, axis=1), axis=1, bitorder="little")

    def split_parts(self, reports: Packed) -> tuple[NDArray[np.int64], Packed, Packed]:
        """The three parts of reports.

        Raises:
            InputError: CEL-R001 of another form, CEL-R032 a pair of positions that there is not.
        """
        head = bits_for(len(self.pairs))
        whole, rest = divmod(self.report_bits - head, 56)
        pairs = unpack(reports, [head, *[56] * whole, rest])[0]
        if np.any(pairs >= len(self.pairs)):
            raise InputError("CEL-R032")
        every = np.unpackbits(reports, axis=1, bitorder="little", count=self.report_bits)
        middle = head + self.grams.report_bits
        return (
            pairs,
            np.packbits(every[:, head:middle], axis=1, bitorder="little"),
            np.packbits(every[:, middle:], axis=1, bitorder="little"),
        )


class WordsClient(RememberingClient):
    """The side of the device of RAPPOR for unknown words."""

    protocol: RapporWords

    def _encode(self, values: Any) -> Packed:
        words = list(values)
        if not all(isinstance(each, str) for each in words):
            raise InputError("CEL-R043")
        pairs = self._positions(len(words))
        pieces = [
            self.protocol.piece_pair(word, pair)
            for word, pair in zip(words, pairs.tolist(), strict=True)
        ]
        grams = self.protocol.grams.client(rng=self.rng, memory=self.memory)
        whole = self.protocol.words.client(rng=self.rng, memory=self.memory)
        if self.memory is not None:
            self.memory.check([*grams.due(pieces), *whole.due(words)])
        return self.protocol.join_parts(
            pairs, grams.privatise(pieces).packed, whole.privatise(words).packed
        )

    def _positions(self, size: int) -> NDArray[np.int64]:
        options = len(self.protocol.pairs)
        if self.memory is None:
            return self.rng.integers(options, size)
        kept = self.memory.recall(
            self.protocol,
            b"positions",
            lambda rng: int(rng.integers(options, 1)[0]).to_bytes(4, "little"),
        )
        return np.full(size, int.from_bytes(kept, "little"), dtype=np.int64)


class WordsServer(Server):
    """The side of the collector of RAPPOR for unknown words."""

    finds: ClassVar[bool] = True
    protocol: RapporWords

    def __init__(self, protocol: RapporWords) -> None:
        super().__init__(protocol)
        self.words = protocol.words.server()
        self.grams = [protocol.grams.server() for _ in protocol.pairs]

    def _parts(self) -> Iterable[tuple[str, RapporServer]]:
        yield "words", self.words
        for at, each in enumerate(self.grams):
            yield f"grams {at}", each

    def _count(self, packed: Packed) -> None:
        pairs, grams, words = self.protocol.split_parts(packed)
        self.protocol.words.unpack_reports(words)  # refuse before anything is counted
        self.protocol.grams.unpack_reports(grams)
        self.words._count(words)
        for at, server in enumerate(self.grams):
            server._count(grams[pairs == at])

    def _state(self) -> State:
        return {
            f"{name} {array}": numbers
            for name, server in self._parts()
            for array, numbers in server._state().items()
        }

    def _estimate(self, candidates: tuple[Hashable, ...]) -> Estimated:
        return self.words._estimate(candidates)

    def _find(
        self, candidates: tuple[Hashable, ...] | None, significance: float, progress: Progress
    ) -> Estimates:
        sure = 1 - significance
        if candidates is None:
            found = self.decode(confidence=sure, progress=progress)
        else:
            found = self.words.decode(candidates, confidence=sure, progress=progress)
        return replace(found.kept, protocol=self.protocol.method_name)

    def discover(
        self, *, confidence: float = 0.95, most: int = 100_000, progress: Progress = silent
    ) -> tuple[str, ...]:
        """Words whose pieces are common together; some of them may be absent.

        Args:
            confidence: that at one pair of positions no absent pair of pieces is taken.
            most: candidates.
            progress: is told of each pair of positions.

        Raises:
            InputError: CEL-R044 there are more candidates.
        """
        protocol = self.protocol
        options = pair_candidates(protocol.alphabet, protocol.gram)
        common: dict[tuple[int, int], set[tuple[str, str]]] = {}
        for at, (server, places) in enumerate(zip(self.grams, protocol.pairs, strict=True)):
            progress(Step(Message("collect.stage.pairs"), at, len(protocol.pairs)))
            values = [pair_value(at, *each) for each in options]
            found = server.decode(values, confidence=confidence).found
            common[places] = {options[place] for place in np.flatnonzero(found)}
        return candidate_words(common, protocol.length // protocol.gram, most=most)

    def decode(
        self,
        *,
        confidence: float = 0.95,
        correction: str = "bonferroni",
        most: int = 100_000,
        progress: Progress = silent,
    ) -> DecodedValues:
        """The words that were discovered, with how many devices have them."""
        words = self.discover(confidence=confidence, most=most, progress=progress)
        return self.words.decode(
            words, confidence=confidence, correction=correction, progress=progress
        )
