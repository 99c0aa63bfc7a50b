"""Publish a graph: apply one or more methods, remove names, and account for the result."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.guarantee import Guarantee
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.provenance import Provenance
from celosia.core.randomness import Source, System
from celosia.graphs.generalisation.partition import shuffle_super_vertices
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, MethodResult, makes
from celosia.graphs.readers import ReadResult, as_graph
from celosia.graphs.relabelling import Relabelling, relabel
from celosia.graphs.release import Content, GraphAccount, GraphRelease, MethodOutcome, account
from celosia.graphs.uncertain.graph import UncertainGraph
from celosia.tables.masking import Recipe
from celosia.tables.masking.run import run_steps
from celosia.tables.run import check_table, released_names

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
    rng = System() if rng is None else rng
    chosen = (methods,) if isinstance(methods, GraphMethod) else tuple(methods)
    check_order(chosen, keep_names=keep_names)
    reading = as_graph(data)
    original = reading.graph
    if not drop_edge_attributes:
        check_edge_attributes(reading)
    known = _mask_attributes(original, attributes, rng, progress)
    made = _apply_methods(replace(known, edge_attributes=None), chosen, rng, progress)
    content = made.content
    _check_added_vertices(
        content, original, keep_names=keep_names, attributes=attributes is not None
    )
    if isinstance(content, Graph) and attributes is None:  # a method may have needed them
        content = replace(content, attributes=None)
    private = any(method.is_private for method in chosen)
    shown, numbers = (content, None) if keep_names else _hide_names(content, rng)
    if numbers is not None:
        numbers = numbers[: original.order]  # vertices that a method made up come after the others
    measured = GraphAccount()
    if assess:
        measured = account(
            original, shown, numbers=numbers, matched=not private, rng=rng, progress=progress
        )
    notes = _notes(keep_names, original)
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    return GraphRelease(
        data=shown,
        guarantee=_guarantee(
            chosen, made, attributes=attributes is not None, simulation=rng.simulation
        ),
        key=None if private else numbers,  # no vertex of a private graph is anybody
        provenance=Provenance.now(
            "celosia.graphs.publish",
            {
                "methods": [method.as_dict() for method in chosen],
                "keep_names": keep_names,
                "drop_edge_attributes": drop_edge_attributes,
            },
            seed=rng.seed,
        ),
        warnings=notes,
        methods=made.outcomes,
        account=measured,
        # What compares with the original would undo a differentially private promise.
        figures={} if private else measured.figures(),
        left_out=_left_out(reading, attributes=attributes is not None, private=private),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _ChainResult:
    content: Content
    outcomes: tuple[MethodOutcome, ...]
    promises: tuple[str | None, ...]


def _apply_methods(
    graph: Graph, methods: tuple[GraphMethod[Any], ...], rng: Source, progress: Progress
) -> _ChainResult:
    content: Content = graph
    outcomes, promises = [], []
    for number, method in enumerate(methods, 1):
        progress(Step(method.method_name, number - 1, len(methods)))
        assert isinstance(content, Graph), "checked before any work"
        promises.append(method.promise(content))
        if isinstance(method, Relabelling):
            # Every release gets random numbers, once and at its end: were they drawn here too,
            # the vertices could not be matched, and an attack would seem to find none.
            done: MethodResult[Content] = MethodResult(
                graph=content, kept=Message("graphs.kept.structure")
            )
        else:
            done = method.apply(content, rng=rng, progress=progress)
        content = done.graph
        outcomes.append(MethodOutcome(method.method_name, dict(done.facts), done.kept))
    return _ChainResult(content, tuple(outcomes), tuple(promises))


def check_order(methods: tuple[GraphMethod[Any], ...], *, keep_names: bool) -> None:
    """Refuse, before any work, methods that undo each other.

    Raises:
        InputError: CEL-G021 there is none; CEL-G023 two that do not go together.
    """
    if not methods:
        raise InputError("CEL-G021.no_method")
    for method, following in pairwise(methods):
        if makes(type(method)) is not Graph:
            raise InputError(
                "CEL-G021.not_plain", following=following.method_name, method=method.method_name
            )
    for method in methods[1:]:
        if method.is_private:
            raise InputError(
                "CEL-G023.private_first", method=method.method_name, earlier=methods[0].method_name
            )
    for number, method in enumerate(methods):
        before = [each for each in methods[:number] if not isinstance(each, Relabelling)]
        if method.needs_original and before:
            raise InputError(
                "CEL-G023.only_method", method=method.method_name, earlier=before[0].method_name
            )
    if keep_names and any(isinstance(method, Relabelling) for method in methods):
        raise InputError("CEL-G023.kept_names", method=Relabelling.method_name)


def check_edge_attributes(reading: ReadResult) -> None:
    """Refuse a graph whose edges have attributes, which no method protects.

    Raises:
        InputError: CEL-G033 it has some.
    """
    names = reading.edge_attributes
    if not names:
        return
    differing = reading.counts.differing
    key = "CEL-G033.merged" if differing else "CEL-G033.alike"
    raise InputError(key, names=list(names), edge_attributes=list(names), differing=differing)


def _left_out(reading: ReadResult, *, attributes: bool, private: bool) -> dict[str, Any]:
    """What was given and is not in the release: names, and counts except beside a private graph."""
    vertices = reading.graph.attributes
    found: dict[str, Any] = {
        "edge_attributes": list(reading.edge_attributes),
        "attributes": [] if attributes or vertices is None else list(vertices.columns),
    }
    if not private:
        counts = asdict(reading.counts)
        counts.pop("records")
        if reading.rules.directed == "undirect":  # these are edges now: only directions are gone
            counts["directions"] = counts.pop("one_way")
        found |= counts | {"ignored": list(reading.ignored)}
    return {name: what for name, what in found.items() if what}


def _mask_attributes(graph: Graph, recipe: Recipe | None, rng: Source, progress: Progress) -> Graph:
    """The graph with masked attributes, where there is a recipe for them."""
    if recipe is None:
        return graph
    if graph.attributes is None or any(step.method.picks_rows for step in recipe.steps):
        raise InputError("CEL-G022.rows")
    check_table(graph.attributes, recipe.schema)
    names = released_names(graph.attributes, recipe.schema)
    done = run_steps(graph.attributes.select(names), recipe, rng, progress)
    return replace(graph, attributes=done.frame)


def _check_added_vertices(
    content: Content, original: Graph, *, keep_names: bool, attributes: bool
) -> None:
    """Refuse vertices that a method added where an attacker could recognise them."""
    if content.order > original.order and (keep_names or attributes):
        raise InputError("CEL-G023.added_vertices", order=content.order - original.order)
    if attributes and isinstance(content, Graph) and content.attributes is None:
        raise InputError("CEL-G022.new_vertices")


def _hide_names(content: Content, rng: Source) -> tuple[Content, NDArray[np.int64] | None]:
    """The same under random numbers, and the number of each vertex; None for super-vertices."""
    if isinstance(content, Graph):
        made = relabel(content, rng)
        return made.graph, made.numbers
    if isinstance(content, UncertainGraph):
        numbers = rng.permutation(content.order)
        return content.renumbered(numbers), numbers
    return shuffle_super_vertices(content, rng), None


def _notes(keep_names: bool, graph: Graph) -> tuple[str, ...]:
    notes = []
    if keep_names and graph.labels is not None:
        notes.append(Message("graphs.open.names_kept"))
    elif keep_names:
        notes.append(Message("graphs.open.numbers_kept"))
    return tuple(notes)


def _guarantee(
    methods: tuple[GraphMethod[Any], ...], made: _ChainResult, *, attributes: bool, simulation: bool
) -> Guarantee:
    """The last promise stands, and a private one: what only sees a private graph cannot undo it."""
    kept: list[tuple[str, str]] = []
    lost: list[tuple[str, str]] = []
    for number, (method, text) in enumerate(zip(methods, made.promises, strict=True), 1):
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
    if attributes:
        gaps.append(Message("graphs.open.masked_attributes"))
    private = any(method.is_private for method in methods)
    return Guarantee(
        promise=promise,
        unit=Message("graphs.unit.edge") if private else Message("graphs.unit.one_vertex"),
        protects=promise if kept else Message("graphs.promise.measured"),
        neighbours=Message("graphs.neighbours.edge") if private else None,
        assumes=(Message("graphs.assumption.one_vertex"),),
        leaves_open=tuple(dict.fromkeys(gaps)),
        simulation=simulation,
    )
