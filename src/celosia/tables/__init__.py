"""Publish tables: schema, hierarchies, privacy models, the exact search, releases."""

from celosia.tables.hierarchies import (
    Automatic,
    Dates,
    Hierarchy,
    Intervals,
    Mask,
    Ordered,
    Tree,
    read_hierarchy,
    write_hierarchy,
)
from celosia.tables.models import KAnonymity, Model
from celosia.tables.publishing import publish
from celosia.tables.release import FileRelease, TableRelease
from celosia.tables.schema import Column, Role, Schema
from celosia.tables.solution import Solution
from celosia.tables.streaming import publish_file

__all__ = [
    "Automatic",
    "Column",
    "Dates",
    "FileRelease",
    "Hierarchy",
    "Intervals",
    "KAnonymity",
    "Mask",
    "Model",
    "Ordered",
    "Role",
    "Schema",
    "Solution",
    "TableRelease",
    "Tree",
    "publish",
    "publish_file",
    "read_hierarchy",
    "write_hierarchy",
]
