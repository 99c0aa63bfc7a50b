"""Loading files of facts into a store: streamed, completely or not at all."""

from __future__ import annotations

import gzip
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from gzip import BadGzipFile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.queries.rdf.builder import StoreBuilder
from celosia.queries.rdf.store_loader import LoadSummary, check_parser, make_store, parse_into

if TYPE_CHECKING:
    from celosia.queries.rdf.hdt import HdtReader

FORMATS = {
    "turtle": (".ttl", ".turtle"),
    "n-triples": (".nt", ".ntriples"),
    "rdf/xml": (".rdf", ".xml", ".owl"),
    "n-quads": (".nq", ".nquads"),
    "trig": (".trig",),
    "hdt": (".hdt",),
}
"""Formats that are read, with the endings of their files; `.gz` may follow."""
STRIDE = 2**20
"""Bytes between two steps of progress."""
LONGEST_ENTITY = 2**11
"""Bytes of the declaration of an entity of XML; they are short names for addresses."""
_ENTITY = re.compile(
    rb"""<!ENTITY\s+[^\s"'&]+\s+("(?P<one>[^"]*)"|'(?P<other>[^']*)')""", re.DOTALL
)
_REFERENCE = re.compile(rb"&(?!#|amp;|lt;|gt;|quot;|apos;)")


@dataclass(frozen=True, slots=True)
class Source:
    """A file to load, and its format."""

    path: Path
    format: str

    @property
    def parser_format(self) -> Any:
        """The format as pyoxigraph names it."""
        from pyoxigraph import RdfFormat

        return {
            "turtle": RdfFormat.TURTLE,
            "n-triples": RdfFormat.N_TRIPLES,
            "rdf/xml": RdfFormat.RDF_XML,
            "n-quads": RdfFormat.N_QUADS,
            "trig": RdfFormat.TRIG,
            "hdt": RdfFormat.N_TRIPLES,  # what its reader makes of it
        }[self.format]


def find_sources(paths: Sequence[str | Path], format_name: str | None) -> list[Source]:
    """The files to load, which all exist, with the format of each."""
    if not paths:
        raise InputError("CEL-Q221.file_none_given")
    found = []
    for path in map(Path, paths):
        if not path.is_file():
            raise InputError("CEL-Q221.file_missing", path=str(path))
        found.append(Source(path, _format(path, format_name)))
    return found


def _format(path: Path, given: str | None) -> str:
    if given is not None and given.lower() in FORMATS:
        return given.lower()
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    for name, endings in FORMATS.items():
        if given is None and ending in endings:
            return name
    if given is None:
        raise InputError("CEL-Q221.unknown_ending", path=str(path), formats=list(FORMATS))
    raise InputError("CEL-Q221.no_such_format", format=given, path=str(path), formats=list(FORMATS))


class BrokenHdtError(Exception):
    """An HDT file that is cut off, changed, or of a kind that is not read."""


class EntityBombError(Exception):
    """Entities of XML that are made of others, or long: a few of them fill any memory."""


class _EntityScanner:
    """Looks at the entities that XML declares, before the parser does."""

    def __init__(self) -> None:
        self._held = b""

    def scan(self, piece: bytes) -> None:
        """Take note of some more bytes.

        Raises:
            EntityBombError: a declaration that would grow.
        """
        window = self._held + piece
        start = window.find(b"<!ENTITY")
        while start >= 0:
            found = _ENTITY.match(window, start)
            if found is None:
                if len(window) - start > LONGEST_ENTITY:
                    raise EntityBombError
                self._held = window[start:]  # it goes on
                return
            value = found["one"] if found["one"] is not None else found["other"]
            if len(value) > LONGEST_ENTITY or _REFERENCE.search(value):
                raise EntityBombError
            start = window.find(b"<!ENTITY", found.end())
        self._held = window[-len(b"<!ENTITY") :]


class CountingReader:
    """A file for a parser, which tells how many bytes of it are read."""

    def __init__(
        self, file: IO[bytes], raw: IO[bytes], report_bytes: Callable[[int], None], *, slow: bool
    ):
        self._file = file
        self._raw = raw
        self._report_bytes = report_bytes
        self._slow = slow
        self._shown = -STRIDE
        self._is_new = True
        self._entities = _EntityScanner()
        self.lines = 0
        """Of what is read so far; counted only if `slow`."""

    def read(self, size: int = -1) -> bytes:
        """Some more bytes; if `slow`, not beyond the end of the line."""
        if self._slow:
            piece = self._file.readline(size)
            self.lines += piece.endswith(b"\n")
            self._entities.scan(piece)
        else:
            piece = self._file.read(size)
        if self._is_new:  # some editors begin a file with a mark that is no part of it
            piece, self._is_new = piece.removeprefix(BOM_UTF8), False
            piece = piece or self._file.read(size)
        position = self._raw.tell()
        if position - self._shown >= STRIDE:
            self._shown = position
            self._report_bytes(position)
        return piece


