"""Jobs of graphs: bring one, publish it, attack it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import LANGUAGES, Language, speaking
from celosia.core.progress import Progress, Step
from celosia.graphs.formats.parsed_graph import ParsedGraph, Rules
from celosia.studio.graphs import drawing as graph_drawing
from celosia.studio.graphs import model
from celosia.studio.release_facts import guarantee_facts, write_release
from celosia.studio.uploads import Brought, uploaded
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

if TYPE_CHECKING:
    from celosia.core.randomness import Source
    from celosia.graphs import Graph, GraphRelease, Network
    from celosia.graphs.attacks import GraphAttack
    from celosia.graphs.readers import ReadResult

LAYOUT = 1
"""The seed of a layout: places of points are no secret, and a page comes out the same again."""
SEEDS = 10
"""Hubs that propagation knows."""
PIECE = 5
"""Edges that are known around a target."""
TARGETS = 10
"""People that planted accounts are linked with."""


def prepare(progress: JobProgress, *, folder: str, brought: Brought) -> dict[str, Any]:
    """Put a sample or an uploaded file in place as `graph.json`, and draw it."""
    from celosia.core.randomness import Seeded
    from celosia.graphs import as_graph, write

    work = Work.at(folder)
    if brought.sample is not None:
        progress(Step("Making the sample", 0))
        reading = as_graph(model.sample_graph(brought.sample))
    else:
        reading = _read(progress, work, brought)
    graph = reading.graph
    write(graph, work.path("graph.json"), partial=True)
    progress(Step("Placing the points", 0))
    about = {
        **brought.state(),
        "vertices": graph.order,
        "edges": graph.size,
        "reading": {} if brought.sample is not None else _reading_texts(reading),
        "counts": asdict(reading.counts),
        "ignored": list(reading.ignored),
        "edge_attributes": list(reading.edge_attributes),
        "drop_edge_attributes": False,
        "network": None if brought.sample is not None else {},
        "drawing": graph_drawing.one(graph, rng=Seeded(LAYOUT)),
        "degrees": graph_drawing.degree_line(graph.degrees),
        "choice": {"method": "k-degree", "parameters": {"k": 3}},
        "seed": None,
    }
    work.save("graphs", about)
    return about


def _read(progress: JobProgress, work: Work, brought: Brought) -> ReadResult:
    """An uploaded graph; its records are kept, so that other rules can be chosen later."""
    from celosia.graphs.readers import by_rules, parse_file

    path = work.path(brought.file)
    with uploaded(path, brought.shown):
        parsed = parse_file(path, progress=progress)
        found = by_rules(parsed, Rules())
    if found.graph.order < 2 or not found.graph.size:
        raise InputError("CEL-W074")
    parsed.names.to_frame("vertex").write_parquet(work.path("names.parquet"))
    ends = {"source": parsed.sources, "target": parsed.targets, "directed": parsed.directed}
    known = [] if parsed.edge_attributes is None else parsed.edge_attributes.get_columns()
    table = pl.DataFrame(ends).rename(lambda name: f" {name}").with_columns(known)
    table.write_parquet(work.path("records.parquet"))
    return found


def _network(work: Work, asked: Mapping[str, Any]) -> ReadResult:
    """The records that were brought, with the directions, weights, sides or times kept."""
    from celosia.graphs.networks.parsed_network import apart
    from celosia.graphs.readers import by_rules

    table = pl.read_parquet(work.path("records.parquet"))
    known = table.select(name for name in table.columns if not name.startswith(" "))
    directed = asked.get("directed") == "keep"
    arcs = table[" directed"].to_numpy()
    parsed = ParsedGraph(
        names=pl.read_parquet(work.path("names.parquet"))["vertex"],
        sources=table[" source"].to_numpy(),
        targets=table[" target"].to_numpy(),
        # An edge list says nothing of directions: all its lines have one, if they are kept.
        directed=arcs | directed if not arcs.any() else arcs,
        edge_attributes=known if known.width else None,
    )
    parsed = apart(parsed) if asked.get("bipartite") and not arcs.any() else parsed
    return by_rules(parsed, Rules(**{key: value for key, value in asked.items() if value}))


def _reading_texts(reading: ReadResult) -> dict[Language, str]:
    """How a file was read, in every language: its page may be shown in another one later."""
    found: dict[Language, str] = {}
    for each in LANGUAGES:
        with speaking(each):
            found[each] = str(reading)
    return found


def _stored(work: Work) -> ReadResult:
    """The graph of a work, with what was done to the file that was brought."""
    from celosia.graphs import read
    from celosia.graphs.formats.parsed_graph import Counts

    about = work.load("graphs")
    found = read(work.path("graph.json"))
    if "counts" not in about:  # the work of an earlier version
        return found
    return replace(found, counts=Counts.from_dict(about["counts"]), ignored=tuple(about["ignored"]))


def stages(progress: JobProgress, kind: str) -> Progress:
    """The progress, with the stage that has the name of the method called by one word."""

    def tell(step: Step) -> None:
        progress(Step("Changing the graph", 0) if step.stage == kind else step)

    return tell


def run(
    progress: JobProgress,
    *,
    folder: str,
    choice: Mapping[str, Any],
    seed: int | None = None,
    drop_edge_attributes: bool = False,
    network: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Publish the graph of a work; files and `result.json` are written to its folder."""
    from celosia.core.randomness import source
    from celosia.graphs import method_from
    from celosia.graphs.options import GraphPublishOptions
    from celosia.graphs.run import publish_graph

    work = Work.at(folder)
    reading = _network(work, network) if network and any(network.values()) else _stored(work)
    graph = reading.simple
    method = method_from(choice["method"], choice["parameters"])
    rng = source(seed)
    options = GraphPublishOptions(
        methods=(method,), drop_edge_attributes=drop_edge_attributes, rng=rng
    )
    release = publish_graph(reading, options, progress=stages(progress, choice["method"]))
    files = _write(reading.content, release, work.folder)
    progress(Step("Placing the points", 0))
    result = {
        "choice": {**choice},
        "files": files,
        **guarantee_facts(release.guarantee),
        "private": method.is_private,
        "kept": release.methods[-1].kept,
        "seed": seed,
        "drop_edge_attributes": drop_edge_attributes,
        "network": dict(network or {}),
        "left_out": release.left_out,
        "attacks": _attacks(release),
        "utility": None if release.account.utility is None else release.account.utility.as_dict(),
        "matched": release.account.matched,
        "world": release.account.world,
    } | _drawn(graph, release, work.folder, rng)
    work.save("result", result)
    work.path("attacks.json").unlink(missing_ok=True)
    return result


