"""Loading files of facts into a store: streamed, completely or not at all."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from gzip import BadGzipFile
from pathlib import Path

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.queries.rdf.builder import StoreBuilder
from celosia.queries.rdf.sources import EntityBombError, Source, find_sources, open_source
from celosia.queries.rdf.store_loader import LoadSummary, check_parser, make_store, parse_into


def load(
    sources: str | Path | Sequence[str | Path],
    store: str | Path,
    *,
    format: str | None = None,
    add: bool = False,
    overwrite: bool = False,
    base: str | None = None,
    progress: Progress = silent,
) -> LoadSummary:
    """Load files of facts into a store, which is a DuckDB file.

    The store is replaced as a whole at the end, or stays as it was. All graphs of N-Quads and TriG
    become one, a fact that is there twice counts once, and blank nodes of one file are never those
    of another, or of an earlier loading.

    Args:
        sources: files of Turtle, N-Triples, RDF/XML, N-Quads or TriG; `.gz` is unpacked.
        store: the file to make.
        format: of all files; told by their endings if None. See `sources.FORMATS`.
        add: keep what the store holds already; it is begun if there is none.
        overwrite: whether a file of this name may be lost.
        base: what relative addresses start from.
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

            _read(source, made, base, report_bytes)
            done += source.path.stat().st_size
        return [source.path.name for source in found]

    return make_store(Path(store), fill, add=add, overwrite=overwrite, progress=progress)


def _read(
    source: Source, made: StoreBuilder, base: str | None, report_bytes: Callable[[int], None]
) -> None:
    """Hand on all facts of a file."""
    try:
        with open_source(source, report_bytes) as reader:
            try:
                parse_into(made, reader, source.parser_format, base=base)
            except SyntaxError as fault:
                # Its message quotes the text, which is not ours to repeat: the place is enough.
                line = fault.lineno or (reader.lines + 1 if reader.lines else None)
                raise _syntax_error(source, line, fault.offset) from None
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


def _syntax_error(source: Source, line: int | None, column: int | None) -> InputError:
    where = ""
    if line is not None and column is not None:
        where = Message("queries.rdf.at_line_and_column", line=line, column=column)
    elif line is not None:
        where = Message("queries.rdf.at_line", line=line)
    return InputError(
        "CEL-Q221.broken_syntax",
        path=str(source.path),
        format=source.format,
        where=where,
        line=line,
        column=column,
    )
