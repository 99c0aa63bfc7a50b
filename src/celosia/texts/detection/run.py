"""Find what identifies people: every detector in order, then propagation, merging and groups."""

from __future__ import annotations

import gc
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from celosia.assess.recognisers import KINDS, ROLES, Match
from celosia.assess.recognisers import find as find_identifiers
from celosia.assess.recognisers.identifiers import compact
from celosia.assess.recognisers.identifiers import folded as folded_word
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.pseudonyms.keys import normal_form
from celosia.texts import word_lists
from celosia.texts.detection import people, structure, terms
from celosia.texts.detection.batches import batches, detect, flat
from celosia.texts.detection.engines import Engine
from celosia.texts.detection.facts import Facts, FactSearch
from celosia.texts.detection.tokens import TermList, Words, words_of
from celosia.texts.detection.triggers import WORD
from celosia.texts.documents import Collection, Document, Finding, Span
from celosia.texts.folding import FoldedText, fold
from celosia.texts.options import TextDeclaration
from celosia.texts.readers import ReadResult, SourceFile

_normal_form = lru_cache(maxsize=1 << 14)(normal_form)
_RANK = {kind: place for place, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class FoundTexts:
    """Documents and what was found in them: what `publish` takes."""

    collection: Collection
    findings: tuple[Finding, ...] = field(repr=False)
    declaration: TextDeclaration
    files: tuple[SourceFile, ...] = field(default=(), repr=False)
    left_out: dict[str, int] = field(default_factory=dict)
    names_with_findings: int = 0
    """Keys, column names and the like that hold an identifier: they are published as they are."""

    def counts(self) -> dict[str, int]:
        """Findings by kind, in the order of kinds."""
        found = Counter(each.kind for each in self.findings)
        return {kind: found[kind] for kind in KINDS if found[kind]}

    def of(self, document: int) -> list[Finding]:
        """The findings of one document, in order."""
        return [each for each in self.findings if each.span.document == document]

    def to_review(self) -> tuple[Finding, ...]:
        """Those that are not sure: a person should decide them."""
        return tuple(each for each in self.findings if each.score < self.declaration.sure)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the search for reference cycles: detection makes many values and no cycle."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_uncollected()
def find(
    data: ReadResult | Collection,
    *,
    declaration: TextDeclaration | None = None,
    facts: Facts | str | Path | None = None,
    engine: Engine | None = None,
    propagate: bool = True,
    progress: Progress = silent,
) -> FoundTexts:
    """What identifies people in documents.

    Args:
        data: what `read` gave, or a collection.
        declaration: what the documents mean; that of `read` without it.
        facts: a table of the persons, the strongest detector.
        engine: an optional recogniser of names.
        propagate: look for names that were found once in all their forms.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: CEL-N012 the facts match no document.

    >>> found = find(Collection.of(["Dr. Ana Gil saw Mr. Gil on 3 May 2025."]))
    >>> found.counts()
    {'person': 2, 'date': 1}
    """
    source = data if isinstance(data, ReadResult) else ReadResult(data, (), TextDeclaration())
    collection, declaration = source.collection, declaration or source.declaration
    if facts is not None and not isinstance(facts, Facts):
        facts = Facts.load(facts, person=declaration.person)
    search = None if facts is None else facts.search()
    lists = terms.read_lists(declaration.lists)
    folded = [fold(each.text) for each in collection]
    texts = [(each, words_of(each.text)) for each in folded]
    candidates = []
    for document, patterns in zip(collection, _by_patterns(texts, lists), strict=True):
        progress(Step(Message("texts.step.find"), document.number, len(collection)))
        found = [*patterns, *_in_document(document, *texts[document.number], search, engine)]
        candidates.append([each for each in found if each.score >= declaration.ask])
    if facts is not None and not any(each.by == "fact" for found in candidates for each in found):
        raise InputError("CEL-N012.nobody", documents=len(collection))
    if propagate:
        _propagate(collection, declaration, texts, candidates)
    findings = _findings(collection, declaration, texts, candidates)
    named = sum(map(_named, source.files))
    return FoundTexts(
        collection, tuple(findings), declaration, source.files, source.left_out, named
    )


def _named(file: SourceFile) -> int:
    """Keys and columns of a file that hold an identifier themselves."""
    return sum(bool(find_identifiers(name)) for name in file.content.names)


def _by_patterns(
    texts: Sequence[tuple[FoldedText, Words]], lists: TermList[str]
) -> Iterator[list[Match]]:
    for batch in batches([words for _, words in texts]):
        yield from detect(batch, lists)


def _in_document(
    document: Document,
    folded: FoldedText,
    words: Words,
    search: FactSearch | None,
    engine: Engine | None,
) -> Iterator[Match]:
    """What the parts of a document, facts and a recogniser say."""
    if any(part.label for part in document.parts):
        # Parts are places of the original text: without a map they are used as they are.
        if len(folded.text) == len(document.text):
            yield from structure.find_parts(replace(document, text=folded.text))
        else:
            yield from _mapped_parts(document, folded)
    if search is not None:
        yield from search.find(document, words)
    if engine is not None:
        yield from engine.find(folded.text, document.language)


def _mapped_parts(document: Document, folded: FoldedText) -> Iterator[Match]:
    """Values of labelled parts at their places in the folded text."""
    known: dict[int, int] = {}
    for at in range(len(folded.text)):
        known.setdefault(folded.origin(at, at + 1, document.text)[0], at)
    for each in structure.find_parts(document):
        inside = [known[at] for at in range(each.start, each.end) if at in known]
        if inside:
            yield Match(inside[0], inside[-1] + 1, each.kind, each.by, each.score)


def _propagate(
    collection: Collection,
    declaration: TextDeclaration,
    texts: Sequence[tuple[FoldedText, Words]],
    candidates: list[list[Match]],
) -> None:
    """Look for every name and number that was found once in all documents of its person."""
    known: dict[Any, set[tuple[str, ...]]] = defaultdict(set)
    values: dict[Any, dict[str, str]] = defaultdict(dict)
    for document, (folded, _), found in zip(collection, texts, candidates, strict=True):
        for each in found:
            if each.kind == "person" and each.score < 0.5:
                continue
            if each.kind == "person":
                known[_place(document, declaration)].add(
                    people.name_words(folded.text[each.start : each.end])
                )
            elif ROLES[each.kind] == "direct" and each.end - each.start >= _SHORTEST_VALUE:
                form = flat(folded.text[each.start : each.end])
                values[_place(document, declaration)][form] = each.kind
    ordinary = _ordinary(collection, declaration, texts, known)
    searches = {
        place: people.NameSearch(sorted(forms), ordinary[place]) for place, forms in known.items()
    }
    numbers = {place: _ValueSearch(forms) for place, forms in values.items()}
    for document, (folded, words), found in zip(collection, texts, candidates, strict=True):
        place = _place(document, declaration)
        if place in searches:
            found.extend(searches[place].find(words))
        if place in numbers:
            found.extend(numbers[place].find(words, flat(folded.text)))


_FEW = 2
"""How many times more often a word may be written in small letters and still be a name."""


def _ordinary(
    collection: Collection,
    declaration: TextDeclaration,
    texts: Sequence[tuple[FoldedText, Words]],
    known: Mapping[Any, set[tuple[str, ...]]],
) -> dict[Any, frozenset[str]]:
    """Words of found names that are mostly written in small letters: they are no names."""
    wanted = {place: {word for form in forms for word in form} for place, forms in known.items()}
    counts: dict[Any, Counter[str]] = {place: Counter() for place in known}
    for document, (_, words) in zip(collection, texts, strict=True):
        place = _place(document, declaration)
        here = wanted.get(place, ())
        for at in [at for at, word in enumerate(words.words) if word in here]:
            counts[place][words.words[at]] += -1 if words.is_capital(at) else 1
    names = word_lists.known_names()
    return {
        place: frozenset(word for word, more in found.items() if more > _FEW and word not in names)
        for place, found in counts.items()
    }


_NUMBERS = frozenset(("id", "account", "contact", "device", "plate", "record"))
"""Kinds whose marks and blanks do not tell one entity from another."""
_SHORTEST_VALUE = 5
"""Characters of a number that is looked for wherever it stands."""


class _ValueSearch:
    """Looks for values as words of their own, the longest first."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._by_first: dict[str, list[tuple[int, str]]] = defaultdict(list)
        """By its first word the place of that word in a value, and the value."""
        for value in kinds:
            first = WORD.search(value)
            if first is not None:
                self._by_first[folded_word(first.group())].append((first.start(), value))

    def find(self, words: Words, text: str) -> Iterator[Match]:
        known = self._by_first
        hits = [
            (words.starts[at] - before, -len(value), value)
            for at, word in enumerate(words.words)
            if word in known
            for before, value in known[word]
            if text.startswith(value, max(0, words.starts[at] - before))
        ]
        end = 0
        for start, _, value in sorted(hits):
            stop = start + len(value)
            is_alone = not text[max(0, start - 1) : start].isalnum() and not (
                text[stop : stop + 1].isalnum()
            )
            if start >= end and is_alone:
                end = stop
                yield Match(start, stop, self._kinds[value], "propagation", 0.8)


def _place(document: Document, declaration: TextDeclaration) -> Any:
    if declaration.spread == "collection":
        return "all"
    return document.unit if declaration.spread == "person" else document.number


def merge(found: Iterable[Match]) -> list[Match]:
    """Matches without overlaps: the longest wins, then the surest, then the kind listed first.

    Parts of a name that touch or overlap become one.
    """
    order = sorted(found, key=lambda each: (each.start - each.end, -each.score, _RANK[each.kind]))
    starts: list[int] = []  # of what is kept, from left to right
    kept: list[Match] = []
    for each in order:
        first = after = bisect_left(starts, each.end)
        while first and kept[first - 1].end > each.start:
            first -= 1
        if first == after:
            starts.insert(after, each.start)
            kept.insert(after, each)
            continue
        clash = kept[first:after]
        same = [other for other in clash if other.kind == each.kind]
        if len(clash) == len(same) == 1:
            kept[first] = _joined(same[0], each)
            starts[first] = kept[first].start
        elif not same:
            # What sticks out of a longer finding of another kind is still found.
            for start, end in _outside(each, clash):
                place = bisect_left(starts, start)
                starts.insert(place, start)
                kept.insert(place, Match(start, end, each.kind, each.by, each.score))
    return kept


def _joined(longer: Match, other: Match) -> Match:
    """Two overlapping matches of one kind as one."""
    return Match(
        min(longer.start, other.start),
        max(longer.end, other.end),
        longer.kind,
        _joined_by(longer.by, other.by),
        max(longer.score, other.score),
    )


@lru_cache(maxsize=1 << 10)
def _joined_by(by: str, other: str) -> str:
    return by if other in by.split("+") else f"{by}+{other}"


def _outside(each: Match, others: list[Match]) -> Iterator[tuple[int, int]]:
    """What of a match no longer one (they stand in order) covers, where it is a word or more."""
    start = each.start
    for other in (*others, None):
        end = each.end if other is None else other.start
        if end - start >= 3:
            yield start, end
        if other is not None:
            start = other.end


def _findings(
    collection: Collection,
    declaration: TextDeclaration,
    texts: Sequence[tuple[FoldedText, Words]],
    candidates: Sequence[Sequence[Match]],
) -> list[Finding]:
    placed: list[tuple[Span, Match, str]] = []
    for document, (folded, _), found in zip(collection, texts, candidates, strict=True):
        own = _person_parts(document, declaration)
        text = document.text
        is_plain = text.isascii() and not folded.starts
        for each in merge(found):
            start, end = each.start, each.end
            if not is_plain:
                start, end = folded.origin(start, end, document.text)
            if text[start].isspace() or text[end - 1].isspace():
                start, end = _trimmed(text, start, end)
            if start < end and not (own and any(start < b and a < end for a, b in own)):
                form = folded.text[each.start : each.end]
                placed.append((Span(document.number, start, end - start), each, form))
        for start, end in own:
            match = Match(start, end, "record", "person column", 1.0)
            placed.append(
                (Span(document.number, start, end - start), match, document.text[start:end])
            )
    placed.sort(key=lambda each: each[0])
    mentions = [
        (collection.documents[span.document].unit, people.name_words(form))
        for span, match, form in placed
        if match.kind == "person"
    ]
    of_people = iter(people.groups(mentions))
    numbers: dict[tuple[str, Any], int] = {}
    made = []
    for span, match, form in placed:
        entity: Any = next(of_people) if match.kind == "person" else _value(match.kind, form)
        group = numbers.setdefault((match.kind, entity), len(numbers))
        made.append(Finding(span, match.kind, group, match.score, _recognisers(match.by)))
    return made


@lru_cache(maxsize=1 << 10)
def _recognisers(by: str) -> tuple[str, ...]:
    return tuple(by.split("+"))


def _person_parts(document: Document, declaration: TextDeclaration) -> list[tuple[int, int]]:
    """The cells that say whose the document is: an identifier, whatever it looks like."""
    return [
        (part.start, part.end)
        for part in document.parts
        if part.label and part.label == declaration.person and part.end > part.start
    ]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _value(kind: str, form: str) -> str:
    return compact(form) if kind in _NUMBERS else _normal_form(form)
