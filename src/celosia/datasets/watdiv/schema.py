"""Kinds of entities of the shop, what is said of them, and how many there are.

Kinds, predicates and which kinds they connect are those of WatDiv, the Waterloo diversity test
suite; shares and distributions are our own, near to its where queries depend on them.

Reference: G. Aluç, O. Hartig, M. T. Özsu and K. Daudjee, 2014, Diversified stress testing of RDF
data management systems, ISWC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from celosia.datasets.watdiv.values import (
    DayRange,
    EntityText,
    EntityValue,
    IntegerRange,
    MoneyRange,
    Property,
    WordText,
)

GIVEN, FAMILY, JOBS, ADJECTIVES, NOUNS = (
    tuple(words.split())
    for words in (
        "Ana Beatriz Camila Daniel Elena Felipe Gabriela Hugo Ines Jorge Karin Lautaro Maria "
        "Nicolas Olivia Pablo Rosa Sofia Tomas Valentina Anna Bruno Clara David Emma Fabian Greta "
        "Hannes Ida Jonas Kim Lea Marco Nora Oskar Petra Rafael Sara Tim Vera",
        "Araya Bravo Castro Diaz Espinoza Fuentes Gonzalez Herrera Ibarra Jara Lagos Molina "
        "Navarro Olivares Perez Quiroga Rojas Silva Torres Vega Ammann Baumann Christen Dubois "
        "Egger Frei Graf Huber Imhof Jost Keller Lang Meier Nussbaum Ott Pfister Roth Schmid "
        "Vogel Weber",
        "actuary baker carpenter doctor editor farmer gardener historian illustrator judge "
        "lecturer mason nurse optician pilot reporter surveyor teacher usher welder",
        "amber bold calm distant early faint gentle hidden inner joyful keen lasting mellow "
        "narrow open plain quiet rough silent tender upright vivid warm young",
        "anchor bridge candle desert engine forest garden harbour island journey kettle lantern "
        "meadow needle orchard pebble quarry river saddle tunnel umbrella valley window yard",
    )
)
HOURS = ("Mo-Fr 08-17", "Mo-Sa 09-18", "Mo-Su 10-20")


PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        "dct": "http://purl.org/dc/terms/",
        "foaf": "http://xmlns.com/foaf/",
        "gn": "http://www.geonames.org/ontology#",
        "gr": "http://purl.org/goodrelations/",
        "mo": "http://purl.org/ontology/mo/",
        "og": "http://ogp.me/ns#",
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rev": "http://purl.org/stuff/rev#",
        "sorg": "http://schema.org/",
        "wsdbm": "http://db.uwaterloo.ca/~galuc/wsdbm/",
    }
)
"""As the published queries have them."""

_PHRASE = WordText((ADJECTIVES, NOUNS))
_LONG = WordText((ADJECTIVES, NOUNS, ADJECTIVES, NOUNS))

CATEGORIES_APART = 5
"""Each fifth category is of one group: things, music, films, books and tools in turn."""
MUSIC, FILM, BOOK = 1, 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of entities."""

    name: str
    """Entities are named so, with a number: wsdbm:User17."""
    policy_name: str = ""
    """In policies, where it has another one there."""
    per_thousand: int = 0
    """How many there are for each thousand users; 0 for kinds that do not grow."""
    fixed: int = 0
    properties: tuple[Property, ...] = ()

    @property
    def class_name(self) -> str:
        """In policies."""
        return self.policy_name or self.name


