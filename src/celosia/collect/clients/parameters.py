"""What a device must know of a protocol: its public parameters, with the coins worked out.

A client needs no logarithm and no exponential: chances come as whole numbers of 2^32, prices as
fractions. All of it follows from the protocol file, and nothing of it is secret.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from celosia.collect.count_mean.base import SketchProtocol
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.discovery.cardinality import PrivateCardinality
from celosia.collect.discovery.heavy_hitters import PrefixTree
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.numbers.one_bit_mean import OneBitMean
from celosia.collect.oracles.hadamard_response import HadamardResponse
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
from celosia.collect.oracles.pure import DomainProtocol
from celosia.collect.oracles.subset_selection import SubsetSelection
from celosia.collect.oracles.unary import OptimisedUnary, SymmetricUnary
from celosia.collect.protocol import Protocol
from celosia.collect.rappor.rappor import Rappor
from celosia.collect.rappor.words import RapporWords
from celosia.core.errors import InputError
from celosia.core.methods import plain
from celosia.core.numbers import exact

FORM = "celosia client 1"
_EXACT_IN_JSON = 2**53
"""Whole numbers up to here are the same in every reader of JSON."""


def client_parameters(protocol: Protocol) -> dict[str, Any]:
    """The parameters of a client of any language, as plain values for JSON.

    >>> from celosia.collect import HadamardCountMean
    >>> found = client_parameters(HadamardCountMean(epsilon=2, key="emoji"))
    >>> found["heads"], found["price"], found["report_bits"]
    (3782994644, '2', 21)

    Raises:
        InputError: CEL-R072 the domain has bytes, or whole numbers that JSON cannot hold.
    """
    return {"form": FORM} | _described(protocol)


def _described(protocol: Protocol) -> dict[str, Any]:
    found = {
        "protocol": protocol.method_name,
        "fingerprint": protocol.fingerprint.hex(),
        "report_bits": protocol.report_bits,
        "price": str(_price(protocol)),
    }
    if isinstance(protocol, DomainProtocol):
        found["domain"] = _domain(protocol)
    return found | _OWN[type(protocol)](protocol)


def _price(protocol: Protocol) -> Fraction:
    """What a fresh report costs its sender."""
    amount = protocol.report_epsilon if isinstance(protocol, DBitFlip) else exact(protocol.epsilon)
    assert amount is not None
    return amount


def _domain(protocol: DomainProtocol) -> list[str | int]:
    found: list[str | int] = []
    for each in protocol.domain:
        if isinstance(each, bytes) or (isinstance(each, int) and abs(each) >= _EXACT_IN_JSON):
            raise InputError("CEL-R072")
        assert isinstance(each, (str, int))
        found.append(each)
    return found


def _sketch(of: SketchProtocol) -> dict[str, Any]:
    return {"key": of.key, "hashes": of.hashes, "width": of.width, "heads": of.coin.heads}


def _fragment_puzzle(of: FragmentPuzzle) -> dict[str, Any]:
    return {
        "alphabet": of.alphabet,
        "length": of.length,
        "piece": of.piece,
        "tags": of.tags,
        "tagging": of.spelling.tagging.key.decode(),
        "words": _described(of.words),
        "fragments": _described(of.fragments),
    }


def _rappor(of: Rappor) -> dict[str, Any]:
    return {
        "key": of.key,
        "bits": of.bits,
        "hashes": of.hashes,
        "cohorts": of.cohorts,
        "lies": of.lies,
        "heads": list(of.heads),
        "lasting": None if of.lasting is None else str(of.lasting),
    }


def _rappor_words(of: RapporWords) -> dict[str, Any]:
    return {
        "alphabet": of.alphabet,
        "length": of.length,
        "gram": of.gram,
        "grams": _described(of.grams),
        "words": _described(of.words),
    }


def _one_bit_mean(of: OneBitMean) -> dict[str, Any]:
    ends = {"lower": float(of.lower), "upper": float(of.upper)}
    return ends | {"levels": of.levels, "heads": of.coin.heads}


def _local_hashing(of: LocalHashing) -> dict[str, Any]:
    return {"key": of.key, "buckets": of.buckets, "pool": of.pool, "heads": of.coin.heads}


def _projective_geometry(of: ProjectiveGeometry) -> dict[str, Any]:
    return {"order": of.order, "coordinates": of.coordinates, "heads": of.coin.heads}


def _unary(of: OptimisedUnary | SymmetricUnary) -> dict[str, Any]:
    return {"zero": of.zero.heads, "one": of.one.heads}


def _prefix_tree(of: PrefixTree) -> dict[str, Any]:
    return {
        "bits": of.bits,
        "alphabet": of.alphabet,
        "lengths": plain(of.tree.lengths),
        "oracles": [_described(each) for each in of.oracles],
    }


_OWN: dict[type[Protocol], Callable[[Any], dict[str, Any]]] = {
    CountMean: _sketch,
    HadamardCountMean: _sketch,
    FragmentPuzzle: _fragment_puzzle,
    Rappor: _rappor,
    RapporWords: _rappor_words,
    DBitFlip: lambda of: {"buckets": of.buckets, "bits": of.bits, "heads": of.coin.heads},
    OneBitMean: _one_bit_mean,
    KaryResponse: lambda of: {"heads": of.coin.heads},
    OptimisedUnary: _unary,
    SymmetricUnary: _unary,
    LocalHashing: _local_hashing,
    HadamardResponse: lambda of: {
        "blocks": of.blocks,
        "width": of.width,
        "heads": of.coin.heads,
    },
    SubsetSelection: lambda of: {"size": of.size, "heads": of.coin.heads},
    ProjectiveGeometry: _projective_geometry,
    PrefixTree: _prefix_tree,
    PrivateCardinality: lambda of: {"key": of.key, "buckets": of.buckets} | _unary(of.oracle),
}
