"""The eighteen published query templates of WatDiv's basic workload, as counts, and one more.

Each has the constants of a published experiment. From a million facts on all of them are in our
graphs; `Query.fitting` takes others for smaller ones, and `Query.open` has a variable where the
template has a placeholder, so that it counts over all constants at once.

Reference: G. Aluç, O. Hartig, M. T. Özsu and K. Daudjee, 2014, Diversified stress testing of RDF
data management systems, ISWC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from celosia.core.methods import PlainValues, derived
from celosia.datasets.watdiv.schema import PREFIXES
from celosia.datasets.watdiv.sizes import sizes_of, users_for

Shape = Literal["linear", "star", "snowflake", "complex"]
_ENTITY = re.compile(r"wsdbm:([A-Z][A-Za-z]*?)([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(PlainValues):
    """A count over a pattern of facts."""

    name: str
    shape: Shape
    counted: str
    """The variable that is counted, without its mark."""
    pattern: str
    constant: str | None
    """What stands for the placeholder of the template; None if it has none."""
    placeholder: str | None
    """The variable that the open form has in its place."""

    def __str__(self) -> str:
        return f"{self.name}, {self.shape}: {{ {self.pattern} }}"

    @property
    @derived
    def sparql(self) -> str:
        """The query with its published constants."""
        return self._written(self.pattern)

    @property
    @derived
    def open(self) -> str | None:
        """The query without the constant; None if the template has no placeholder."""
        if self.constant is None:
            return None
        return self._written(self.pattern.replace(self.constant, f"?{self.placeholder}"))

    def fitting(self, triples: int) -> str:
        """The query with constants that are in a graph of `triples` facts, whatever its seed.

        A number that is too large stands for its remainder.

        >>> QUERIES["L3"].fitting(100_000).partition("subscribes ")[2]
        'wsdbm:Website70 }'
        """
        sizes = sizes_of(users_for(triples))

        def there(found: re.Match[str]) -> str:
            return f"wsdbm:{found[1]}{int(found[2]) % sizes[found[1]]}"

        return self._written(_ENTITY.sub(there, self.pattern))

    def _written(self, pattern: str) -> str:
        used = [name for name in PREFIXES if f"{name}:" in pattern]
        heads = [f"PREFIX {name}: <{PREFIXES[name]}>" for name in used]
        count = f"SELECT (COUNT(?{self.counted}) AS ?{self.counted}_count)"
        return "\n".join([*heads, f"{count} WHERE {{ {pattern} }}"])


_WRITTEN = """
F1 snowflake v3 v1 wsdbm:Topic66
 ?v0 og:tag wsdbm:Topic66 . ?v0 rdf:type ?v2 . ?v3 wsdbm:hasGenre ?v0 . ?v3 sorg:trailer ?v4 .
 ?v3 sorg:keywords ?v5 . ?v3 rdf:type wsdbm:ProductCategory2
F2 snowflake v1 v8 wsdbm:SubGenre87
 ?v0 foaf:homepage ?v1 . ?v0 og:title ?v2 . ?v0 rdf:type ?v3 . ?v0 sorg:caption ?v4 .
 ?v0 sorg:description ?v5 . ?v1 sorg:url ?v6 . ?v1 wsdbm:hits ?v7 .
 ?v0 wsdbm:hasGenre wsdbm:SubGenre87
F3 snowflake v5 v3 wsdbm:SubGenre31
 ?v0 sorg:contentRating ?v1 . ?v0 sorg:contentSize ?v2 . ?v0 wsdbm:hasGenre wsdbm:SubGenre31 .
 ?v5 wsdbm:purchaseFor ?v0 . ?v4 wsdbm:makesPurchase ?v5 . ?v5 wsdbm:purchaseDate ?v6
F4 snowflake v6 v3 wsdbm:Topic154
 ?v0 foaf:homepage ?v1 . ?v2 gr:includes ?v0 . ?v0 og:tag wsdbm:Topic154 .
 ?v0 sorg:description ?v4 . ?v0 sorg:contentSize ?v8 . ?v1 sorg:url ?v5 . ?v1 wsdbm:hits ?v6 .
 ?v1 sorg:language wsdbm:Language0 . ?v7 wsdbm:likes ?v0
F5 snowflake v1 v2 wsdbm:Retailer46
 ?v0 gr:includes ?v1 . wsdbm:Retailer46 gr:offers ?v0 . ?v0 gr:price ?v3 .
 ?v0 gr:validThrough ?v4 . ?v1 og:title ?v5 . ?v1 rdf:type ?v6
L1 linear v0 v1 wsdbm:Website658
 ?v0 wsdbm:subscribes wsdbm:Website658 . ?v0 wsdbm:likes ?v2 . ?v2 sorg:caption ?v3
L2 linear v2 v0 wsdbm:City74
 wsdbm:City74 gn:parentCountry ?v1 . ?v2 sorg:nationality ?v1 . ?v2 wsdbm:likes wsdbm:Product0