_USER = Kind(
    name="User",
    per_thousand=1000,
    properties=(
        Property("wsdbm:userId", 100, EntityText('"{}"^^xsd:integer')),
        Property("foaf:givenName", 70, WordText((GIVEN,))),
        Property("foaf:familyName", 70, WordText((FAMILY,))),
        Property("rdf:type", 60, EntityValue("Role")),
        Property("wsdbm:gender", 60, EntityValue("Gender")),
        Property("foaf:age", 50, EntityValue("AgeGroup")),
        Property("dct:Location", 40, EntityValue("City", flat=20)),
        Property("sorg:nationality", 40, EntityValue("Country", flat=2)),
        Property("sorg:birthDate", 20, DayRange(date(1930, 1, 1), date(2004, 12, 31))),
        Property("sorg:jobTitle", 10, WordText((JOBS,))),
        Property("foaf:homepage", 10, EntityValue("Website", flat=20)),
        Property("wsdbm:friendOf", 40, EntityValue("User"), most=200),
        Property("wsdbm:follows", 60, EntityValue("User", flat=0.02), most=200, skewed=True),
        Property("wsdbm:likes", 50, EntityValue("Product", flat=5), most=20, skewed=True),
        Property("wsdbm:subscribes", 40, EntityValue("Website", flat=20), most=9),
    ),
)
_PRODUCT = Kind(
    name="Product",
    per_thousand=250,
    properties=(
        Property("rdf:type", 100, EntityValue("ProductCategory", flat=4)),
        Property("wsdbm:hasGenre", 100, EntityValue("SubGenre", flat=10), most=4),
        Property("og:tag", 80, EntityValue("Topic", flat=60), most=5),
        Property("og:title", 80, _PHRASE),
        Property("sorg:keywords", 60, _PHRASE),
        Property("sorg:description", 60, _LONG),
        Property("sorg:language", 50, EntityValue("Language", flat=1)),
        Property("sorg:contentRating", 40, IntegerRange(0, 18), bounded=True),
        Property("foaf:homepage", 40, EntityValue("Website", flat=20)),
        Property("sorg:caption", 40, _PHRASE),
        Property("sorg:text", 30, _LONG),
        Property("sorg:contentSize", 30, IntegerRange(1, 5000), bounded=True),
        Property("mo:artist", 90, EntityValue("User", flat=0.05), most=5, groups=(MUSIC,)),
        Property("sorg:trailer", 80, EntityText("<http://films.example.org/{}>"), groups=(FILM,)),
        Property("sorg:actor", 90, EntityValue("User", flat=0.05), most=5, groups=(FILM,)),
        Property("sorg:director", 60, EntityValue("User", flat=0.05), groups=(FILM,)),
        Property("sorg:author", 90, EntityValue("User", flat=0.05), most=3, groups=(BOOK,)),
        Property("sorg:numberOfPages", 90, IntegerRange(20, 1500), groups=(BOOK,), bounded=True),
        Property("sorg:publisher", 60, _PHRASE, groups=(MUSIC, BOOK)),
    ),
)
_OFFER = Kind(
    name="Offer",
    per_thousand=900,
    properties=(
        Property("gr:offers", 100, EntityValue("Retailer", flat=10), reverse=True),
        Property("gr:includes", 100, EntityValue("Product", flat=0.25)),
        Property("gr:price", 100, MoneyRange(100, 99_999), bounded=True),
        Property("gr:serialNumber", 100, IntegerRange(10_000_000, 99_999_999)),
        Property("sorg:eligibleQuantity", 100, IntegerRange(1, 50), bounded=True),
        Property("sorg:eligibleRegion", 100, EntityValue("Country", flat=2), most=4),
        Property("gr:validFrom", 60, DayRange(date(2013, 1, 1), date(2014, 12, 31))),
        Property("gr:validThrough", 60, DayRange(date(2015, 1, 1), date(2016, 12, 31))),
        Property("sorg:priceValidUntil", 40, DayRange(date(2015, 1, 1), date(2016, 12, 31))),
    ),
)
_REVIEW = Kind(
    name="Review",
    per_thousand=1500,
    properties=(
        Property("rev:hasReview", 100, EntityValue("Product", flat=20), reverse=True),
        Property("rev:reviewer", 100, EntityValue("User", flat=0.25)),
        Property("rev:rating", 100, IntegerRange(1, 10), bounded=True),
        Property("rev:text", 70, _LONG),
        Property("rev:title", 50, _PHRASE),
        Property("rev:totalVotes", 30, IntegerRange(0, 500), bounded=True),
    ),
)
_PURCHASE = Kind(
    name="Purchase",
    per_thousand=1500,
    properties=(
        Property("wsdbm:makesPurchase", 100, EntityValue("User", flat=0.25), reverse=True),
        Property("wsdbm:purchaseFor", 100, EntityValue("Product", flat=20)),
        Property("wsdbm:purchaseDate", 80, DayRange(date(2013, 1, 1), date(2014, 12, 31))),
    ),
)
_RETAILER = Kind(
    name="Retailer",
    per_thousand=13,
    properties=(
        Property("gr:name", 100, _PHRASE),
        Property("sorg:legalName", 90, _PHRASE),
        Property("sorg:contactPoint", 90, EntityValue("User", flat=0.25)),
        Property("sorg:email", 90, EntityText('"retailer{}@example.org"')),
        Property("sorg:openingHours", 80, WordText((HOURS,))),
    ),
)
_WEBSITE = Kind(
    name="Website",
    per_thousand=100,
    properties=(
        Property("sorg:url", 100, EntityText("<http://site{}.example.org/>")),
        Property("wsdbm:hits", 100, IntegerRange(0, 1_000_000), bounded=True),
        Property("sorg:language", 80, EntityValue("Language", flat=1)),
    ),
)
_GENRE = Kind(
    name="SubGenre",
    policy_name="Genre",
    fixed=145,
    properties=(
        Property("rdf:type", 100, EntityValue("Genre")),
        Property("og:tag", 100, EntityValue("Topic", flat=60), most=5),
    ),
)
_CITY = Kind(
    name="City",
    fixed=240,
    properties=(Property("gn:parentCountry", 100, EntityValue("Country", flat=8)),),
)
KINDS = (_CITY, _GENRE, _WEBSITE, _RETAILER, _PRODUCT, _OFFER, _USER, _REVIEW, _PURCHASE)
"""Kinds of which something is said, in the order in which it is."""
VALUES: Mapping[str, int] = MappingProxyType(
    {
        "AgeGroup": 9,
        "Country": 25,
        "Gender": 2,
        "Genre": 21,
        "Language": 25,
        "ProductCategory": 15,
        "Role": 3,
        "Topic": 250,
    }
)
"""Kinds that are only objects, and how many there are of each."""
FUNCTIONAL = frozenset(
    each.predicate for kind in KINDS for each in kind.properties if not each.reverse
) - {each.predicate for kind in KINDS for each in kind.properties if each.most > 1}
"""Predicates of which an entity has one fact at most."""
