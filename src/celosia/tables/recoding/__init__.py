"""Recoding: which generalisation of a table meets its models at the least loss."""

from celosia.tables.recoding.lattice import Lattice, Outcome
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import Certificate, Found, allowance, optimum

__all__ = ["Certificate", "Found", "Lattice", "Node", "Outcome", "allowance", "optimum"]