L3 linear v1 v2 wsdbm:Website262
 ?v0 wsdbm:likes ?v1 . ?v0 wsdbm:subscribes wsdbm:Website262
L4 linear v2 v1 wsdbm:Topic11
 ?v0 og:tag wsdbm:Topic11 . ?v0 sorg:caption ?v2
L5 linear v0 v2 wsdbm:City84
 ?v0 sorg:jobTitle ?v1 . ?v0 sorg:nationality ?v3 . wsdbm:City84 gn:parentCountry ?v3
S1 star v0 v2 wsdbm:Retailer118
 ?v0 gr:includes ?v1 . wsdbm:Retailer118 gr:offers ?v0 . ?v0 gr:price ?v3 .
 ?v0 gr:serialNumber ?v4 . ?v0 gr:validFrom ?v5 . ?v0 gr:validThrough ?v6 .
 ?v0 sorg:eligibleQuantity ?v7 . ?v0 sorg:eligibleRegion ?v8 . ?v0 sorg:priceValidUntil ?v9
S2 star v1 v2 wsdbm:Country14
 ?v0 dct:Location ?v1 . ?v0 sorg:nationality wsdbm:Country14 . ?v0 wsdbm:gender ?v3 .
 ?v0 rdf:type wsdbm:Role2
S3 star v4 v1 wsdbm:ProductCategory11
 ?v0 rdf:type wsdbm:ProductCategory11 . ?v0 sorg:caption ?v2 . ?v0 wsdbm:hasGenre ?v3 .
 ?v0 sorg:publisher ?v4
S4 star v0 v1 wsdbm:AgeGroup4
 ?v0 foaf:age wsdbm:AgeGroup4 . ?v0 foaf:familyName ?v2 . ?v3 mo:artist ?v0 .
 ?v0 sorg:nationality wsdbm:Country1
S5 star v3 v1 wsdbm:ProductCategory14
 ?v0 rdf:type wsdbm:ProductCategory14 . ?v0 sorg:description ?v2 . ?v0 sorg:keywords ?v3 .
 ?v0 sorg:language wsdbm:Language0
C1 complex v0 - -
 ?v0 sorg:caption ?v1 . ?v0 sorg:text ?v2 . ?v0 sorg:contentRating ?v3 . ?v0 rev:hasReview ?v4 .
 ?v4 rev:title ?v5 . ?v4 rev:reviewer ?v6 . ?v7 sorg:actor ?v6 . ?v7 sorg:language ?v8
C2 complex v0 - -
 ?v0 sorg:legalName ?v1 . ?v0 gr:offers ?v2 . ?v2 sorg:eligibleRegion wsdbm:Country5 .
 ?v2 gr:includes ?v3 . ?v4 sorg:jobTitle ?v5 . ?v4 foaf:homepage ?v6 .
 ?v4 wsdbm:makesPurchase ?v7 . ?v7 wsdbm:purchaseFor ?v3 . ?v3 rev:hasReview ?v8 .
 ?v8 rev:totalVotes ?v9
C3 complex v0 - -
 ?v0 wsdbm:likes ?v1 . ?v0 wsdbm:friendOf ?v2 . ?v0 dct:Location ?v3 . ?v0 foaf:age ?v4 .
 ?v0 wsdbm:gender ?v5 . ?v0 foaf:givenName ?v6
regions snowflake v2 v9 wsdbm:Country20
 ?v2 sorg:eligibleRegion wsdbm:Country20 . ?v0 gr:offers ?v2 . ?v2 gr:price ?v3 .
 ?v2 gr:validFrom ?v4 . ?v2 gr:validThrough ?v5 . ?v0 gr:name ?v1 . ?v0 sorg:contactPoint ?v8 .
 ?v0 sorg:email ?v10 . ?v0 sorg:openingHours ?v11 . ?v6 rev:reviewer ?v8 . ?v6 rev:rating ?v7
"""
"""Name, shape, variable that is counted, placeholder, constant; then the pattern."""


def _read() -> dict[str, Query]:
    queries = {}
    for entry in re.split(r"\n(?=\S)", _WRITTEN.strip()):
        head, *lines = entry.split("\n")
        name, shape, counted, placeholder, constant = head.split()
        is_open = constant != "-"
        queries[name] = Query(
            name=name,
            shape=shape,  # type: ignore[arg-type]  # a Shape, as the tests check
            counted=counted,
            pattern=" ".join(line.strip() for line in lines),
            constant=constant if is_open else None,
            placeholder=placeholder if is_open else None,
        )
    return queries


QUERIES: Mapping[str, Query] = MappingProxyType(_read())
"""By name: F1 to F5, L1 to L5, S1 to S5, C1 to C3, and `regions`, the demonstration query of eleven
patterns over offers in a region."""