def _write(graph: Graph | Network, release: GraphRelease, place: Path) -> dict[str, str]:
    """The release, its certificate, its report and its key, under names of ours."""
    from celosia.graphs.relabelling import write_key

    name = f"published.{model.ENDINGS[type(release.data).__name__]}"
    key = place / "key.csv"
    for old in (key, *place.glob("published.*")):
        old.unlink(missing_ok=True)
    with ExitStack() as files:
        if release.key is not None:
            files.enter_context(write_key(graph, release.key, key))
        write_release(release, place / name)
    found = {"data": name, "certificate": "certificate.json", "report": "report.html"}
    return found | ({} if release.key is None else {"key": "key.csv"})


def _drawn(graph: Graph, release: GraphRelease, place: Path, rng: Source) -> dict[str, Any]:
    """The drawing of both, and both lines of degrees; the release is kept for attacks."""
    from celosia.core.randomness import Seeded
    from celosia.graphs import GeneralisedGraph, Network, UncertainGraph
    from celosia.graphs.metrics.summary import align_vertices

    content, spots = release.data, Seeded(LAYOUT)
    if isinstance(content, Network):
        content = content.simple
    world_file = place / "world.npz"
    world_file.unlink(missing_ok=True)
    before = graph_drawing.degree_line(graph.degrees)
    if isinstance(content, GeneralisedGraph):
        after = graph_drawing.degree_line(content.sample_world(rng).degrees)
        drawing = graph_drawing.groups(graph, content, rng=spots)
        return {"drawing": drawing, "degrees": {"before": before, "after": after}}
    if release.key is None:
        drawing = graph_drawing.new(graph, content, rng=spots)  # type: ignore[arg-type]
        after = graph_drawing.degree_line(content.degrees)  # type: ignore[union-attr]
        return {"drawing": drawing, "degrees": {"before": before, "after": after}}
    if isinstance(content, UncertainGraph):
        shown = content.renumbered(np.argsort(release.key))
        expected = np.zeros(shown.order)
        for end in shown.pairs.T:
            np.add.at(expected, end, shown.probabilities)
        world = shown.sample_world(rng)
        drawing = graph_drawing.uncertain(graph, shown, rng=spots)
        after = graph_drawing.degree_line(expected)
    else:
        world = align_vertices(content, release.key)
        drawing = graph_drawing.both(graph, world, rng=spots)
        after = graph_drawing.degree_line(world.degrees)
    np.savez(
        world_file,
        edges=world.edges,
        order=world.order,
        known=graph.edges,
        known_order=graph.order,
    )
    return {"drawing": drawing, "degrees": {"before": before, "after": after}}


