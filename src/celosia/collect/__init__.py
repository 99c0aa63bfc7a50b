"""Collect usage data from devices that need not trust the collector.

A protocol has two sides. `protocol.client().privatise(values)` turns values into reports on the
devices: each is randomised by itself, so that no report reveals its value.
`protocol.server()` counts reports, merges exactly with other servers, and estimates how common
values are, with standard errors. `choose` says which protocol to take, `simulate` tries one out on
data that one has, `sweep` tries many over a grid of parameters, and `Collector` counts reports
durably. Names load on first use: a device needs few of them.

>>> from celosia.core.randomness import Seeded
>>> from celosia.collect import HadamardCountMean
>>> protocol = HadamardCountMean(epsilon=4, hashes=64, width=64, key="emoji-2026")
>>> reports = protocol.client(rng=Seeded(1)).privatise(["smile"] * 900 + ["cry"] * 100)
>>> server = protocol.server().absorb(reports)
>>> print(server.estimate(["smile", "cry"]))
2 estimates from 1,000 reports (hcms)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.collect.collector.batches import BatchLimits, Receipt
    from celosia.collect.collector.collector import Collector
    from celosia.collect.collector.influence import influence
    from celosia.collect.collector.ingestion import absorb_files
    from celosia.collect.count_mean.aggregates import simulate_counts
    from celosia.collect.count_mean.count_mean import CountMean
    from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
    from celosia.collect.discovery.cardinality import PrivateCardinality
    from celosia.collect.discovery.heavy_hitters import PrefixTree
    from celosia.collect.distributed.parts import GatheredCounts, gather_in_processes
    from celosia.collect.distributed.spark import gather_on_spark
    from celosia.collect.estimates import Estimates
    from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle
    from celosia.collect.memory import Memory
    from celosia.collect.numbers.buckets import Buckets
    from celosia.collect.numbers.dbitflip import DBitFlip
    from celosia.collect.numbers.one_bit_mean import OneBitMean
    from celosia.collect.oracles.hadamard_response import HadamardResponse
    from celosia.collect.oracles.kary_response import KaryResponse
    from celosia.collect.oracles.local_hashing import LocalHashing
    from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
    from celosia.collect.oracles.subset_selection import SubsetSelection
    from celosia.collect.oracles.unary import OptimisedUnary, SymmetricUnary
    from celosia.collect.protocol import Client, Protocol, Server
    from celosia.collect.rappor.google import decode_google_rappor
    from celosia.collect.rappor.rappor import Rappor
    from celosia.collect.rappor.words import RapporWords
    from celosia.collect.recommendations.results import Recommendations
    from celosia.collect.recommendations.selection import choose, epsilon_for, users_for
    from celosia.collect.registry import load_protocol, protocol_from, save_protocol
    from celosia.collect.reports import Reports
    from celosia.collect.secure.aggregation import Aggregator, SecureResult, combine
    from celosia.collect.secure.client import collect_batch, upload
    from celosia.collect.secure.guarantee import SecureGuarantee, secure_guarantee
    from celosia.collect.secure.tasks import SecureCount, SecureHistogram, SecureSum, load_task
    from celosia.collect.shuffler.guarantee import ShuffleGuarantee, shuffle_guarantee
    from celosia.collect.shuffler.shuffler import Shuffler
    from celosia.collect.simulation.results import Simulation
    from celosia.collect.simulation.run import simulate
    from celosia.collect.sweeps.options import SweepOptions
    from celosia.collect.sweeps.results import Sweep
    from celosia.collect.sweeps.run import sweep

__all__ = [
    "Aggregator",
    "BatchLimits",
    "Buckets",
    "Client",
    "Collector",
    "CountMean",
    "DBitFlip",
    "Estimates",
    "FragmentPuzzle",
    "GatheredCounts",
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
    "SecureCount",
    "SecureGuarantee",
    "SecureHistogram",
    "SecureResult",
    "SecureSum",
    "Server",
    "ShuffleGuarantee",
    "Shuffler",
    "Simulation",
    "SubsetSelection",
    "Sweep",
    "SweepOptions",
    "SymmetricUnary",
    "absorb_files",
    "choose",
    "collect_batch",
    "combine",
    "decode_google_rappor",
    "epsilon_for",
    "gather_in_processes",
    "gather_on_spark",
    "influence",
    "load_protocol",
    "load_task",
    "protocol_from",
    "save_protocol",
    "secure_guarantee",
    "shuffle_guarantee",
    "simulate",
    "simulate_counts",
    "sweep",
    "upload",
    "users_for",
]

__getattr__, __dir__ = on_first_use(__name__)
