"""Publish a graph: apply one or more methods, remove names, and account for the result."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.graphs.generalisation.graph import shuffle_super_vertices
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, MethodResult
from celosia.graphs.networks.method import network_methods
from celosia.graphs.networks.network import Network
from celosia.graphs.options import GraphPublishOptions
from celosia.graphs.readers import ReadResult, as_graph
from celosia.graphs.relabelling import Relabelling, random_numbers, relabel
from celosia.graphs.release import (
    Content,
    GraphAccount,
    GraphRelease,
    MethodOutcome,
    account,
    network_account,
)
from celosia.graphs.uncertain.graph import UncertainGraph

if TYPE_CHECKING:
    from celosia.tables.masking import Recipe

NOTHING = Message("graphs.promise.none")


def publish(
    data: Any,
    methods: GraphMethod[Any] | Iterable[GraphMethod[Any]],
    *,
    attributes: Recipe | None = None,
    keep_names: bool = False,
    drop_edge_attributes: bool = False,
    assess: bool = True,
    rng: Source | None = None,
    progress: Progress = silent,
) -> GraphRelease:
    """The graph after every method, under random numbers, with what risk and what use is left.

    Args:
        data: a `Graph`, what `read` gave, or a graph of NetworkX, igraph, scipy or an array of
            pairs.
        methods: what is done, in order; only the last may make an uncertain or a generalised graph.
        attributes: how the attributes of the vertices are masked; without it none is published.
        keep_names: publish the names of the vertices, for a graph whose names are public.
        drop_edge_attributes: leave out what is known of the edges (weights, times); no method
            protects it, so that a graph with edge attributes is refused without this.
        assess: compare with the original and attack the release, for the report.
        rng: where methods and numbers are drawn from; a seed makes it a simulation.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: the graph or a parameter is wrong; CEL-G021 no method, or one after a graph that
            is none any more; CEL-G022 attributes that cannot be masked; CEL-G023 methods that do
            not go together, or with names that stay; CEL-G033 edge attributes that
            the caller did not allow to leave out.
        PrivacyError: a method cannot keep its promise on this graph.

    >>> from celosia import Seeded
    >>> from celosia.graphs import KDegree, examples
    >>> release = publish(examples.g10(), KDegree(k=2), rng=Seeded(1))
    >>> print(release.guarantee.promise)
    k-degree anonymity, k = 2: every degree is shared by at least 2 vertices
    """
    options = GraphPublishOptions(
        methods=(methods,) if isinstance(methods, GraphMethod) else tuple(methods),
        attributes=attributes,
        keep_names=keep_names,
        drop_edge_attributes=drop_edge_attributes,
        assess=assess,
        rng=System() if rng is None else rng,
    )
    release = publish_graph(data, options, progress=progress)
    for note in release.warnings:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    return release


def publish_graph(
    data: Any, options: GraphPublishOptions, *, progress: Progress = silent
) -> GraphRelease:
    """As `publish`, with the options as one value; its warnings are in the release alone."""
    reading, rng, private = as_graph(data), options.rng, options.is_private
    options.check_edge_attributes(reading)
    if isinstance(reading.content, Network):
        return _publish_network(reading, reading.content, options, progress)
    original = reading.graph
    made = _apply_methods(_mask_attributes(original, options, progress), options, progress)
    content = made.content
    _check_added_vertices(content, original, options)
    if isinstance(content, Graph) and options.attributes is None:  # a method may have needed them
        content = replace(content, attributes=None)
    shown, numbers = (content, None) if options.keep_names else _hide_names(content, rng)
    if numbers is not None:
        numbers = numbers[: original.order]  # vertices that a method made up come after the others
    measured = GraphAccount()
    if options.assess:
        assert not isinstance(shown, Network), "published by itself"
        measured = account(
            original, shown, numbers=numbers, matched=not private, rng=rng, progress=progress
        )
    return GraphRelease(
        data=shown,
        guarantee=_guarantee(options, made.promises),
        key=None if private else numbers,  # no vertex of a private graph is anybody
        provenance=Provenance.now("celosia.graphs.publish", options.as_dict(), seed=rng.seed),
        warnings=_notes(options.keep_names, original),
        methods=made.outcomes,
        account=measured,
        # What compares with the original would undo a differentially private promise.
        figures={} if private else measured.figures(),
        left_out=_left_out(reading, options),
    )


def _publish_network(
    reading: ReadResult, original: Network, options: GraphPublishOptions, progress: Progress
) -> GraphRelease:
    """As `publish_graph`, of a network with directions, weights, sides or times."""
    methods = network_methods(original, options.methods)
    if options.attributes is not None:
        raise InputError("CEL-G022.network")
    content, rng = replace(original, attributes=None), options.rng
    outcomes, promises = [], []
    gaps: list[str] = []
    for number, (method, way) in enumerate(methods):
        progress(Step(method.method_name, number, len(methods)))
        promises.append(way.network_promise(content))
        gaps += way.network_gaps(content)
        if not isinstance(method, Relabelling):  # every release gets random numbers, at its end
            done = way.apply_to_network(content, rng=rng, progress=progress)
            content = done.graph
            outcomes.append(MethodOutcome(method.method_name, dict(done.facts), done.kept))
        else:
            kept = Message("graphs.kept.structure")
            outcomes.append(MethodOutcome(method.method_name, {}, kept))
    numbers = None if options.keep_names else random_numbers(content, rng)
    shown = content if numbers is None else content.renumbered(numbers)
    measured = GraphAccount()
    if options.assess:
        ratio = methods[-1][1].attacker_ratio()
        measured = network_account(
            original, shown, numbers=numbers, ratio=ratio, rng=rng, progress=progress
        )
    guarantee = _guarantee(options, tuple(promises))
    return GraphRelease(
        data=shown,
        guarantee=replace(guarantee, leaves_open=(*guarantee.leaves_open, *gaps)),
        key=numbers,
        provenance=Provenance.now("celosia.graphs.publish", options.as_dict(), seed=rng.seed),
        warnings=_notes(options.keep_names, original),
        methods=tuple(outcomes),
        account=measured,
        figures=measured.figures(),
        left_out=_left_out(reading, options),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _ChainResult:
    content: Content
    outcomes: tuple[MethodOutcome, ...]
    promises: tuple[str | None, ...]


def _apply_methods(graph: Graph, options: GraphPublishOptions, progress: Progress) -> _ChainResult:
    content: Content = replace(graph, edge_attributes=None)
    outcomes, promises = [], []
    for number, method in enumerate(options.methods):
        progress(Step(method.method_name, number, len(options.methods)))
        assert isinstance(content, Graph), "checked before any work"
        promises.append(method.promise(content))
        if isinstance(method, Relabelling):
            # Every release gets random numbers, once and at its end: were they drawn here too,
            # the vertices could not be matched, and an attack would seem to find none.
            done: MethodResult[Content] = MethodResult(
                graph=content, kept=Message("graphs.kept.structure")
            )
        else:
            done = method.apply(content, rng=options.rng, progress=progress)
        content = done.graph
        outcomes.append(MethodOutcome(method.method_name, dict(done.facts), done.kept))
    return _ChainResult(content, tuple(outcomes), tuple(promises))


def _left_out(reading: ReadResult, options: GraphPublishOptions) -> dict[str, Any]:
    """What was given and is not in the release: names, and counts except beside a private graph."""
    vertices = reading.content.attributes
    found: dict[str, Any] = {
        "edge_attributes": list(reading.edge_attributes),
        "attributes": []
        if options.attributes is not None or vertices is None
        else list(vertices.columns),
    }
    if not options.is_private:
        counts = asdict(reading.counts)
        counts.pop("records")
        if reading.rules.directed == "undirect":  # these are edges now: only directions are gone
            counts["directions"] = counts.pop("one_way")
        found |= counts | {"ignored": list(reading.ignored)}
    return {name: what for name, what in found.items() if what}


def _mask_attributes(graph: Graph, options: GraphPublishOptions, progress: Progress) -> Graph:
    """The graph with masked attributes, where there is a recipe for them."""
    recipe = options.attributes
    if recipe is None:
        return graph
    from celosia.tables.masking.run import run_steps
    from celosia.tables.schema import check_table, released_names

    if graph.attributes is None or any(step.method.picks_rows for step in recipe.steps):
        raise InputError("CEL-G022.rows")
    check_table(graph.attributes, recipe.schema)
    names = released_names(graph.attributes, recipe.schema)
    done = run_steps(graph.attributes.select(names), recipe, options.rng, progress)
    return replace(graph, attributes=done.frame)


def _check_added_vertices(content: Content, original: Graph, options: GraphPublishOptions) -> None:
    """Refuse vertices that a method added where an attacker could recognise them."""
    attributes = options.attributes is not None
    if content.order > original.order and (options.keep_names or attributes):
        raise InputError("CEL-G023.added_vertices", order=content.order - original.order)
    if attributes and isinstance(content, Graph) and content.attributes is None:
        raise InputError("CEL-G022.new_vertices")


def _hide_names(content: Content, rng: Source) -> tuple[Content, NDArray[np.int64] | None]:
    """The same under random numbers, and the number of each vertex; None for super-vertices."""
    if isinstance(content, Graph):
        made = relabel(content, rng)
        return made.graph, made.numbers
    assert not isinstance(content, Network), "published by itself"
    if isinstance(content, UncertainGraph):
        numbers = rng.permutation(content.order)
        return content.renumbered(numbers), numbers
    return shuffle_super_vertices(content, rng), None


def _notes(keep_names: bool, graph: Graph | Network) -> tuple[str, ...]:
    notes = []
    if keep_names and graph.labels is not None:
        notes.append(Message("graphs.open.names_kept"))
    elif keep_names:
        notes.append(Message("graphs.open.numbers_kept"))
    return tuple(notes)


def _guarantee(options: GraphPublishOptions, promised: tuple[str | None, ...]) -> Guarantee:
    """The last promise stands, and a private one: what only sees a private graph cannot undo it."""
    methods, private = options.methods, options.is_private
    kept: list[tuple[str, str]] = []
    lost: list[tuple[str, str]] = []
    for number, (method, text) in enumerate(zip(methods, promised, strict=True), 1):
        if text is not None:
            stands = number == len(methods) or method.is_private
            (kept if stands else lost).append((method.method_name, text))
    promises = [text for _, text in kept] or [NOTHING]
    promise = reduce(
        lambda one, other: Message("graphs.promise.both", one=one, other=other), promises
    )
    gaps = [gap for method in methods for gap in method.leaves_open()]
    gaps += [
        Message("graphs.open.not_claimed", method=kind, last=methods[-1].method_name)
        for kind, _ in lost
    ]
    if options.attributes is not None:
        gaps.append(Message("graphs.open.masked_attributes"))
    return Guarantee(
        promise=promise,
        unit=Message("graphs.unit.edge") if private else Message("graphs.unit.one_vertex"),
        protects=promise if kept else Message("graphs.promise.measured"),
        neighbours=Message("graphs.neighbours.edge") if private else None,
        assumes=(Message("graphs.assumption.one_vertex"),),
        leaves_open=tuple(dict.fromkeys(gaps)),
        simulation=options.rng.simulation,
    )
