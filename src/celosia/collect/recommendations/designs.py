"""Designs of protocols: good parameters for given users, values, bytes, and epsilon.

A design is judged by the protocol's own variance for a rare value, before any data is there. Of a
domain only the size is known then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, singledispatch
from math import ceil, inf, log2, sqrt
from typing import Any

from celosia.collect.count_mean.base import MOST_HASHES, SketchProtocol
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.discovery.heavy_hitters import PrefixTree
from celosia.collect.fragments.fragment_puzzle import ALPHABET, FragmentPuzzle
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.numbers.one_bit_mean import OneBitMean
from celosia.collect.oracles.hadamard_response import HadamardResponse
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
from celosia.collect.oracles.pure import MOST_VALUES, DomainProtocol
from celosia.collect.oracles.subset_selection import SubsetSelection
from celosia.collect.oracles.unary import OptimisedUnary, SymmetricUnary
from celosia.collect.protocol import Protocol
from celosia.collect.rappor.rappor import Rappor
from celosia.collect.reports import bits_for
from celosia.core.errors import InputError
from celosia.core.messages import Message

CELL = 8
"""Bytes of a count."""


@dataclass(frozen=True, slots=True)
class ServerCost:
    """Of counting all reports and estimating all values once.

    >>> server_cost(LocalHashing(epsilon=1), 1000, 50)
    ServerCost(bytes=8000, steps=50000)
    """

    bytes: int
    steps: int


@dataclass(frozen=True, slots=True)
class MemoryCost:
    """Bytes of a sketch, and of a counter for each value."""

    sketch: int
    exact: int

    @property
    def ratio(self) -> float:
        """How many times the counters take what the sketch takes."""
        return self.exact / self.sketch


def memory(*, hashes: int, width: int, domain: int, cell: int = CELL) -> MemoryCost:
    """What a sketch takes, however many values there are, beside exact counting.

    >>> round(memory(hashes=65_536, width=1024, domain=350_000_000, cell=4).ratio, 3)
    5.215
    """
    return MemoryCost(hashes * width * cell, domain * cell)


@singledispatch
def server_cost(protocol: Protocol, users: int, domain: int) -> ServerCost:
    """The cost for `users` reports and `domain` values; here one bit for each value (OUE, SUE)."""
    return ServerCost(CELL * domain, users * domain)


@server_cost.register
def _(protocol: KaryResponse, users: int, domain: int) -> ServerCost:
    return ServerCost(CELL * domain, users)


@server_cost.register
def _(protocol: CountMean, users: int, domain: int) -> ServerCost:
    cells = protocol.hashes * protocol.width
    return ServerCost(CELL * cells, users * protocol.width + protocol.hashes * domain)


@server_cost.register
def _(protocol: HadamardCountMean, users: int, domain: int) -> ServerCost:
    cells = protocol.hashes * protocol.width
    turned = ceil(cells * log2(protocol.width))
    return ServerCost(CELL * cells, users + turned + protocol.hashes * domain)


@server_cost.register
def _(protocol: LocalHashing, users: int, domain: int) -> ServerCost:
    if protocol.pool:
        cells = protocol.pool * protocol.buckets
        return ServerCost(CELL * cells, users + protocol.pool * domain)
    return ServerCost(CELL * users, users * domain)


@server_cost.register
def _(protocol: HadamardResponse, users: int, domain: int) -> ServerCost:
    cells = protocol.blocks * protocol.width
    return ServerCost(CELL * cells, users + ceil(cells * log2(protocol.width)))


@server_cost.register
def _(protocol: ProjectiveGeometry, users: int, domain: int) -> ServerCost:
    points = protocol.space.points
    return ServerCost(CELL * points, users + ceil(points * log2(points)))


@server_cost.register
def _(protocol: SubsetSelection, users: int, domain: int) -> ServerCost:
    return ServerCost(CELL * domain, users * protocol.size)


@server_cost.register
def _(protocol: DBitFlip, users: int, domain: int) -> ServerCost:
    return ServerCost(2 * CELL * domain, users * protocol.bits)


@server_cost.register
def _(protocol: Rappor, users: int, domain: int) -> ServerCost:
    cells = protocol.cohorts * protocol.bits
    return ServerCost(CELL * cells, users * protocol.bits + cells * domain)


@server_cost.register
def _(protocol: FragmentPuzzle, users: int, domain: int) -> ServerCost:
    sketches = [protocol.words, *[protocol.fragments] * protocol.positions]
    cells = sum(each.hashes * each.width for each in sketches)
    keys = protocol.tags * len(protocol.alphabet) ** protocol.piece
    searched = protocol.positions * keys * protocol.fragment_hashes
    return ServerCost(CELL * cells, users * protocol.report_bits + searched)


@server_cost.register
def _(protocol: OneBitMean, users: int, domain: int) -> ServerCost:
    return ServerCost(CELL, users)


@server_cost.register
def _(protocol: PrefixTree, users: int, domain: int) -> ServerCost:
    candidates = protocol.tree.starts + protocol.keep * protocol.tree.branches
    return ServerCost(CELL * users, users * candidates)


COLLISIONS = 0.1
"""Hashes are chosen so that collisions add at most this share to the variance of coins."""
MOST_CELLS = 2**26
"""Cells of a server that is planned: half a GiB."""
LEAST_HASHES, LEAST_WIDTH, MOST_WIDTH = 256, 16, 1024
ZIPF = 1.1
"""The default skew of the values: the i-th has a share of about i^-1.1."""


@dataclass(frozen=True, slots=True)
class Need:
    """What is to be collected."""

    users: int
    domain: int
    squares: float
    """The sum of the squared shares of all values."""
    bits: float = inf
    """The most that a report may have."""
    hashes: int | None = None
    """Rows of sketches, where they are given."""
    repeated: bool = False

    @property
    def total_squares(self) -> float:
        """The sum of the squared counts."""
        return max(float(self.users), self.squares * self.users**2)


class _Size:
    """A domain of which only the size is known: all that a variance asks for."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size


