"""Data to start with: a census, shops and values on devices of any size, real rows, small tables.

Nothing is downloaded, and nothing is read before a function is called.
"""

from celosia.datasets import attacked, examples, telemetry
from celosia.datasets.adult import adult
from celosia.datasets.catalogue import Dataset, catalogue, load
from celosia.datasets.census import census
from celosia.datasets.schemas import census_schema, schema_text
from celosia.datasets.shop import Shop, tpch
from celosia.datasets.watdiv import ShopGraph, watdiv

__all__ = [
    "Dataset",
    "Shop",
    "ShopGraph",
    "adult",
    "attacked",
    "catalogue",
    "census",
    "census_schema",
    "examples",
    "load",
    "schema_text",
    "telemetry",
    "tpch",
    "watdiv",
]
