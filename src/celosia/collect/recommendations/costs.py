"""What a server of each protocol keeps and does: to be weighed before anything is collected.

A step is an addition or a look-up, about a nanosecond; sizes are those of the servers here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from math import ceil, log2

from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.discovery.heavy_hitters import PrefixTree
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.oracles.hadamard_response import HadamardResponse
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
from celosia.collect.oracles.subset_selection import SubsetSelection
from celosia.collect.protocol import Protocol
from celosia.collect.rappor.rappor import Rappor

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
def _(protocol: PrefixTree, users: int, domain: int) -> ServerCost:
    candidates = protocol.tree.starts + protocol.keep * protocol.tree.branches
    return ServerCost(CELL * users, users * candidates)
