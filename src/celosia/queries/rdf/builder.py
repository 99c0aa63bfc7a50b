"""The builder of a store: facts are collected in a private folder that replaces the store at once.

Nothing touches the store itself until it is replaced as a whole by `os.replace`: a fault, Ctrl-C,
a killed process or a full disk leave it as it was. All of it runs in DuckDB, which moves to disk
what does not fit in its share of memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.core.errors import EngineError, InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.queries.rdf import term_sql
from celosia.queries.rdf.ntriples import split_columns
from celosia.queries.rdf.terms import address_text, term_number

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

MEMORY = "2GB"
"""DuckDB's share while loading, whatever the size of the graph."""
VERSION = "1"
"""Of the tables in a store."""

_STATISTICS = """
CREATE TABLE draft.statistics AS
SELECT by_subject.p, facts, subjects, objects, most_of_subject, most_of_object FROM
(SELECT p, CAST(sum(n) AS BIGINT) AS facts, count(*) AS subjects, max(n) AS most_of_subject
 FROM (SELECT p, s, count(*) AS n FROM draft.triples GROUP BY p, s) GROUP BY p) AS by_subject
JOIN (SELECT p, count(*) AS objects, max(n) AS most_of_object
 FROM (SELECT p, o, count(*) AS n FROM draft.triples GROUP BY p, o) GROUP BY p) AS by_object
USING (p)
"""


