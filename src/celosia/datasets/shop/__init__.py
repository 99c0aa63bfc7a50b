"""A shop of customers, orders and their lines, as the TPC-H benchmark has it, for joins."""

from celosia.datasets.shop.shop import TABLES, Shop, tpch

__all__ = ["TABLES", "Shop", "tpch"]
