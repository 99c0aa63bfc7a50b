"""Data to start with: a census and a shop of any size, real rows, and tables to check by hand.

Nothing is downloaded, and nothing is read before a function is called.
"""

from celosia.datasets import attacked, examples
from celosia.datasets.adult import adult
from celosia.datasets.catalogue import Dataset, catalogue, load
from celosia.datasets.census import census
from celosia.datasets.schemas import census_schema, schema_text
from celosia.datasets.shop import Shop, tpch

__all__ = [
    "Dataset",
    "Shop",
    "adult",
    "attacked",
    "catalogue",
    "census",
    "census_schema",
    "examples",
    "load",
    "schema_text",
    "tpch",
]
