"""Sequence Fragment Puzzle: common words without a list of them, put together from pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from celosia.accounting.blankets import Blanket, OwnBits
from celosia.collect import reports
from celosia.collect.coins import WHOLE
from celosia.collect.count_mean.base import MOST_HASHES, MOST_WIDTH
from celosia.collect.count_mean.count_mean import CountMean, CountMeanClient, CountMeanServer
from celosia.collect.estimates import Estimates
from celosia.collect.fragments.solver import TextEncoding
from celosia.collect.protocol import EPSILON, Client, Estimated, Protocol, Server
from celosia.collect.state import State
from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.core.numbers import exact, exactly
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.sketches.hashing import HashFamily, digests

ALPHABET = "abcdefghijklmnopqrstuvwxyz "
MOST_KEYS = 2**24
"""Tags times pieces: all of them are estimated, at every position."""


def different_letters(letters: Any) -> str:
    """An alphabet of two or more characters, each once."""
    if not isinstance(letters, str) or not 2 <= len(letters) == len(set(letters)):
        raise ValueError
    return letters


@dataclass(frozen=True, kw_only=True)
class FragmentPuzzle(Protocol):
    """Sequence Fragment Puzzle: for texts without a list of candidates.

    A text is cut or padded to `length` characters. A client sends two `CountMean` reports: of the
    whole text, and of one of its pieces at a random position, together with a tag of the text (its
    hash). The server finds the tagged pieces that are common at each position, puts pieces of one
    tag together, and asks the sketch of whole texts which of these texts there are.

    Guarantee: a report is epsilon-differentially private for any two texts of its sender, by
    composition of both parts: `word_epsilon` and `fragment_epsilon`, epsilon together. The position
    is random and says nothing. Repeated reports add up: the lasting epsilon is infinite.

    Reference: Apple Differential Privacy Team 2017, "Learning with Privacy at Scale", Sequence
    Fragment Puzzle. Pieces of one tag are combined by the Cartesian product; each position is freed
    of bias with its own number of reports; texts stay only where they are significant.

    Args:
        epsilon: of one report, both parts together.
        key: the name of the collection.
        fragment_epsilon: the part of the piece; three quarters of epsilon where it is not given.
        hashes: rows of the sketch of texts.
        width: columns of the sketch of texts.
        fragment_hashes: rows of the sketches of pieces.
        fragment_width: columns of the sketches of pieces.
        alphabet: all characters that texts may have; the last one pads short texts.
        length: characters of a text, a multiple of `piece`.
        piece: characters of a piece.
        tags: how many tags there are.

    Raises:
        InputError: CEL-R010 too many cells, CEL-R012 pieces that make no text, or too many.
    """

    method_name: ClassVar[str] = "sfp"

    fragment_epsilon: float | Fraction | None = parameter(
        None, kind="exact", least=EPSILON.least, most=EPSILON.most
    )
    hashes: int = parameter(1024, least=1, most=MOST_HASHES)
    width: int = parameter(256, least=2, most=MOST_WIDTH)
    fragment_hashes: int = parameter(256, least=1, most=MOST_HASHES)
    fragment_width: int = parameter(256, least=2, most=MOST_WIDTH)
    alphabet: str = parameter(
        ALPHABET, kind="text", check=different_letters, allowed="collect.allowed.alphabet"
    )
    length: int = parameter(10, least=1, most=256)
    piece: int = parameter(2, least=1, most=256)
    tags: int = parameter(256, least=1, most=2**16)

    def check(self) -> None:
        """Refuse pieces that make no text, or too many, and parts that epsilon does not allow."""
        total = exactly(self.epsilon)
        part = total * 3 / 4 if self.fragment_epsilon is None else exact(self.fragment_epsilon)
        assert part is not None
        if part >= total:
            raise InputError("CEL-R012.epsilon")
        object.__setattr__(self, "fragment_epsilon", part)
        for sketch in (self.words, self.fragments):  # made now, so wrong sizes are refused now
            assert sketch.row_bits >= 0
        if self.length % self.piece:
            raise InputError("CEL-R012.length")
        if self.tags * len(self.alphabet) ** self.piece > MOST_KEYS:
            raise InputError("CEL-R012.too_many_pieces", most=MOST_KEYS)

    @property
    def word_epsilon(self) -> Fraction:
        """What the report of the whole text costs."""
        total, part = exact(self.epsilon), exact(self.fragment_epsilon)
        assert total is not None
        assert part is not None
        return total - part

    @cached_property
    def words(self) -> CountMean:
        """The protocol of whole texts."""
        return CountMean(
            epsilon=self.word_epsilon,
            key=self._key("words"),
            hashes=self.hashes,
            width=self.width,
        )

    @cached_property
    def fragments(self) -> CountMean:
        """The protocol of tagged pieces, the same at every position."""
        price = exactly(self.fragment_epsilon)
        return CountMean(
            epsilon=price,
            key=self._key("fragments"),
            hashes=self.fragment_hashes,
            width=self.fragment_width,
        )

    @property
    def blanket(self) -> Blanket | None:
        """One bit of the text and one of the piece; the position is drawn whatever the text is."""
        truths = [Fraction(each.coin.heads, WHOLE) for each in (self.words, self.fragments)]
        return Blanket.of_own_bits([OwnBits(own=each, other=1 - each) for each in truths])

    @cached_property
    def spelling(self) -> TextEncoding:
        """Texts as numbers."""
        tagging = HashFamily(key=self._key("tags").encode(), rows=1, width=self.tags)
        return TextEncoding(self.alphabet, self.length, self.piece, tagging)

    def _key(self, part: str) -> str:
        """Keys of the parts: 16 bytes of BLAKE2b of the name of the part, keyed by the key."""
        key = self.key.encode()
        return hashlib.blake2b(part.encode(), digest_size=16, key=key).hexdigest()

    @property
    def positions(self) -> int:
        """How many pieces a text has."""
        return self.length // self.piece

    @property
    def report_bits(self) -> int:
        """Those of the text, of the piece, and of the position."""
        parts = self.words.report_bits + self.fragments.report_bits
        return parts + reports.bits_for(self.positions)

    def client(self, *, rng: Source | None = None) -> FragmentPuzzleClient:
        return FragmentPuzzleClient(self, rng=rng)

    def server(self) -> FragmentPuzzleServer:
        return FragmentPuzzleServer(self)

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the raw estimate of one text, from the sketch of whole texts."""
        return self.words.variance(users, count=count, squares=squares)


