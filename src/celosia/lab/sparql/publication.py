"""What was published of SPARQL counts over WatDiv, and what was computed again for this study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

FREQUENCIES: Mapping[tuple[str, str], int] = MappingProxyType(
    {
        ("wsdbm:hasGenre", "object"): 78,
        ("wsdbm:hasGenre", "subject"): 4,
        ("sorg:trailer", "subject"): 3,
        ("wsdbm:purchaseFor", "object"): 14105,
        ("gr:includes", "object"): 2,
        ("wsdbm:likes", "object"): 4243,
        ("wsdbm:likes", "subject"): 2,
        ("sorg:nationality", "object"): 5239,
        ("sorg:eligibleRegion", "subject"): 4,
        ("mo:artist", "object"): 128,
    }
)
"""Frequencies with which the published arithmetic gives all published numbers; 1 for all others.

They were found by fitting, and are not the true ones of WatDiv: the query that measured them
returned those of the first value, not of the most frequent one.
"""

STARS = (5, 18, 58, 179, 543, 1636, 4916, 14757)
"""Of stars of two to nine patterns with frequencies 1, by the published arithmetic."""
BETA = "0.001518402807472358"
"""At epsilon 0.1 and delta 1e-14."""


@dataclass(frozen=True, slots=True)
class PublishedSensitivities:
    """Those of one query."""

    printed: int
    """In the thesis: the broken analysis at distance 1."""
    at_0: int
    """The broken analysis at distance 0."""
    uncapped: tuple[int, int]
    """Corrected, at distances 0 and 1, without the rule that a fact is in a graph once."""
    capped: tuple[int, int]
    """The same with it."""
    smooth: tuple[tuple[str, int], tuple[str, int]]
    """Of the latter over all distances, with the distance, at epsilon 0.1 and 1, delta 1e-14."""


SENSITIVITIES: Mapping[str, PublishedSensitivities] = MappingProxyType(
    {
        name: PublishedSensitivities(printed, at_0, uncapped, capped, (tenth, one))
        for name, printed, at_0, uncapped, capped, tenth, one in (
            ("F1", 19786, 3808, (480, 3952), (480, 2608), ("2.70514e12", 2620), ("3.25781e8", 251)),
            ("F2", 4916, 255, (1, 128), (1, 128), ("4.0418e22", 4609), ("4.09742e15", 460)),
            (
                *("F3", 2341791, 394972, (14105, 225696), (14105, 225696)),
                *(("1.4834e16", 2741), ("1.28678e12", 264)),
            ),
            (
                *("F4", 28598577, 1621210, (8486, 814848), (8486, 407424)),
                *(("7.89929e22", 4281), ("4.45667e16", 400)),
            ),
            ("F5", 547, 66, (2, 48), (2, 32), ("2.61278e15", 3292), ("2.64872e10", 328)),
            ("L1", 22, 8, (4243, 8488), (4243, 4244), ("235335", 1316), ("4243", 0)),
            ("L2", 26207, 10482, (5239, 10480), (5239, 5240), ("5239", 0), ("5239", 0)),
            ("L3", 6, 4, (2, 3), (2, 3), ("243.017", 657), ("24.975", 64)),
            ("L4", 5, 3, (1, 2), (1, 2), ("242.649", 658), ("24.5987", 65)),
            ("L5", 17, 6, (5239, 10480), (5239, 10480), ("1.44034e6", 739), ("130477", 66)),
            ("S1", 29508, 1276, (4, 640), (4, 640), ("1.99607e26", 5267), ("2.03389e18", 525)),
            ("S2", 58, 15, (1, 8), (1, 4), ("235156", 1316), ("2383.91", 131)),
            ("S3", 115, 36, (4, 20), (4, 20), ("3.85157e8", 1974), ("395796", 196)),
            ("S4", 2471, 904, (128, 516), (128, 258), ("258358", 1256), ("5061.12", 93)),
            ("S5", 58, 15, (1, 8), (1, 4), ("235156", 1316), ("2383.91", 131)),
        )
    }
)
"""By query; only the first number of each is printed in the thesis."""

EPSILONS = (0.1, 0.01, 1.0)
"""In the order of the columns of answers."""


@dataclass(frozen=True, slots=True)
class PublishedAnswers:
    """Averages of about a thousand answers, as printed."""

    original: float
    private: tuple[float, float, float]
    """At each of `EPSILONS`."""
    scales: tuple[str, str, str]
    """Of the noise that the printed sensitivity gives, computed again for this study."""


ANSWERS: Mapping[str, PublishedAnswers] = MappingProxyType(
    {
        name: PublishedAnswers(original, private, scales)
        for name, original, private, scales in (
            ("F1", 6, (145591, -5024344, 686.48), ("395120", "3.9566e6", "38975.7")),
            ("F2", 6.12, (9003.3, 9437.58, 139701.52), ("98170.8", "983051", "9683.84")),
            (
                *("F3", 9.15, (4389735.16, -40516848.46, 2890094)),
                ("4.67648e7", "4.68287e8", "4.613e6"),
            ),
            (
                *("F4", 28.48, (-32414026.75, -131449131.7, 141270.15)),
                ("5.71104e8", "5.71885e9", "5.63352e7"),
            ),
            ("F5", 40.72, (883.05, -6681.48, 106.53), ("10923.4", "109383", "1077.51")),
            ("L1", 2.97, (-14.37, 54.11, 7.16), ("439.332", "4399.33", "43.3369")),
            ("L2", 70.53, (-27969.99, 761329.17, -1227.37), ("523345", "5.2406e6", "51624.2")),
            ("L3", 37.6, (28.31, 268.05, 37.93), ("119.818", "1199.82", "11.8192")),
            ("L4", 59.39, (74.38, 57.41, 60.1), ("99.8483", "999.848", "9.84931")),
            ("L5", 93.1, (90.85, 425.27, 86.39), ("339.484", "3399.48", "33.4876")),
            ("S1", 5.42, (30042.11, 235848.36, 2039.45), ("589265", "5.9007e6", "58126.7")),
            ("S2", 38.4, (-176.42, -1752.44, 50.55), ("1158.24", "11598.2", "114.252")),
            ("S3", 19.8, (-523.63, -1750.38, 58.48), ("2296.51", "22996.5", "226.534")),
            ("S4", 3.22, (4602.96, -50427.26, -731), ("49345", "494125", "4867.53")),
            ("S5", 2.27, (419.35, 2683.29, -52.16), ("1158.24", "11598.2", "114.252")),
        )
    }
)
"""By query."""
OTHER_ORIGINAL = 9.0
"""Of F2 in the table of epsilon 1, where its private answer does not fit either."""