def _attacks(release: GraphRelease) -> list[dict[str, Any]]:
    account = release.account
    return [
        {"name": after.name.split()[0], "before": _found(before), "after": _found(after)}
        for before, after in zip(account.before, account.attacks, strict=True)
    ]


def _found(attack: GraphAttack) -> dict[str, Any]:
    return {
        "exposed": attack.share_exposed,
        "chance": attack.chance,
        "smallest": attack.smallest,
        "targets": int(attack.targets.size),
        "buckets": attack.buckets,
    }


def attack(
    progress: JobProgress,
    *,
    folder: str,
    names: Sequence[str],
    choice: Mapping[str, Any],
    seed: int | None = None,
) -> list[dict[str, Any]]:
    """Run more attacks on the original under numbers, and on the release: `attacks.json`."""
    from celosia.core.randomness import source
    from celosia.graphs import Graph, method_from

    work = Work.at(folder)
    if not work.path("world.npz").is_file():
        raise InputError("CEL-W075")
    with np.load(work.path("world.npz")) as kept:
        graph = Graph.of(kept["known"], order=int(kept["known_order"]))
        world = Graph.of(kept["edges"], order=int(kept["order"]))
    rng = source(seed)
    method = method_from(choice["method"], choice["parameters"])
    plain = method if model.cards()[choice["method"]].makes == "Graph" else None
    found = []
    for done, name in enumerate(names):
        progress(Step("Attacking", done, len(names)))
        if name == "active":
            facts = _active(graph, plain, rng, progress)
        else:
            way = _way(name, rng, progress)
            facts = {"before": way(graph, graph), "after": way(graph, world)}
        found.append({"name": name} | facts)
    work.save("attacks", found)
    return found


def _active(graph: Graph, method: Any, rng: Source, progress: JobProgress) -> dict[str, Any]:
    from celosia.graphs import Relabelling, attacks

    targets = min(TARGETS, graph.order // 2)
    before = attacks.active(graph, rng=rng, targets=targets, progress=progress).share_exposed
    after = None
    if method is not None:
        tried = None if isinstance(method, Relabelling) else method
        after = attacks.active(
            graph, rng=rng, method=tried, targets=targets, progress=progress
        ).share_exposed
    return {"before": before, "after": after}


def _way(name: str, rng: Source, progress: JobProgress) -> Callable[[Graph, Graph], float]:
    """An attack as a function of two graphs, to the share of those that it finds."""
    from celosia.graphs import attacks

    def spread(original: Graph, release: Graph) -> float:
        seeds = attacks.top_hubs(original, min(SEEDS, original.order // 3)).tolist()
        return attacks.propagation(
            original, release, seeds=seeds, rng=rng, progress=progress
        ).share_correct

    def percolate(original: Graph, release: Graph) -> float:
        seeds = attacks.top_hubs(original, min(2 * SEEDS, original.order // 3)).tolist()
        return attacks.percolation(original, release, seeds=seeds, progress=progress).share_correct

    ways: dict[str, Callable[[Graph, Graph], float]] = {
        "subgraph": lambda one, two: (
            attacks.subgraph(one, two, edges=PIECE, rng=rng, progress=progress).chance
        ),
        "hubs": lambda one, two: attacks.hub_fingerprint(one, two).chance,
        "links": lambda one, two: attacks.link_prediction(one, two, rng=rng).best,
        "propagation": spread,
        "percolation": percolate,
        "seedless": lambda one, two: attacks.seedless(one, two, progress=progress).share_correct,
    }
    return ways[name]
