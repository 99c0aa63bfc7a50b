"""What the objects of facts are like: kinds of values, and how a property draws them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class EntityValue:
    """One of the entities of a kind, the first of them the most popular.

    The chance of the entity at place r (from 0) goes with 1 / (r + flat), as in Zipf's law with the
    head cut off; the larger `flat`, the less the first are favoured. Below 1 it is a share of all.
    None means that all are as likely.
    """

    kind: str
    flat: float | None = None


@dataclass(frozen=True, slots=True)
class _WholeRange:
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class IntegerRange(_WholeRange):
    """A whole number, uniform between two ends."""


@dataclass(frozen=True, slots=True)
class MoneyRange(_WholeRange):
    """A decimal of two places, uniform between two ends in cents."""


@dataclass(frozen=True, slots=True)
class DayRange:
    """A day, uniform between two ends."""

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class WordText:
    """A text of one word from each list."""

    lists: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class EntityText:
    """A term that follows from the number of the entity, which stands for the braces."""

    form: str


Value = EntityValue | IntegerRange | MoneyRange | DayRange | WordText | EntityText


@dataclass(frozen=True, slots=True)
class Property:
    """A predicate that entities of a kind have, how often, and with which objects."""

    predicate: str
    share: int
    """Percent of the entities that have it. Shares are nested: who has a rarer property has also
    the more frequent ones, as people and products are described well or badly as a whole."""
    value: Value
    most: int = 1
    """The largest number of them; an entity has one to `most`, uniformly, each object once."""
    skewed: bool = False
    """Whether few have many: the number is a product of two uniform ones."""
    groups: tuple[int, ...] = ()
    """Only products of these groups of categories have it; see `schema.CATEGORIES_APART`."""
    reverse: bool = False
    """The entity is the object, and the value the subject: a user makes a purchase."""
    bounded: bool = False
    """Whether a policy declares the ends of the numbers."""
