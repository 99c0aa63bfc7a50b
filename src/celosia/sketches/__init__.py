"""Sketches: small summaries of many values that can be merged exactly, without privacy.

How often was a value seen: `CountMin`, `CountSketch`, `CountingBloomFilter`. Was it seen at all:
`BloomFilter`. How many different ones were seen: `HyperLogLog`, `FlajoletMartin`, and
`ThetaSketch`, which also answers for unions, intersections and differences. How uneven are they:
`AmsSketch`. Those that are exchanged with Apache DataSketches are `DataSketchesHyperLogLog`,
`DataSketchesTheta` and `DataSketchesCountMin`.

A sketch holds hashes and sums of values, and these can reveal them: it protects nothing. Protocols
that do are built upon sketches in `celosia.collect`.
"""

from celosia.sketches.bloom import BloomFilter, CountingBloomFilter
from celosia.sketches.count_min import CountMin
from celosia.sketches.datasketches import (
    DataSketchesCountMin,
    DataSketchesHyperLogLog,
    DataSketchesTheta,
    is_of_datasketches,
    read_datasketches,
    write_datasketches,
)
from celosia.sketches.flajolet_martin import FlajoletMartin
from celosia.sketches.hashing import HashFamily, digest, digests
from celosia.sketches.hyperloglog import HyperLogLog
from celosia.sketches.signed_sketches import AmsSketch, CountSketch
from celosia.sketches.sketch import Sketch
from celosia.sketches.theta import ThetaSketch

__all__ = [
    "AmsSketch",
    "BloomFilter",
    "CountMin",
    "CountSketch",
    "CountingBloomFilter",
    "DataSketchesCountMin",
    "DataSketchesHyperLogLog",
    "DataSketchesTheta",
    "FlajoletMartin",
    "HashFamily",
    "HyperLogLog",
    "Sketch",
    "ThetaSketch",
    "digest",
    "digests",
    "is_of_datasketches",
    "read_datasketches",
    "write_datasketches",
]