class StoreBuilder:
    """Facts on their way into a store; made by `build_store`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, pool: ThreadPoolExecutor):
        self._connection = connection
        self._pool = pool
        self._pending: Future[int] | None = None
        self.files = 0
        """The number of files loaded so far; blank nodes of each are kept apart."""
        self.read = 0
        """Facts read, with those that are there already."""
        self.has_blank = False
        """Whether any fact read had a blank node."""
        self.graph: str | None = None
        """The address of the named graph that facts come into, where they name none."""
        self.prefixes: dict[str, str] = {}
        """Prefixes that files declare, with the addresses that they stand for."""
        self.quads = False
        """Whether lines are N-Quads."""

    def take(self, batch: bytes) -> None:
        """Add some lines of canonical N-Triples or N-Quads, while the caller reads on."""
        self.wait()
        given = (self.files, self.graph, self.quads)
        self._pending = self._pool.submit(self._insert, batch, *given)

    def wait(self) -> None:
        """Until all lines taken are in; raises what went wrong with them."""
        pending, self._pending = self._pending, None
        if pending is not None:
            self.read += pending.result()

    def finish(self, facts: Mapping[str, str], *, progress: Progress) -> None:
        """Make the tables of the store."""
        self.wait()
        run = self._connection.execute
        progress(Step(Message("queries.rdf.gathering_terms"), 0))
        run("CREATE TABLE draft.terms AS SELECT DISTINCT id, text FROM staged.words")
        terms, numbers = self._row("SELECT count(*), count(DISTINCT id) FROM draft.terms")
        if terms != numbers:
            raise EngineError("CEL-Q225")
        progress(Step(Message("queries.rdf.sorting_facts"), 0))
        kept = ", ".join(name for name, _ in term_sql.OBJECT_COLUMNS)
        run(
            f"CREATE TABLE draft.triples AS SELECT s, p, o, {kept} "  # noqa: S608
            "FROM (SELECT DISTINCT s, p, o FROM staged.facts) "
            f"JOIN ({term_sql.decode_sql('draft.terms')}) ON id = o ORDER BY p, s, o"
        )
        run(
            "CREATE TABLE draft.named AS SELECT DISTINCT g, s, p, o FROM staged.facts "
            "WHERE g IS NOT NULL ORDER BY g, p, s, o"
        )
        run(
            "CREATE TABLE draft.elsewhere AS SELECT DISTINCT s, p, o FROM draft.named "
            "ANTI JOIN (SELECT s, p, o FROM staged.facts WHERE g IS NULL) USING (s, p, o) "
            "ORDER BY p, s, o"
        )
        progress(Step(Message("queries.rdf.counting"), 0))
        run(_STATISTICS)
        (triples,) = self._row("SELECT count(*) FROM draft.triples")
        (subjects,) = self._row("SELECT count(DISTINCT s) FROM draft.triples")
        counted = {"triples": triples, "terms": terms, "subjects": subjects, "files": self.files}
        run("CREATE TABLE draft.meta (name VARCHAR, value VARCHAR)")
        for name, value in ({"version": VERSION} | counted | dict(facts)).items():
            run("INSERT INTO draft.meta VALUES (?, ?)", [name, str(value)])
        progress(Step(Message("queries.rdf.writing_store"), 0))
        run("DETACH staged")
        run("CHECKPOINT draft")
        run("DETACH draft")

    def start_from(self, store: Path) -> None:
        """Begin with all that a store holds; it was checked by whoever opened it."""
        run = self._connection.execute
        place = str(store).replace("'", "''")
        run(f"ATTACH '{place}' AS old (READ_ONLY)")
        (kept_apart,) = self._row(
            "SELECT count(*) FROM duckdb_tables() "
            "WHERE database_name = 'old' AND table_name = 'elsewhere'"
        )
        if kept_apart:
            run(
                "INSERT INTO staged.facts SELECT NULL, s, p, o FROM old.triples "
                "ANTI JOIN old.elsewhere USING (s, p, o)"
            )
            run("INSERT INTO staged.facts SELECT g, s, p, o FROM old.named")
        else:  # a store from before graphs were kept apart
            run("INSERT INTO staged.facts SELECT NULL, s, p, o FROM old.triples")
        run("INSERT INTO staged.words SELECT id, text FROM old.terms")
        (files,) = self._row("SELECT value FROM old.meta WHERE name = 'files'")
        self.files = int(files)
        found = self._connection.execute("SELECT value FROM old.meta WHERE name = 'prefixes'")
        self.prefixes = {
            name: start for (text,) in found.fetchall() for name, start in json.loads(text).items()
        }
        run("DETACH old")

    def _insert(self, batch: bytes, file: int, graph: str | None, quads: bool) -> int:
        """Number each different term of a batch once, and write its facts by these numbers."""
        import pyarrow as pa  # 0.15 s, only where facts are loaded

        table = split_columns(batch, quads=quads)
        names = table.column_names
        stacked = pa.chunked_array([part for name in names for part in table[name].chunks])
        coded = stacked.combine_chunks().dictionary_encode()
        _refuse_unknown(coded.dictionary)
        self.has_blank = self.has_blank or _has_blank(coded.dictionary)
        places = np.arange(len(coded.dictionary))
        cursor = self._connection.cursor()
        try:
            cursor.register("batch", pa.table({"place": places, "written": coded.dictionary}))
            apart = f"SELECT place, {_separate_blank_nodes('written', file)} AS text FROM batch"  # noqa: S608
            numbered = f"SELECT place, {term_sql.number_sql('text')} AS id, text FROM ({apart})"  # noqa: S608
            words = cursor.execute(numbered).to_arrow_table()
            numbers = np.empty(len(words), np.int64)
            numbers[words["place"].to_numpy()] = words["id"].to_numpy()
            facts = numbers[coded.indices.to_numpy()].reshape(len(names), -1)
            cursor.register("words", words)
            cursor.register("facts", pa.table(dict(zip(names, facts, strict=True))))
            cursor.execute("INSERT INTO staged.words SELECT id, text FROM words WHERE text <> ''")
            place = "NULL"
            if graph is not None:
                text = address_text(graph)
                place = str(term_number(text))
                cursor.execute("INSERT INTO staged.words VALUES (?, ?)", [int(place), text])
            if quads:
                place = f"coalesce(nullif(g, {term_number('')}), {place})"
            cursor.execute(f"INSERT INTO staged.facts SELECT {place}, s, p, o FROM facts")  # noqa: S608
        finally:
            cursor.close()
        return int(table.num_rows)

    def _row(self, query: str) -> tuple[Any, ...]:
        found = self._connection.execute(query).fetchone()
        assert found is not None, "a query that counts has a row"
        return tuple(found)


@contextmanager
def build_store(store: Path) -> Iterator[StoreBuilder]:
    """A building whose result takes the place of `store` if the block ends well."""
    import duckdb  # 0.1 s, only where facts are loaded

    before = _file_state(store)
    try:
        with TemporaryDirectory(dir=store.parent, prefix=f".{store.stem}-") as folder:
            connection = duckdb.connect(
                config={
                    "memory_limit": MEMORY,
                    "temp_directory": str(Path(folder, "overflow")),
                    "preserve_insertion_order": False,
                    "autoinstall_known_extensions": False,
                    "autoload_known_extensions": False,
                }
            )
            draft = Path(folder, "draft")
            # The pool ends first: nothing may use the connection once it is closed.
            with connection, ThreadPoolExecutor(1) as pool:
                for name in ("staged", "draft"):
                    place = str(Path(folder, name)).replace("'", "''")
                    connection.execute(f"ATTACH '{place}' AS {name}")
                connection.execute(
                    "CREATE TABLE staged.facts (g BIGINT, s BIGINT, p BIGINT, o BIGINT)"
                )
                connection.execute("CREATE TABLE staged.words (id BIGINT, text VARCHAR)")
                yield StoreBuilder(connection, pool)
            _replace(draft, store, before)
    except (duckdb.Error, OSError) as fault:
        raise EngineError("CEL-Q224", path=str(store), fault=type(fault).__name__) from None
    except RuntimeError as fault:
        if "interrupted" in str(fault).lower():
            raise KeyboardInterrupt from None  # how DuckDB tells Ctrl-C
        raise


def _replace(draft: Path, store: Path, before: tuple[int, int] | None) -> None:
    if _file_state(store) != before:
        raise InputError("CEL-Q226", path=str(store))
    umask = os.umask(0)
    os.umask(umask)
    draft.chmod(0o666 & ~umask)
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    draft.replace(store)


def _file_state(store: Path) -> tuple[int, int] | None:
    try:
        found = store.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def _separate_blank_nodes(column: str, file: int) -> str:
    """The text of a term, where a blank node has a label that no other file has."""
    return (
        f"CASE WHEN starts_with({column}, '_') "
        f"THEN '_:f{file}-' || substr({column}, 3) ELSE {column} END"
    )


def _has_blank(words: pa.Array) -> bool:
    import pyarrow.compute as pc  # 0.15 s, only where facts are loaded

    return bool(pc.any(pc.starts_with(words, "_")).as_py())


def _refuse_unknown(words: pa.Array) -> None:
    """Refuse terms that RDF 1.1 does not know: triples as terms, texts with a direction."""
    import pyarrow.compute as pc  # 0.15 s, only where facts are loaded

    directed = pc.and_(
        pc.starts_with(words, '"'),
        pc.or_(pc.ends_with(words, "--ltr"), pc.ends_with(words, "--rtl")),
    )
    if pc.any(pc.or_(pc.starts_with(words, "<<"), directed)).as_py():
        raise InputError("CEL-Q227")
