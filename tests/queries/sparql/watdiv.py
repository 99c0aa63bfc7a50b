"""The predicates that the WatDiv queries use, as a policy with facts as units."""

from __future__ import annotations

from tests.queries.sparql.graphs import policy_of

from celosia.queries.rdf.terms import address_text, term_number

WSDBM = "http://db.uwaterloo.ca/~galuc/wsdbm/"
PREFIXES = (
    ("wsdbm", WSDBM),
    ("sorg", "http://schema.org/"),
    ("gr", "http://purl.org/goodrelations/"),
    ("og", "http://ogp.me/ns#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("foaf", "http://xmlns.com/foaf/"),
    ("dct", "http://purl.org/dc/terms/"),
    ("gn", "http://www.geonames.org/ontology#"),
    ("mo", "http://purl.org/ontology/mo/"),
    ("rev", "http://purl.org/stuff/rev#"),
)
_NAMES = """
wsdbm:friendOf wsdbm:gender wsdbm:hasGenre wsdbm:hits wsdbm:likes wsdbm:makesPurchase
wsdbm:purchaseDate wsdbm:purchaseFor wsdbm:subscribes sorg:actor sorg:caption sorg:contentRating
sorg:contentSize sorg:description sorg:eligibleQuantity sorg:eligibleRegion sorg:jobTitle
sorg:keywords sorg:language sorg:legalName sorg:nationality sorg:priceValidUntil sorg:publisher
sorg:text sorg:trailer sorg:url gr:includes gr:offers gr:price gr:serialNumber gr:validFrom
gr:validThrough og:tag og:title rdf:type foaf:age foaf:familyName foaf:givenName foaf:homepage
dct:Location gn:parentCountry mo:artist rev:hasReview rev:reviewer rev:title rev:totalVotes
"""
PREDICATES = tuple(_NAMES.split())
AGES = tuple(term_number(address_text(f"{WSDBM}AgeGroup{number}")) for number in range(9))
POLICY = policy_of(
    PREDICATES, prefixes=PREFIXES, keys={"foaf:age": AGES}, bounds={"wsdbm:hits": (0, 1000)}
)
