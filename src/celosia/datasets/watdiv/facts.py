"""Facts of the shop in batches, each of one predicate, as lines of N-Triples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
import polars as pl

from celosia.core.randomness import Seeded
from celosia.datasets.watdiv.draws import Draws, Numbers
from celosia.datasets.watdiv.schema import CATEGORIES_APART, KINDS, PREFIXES, Kind
from celosia.datasets.watdiv.values import (
    DayRange,
    EntityText,
    EntityValue,
    IntegerRange,
    MoneyRange,
    Property,
    Value,
    WordText,
)

CHUNK = 2_000
"""Entities at a time; a batch is some hundred times as many facts at most."""
XSD = "http://www.w3.org/2001/XMLSchema#"
_CATEGORY = "ProductCategory"


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms that differ in one part only."""

    before: str
    part: pl.Series
    after: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of one predicate."""

    kind: str
    """The kind of entities that they are made with."""
    predicate: str
    subjects: Terms
    objects: Terms

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.subjects.part)

    def lines(self) -> bytes:
        """Canonical N-Triples, the form that the store of facts takes."""
        between = f"{self.subjects.after} <{full(self.predicate)}> {self.objects.before}"
        frame = pl.DataFrame({"s": self.subjects.part, "o": self.objects.part})
        line = pl.concat_str(
            pl.lit(self.subjects.before), "s", pl.lit(between), "o", pl.lit(self.objects.after)
        )
        written = frame.select(line.str.join(" .\n")).item()
        return f"{written} .\n".encode()


def full(name: str) -> str:
    """The address that a short name stands for.

    >>> full("sorg:text")
    'http://schema.org/text'
    """
    prefix, _, local = name.partition(":")
    return PREFIXES[prefix] + local


def make_facts(sizes: Mapping[str, int], *, seed: int) -> Iterator[Facts]:
    """All facts, never more than a batch of them at a time.

    Args:
        sizes: how many entities of each kind there are.
        seed: the same seed and sizes give the same facts.
    """
    draws = Draws(Seeded(seed), sizes)
    for kind in KINDS:
        for start in range(0, sizes[kind.name], CHUNK):
            entities = np.arange(start, min(start + CHUNK, sizes[kind.name]))
            for found in _describe(kind, entities, draws):
                if found.count:
                    yield found


def _describe(kind: Kind, entities: Numbers, draws: Draws) -> Iterator[Facts]:
    """What is said of some entities of a kind."""
    reserve = draws.spread(100, entities.size)
    category = np.zeros_like(entities)
    for each in kind.properties:
        has = reserve < each.share
        if each.groups:
            has &= np.isin(category % CATEGORIES_APART, each.groups)
        chosen = entities[has]
        if isinstance(each.value, EntityValue) and each.value.kind == _CATEGORY:
            category = draws.entities(each.value, chosen.size)  # all products have one
            yield _facts(kind.name, each, chosen, _named(_CATEGORY, category))
        elif isinstance(each.value, EntityValue) and each.most > 1:
            subjects, objects = draws.pairs(chosen, each, kind.name)
            yield _facts(kind.name, each, subjects, _named(each.value.kind, objects))
        else:
            yield _facts(kind.name, each, chosen, _terms(each.value, chosen, draws))


def _facts(kind: str, item: Property, entities: Numbers, values: Terms) -> Facts:
    own = _named(kind, entities)
    subjects, objects = (values, own) if item.reverse else (own, values)
    return Facts(kind, item.predicate, subjects, objects)


def _terms(value: Value, entities: Numbers, draws: Draws) -> Terms:
    """A value for each entity."""
    size = entities.size
    match value:
        case EntityValue():
            return _named(value.kind, draws.entities(value, size))
        case IntegerRange():
            return _typed(pl.Series(draws.between(value.least, value.most, size)), "integer")
        case MoneyRange():
            cents = pl.Series(draws.between(value.least, value.most, size))
            whole, rest = (cents // 100).cast(pl.String), (cents % 100).cast(pl.String)
            return _typed(whole + "." + rest.str.zfill(2), "decimal")
        case DayRange():
            days = draws.between(_since(value.first), _since(value.last), size)
            return _typed(pl.Series(days.astype(np.int32)).cast(pl.Date).cast(pl.String), "date")
        case WordText():
            texts = [pl.Series(each)[draws.below(len(each), size)] for each in value.lists]
            joined = pl.DataFrame({str(at): text for at, text in enumerate(texts)}).select(
                pl.concat_str(pl.all(), separator=" ")
            )
            return Terms('"', joined.to_series(), '"')
        case EntityText():
            before, _, after = value.form.replace("xsd:integer", f"<{XSD}integer>").partition("{}")
            return Terms(before, pl.Series(entities), after)


def _named(kind: str, numbers: Numbers) -> Terms:
    return Terms(f"<{PREFIXES['wsdbm']}{kind}", pl.Series(numbers), ">")


def _typed(texts: pl.Series, datatype: str) -> Terms:
    return Terms('"', texts, f'"^^<{XSD}{datatype}>')


def _since(day: date) -> int:
    return (day - date(1970, 1, 1)).days
