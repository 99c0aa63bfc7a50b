"""Sketches: small summaries of many values that can be merged exactly, without privacy.

How often was a value seen: `CountMin`, `CountSketch`, `CountingBloom`. Was it seen at all: `Bloom`.
How many different ones were seen: `HyperLogLog`, `FlajoletMartin`, and `Theta`, which also answers
for unions, intersections and differences. How uneven are they: `AmsSketch`.

A sketch holds hashes and sums of values, and these can betray them: it protects nobody. Protocols
that do are built upon sketches in `celosia.collect`.
"""

from celosia.sketches.bloom import Bloom, CountingBloom
from celosia.sketches.count_min import CountMin
from celosia.sketches.flajolet_martin import FlajoletMartin
from celosia.sketches.hashing import Family, digest, digests
from celosia.sketches.hyperloglog import HyperLogLog
from celosia.sketches.signed_sketches import AmsSketch, CountSketch
from celosia.sketches.sketch import Sketch
from celosia.sketches.theta import Theta

__all__ = [
    "AmsSketch",
    "Bloom",
    "CountMin",
    "CountSketch",
    "CountingBloom",
    "Family",
    "FlajoletMartin",
    "HyperLogLog",
    "Sketch",
    "Theta",
    "digest",
    "digests",
]
