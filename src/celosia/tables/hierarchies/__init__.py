"""Generalisation hierarchies: what a value becomes, level by level, on its way to the root.

- The value itself: `Hierarchy`, checked on creation; `summary` tells its levels in counts.
- Files: `read_hierarchy` and `write_hierarchy`, in ARX's CSV format.
- Rules that build one from a column (`Builder`): `Intervals` for numbers, `Ordered` for values with
  an order, `Mask` for codes, `Dates` for the calendar, `Classification` for countries, diagnoses
  and the like, `Coordinates` for positions, `Tree` for groups written by hand, and `Automatic`,
  which takes what `propose` suggests.
- Schema files: `from_table` reads `[columns.NAME.hierarchy]`; each rule's `as_dict` is what
  it holds; `builder_from_text` reads the notation of the command line.
"""

from celosia.tables.hierarchies.automatic import Automatic, is_nominal, propose
from celosia.tables.hierarchies.classification import Classification
from celosia.tables.hierarchies.coordinates import Coordinates
from celosia.tables.hierarchies.dates import Dates
from celosia.tables.hierarchies.hierarchy import (
    MISSING,
    ROOT,
    Builder,
    Hierarchy,
    LevelSummary,
    Tree,
    summary,
)
from celosia.tables.hierarchies.intervals import Intervals
from celosia.tables.hierarchies.mask import Mask
from celosia.tables.hierarchies.notation import (
    BUILDERS,
    builder_from_text,
    from_table,
    read_hierarchy,
    write_hierarchy,
)
from celosia.tables.hierarchies.ordered import Ordered

__all__ = [
    "BUILDERS",
    "MISSING",
    "ROOT",
    "Automatic",
    "Builder",
    "Classification",
    "Coordinates",
    "Dates",
    "Hierarchy",
    "Intervals",
    "LevelSummary",
    "Mask",
    "Ordered",
    "Tree",
    "builder_from_text",
    "from_table",
    "is_nominal",
    "propose",
    "read_hierarchy",
    "summary",
    "write_hierarchy",
]
