"""Collect usage data from devices that need not trust the collector.

A protocol has two sides. `protocol.client().privatise(values)` turns values into reports on the
devices: each is randomised by itself, so that nobody can tell from it what the value was.
`protocol.server()` counts reports, merges exactly with other servers, and estimates how common
values are, with standard errors. `choose` says which protocol to take, `simulate` tries one out on
data that one has, and `Collector` counts reports durably. Names load on first use: a device needs
few of them.

>>> from celosia.core.randomness import Seeded
>>> from celosia.telemetry import HadamardCountMean
>>> protocol = HadamardCountMean(epsilon=4, hashes=64, width=64, key="emoji-2026")
>>> reports = protocol.client(rng=Seeded(1)).privatise(["smile"] * 900 + ["cry"] * 100)
>>> server = protocol.server().absorb(reports)
>>> print(server.estimate(["smile", "cry"]))
2 estimates from 1,000 reports (hcms)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia.telemetry.choosing.choosing import choose, epsilon_for, users_for
    from celosia.telemetry.choosing.recommendations import Recommendations
    from celosia.telemetry.collector.batches import BatchLimits, Receipt
    from celosia.telemetry.collector.collector import Collector
    from celosia.telemetry.collector.influence import influence
    from celosia.telemetry.collector.ingestion import absorb_files
    from celosia.telemetry.count_mean.aggregates import simulate_counts
    from celosia.telemetry.count_mean.count_mean import CountMean
    from celosia.telemetry.count_mean.hadamard_count_mean import HadamardCountMean
    from celosia.telemetry.estimates import Estimates
    from celosia.telemetry.finding.cardinality import PrivateCardinality
    from celosia.telemetry.finding.heavy_hitters import PrefixTree
    from celosia.telemetry.fragments.fragment_puzzle import FragmentPuzzle
    from celosia.telemetry.memory import Memory
    from celosia.telemetry.numbers.buckets import Buckets
    from celosia.telemetry.numbers.dbitflip import DBitFlip
    from celosia.telemetry.numbers.one_bit_mean import OneBitMean
    from celosia.telemetry.oracles.hadamard_response import HadamardResponse
    from celosia.telemetry.oracles.kary_response import KaryResponse
    from celosia.telemetry.oracles.local_hashing import LocalHashing
    from celosia.telemetry.oracles.projective_geometry import ProjectiveGeometry
    from celosia.telemetry.oracles.subset_selection import SubsetSelection
    from celosia.telemetry.oracles.unary import OptimisedUnary, SymmetricUnary
    from celosia.telemetry.protocol import Client, Protocol, Server
    from celosia.telemetry.rappor.rappor import Rappor
    from celosia.telemetry.rappor.words import RapporWords
    from celosia.telemetry.registry import load_protocol, protocol_from, save_protocol
    from celosia.telemetry.reports import Reports
    from celosia.telemetry.scale.parts import Gathered
    from celosia.telemetry.scale.processes import gather_in_processes
    from celosia.telemetry.scale.spark import gather_on_spark
    from celosia.telemetry.simulation.simulated import Simulation
    from celosia.telemetry.simulation.simulation import simulate

_HOMES = {
    "BatchLimits": "collector.batches",
    "Buckets": "numbers.buckets",
    "Client": "protocol",
    "Collector": "collector.collector",
    "CountMean": "count_mean.count_mean",
    "DBitFlip": "numbers.dbitflip",
    "Estimates": "estimates",
    "FragmentPuzzle": "fragments.fragment_puzzle",
    "Gathered": "scale.parts",
    "HadamardCountMean": "count_mean.hadamard_count_mean",
    "HadamardResponse": "oracles.hadamard_response",
    "KaryResponse": "oracles.kary_response",
    "LocalHashing": "oracles.local_hashing",
    "Memory": "memory",
    "OneBitMean": "numbers.one_bit_mean",
    "OptimisedUnary": "oracles.unary",
    "PrefixTree": "finding.heavy_hitters",
    "PrivateCardinality": "finding.cardinality",
    "ProjectiveGeometry": "oracles.projective_geometry",
    "Protocol": "protocol",
    "Rappor": "rappor.rappor",
    "RapporWords": "rappor.words",
    "Receipt": "collector.batches",
    "Recommendations": "choosing.recommendations",
    "Reports": "reports",
    "Server": "protocol",
    "Simulation": "simulation.simulated",
    "SubsetSelection": "oracles.subset_selection",
    "SymmetricUnary": "oracles.unary",
    "absorb_files": "collector.ingestion",
    "choose": "choosing.choosing",
    "epsilon_for": "choosing.choosing",
    "gather_in_processes": "scale.processes",
    "gather_on_spark": "scale.spark",
    "influence": "collector.influence",
    "load_protocol": "registry",
    "protocol_from": "registry",
    "save_protocol": "registry",
    "simulate": "simulation.simulation",
    "simulate_counts": "count_mean.aggregates",
    "users_for": "choosing.choosing",
}

__all__ = [
    "BatchLimits",
    "Buckets",
    "Client",
    "Collector",
    "CountMean",
    "DBitFlip",
    "Estimates",
    "FragmentPuzzle",
    "Gathered",
    "HadamardCountMean",
    "HadamardResponse",
    "KaryResponse",
    "LocalHashing",
    "Memory",
    "OneBitMean",
    "OptimisedUnary",
    "PrefixTree",
    "PrivateCardinality",
    "ProjectiveGeometry",
    "Protocol",
    "Rappor",
    "RapporWords",
    "Receipt",
    "Recommendations",
    "Reports",
    "Server",
    "Simulation",
    "SubsetSelection",
    "SymmetricUnary",
    "absorb_files",
    "choose",
    "epsilon_for",
    "gather_in_processes",
    "gather_on_spark",
    "influence",
    "load_protocol",
    "protocol_from",
    "save_protocol",
    "simulate",
    "simulate_counts",
    "users_for",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'celosia.telemetry' has no attribute {name!r}")
    return getattr(import_module(f"celosia.telemetry.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