class UnfitProtocol(Exception):  # noqa: N818 - not an error, only why something is left out
    """Why a protocol cannot be used."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Designer = Callable[[Need, Fraction], Protocol]


def error_of(protocol: Protocol, need: Need) -> float:
    """The standard error of the count of an absent or rare value."""
    if isinstance(protocol, HadamardResponse):
        # Each block has so many values; the rare one shares its block with the others of it.
        near = (-(-need.domain // protocol.blocks) - 1) / (need.domain - 1)
        return sqrt(protocol.variance(need.users, beside=near * need.users))
    found = sqrt(protocol.variance(need.users, squares=need.total_squares))
    if isinstance(protocol, Rappor):
        # Candidates that share bits: least squares over random places, as many as there are cells.
        cells = protocol.cohorts * protocol.bits
        return found * sqrt(cells / (cells - need.domain))
    return found


def collision_share(protocol: Protocol, need: Need) -> float:
    """Which share of the variance is due to values that collide, and not to coins."""
    whole = protocol.variance(need.users, squares=need.total_squares)
    # With all counts at 1, no two reports of one value share a row: the sum of squares is that of
    # counts, and what is left is noise.
    return max(0.0, 1 - protocol.variance(need.users, squares=need.users) / whole)


def required_hashes(protocol: SketchProtocol | LocalHashing, need: Need) -> int:
    """The fewest hash functions that keep collisions below a share t of the noise v of a report.

    With n users and squared shares that add up to |p|^2, over m columns: n |p|^2 / (t m v).
    """
    cells = protocol.width if isinstance(protocol, SketchProtocol) else protocol.buckets - 1
    noise = protocol.variance(need.users, squares=need.users)
    return max(1, ceil(need.total_squares / (COLLISIONS * cells * noise)))


@lru_cache(maxsize=256)
def with_size(kind: type[DomainProtocol], size: int, epsilon: Fraction) -> Protocol:
    """A protocol over a domain of this size, for planning only: its values have no names yet."""
    made = object.__new__(kind)
    made.__dict__["values"] = _Size(size)  # where `values` would be kept once it was asked for
    kind.__init__(made, domain=(), epsilon=epsilon)
    return made


def over_domain(kind: type[DomainProtocol]) -> Designer:
    """Designs of a protocol that needs all values listed."""

    def plan(need: Need, epsilon: Fraction) -> Protocol:
        if not 2 <= need.domain <= MOST_VALUES:
            raise UnfitProtocol(Message("collect.unfit.domain", most=MOST_VALUES))
        return with_size(kind, need.domain, epsilon)

    return plan


def _sketch(kind: type[Any], least: int) -> Designer:
    """Designs of a sketch: as wide as reports allow, with hashes enough for few collisions."""

    def plan(need: Need, epsilon: Fraction) -> Protocol:
        width = MOST_WIDTH
        while width > least:
            made = _with_hashes(kind, need, epsilon=epsilon, width=width)
            if made.report_bits <= need.bits:
                return made
            width //= 2
        return _with_hashes(kind, need, epsilon=epsilon, width=least)

    return plan


def _with_hashes(kind: type[Any], need: Need, **words: Any) -> Protocol:
    first = kind(hashes=LEAST_HASHES, **words)
    wanted = need.hashes or _power(required_hashes(first, need), MOST_CELLS // first.width)
    made: Protocol = kind(hashes=wanted, **words)
    return made


def _power(wanted: int, most: int) -> int:
    """The next power of two, from the least number of hashes up to what a server may keep."""
    return min(max(LEAST_HASHES, 1 << (wanted - 1).bit_length()), most, MOST_HASHES)


def _hashing(need: Need, epsilon: Fraction) -> Protocol:
    return LocalHashing(epsilon=epsilon)


def _pooled(need: Need, epsilon: Fraction) -> Protocol:
    first = LocalHashing(epsilon=epsilon, pool=LEAST_HASHES)
    wanted = need.hashes or _power(required_hashes(first, need), MOST_CELLS // first.buckets)
    return LocalHashing(epsilon=epsilon, pool=wanted)


def _dbitflip(need: Need, epsilon: Fraction) -> Protocol:
    if not 2 <= need.domain <= 2**20:
        raise UnfitProtocol(Message("collect.unfit.buckets", most=2**20))
    each = 1 + bits_for(need.domain)
    fits = 8 if need.bits == inf else int(need.bits) // each
    bits = max(1, min(8, need.domain, fits))  # more than 8 tell too much where values change
    # A report of one bit costs half of the epsilon of its coin.
    return DBitFlip(epsilon=(2 if bits == 1 else 1) * epsilon, buckets=need.domain, bits=bits)


def _rappor(need: Need, epsilon: Fraction) -> Protocol:
    bits = 128
    while bits > 8 and bits + 8 > need.bits:
        bits //= 2
    cohorts = 8
    while cohorts * bits < 4 * need.domain:  # so that candidates seldom share their bits
        cohorts *= 2
        if cohorts > 2**10:
            raise UnfitProtocol(Message("collect.unfit.candidates"))
    lasting = epsilon if need.repeated else 2 * epsilon
    return Rappor.for_epsilon(
        lasting=lasting, one=lasting / 2, bits=bits, hashes=1, cohorts=cohorts
    )


def _puzzle(need: Need, epsilon: Fraction) -> Protocol:
    def of(width: int) -> FragmentPuzzle:
        sizes: dict[str, Any] = {"width": width, "fragment_width": width}
        sizes["fragment_hashes"] = LEAST_HASHES
        first = FragmentPuzzle(epsilon=epsilon, hashes=LEAST_HASHES, **sizes)
        wanted = need.hashes or _power(required_hashes(first.words, need), MOST_CELLS // width)
        return FragmentPuzzle(epsilon=epsilon, hashes=wanted, **sizes)

    width = MOST_WIDTH
    while width > LEAST_WIDTH and of(width).report_bits > need.bits:
        width //= 2
    return of(width)


def _tree(need: Need, epsilon: Fraction) -> Protocol:
    return PrefixTree(epsilon=epsilon, alphabet=ALPHABET.strip(), length=10)


KNOWN: dict[str, Designer] = {
    "cms": _sketch(CountMean, LEAST_WIDTH),
    "hcms": _sketch(HadamardCountMean, LEAST_WIDTH),
    "grr": over_domain(KaryResponse),
    "oue": over_domain(OptimisedUnary),
    "sue": over_domain(SymmetricUnary),
    "olh": _hashing,
    "olh-pool": _pooled,
    "hr": over_domain(HadamardResponse),
    "ss": over_domain(SubsetSelection),
    "pgr": over_domain(ProjectiveGeometry),
    "dbitflip": _dbitflip,
    "rappor": _rappor,
}
"""Designs for a known list of values."""
UNKNOWN: dict[str, Designer] = {"sfp": _puzzle, "pem": _tree}
"""Designs that need no list."""
REPEATED = ("dbitflip", "rappor")
"""Protocols whose devices can keep their answers, so that asking again costs nothing more."""


def design_protocol(label: str, need: Need, epsilon: Fraction) -> Protocol:
    """A design by its name.

    Raises:
        UnfitProtocol: it cannot be used, and why.
    """
    if need.repeated and label not in REPEATED:
        raise UnfitProtocol(Message("collect.unfit.repeated"))
    try:
        made = (KNOWN | UNKNOWN)[label](need, epsilon)
    except InputError as error:  # an epsilon too small for its coins, or too many points
        raise UnfitProtocol(error.what.rstrip(".")) from None
    if made.report_bits > need.bits:
        size = -(-made.report_bits // 8)
        raise UnfitProtocol(Message("collect.unfit.bytes", bytes=size))
    return made
