"""The owners of a question's rows: an owner column for every private table that it reads.

With a person as unit, the rows of a person are those of the unit table with their key, and all rows
from which declared foreign keys lead there, by any path that meets no table twice. A row to which
several paths lead (sender and receiver of a message) belongs to several people. Two databases are
neighbours when they differ in the rows of one person, so what follows here is what one person can
change:

- A row without an owner (a foreign key that is NULL, or leads nowhere over several steps) has
  no owner, could not be bounded, and is left out of every answer. A key that is reached is one
  person, also where the unit table does not have it (see `ownership.ownerless`).
- Owners that equal keys force to be equal are one owner: the owner of a line item, of its order
  and of the customer joined to it is one person.
- A row with a partner (EXISTS, IN), or without one (NOT EXISTS, NOT IN), depends on the partners'
  owners as well. It is accepted only where the keys force each partner's owner to be an owner of
  the row: the row then changes only with data of its own people. Else it is refused here, because
  one person could bring in, or take away, rows of all others; the planner asks about the join of
  rows and partners instead (`planning.semi_joins`).
- A row of UNION ALL belongs to the owners that it has in its part.
"""

from __future__ import annotations

from celosia.queries.ownership.owned_relation import OwnedRelation
from celosia.queries.ownership.owners import attach_owners
from celosia.queries.ownership.paths import key_paths, ownerless_notes

__all__ = ["OwnedRelation", "attach_owners", "key_paths", "ownerless_notes"]
