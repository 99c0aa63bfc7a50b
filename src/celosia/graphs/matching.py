"""Open a published file, and match its vertices with those of the original."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.core.release import certificate_path
from celosia.frames.formats import check_readable, open_bytes, unreadable
from celosia.graphs.generalisation.graph import FORMAT, GeneralisedGraph, read_generalised
from celosia.graphs.graph import Graph
from celosia.graphs.networks.network import Network
from celosia.graphs.readers import ReadResult, format_of, read
from celosia.graphs.relabelling import names_of, read_key
from celosia.graphs.release import Content, GraphRelease
from celosia.graphs.uncertain.graph import UncertainGraph, read_uncertain

_LOOK = 1 << 10
"""Bytes in which a file says what it is."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OpenedRelease:
    """The content of a published file."""

    content: Content
    hidden: bool | None
    """Whether random numbers replace names; None without a certificate."""
    reading: ReadResult | None = None
    """How a plain graph without a certificate was read."""


def open_release(path: str | Path, *, progress: Progress = silent) -> OpenedRelease:
    """A plain, an uncertain or a generalised graph, whichever the file holds.

    Raises:
        InputError: as the reading of each says; CEL-I022 the file is not the one that the
            certificate beside it describes.
    """
    file = Path(path)
    if file.is_file() and certificate_path(file).is_file():
        release = GraphRelease.load(file)
        kept = release.provenance.parameters.get("keep_names")
        return OpenedRelease(content=release.data, hidden=None if kept is None else not kept)
    sort = graph_type_of(file)
    if sort is GeneralisedGraph:
        return OpenedRelease(content=read_generalised(file), hidden=None)
    if sort is UncertainGraph:
        return OpenedRelease(content=read_uncertain(file), hidden=None)
    reading = read(file, progress=progress)
    return OpenedRelease(content=reading.graph, hidden=None, reading=reading)


def graph_type_of(path: Path) -> type[Content]:
    """The type of graph in a file, by its first bytes.

    Raises:
        InputError: CEL-G002 its name says nothing about the format; or it cannot be read.
    """
    kind = format_of(path)
    if kind not in {"json", "csv"}:
        return Graph
    check_readable(path)
    try:
        with open_bytes(path) as stream:
            head = stream.read(_LOOK)
    except (OSError, EOFError, zlib.error):
        raise unreadable("CEL-F014.damaged", path) from None
    if kind == "json":
        return GeneralisedGraph if FORMAT.encode() in head else Graph
    return UncertainGraph if head.startswith((b'# {"vertices"', b"u,v,p")) else Graph


def world_of(content: Content, rng: Source) -> Graph:
    """A plain graph as it is, that below a network; of another sort a random world of it."""
    if isinstance(content, Network):
        return content.simple
    return content if isinstance(content, Graph) else content.sample_world(rng)


def match_networks(
    original: Network, opened: OpenedRelease, *, key: Path | None
) -> tuple[Network, NDArray[np.int64]]:
    """A published network, and the number in it of each vertex of the original.

    Raises:
        InputError: CEL-G028 the file is no published network with its certificate, or names do not
            tell and there is no key; CEL-G027 the key does not fit.
    """
    release = opened.content
    if not isinstance(release, Network):
        raise InputError("CEL-G028.network")
    if key is None and (opened.hidden or (release.labels is None and original.labels is not None)):
        raise InputError("CEL-G028")
    wanted = names_of(original) if key is None else read_key(key, original)
    places = {name: place for place, name in enumerate(names_of(release).to_list())}
    numbers = np.array([places.get(name, -1) for name in wanted.to_list()], dtype=np.int64)
    if (numbers < 0).any() or release.order != original.order:
        raise InputError("CEL-G028.network")
    return release, numbers


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MatchedRelease:
    """A plain release, and the number in it of each vertex of the original."""

    release: Graph
    numbers: NDArray[np.int64] = field(repr=False)


def match_vertices(
    original: Graph, opened: OpenedRelease, *, key: Path | None, rng: Source
) -> MatchedRelease:
    """Find the vertices of the original in a release, by a key or by their names.

    Vertices that the file does not name have no edge in it: an edge list leaves them out.

    Raises:
        InputError: CEL-G027 the key does not fit; CEL-G028 there is none, and names do not tell.
    """
    world = world_of(opened.content, rng)
    shown = names_of(world)
    wanted = names_of(original) if key is None else read_key(key, original)
    places = pl.DataFrame([shown.alias("name"), pl.Series("place", np.arange(world.order))])
    found = (
        pl.DataFrame([wanted.alias("name")])
        .join(places, on="name", how="left", maintain_order="left")
        .get_column("place")
    )
    absent = found.is_null().to_numpy()
    if key is None and (opened.hidden or world.order > original.order - int(absent.sum())):
        raise InputError("CEL-G028")
    numbers = found.fill_null(0).to_numpy().astype(np.int64)
    numbers[absent] = world.order + np.arange(int(absent.sum()))
    return MatchedRelease(
        release=Graph.of(world.edges, order=world.order + int(absent.sum())), numbers=numbers
    )
