"""Data to start with: a census, shops, a network and values on devices; real rows, small tables.

Nothing is downloaded, and nothing is read before a function is called.
"""

from celosia.datasets import examples, telemetry, weak_releases
from celosia.datasets.adult import adult
from celosia.datasets.baskets import Baskets, baskets
from celosia.datasets.catalogue import Dataset, catalogue, load
from celosia.datasets.census import census, census_schema, schema_text
from celosia.datasets.city import City, city, city_declaration
from celosia.datasets.clinic import Clinic, clinic
from celosia.datasets.friends import friends
from celosia.datasets.notes import Notes, notes
from celosia.datasets.searches import Searches, searches
from celosia.datasets.shop import Shop, tpch
from celosia.datasets.watdiv import ShopGraph, watdiv

__all__ = [
    "Baskets",
    "City",
    "Clinic",
    "Dataset",
    "Notes",
    "Searches",
    "Shop",
    "ShopGraph",
    "adult",
    "baskets",
    "catalogue",
    "census",
    "census_schema",
    "city",
    "city_declaration",
    "clinic",
    "examples",
    "friends",
    "load",
    "notes",
    "schema_text",
    "searches",
    "telemetry",
    "tpch",
    "watdiv",
    "weak_releases",
]
