"""Names of what is put beside the rows of a question: none that the question has itself.

An analyst may give a column any name. With the name of the column that holds the owner, an analyst
could choose the owners of rows, and every bound on a person would be void.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from celosia.queries.algebra import DerivedTable, Relation, Scan, UnionAll, walk

OWNER = "celosia_owner"
PARENT = "celosia_parent"


@dataclass(frozen=True, slots=True)
class HiddenNames:
    """The names of one question's hidden columns and relations."""

    owner: str
    """What the columns of owners are called, with a number behind it."""
    parents: Iterator[str]
    """Aliases of tables that are joined to find an owner."""

    @classmethod
    def for_relation(cls, relation: Relation) -> HiddenNames:
        """Names for a relation that has its own."""
        columns = [
            each.name
            for part in walk(relation)
            if isinstance(part, DerivedTable)
            for each in part.columns
        ]
        parent = unused_name(PARENT, all_aliases(relation))
        return cls(unused_name(OWNER, columns), (f"{parent}_{number}" for number in count(1)))

    def owners(self, size: int) -> tuple[str, ...]:
        """The names of so many columns of owners."""
        return tuple(f"{self.owner}_{number}" for number in range(1, size + 1))


def all_aliases(relation: Relation) -> list[str]:
    """All aliases of a relation, also those that cannot be spoken of outside."""
    return [
        part.alias for part in walk(relation) if isinstance(part, Scan | DerivedTable | UnionAll)
    ]


def unused_name(word: str, taken: Iterable[str]) -> str:
    """A word that is no name, and with a number behind it makes none.

    It stays short, however many are taken: PostgreSQL cuts names at 63 bytes.

    >>> unused_name("owner", ["price"]), unused_name("owner", ["Owner_1", "owner2"])
    ('owner', 'owner3')
    """
    names = {each.lower() for each in taken}
    found, number = word, 1
    while any(each == found or each.startswith(f"{found}_") for each in names):
        number += 1
        found = f"{word}{number}"
    return found
