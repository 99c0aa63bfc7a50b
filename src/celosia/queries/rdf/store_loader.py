"""The frame of every load: a store is created or added to, from files or an endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from time import perf_counter
from typing import Any

from celosia.core.errors import EngineError
from celosia.core.files import check_writable
from celosia.core.messages import Message
from celosia.core.methods import PlainValues
from celosia.core.progress import Progress, Step
from celosia.queries.rdf.builder import StoreBuilder, build_store
from celosia.queries.rdf.ntriples import BatchWriter
from celosia.queries.rdf.store import GraphStore


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSummary(PlainValues):
    """The content of a store after loading."""

    store: str
    triples: int
    terms: int
    read: int
    """Facts in the sources, counted as often as they are there."""
    added: int
    """Facts that were not in the store before."""
    seconds: float

    def __str__(self) -> str:
        return str(Message("queries.rdf.loaded", **asdict(self)))


def make_store(
    store: Path,
    fill: Callable[[StoreBuilder], list[str]],
    *,
    add: bool,
    overwrite: bool,
    progress: Progress,
) -> LoadSummary:
    """Make or add to a store by a function that hands facts on and names where they came from.

    Raises:
        InputError: CEL-Q226 the store was changed in the meantime, CEL-Q228 what is added to is no
            store, CEL-I003 to CEL-I005 it cannot be written.
        EngineError: CEL-Q224 the store could not be written, CEL-Q225 two terms of one number.
    """
    check_writable(store, overwrite=overwrite or add)
    began, before, named = perf_counter(), 0, []
    grows = add and store.exists()
    with build_store(store) as made:
        if grows:
            with GraphStore.open(store) as old:
                before, named = old.triples, list(old.sources)
            progress(Step(Message("queries.rdf.reading_store"), 0))
            made.start_from(store)
        named += fill(made)
        loaded = datetime.now(UTC).isoformat(timespec="seconds")
        facts = {
            "sources": json.dumps(named, ensure_ascii=False),
            "loaded": loaded,
            "prefixes": json.dumps(made.prefixes, ensure_ascii=False),
        }
        made.finish(facts, progress=progress)
    with GraphStore.open(store) as new:
        return LoadSummary(
            store=str(store),
            triples=new.triples,
            terms=new.terms,
            read=made.read,
            added=new.triples - before,
            seconds=perf_counter() - began,
        )


def parse_into(
    made: StoreBuilder,
    reader: Any,
    parser_format: Any,
    *,
    base: str | None = None,
    graph: str | None = None,
) -> None:
    """Parse what a reader gives and hand it on, blank nodes apart from all before.

    Facts that name no graph come into `graph`, or else into the default graph.

    Raises:
        SyntaxError: of pyoxigraph, with line and column where it knows them.
    """
    import pyoxigraph

    made.files += 1
    made.graph, made.quads = graph, parser_format.supports_datasets
    batches: Any = BatchWriter(made.take)
    quads = pyoxigraph.parse(reader, format=parser_format, base_iri=base)
    # Both ends of this are pyoxigraph's: no term becomes an object of ours.
    if made.quads:
        facts: Any = quads
        pyoxigraph.serialize(facts, batches, pyoxigraph.RdfFormat.N_QUADS)
    else:
        facts = map(attrgetter("triple"), quads)
        pyoxigraph.serialize(facts, batches, pyoxigraph.RdfFormat.N_TRIPLES)
    batches.hand_on()
    made.wait()
    made.prefixes |= {name: start for name, start in quads.prefixes.items() if name}


def check_parser() -> None:
    """Refuse to begin without pyoxigraph."""
    try:
        import pyoxigraph  # noqa: F401 - an extra
    except ImportError:
        raise EngineError("CEL-Q229.no_reader") from None