class FragmentPuzzleClient(Client):
    """Tells a text and one of its pieces, each by the coins of a sketch."""

    protocol: FragmentPuzzle

    def __init__(self, protocol: FragmentPuzzle, *, rng: Source | None = None) -> None:
        super().__init__(protocol, rng=rng)
        self._words = CountMeanClient(protocol.words, rng=self.rng)
        self._fragments = CountMeanClient(protocol.fragments, rng=self.rng)

    def _encode(self, values: Any) -> reports.Packed:
        protocol, spelling = self.protocol, self.protocol.spelling
        pieces = spelling.pieces(values)
        texts = spelling.digests(pieces)
        places = self.rng.integers(protocol.positions, texts.size)
        keys = spelling.tagged(texts, pieces[np.arange(texts.size), places])
        place_bits = reports.bits_for(protocol.positions)
        return reports.join(
            [
                (self._words.packed_digests(texts), protocol.words.report_bits),
                (self._fragments.packed_digests(digests(keys)), protocol.fragments.report_bits),
                (reports.pack([(places, place_bits)]), place_bits),
            ]
        )


class FragmentPuzzleServer(Server):
    """A sketch of whole texts, and one of tagged pieces for every position."""

    finds: ClassVar[bool] = True
    protocol: FragmentPuzzle

    def __init__(self, protocol: FragmentPuzzle) -> None:
        super().__init__(protocol)
        self.words = CountMeanServer(protocol.words)
        self.fragments = [CountMeanServer(protocol.fragments) for _ in range(protocol.positions)]

    def _count(self, packed: reports.Packed) -> None:
        protocol = self.protocol
        reports.check_form(packed, protocol.report_bits)
        first, second = protocol.words.report_bits, protocol.fragments.report_bits
        places = reports.field_at(packed, first + second, reports.bits_for(protocol.positions))
        if places.size and int(places.max()) >= protocol.positions:
            raise reports.malformed()
        texts, pieces = reports.cut(packed, 0, first), reports.cut(packed, first, second)
        text_rows, piece_rows = self.words.rows_of(texts), self.fragments[0].rows_of(pieces)
        self.words.add(texts, text_rows)
        for place, each in enumerate(self.fragments):
            chosen = places == place
            each.add(pieces[chosen], piece_rows[chosen])

    def _state(self) -> State:
        parts = {"words": self.words}
        parts |= {f"fragments {place}": each for place, each in enumerate(self.fragments)}
        return {
            f"{part} {name}": array
            for part, each in parts.items()
            for name, array in each._state().items()
        }

    def sketches(self) -> tuple[CountMeanServer, list[CountMeanServer]]:
        """The sketches of texts and of pieces, each with its own number of reports."""
        for each in (self.words, *self.fragments):
            each.users = int(each.reports.sum())
        return self.words, self.fragments

    def _estimate(self, candidates: tuple[Hashable, ...]) -> Estimated:
        spelling = self.protocol.spelling
        words, _ = self.sketches()
        return words.estimated_digests(spelling.digests(spelling.pieces(list(candidates))))

    def _find_all(self, significance: float, progress: Progress) -> Estimates:
        return self.dictionary(significance=significance, progress=progress)

    def dictionary(
        self,
        *,
        top: int | None = None,
        significance: float | None = 0.05,
        control: str = "bonferroni",
        check_tags: bool = True,
        progress: Progress = silent,
    ) -> Estimates:
        """The texts that are common, the most common first, with standard errors.

        Args:
            top: how many tagged pieces to keep at each position; without it those that stand out so
                far that chance alone gives one such piece for every four tags.
            significance: the chance that any absent text is there (`bonferroni`), or the
                expected share of such texts (`fdr`); None keeps every text that was put together.
            control: `bonferroni` or `fdr` (Benjamini and Hochberg).
            check_tags: drop texts whose own tag is not that of their pieces.
            progress: called now and then.

        Raises:
            InputError: CEL-R014 so many pieces are kept that there are too many texts, CEL-I060 a
                setting is out of range.
        """
        from celosia.collect.fragments.solver import SolverOptions, solve  # only servers need it

        return solve(self, SolverOptions(top, significance, control, check_tags), progress)
