"""Publish tables: schema, hierarchies, privacy models, the exact search, releases.

A schema gives each column its role, and models say what each equivalence class must meet. `publish`
codes the columns as leaves of their hierarchies, searches the lattice for the generalisation of
least loss, recodes the rows and returns a release with its guarantee and its risk. `publish_file`
and `publish_on` do the same from file to file and on an engine.
"""

from celosia.tables import metrics
from celosia.tables.account import Solution
from celosia.tables.exploration import explore
from celosia.tables.hierarchies import (
    Automatic,
    Classification,
    Coordinates,
    Dates,
    Hierarchy,
    Intervals,
    Mask,
    Ordered,
    Tree,
    read_hierarchy,
    write_hierarchy,
)
from celosia.tables.models import (
    AlphaK,
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    NoAttack,
    PopulationUniqueness,
    Profitable,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
    model_from_text,
)
from celosia.tables.recoding.exploration import Exploration
from celosia.tables.release import FileRelease, TableRelease
from celosia.tables.run import publish
from celosia.tables.run_on_engine import EngineRelease, publish_on
from celosia.tables.run_on_file import publish_file
from celosia.tables.schema import Column, Role, Schema
from celosia.tables.schema_draft import SchemaDraft, draft_schema
from celosia.tables.verification import Check, check

__all__ = [
    "AlphaK",
    "Automatic",
    "AverageRisk",
    "BetaLikeness",
    "Check",
    "Classification",
    "Column",
    "Coordinates",
    "Dates",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctDiversity",
    "EngineRelease",
    "EntropyDiversity",
    "Exploration",
    "FileRelease",
    "Hierarchy",
    "Intervals",
    "KAnonymity",
    "KMap",
    "Mask",
    "Model",
    "NoAttack",
    "Ordered",
    "PSensitive",
    "PopulationUniqueness",
    "Profitable",
    "RecursiveDiversity",
    "Role",
    "Schema",
    "SchemaDraft",
    "Solution",
    "TCloseness",
    "TableRelease",
    "Tree",
    "check",
    "draft_schema",
    "explore",
    "metrics",
    "model_from_text",
    "publish",
    "publish_file",
    "publish_on",
    "read_hierarchy",
    "write_hierarchy",
]