@contextmanager
def open_source(
    source: Source, report_bytes: Callable[[int], None]
) -> Iterator[CountingReader | HdtReader]:
    """A file opened for its parser, unpacked if it ends in .gz.

    RDF/XML is read line by line, as its parser does not tell where a fault is.
    """
    if source.format == "hdt":
        from celosia.queries.rdf.hdt import HdtReader  # loads Numba

        data, size = source.path.read_bytes(), source.path.stat().st_size
        unpacked = gzip.decompress(data) if source.path.name.lower().endswith(".gz") else data
        yield HdtReader(unpacked, lambda share: report_bytes(round(share * size)))
        return
    slow = source.format == "rdf/xml"
    with source.path.open("rb") as raw:
        if source.path.name.lower().endswith(".gz"):
            with gzip.GzipFile(fileobj=raw) as file:
                yield CountingReader(file, raw, report_bytes, slow=slow)  # type: ignore[arg-type]
        else:
            yield CountingReader(raw, raw, report_bytes, slow=slow)


def load(
    sources: str | Path | Sequence[str | Path],
    store: str | Path,
    *,
    format: str | None = None,
    add: bool = False,
    overwrite: bool = False,
    base: str | None = None,
    graph: str | None = None,
    progress: Progress = silent,
) -> LoadSummary:
    """Load files of facts into a store, which is a DuckDB file.

    The store is replaced as a whole at the end, or stays as it was. A fact that is there twice
    counts once, and blank nodes of one file are never those of another, or of an earlier loading.
    The store keeps the named graphs of N-Quads and TriG apart; whether they are asked apart or as
    one graph is said by the policy.

    Args:
        sources: files of Turtle, N-Triples, RDF/XML, N-Quads, TriG or HDT; `.gz` is unpacked.
        store: the file to make.
        format: of all files; told by their endings if None. See `sources.FORMATS`.
        add: keep what the store holds already; it is begun if there is none.
        overwrite: whether a file of this name may be lost.
        base: what relative addresses start from.
        graph: the address of a named graph for all facts that name none; the default graph if None.
        progress: receives the number of bytes read.

    Raises:
        InputError: CEL-Q221 a format is not known, CEL-Q221 a file is missing, CEL-Q221 a file is
            broken (with line and column), CEL-Q226 the store was changed in the meantime, CEL-Q227
            terms that RDF 1.1 does not know, CEL-Q228 what is added to is no store, CEL-I003 to
            CEL-I005 the store cannot be written.
        EngineError: CEL-Q224 the store could not be written, CEL-Q225 two terms of one number,
            CEL-Q229 pyoxigraph is not installed.
    """
    given = [sources] if isinstance(sources, str | Path) else sources
    found = find_sources(given, format)
    check_parser()
    total = sum(source.path.stat().st_size for source in found)

    def fill(made: StoreBuilder) -> list[str]:
        done = 0
        for source in found:

            def report_bytes(position: int, source: Source = source, done: int = done) -> None:
                stage = Message("queries.rdf.reading_file", file=source.path.name)
                progress(Step(stage, min(done + position, total), total))

            _read(source, made, (base, graph), report_bytes)
            done += source.path.stat().st_size
        return [source.path.name for source in found]

    return make_store(Path(store), fill, add=add, overwrite=overwrite, progress=progress)


def _read(
    source: Source,
    made: StoreBuilder,
    addresses: tuple[str | None, str | None],
    report_bytes: Callable[[int], None],
) -> None:
    """Hand on all facts of a file."""
    try:
        with open_source(source, report_bytes) as reader:
            try:
                base, graph = addresses
                parse_into(made, reader, source.parser_format, base=base, graph=graph)
            except SyntaxError as fault:
                # Its message quotes the text, which is not ours to repeat: the place is enough.
                line = fault.lineno or (reader.lines + 1 if reader.lines else None)
                is_relative = base is None and _NO_SCHEME in str(fault)
                raise _syntax_error(source, line, fault.offset, is_relative=is_relative) from None
    except BrokenHdtError:
        raise InputError("CEL-Q221.broken_hdt", path=str(source.path)) from None
    except EntityBombError:
        raise InputError("CEL-Q221.broken_entity", path=str(source.path)) from None
    except MemoryError:  # of the parser: what it holds at a time has a limit
        raise InputError("CEL-Q221.broken_too_long", path=str(source.path)) from None
    except (EOFError, zlib.error, BadGzipFile):
        raise InputError("CEL-Q221.broken_packed", path=str(source.path)) from None
    except OSError as fault:  # of the reader: the engine has errors of its own
        raise InputError(
            "CEL-Q221.file_unreadable", path=str(source.path), fault=type(fault).__name__
        ) from None
    except InputError as refusal:
        if refusal.code == "CEL-Q227":
            refusal.within(str(source.path))
        raise


_NO_SCHEME = "No scheme found in an absolute IRI"
"""How pyoxigraph says that an address is relative."""


def _syntax_error(
    source: Source, line: int | None, column: int | None, *, is_relative: bool = False
) -> InputError:
    where = ""
    if line is not None and column is not None:
        where = Message("queries.rdf.at_line_and_column", line=line, column=column)
    elif line is not None:
        where = Message("queries.rdf.at_line", line=line)
    return InputError(
        "CEL-Q221.relative_address" if is_relative else "CEL-Q221.broken_syntax",
        path=str(source.path),
        format=source.format,
        where=where,
        line=line,
        column=column,
    )
