"""Which two tables a differentially private answer must not tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from celosia.core.errors import InputError
from celosia.core.messages import Message, one_unit


class Relation(StrEnum):
    """How one neighbour differs from the other."""

    ADD_REMOVE = "add-remove"
    """One unit more or less; the number of units is private. Also called unbounded."""
    CHANGE_ONE = "change-one"
    """One unit replaced by another; the number of units is public. Also called bounded."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbour relation and the privacy unit, always said together.

    >>> print(Neighbours())
    add or remove one row
    >>> print(Neighbours(Relation.CHANGE_ONE, unit="customer"))
    change one customer
    """

    relation: Relation = Relation.ADD_REMOVE
    unit: str = "row"
    """What one step adds, removes or changes: a row, or everything of one person."""

    def __post_init__(self) -> None:
        if self.relation not in tuple(Relation):
            raise InputError("CEL-M001.relation", relation=", ".join(Relation))
        if not isinstance(self.unit, str) or not self.unit:
            raise InputError("CEL-M001.unit")
        object.__setattr__(self, "relation", Relation(self.relation))

    @property
    def message(self) -> Message:
        """The relation in words."""
        one = one_unit(self.unit)
        if self.relation is Relation.ADD_REMOVE:
            return Message("words.neighbours.add_remove", one=one)
        return Message("words.neighbours.change_one", one=one)

    def __str__(self) -> str:
        return str(self.message)


ADD_REMOVE = Neighbours(Relation.ADD_REMOVE)
CHANGE_ONE = Neighbours(Relation.CHANGE_ONE)
