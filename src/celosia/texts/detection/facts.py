"""Known facts: a table of the persons beside the collection, the strongest detector of all.

Each person's own facts (name, numbers, address, birth date) are looked for in the person's own
documents; where it is not known whose a document is, the facts of everyone in every document.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from celosia.assess.recognisers import Match
from celosia.assess.recognisers.identifiers import folded
from celosia.core.errors import InputError
from celosia.frames.readers import read as read_table
from celosia.texts.detection import dates
from celosia.texts.detection.people import NameSearch, name_words
from celosia.texts.detection.structure import kind_of_label
from celosia.texts.detection.tokens import TermList, Words
from celosia.texts.documents import Document

_NUMBERS = frozenset(("id", "account", "contact", "record", "plate", "device"))
_SEPARATORS = r"[\s./()-]{0,2}"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of each person, by kind."""

    by_person: Mapping[str, tuple[tuple[str, str], ...]] = field(repr=False)
    """For each person pairs of a kind and a value."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The kind of each column that is used."""

    @classmethod
    def load(cls, path: str | Path | Any, *, person: str | None = None) -> Facts:
        """The facts of a table, whose columns tell their kinds by their names.

        Args:
            path: a table in a file.
            person: the column that says whose a row is; the first column without it.

        Raises:
            InputError: CEL-N012 no column whose kind is known.
        """
        table = read_table(Path(path))
        columns = {}
        for name in table.columns:
            kind = kind_of_label(name)
            if kind is not None:
                columns[name] = kind
        if not columns:
            raise InputError("CEL-N012.columns", columns=list(table.columns))
        key = person if person in table.columns else table.columns[0]
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        rows = table.select([key, *[name for name in columns if name != key]]).rows(named=True)
        for row in rows:
            for name, kind in columns.items():
                value = row.get(name)
                if value is not None and str(value).strip():
                    found[str(row[key])].append((kind, str(value).strip()))
        return cls({who: tuple(values) for who, values in found.items()}, columns)

    def search(self) -> FactSearch:
        """What looks for them in documents."""
        return FactSearch(self)


class FactSearch:
    """Looks for the facts of a document's person, or of everyone."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._searches: dict[str | None, _Search] = {}

    def find(self, document: Document, words: Words) -> Iterator[Match]:
        """The facts that stand in a document."""
        by_person = self._facts.by_person
        who = document.person if document.person in by_person else None
        if who is None and document.person is not None:
            return
        if who not in self._searches:
            values = (
                [pair for pairs in by_person.values() for pair in pairs]
                if who is None
                else list(by_person[who])
            )
            self._searches[who] = _Search(values, own=who is not None)
        yield from self._searches[who].find(words)


class _Search:
    def __init__(self, facts: list[tuple[str, str]], *, own: bool) -> None:
        names = [name_words(value) for kind, value in facts if kind == "person"]
        self._own = own
        self._names = NameSearch(names) if own else None
        others = [(value, kind) for kind, value in facts if kind not in _NUMBERS]
        if own:
            others = [(value, kind) for value, kind in others if kind != "person"]
        self._terms = TermList((value, kind) for value, kind in others if len(value) > 2)
        self._days: dict[date, str] = {}
        for kind, value in facts:
            parsed = dates.parse(value[:10], "es") if kind in ("birth", "date") else None
            if parsed is not None:
                self._days[parsed.day] = kind
        numbers = [(kind, value) for kind, value in facts if kind in _NUMBERS]
        self._numbers = _number_pattern(numbers) if numbers and own else None
        self._compact = {_compact(value): kind for kind, value in numbers}

    def find(self, words: Words) -> Iterator[Match]:
        text = words.text
        if self._names is not None:
            for match in self._names.find(words):
                yield Match(match.start, match.end, match.kind, "fact", 0.95)
        for first, last, kind in self._terms.find(words):
            yield Match(words.starts[first], words.ends[last], kind, "fact", 0.95)
        if self._numbers is not None:
            for found in self._numbers.finditer(text):
                kind = self._compact.get(_compact(found.group()), "id")
                yield Match(*found.span(), kind, "fact", 0.98)
        elif self._compact:
            for found in re.finditer(r"(?<!\w)\w[\w.@+ /-]{3,40}?\w(?!\w)", text):
                kind_of = self._compact.get(_compact(found.group()))
                if kind_of is not None:
                    yield Match(*found.span(), kind_of, "fact", 0.98)
        for each in dates.find(words) if self._days else ():
            parsed = dates.parse(text[each.start : each.end], "es")
            if parsed is not None and parsed.day in self._days and parsed.has_day:
                yield Match(each.start, each.end, self._days[parsed.day], "fact", 0.95)


def _compact(text: str) -> str:
    return re.sub(r"[\W_]", "", folded(text))


def _number_pattern(numbers: list[tuple[str, str]]) -> re.Pattern[str] | None:
    """One pattern for the numbers of a person, whatever separators are written in them."""
    bodies = []
    for _, value in numbers:
        marks = _compact(value)
        if len(marks) >= 4:
            bodies.append(_SEPARATORS.join(map(re.escape, marks)))
    if not bodies:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(bodies)})(?!\w)", re.IGNORECASE)
