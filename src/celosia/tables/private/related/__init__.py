"""Several related tables made synthetic together, with differential privacy for whole persons.

A declaration (`declaration.py`) says which table each one hangs on, by which keys, and how many of
its rows count. `links.py` finds whose each row is and keeps as many; `run.py` measures the tables,
each given chosen columns of the one it hangs on, and draws new ones; `release.py` is the result.
"""

from celosia.tables.private.related.declaration import RelatedTable, RelatedTables
from celosia.tables.private.related.release import SyntheticTables
from celosia.tables.private.related.run import synthesise_tables

__all__ = ["RelatedTable", "RelatedTables", "SyntheticTables", "synthesise_tables"]
