"""Checks of published documents, and variants that they must catch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from celosia.assess.audit import Claim, audit
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Seeded, Source
from celosia.datasets.notes import notes
from celosia.lab.findings import Row, compare
from celosia.texts import Collection, find, publish
from celosia.texts.attacks import index_difference
from celosia.texts.index import SafeIndex, build, is_index_of, safe_index
from celosia.texts.private import term_counts
from celosia.texts.verification import find_leaks

NAME = "Peñalver Ruiz"


def rows(progress: Progress = silent) -> Iterator[Row]:
    """All of them."""
    yield from _search()
    yield from _index()
    yield from _term_counts()


def _row(run: str, cell: str, expected: bool, found: bool) -> Row:
    words = {True: "yes", False: "no"}
    return compare(run, cell, words[expected], words[found], kind="promise")


def _search() -> Iterator[Row]:
    """The search of the new files: a name that was left in, by its encoding or its place."""
    for encoding in ("utf-8", "utf-16-le", "utf-16-be", "latin-1"):
        hidden = b"\x00\x01" + NAME.encode(encoding) + b"\x00 rest"
        found = bool(find_leaks("a.bin", hidden, [(NAME, "person")]))
        yield _row(f"a name left in, {encoding}", "found", True, found)
        dumped = NAME.encode(encoding).hex().encode()
        found = bool(find_leaks("a.bin", dumped, [(NAME, "person")]))
        yield _row(f"a name left in, {encoding} in hexadecimal", "found", True, found)
    found = bool(find_leaks(f"{NAME}.txt", b"nothing", [(NAME, "person")]))
    yield _row("a name in the name of a file", "found", True, found)
    found = bool(find_leaks("a.txt", b"nothing", [(NAME, "person")]))
    yield _row("a file without the name", "found", False, found)


def _index() -> Iterator[Row]:
    """An index of the published texts, and one of the raw ones (A11)."""
    made = notes(30, seed=42)
    release = publish(find(made.collection), actions={"default": "redact"})
    safe = safe_index(release, k=3)
    raw = build(
        [each.text for each in made.collection], [each.unit for each in made.collection], k=1
    )
    for name, index, is_sound in (
        ("index of the published texts", safe, True),
        ("index of the raw texts", SafeIndex(raw.postings, raw.lengths, 1), False),
    ):
        yield _row(name, "rebuilt from the release", is_sound, is_index_of(index, release))
        tells_more = index_difference(index, release).successes > 0
        yield _row(name, "tells more than the release", not is_sound, tells_more)


def _term_counts() -> Iterator[Row]:
    """Term counts of persons, and with the document as unit: twelve documents are of one person."""
    texts = ["alpha beta"] * 10 + ["alpha"] * 12
    persons = [str(at) for at in range(10)] + ["x"] * 12
    whole = Collection.of(texts, language="en", persons=persons)
    less = Collection.of(texts[:10], language="en", persons=persons[:10])
    units: tuple[Literal["person", "document"], ...] = ("person", "document")
    for unit in units:

        def run(data: Collection, rng: Source, by: Literal["person", "document"] = unit) -> float:
            answer = term_counts(data, epsilon=1, delta=1e-3, per_person=2, unit=by, rng=rng)
            return float(answer.value.get("alpha", 0))

        found = audit(run, whole, less, claim=Claim(1, 1e-3), samples=250, rng=Seeded(12))
        violated = found.verdict == "violated"
        yield _row(
            f"term counts by {unit}", "promise for persons violated", unit != "person", violated
        )
