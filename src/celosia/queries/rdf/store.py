"""A store of facts as its curator sees it: counts, predicates, and an export as N-Triples.

All figures here are exact and private: they are for the owner of the graph, and never for analysts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.messages import Message
from celosia.core.methods import PlainValues
from celosia.core.progress import Progress, Step, silent
from celosia.core.resources import Closeable
from celosia.queries.rdf.builder import VERSION

if TYPE_CHECKING:
    import duckdb

TABLES = frozenset({"terms", "triples", "statistics", "meta"})
ROWS = 50_000
"""Facts that are written at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateFacts(PlainValues):
    """The counts of a predicate in a store, made once, when it was loaded."""

    predicate: str
    """Its address."""
    number: int
    facts: int
    subjects: int
    objects: int
    most_of_subject: int
    """The most facts of one subject."""
    most_of_object: int


class GraphStore(Closeable):
    """A store opened to be read; a context manager that closes it."""

    def __init__(self, path: Path, connection: duckdb.DuckDBPyConnection, meta: dict[str, str]):
        self.path = path
        self._connection = connection
        self._meta = meta

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a store."""
        import duckdb  # 0.1 s, only where a store is wanted

        place = Path(path)
        if not place.is_file():
            raise InputError("CEL-Q228.missing", path=str(place))
        try:
            connection = duckdb.connect(
                str(place),
                read_only=True,
                config={"autoinstall_known_extensions": False, "autoload_known_extensions": False},
            )
        except duckdb.Error:
            raise InputError("CEL-Q228.not_a_database", path=str(place)) from None
        try:
            found = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            if not {name for (name,) in found} >= TABLES:
                raise InputError("CEL-Q228.other_tables", path=str(place))
            meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
            if meta.get("version") != VERSION:
                raise InputError("CEL-Q228.other_version", path=str(place))
        except BaseException:
            connection.close()
            raise
        return cls(place, connection, meta)

    @property
    def triples(self) -> int:
        """The number of facts."""
        return int(self._meta["triples"])

    @property
    def terms(self) -> int:
        """The number of distinct terms."""
        return int(self._meta["terms"])

    @property
    def subjects(self) -> int:
        """The number of distinct subjects."""
        return int(self._meta["subjects"])

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the files that were loaded, in order."""
        return tuple(json.loads(self._meta["sources"]))

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes that the files declared, with the addresses that they stand for."""
        found: dict[str, str] = json.loads(self._meta.get("prefixes", "{}"))
        return found

    @property
    def loaded(self) -> str:
        """When it was last loaded into, in universal time."""
        return self._meta["loaded"]

    def predicates(self) -> list[PredicateFacts]:
        """All predicates, those with the most facts first."""
        rows = self.rows(
            "SELECT text, p, facts, subjects, objects, most_of_subject, most_of_object "
            "FROM statistics JOIN terms ON id = p ORDER BY facts DESC, text"
        )
        names = ("number", "facts", "subjects", "objects", "most_of_subject", "most_of_object")
        return [
            PredicateFacts(predicate=text[1:-1], **dict(zip(names, counts, strict=True)))
            for text, *counts in rows
        ]

    @property
    def keeps_graphs(self) -> bool:
        """Whether named graphs are kept apart; stores of earlier versions have one graph."""
        return ("named",) in self.rows("SELECT table_name FROM duckdb_tables()")

    def graphs(self) -> dict[str, int]:
        """The addresses of named graphs with the numbers of their facts, the largest first."""
        if not self.keeps_graphs:
            return {}
        found = self.rows(
            "SELECT text, count(*) AS facts FROM named JOIN terms ON id = g "
            "GROUP BY text ORDER BY facts DESC, text"
        )
        return {text.removeprefix("<").removesuffix(">"): facts for text, facts in found}

    def texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """The canonical texts of some terms by their numbers."""
        wanted = list(numbers)
        rows = self.rows("SELECT id, text FROM terms WHERE id IN (SELECT unnest(?))", [wanted])
        return dict(rows)

    def rows(self, query: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
        """Run a query of ours; it must hold no text of a user."""
        return self._connection.execute(query, parameters or []).fetchall()

    def export(
        self, path: str | Path, *, overwrite: bool = False, progress: Progress = silent
    ) -> int:
        """Write all facts as canonical N-Triples, whole or not at all; returns how many.

        Blank nodes have the labels of the store, which tell apart the files that they came from.

        Raises:
            InputError: CEL-I003 to CEL-I005 the file cannot be written.
        """
        done = 0
        with (
            replacing(Path(path), overwrite=overwrite) as draft,
            draft.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for lines in self._lines():
                file.write("".join(lines))
                done += len(lines)
                progress(Step(Message("queries.rdf.writing_facts"), done, self.triples))
        return done

    def _lines(self) -> Iterator[list[str]]:
        cursor = self._connection.cursor()
        try:
            found = cursor.execute(
                "SELECT a.text || ' ' || b.text || ' ' || c.text || ' .' || chr(10) FROM triples "
                "JOIN terms a ON a.id = s JOIN terms b ON b.id = p JOIN terms c ON c.id = o"
            )
            while rows := found.fetchmany(ROWS):
                yield [line for (line,) in rows]
        finally:
            cursor.close()

    def as_dict(self) -> dict[str, Any]:
        """Counts, sources and predicates as plain values."""
        return {
            "store": str(self.path),
            "triples": self.triples,
            "terms": self.terms,
            "subjects": self.subjects,
            "sources": list(self.sources),
            "loaded": self.loaded,
            **({"graphs": graphs} if (graphs := self.graphs()) else {}),
            "predicates": [each.as_dict() for each in self.predicates()],
        }

    def __str__(self) -> str:
        facts = {"path": self.path, "triples": self.triples, "subjects": self.subjects}
        return str(Message("queries.rdf.store", **facts))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
