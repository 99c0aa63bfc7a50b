"""The fifteen WatDiv queries with the refitted frequencies: all corrected sensitivities."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.queries.sparql.graphs import policy_of
from tests.queries.sparql.watdiv import PREFIXES

from celosia.queries.bounds.elastic_sensitivity import ElasticSensitivity, elastic_sensitivity
from celosia.queries.bounds.facts import DeclaredFacts
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth
from celosia.queries.bounds.stability import Rule
from celosia.queries.sparql import compile

PATTERNS = {
    "F1": (
        "?v3",
        "?v0 og:tag wsdbm:Topic66 . "
        "?v0 rdf:type ?v2 . "
        "?v3 wsdbm:hasGenre ?v0 . "
        "?v3 sorg:trailer ?v4 . "
        "?v3 sorg:keywords ?v5 . "
        "?v3 rdf:type wsdbm:ProductCategory2",
    ),
    "F2": (
        "?v1",
        "?v0 foaf:homepage ?v1 . "
        "?v0 og:title ?v2 . "
        "?v0 rdf:type ?v3 . "
        "?v0 sorg:caption ?v4 . "
        "?v0 sorg:description ?v5 . "
        "?v1 sorg:url ?v6 . "
        "?v1 wsdbm:hits ?v7 . "
        "?v0 wsdbm:hasGenre wsdbm:SubGenre87",
    ),
    "F3": (
        "?v5",
        "?v0 sorg:contentRating ?v1 . "
        "?v0 sorg:contentSize ?v2 . "
        "?v0 wsdbm:hasGenre wsdbm:SubGenre31 . "
        "?v5 wsdbm:purchaseFor ?v0 . "
        "?v4 wsdbm:makesPurchase ?v5 . "
        "?v5 wsdbm:purchaseDate ?v6",
    ),
    "F4": (
        "?v6",
        "?v0 foaf:homepage ?v1 . "
        "?v2 gr:includes ?v0 . "
        "?v0 og:tag wsdbm:Topic154 . "
        "?v0 sorg:description ?v4 . "
        "?v0 sorg:contentSize ?v8 . "
        "?v1 sorg:url ?v5 . "
        "?v1 wsdbm:hits ?v6 . "
        "?v1 sorg:language wsdbm:Language0 . "
        "?v7 wsdbm:likes ?v0",
    ),
    "F5": (
        "?v1",
        "?v0 gr:includes ?v1 . "
        "wsdbm:Retailer46 gr:offers ?v0 . "
        "?v0 gr:price ?v3 . "
        "?v0 gr:validThrough ?v4 . "
        "?v1 og:title ?v5 . "
        "?v1 rdf:type ?v6",
    ),
    "L1": (
        "?v0",
        "?v0 wsdbm:subscribes wsdbm:Website658 . ?v0 wsdbm:likes ?v2 . ?v2 sorg:caption ?v3",
    ),
    "L2": (
        "?v2",
        "wsdbm:City74 gn:parentCountry ?v1 . "
        "?v2 sorg:nationality ?v1 . "
        "?v2 wsdbm:likes wsdbm:Product0",
    ),
    "L3": (
        "?v1",
        "?v0 wsdbm:likes ?v1 . ?v0 wsdbm:subscribes wsdbm:Website262",
    ),
    "L4": (
        "?v2",
        "?v0 og:tag wsdbm:Topic11 . ?v0 sorg:caption ?v2",
    ),
    "L5": (
        "?v0",
        "?v0 sorg:jobTitle ?v1 . ?v0 sorg:nationality ?v3 . wsdbm:City84 gn:parentCountry ?v3",
    ),
    "S1": (
        "?v0",
        "?v0 gr:includes ?v1 . "
        "wsdbm:Retailer118 gr:offers ?v0 . "
        "?v0 gr:price ?v3 . "
        "?v0 gr:serialNumber ?v4 . "
        "?v0 gr:validFrom ?v5 . "
        "?v0 gr:validThrough ?v6 . "
        "?v0 sorg:eligibleQuantity ?v7 . "
        "?v0 sorg:eligibleRegion ?v8 . "
        "?v0 sorg:priceValidUntil ?v9",
    ),
    "S2": (
        "?v1",
        "?v0 dct:Location ?v1 . "
        "?v0 sorg:nationality wsdbm:Country14 . "
        "?v0 wsdbm:gender ?v3 . "
        "?v0 rdf:type wsdbm:Role2",
    ),
    "S3": (
        "?v4",
        "?v0 rdf:type wsdbm:ProductCategory11 . "
        "?v0 sorg:caption ?v2 . "
        "?v0 wsdbm:hasGenre ?v3 . "
        "?v0 sorg:publisher ?v4",
    ),
    "S4": (
        "?v0",
        "?v0 foaf:age wsdbm:AgeGroup4 . "
        "?v0 foaf:familyName ?v2 . "
        "?v3 mo:artist ?v0 . "
        "?v0 sorg:nationality wsdbm:Country1",
    ),
    "S5": (
        "?v3",
        "?v0 rdf:type wsdbm:ProductCategory14 . "
        "?v0 sorg:description ?v2 . "
        "?v0 sorg:keywords ?v3 . "
        "?v0 sorg:language wsdbm:Language0",
    ),
}
# S at distances 0 and 1, and the smooth S with its distance at epsilon 0.1 and at 1, delta 1e-14.
PRINTED = {
    "F1": (480, 2608, (2.70514e12, 2620), (3.25781e8, 251)),
    "F2": (1, 128, (4.0418e22, 4609), (4.09742e15, 460)),
    "F3": (14105, 225696, (1.4834e16, 2741), (1.28678e12, 264)),
    "F4": (8486, 407424, (7.89929e22, 4281), (4.45667e16, 400)),
    "F5": (2, 32, (2.61278e15, 3292), (2.64872e10, 328)),
    "L1": (4243, 4244, (235335, 1316), (4243, 0)),
    "L2": (5239, 5240, (5239, 0), (5239, 0)),
    "L3": (2, 3, (243.017, 657), (24.975, 64)),
    "L4": (1, 2, (242.649, 658), (24.5987, 65)),
    "L5": (5239, 10480, (1.44034e6, 739), (130477, 66)),
    "S1": (4, 640, (1.99607e26, 5267), (2.03389e18, 525)),
    "S2": (1, 4, (235156, 1316), (2383.91, 131)),
    "S3": (4, 20, (3.85157e8, 1974), (395796, 196)),
    "S4": (128, 258, (258358, 1256), (5061.12, 93)),
    "S5": (1, 4, (235156, 1316), (2383.91, 131)),
}
REFITTED = {
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
NAMES = sorted({each.split()[1] for _, body in PATTERNS.values() for each in body.split(" . ")})
POLICY = replace(policy_of(NAMES, prefixes=PREFIXES), elastic=True)
ONES = {(name, column): 1 for name in NAMES for column in ("subject", "object")}
FACTS = DeclaredFacts(POLICY, ONES | REFITTED)


def bound(name: str, rule: Rule) -> ElasticSensitivity:
    counted, body = PATTERNS[name]
    question = compile(f"SELECT (COUNT({counted}) AS ?n) WHERE {{ {body} }}", POLICY)
    return elastic_sensitivity(question, question.aggregates[0], facts=FACTS, rule=rule)


@pytest.mark.parametrize("name", PATTERNS)
def test_the_written_order_gives_the_printed_sensitivities(name: str) -> None:
    first, second, *smoothed = PRINTED[name]
    found = bound(name, "elastic")
    assert found.at(0) == first
    assert found.at(1) == second
    for epsilon, (size, distance) in zip((0.1, 1), smoothed, strict=True):
        most = smooth(found.growth, beta=choose_beta(epsilon, 1e-14))
        assert float(most.bound) == pytest.approx(size, rel=5e-6)  # six digits are printed
        assert most.distance == distance


@pytest.mark.parametrize("name", PATTERNS)
def test_all_orders_together_are_never_above_the_printed_sensitivities(name: str) -> None:
    first, second, *smoothed = PRINTED[name]
    found = bound(name, "tight")
    assert found.at(0) <= first
    assert found.at(1) <= second
    for epsilon, (size, _) in zip((0.1, 1), smoothed, strict=True):
        most = smooth(found.growth, beta=choose_beta(epsilon, 1e-14))
        assert float(most.bound) <= size * (1 + 5e-6)
