"""An index of documents that may be published: built from the published texts only.

An index tells which document held which word, so one that is built from the originals undoes the
release. A safe index has no positions, only terms of at least k persons, document numbers in random
order, and lengths rounded to powers of two.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.randomness import Source, System
from celosia.texts.documents import Collection
from celosia.texts.models.model import RemainingTexts
from celosia.texts.release import TextRelease

COLUMNS = ("term", "document", "count")


@dataclass(frozen=True, eq=False)
class SafeIndex:
    """Terms with the documents that have them, and how often.

    Guarantee: it is a function of the published texts, with terms of at least `k` persons only. It
    tells nothing of a text that was removed.
    """

    postings: pl.DataFrame = field(repr=False)
    """Columns term, document, count."""
    lengths: Mapping[int, int] = field(repr=False)
    """Terms of each document, rounded up to a power of two."""
    k: int
    persons: Mapping[str, frozenset[Any]] = field(default_factory=dict, repr=False)
    """The persons of each term, for the curator: in no file."""

    @cached_property
    def terms(self) -> list[str]:
        """The vocabulary, sorted."""
        return self.postings.get_column("term").unique().sort().to_list()

    def document_counts(self) -> dict[str, int]:
        """In how many documents each term is."""
        return dict(Counter(self.postings.get_column("term").to_list()))

    def find(self, *terms: str) -> list[int]:
        """The documents that have all terms, in order."""
        from celosia.assess.recognisers.identifiers import folded
        from celosia.texts.models.model import stem

        found: set[int] | None = None
        for term in terms:
            own = self.postings.filter(pl.col("term") == stem(folded(term)))
            numbers = set(own.get_column("document").to_list())
            found = numbers if found is None else found & numbers
        return sorted(found or ())

    def save(self, path: str | Path, *, overwrite: bool = True) -> Path:
        """Write the postings as a table."""
        from celosia.frames import format_of, write

        target = Path(path)
        with replacing(target, overwrite=overwrite) as draft:
            write(self.postings, draft, format=format_of(target))
        return target

    @classmethod
    def load(cls, path: str | Path, *, k: int = 1) -> SafeIndex:
        """Read postings back.

        Raises:
            InputError: CEL-N034 it is no index.
        """
        from celosia.frames.readers import read

        table = read(Path(path))
        if tuple(table.columns) != COLUMNS:
            raise InputError("CEL-N034", path=path)
        numbers = {"document": pl.Int64, "count": pl.Int64}
        return cls(table.cast(numbers), {}, k)  # type: ignore[arg-type]


def safe_index(release: TextRelease, *, k: int = 5, rng: Source | None = None) -> SafeIndex:
    """The index of a release.

    Args:
        release: what `publish` returned, or a release that was loaded.
        k: how many persons each term has, at least.
        rng: draws the order of the documents.

    Raises:
        InputError: CEL-N033 it is no release.
    """
    if not isinstance(release, TextRelease):
        raise InputError("CEL-N033")
    return build(release.texts, release.persons, k=k, rng=rng)


def build(
    texts: Sequence[str], persons: Sequence[Any], *, k: int, rng: Source | None = None
) -> SafeIndex:
    """An index of texts: only those that are published may be given."""
    rng = System() if rng is None else rng
    collection = Collection.of(list(texts), persons=[str(each) for each in persons])
    remaining = RemainingTexts(collection, ())
    kept = {term for term, units in remaining.persons.items() if len(units) >= k}
    order = rng.permutation(len(texts)).tolist() if len(texts) > 1 else [0]
    rows: list[tuple[str, int, int]] = []
    lengths: dict[int, int] = {}
    for number, terms in enumerate(remaining.terms):
        counts = Counter(term for term, _, _ in terms if term in kept)
        lengths[order[number]] = 1 << max(0, (sum(counts.values()) - 1).bit_length())
        rows += [(term, order[number], count) for term, count in counts.items()]
    rows.sort()
    schema = {"term": pl.String, "document": pl.Int64, "count": pl.Int64}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    owners: dict[str, frozenset[Any]] = {
        term: frozenset(units) for term, units in remaining.persons.items() if term in kept
    }
    return SafeIndex(table, lengths, k, owners)


def is_index_of(index: SafeIndex, release: TextRelease) -> bool:
    """Whether an index is one of the published texts: the same terms with the same counts.

    Document numbers are permuted, so the multiset of counts of each term is compared.
    """
    again = build(release.texts, release.persons, k=index.k)
    return _profile(index) == _profile(again)


def _profile(index: SafeIndex) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = defaultdict(list)
    for term, _, count in index.postings.rows():
        found[term].append(count)
    return {term: tuple(sorted(counts)) for term, counts in found.items()}
