"""`celosia graph attack`: attacks on a published graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import console, options
from celosia.cli.frame import ReportOutputs
from celosia.cli.graph import messages
from celosia.cli.graph.input_options import GraphFile, KeyFile, Methods, Rules, methods_from_options
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.core.progress import Progress
    from celosia.core.randomness import Source
    from celosia.graphs import Graph, Network
    from celosia.graphs.attacks import ActiveAttack, GraphAttack, LinkAttack, Propagation
    from celosia.graphs.attacks.method import AttackMethod
    from celosia.graphs.matching import MatchedRelease, OpenedRelease
    from celosia.graphs.method import GraphMethod

    AttackResult = GraphAttack | ActiveAttack | LinkAttack | Propagation


def attack(
    rules: Rules,
    original: GraphFile,
    outputs: ReportOutputs,
    release: options.PublishedFile = None,
    attacks: Annotated[
        list[str] | None,
        "--attack NAME[:KEY=VALUE,...]",
        "Attack with its parameters: degree, refinement, neighbourhood (the default), subgraph, "
        "hubs, active, links, propagation, percolation or seedless; repeat it for more.",
    ] = None,
    key: KeyFile = None,
    methods: Methods = None,
    exposed: Annotated[
        Path | None, "Write the number of candidates of each vertex, by name (CSV)."
    ] = None,
    seed: Annotated[int | None, "Seed for the random draws."] = None,
) -> None:
    """Attack a published graph with what an attacker may know about the original.

    With --method instead of a release, the method is applied to the graph first. The active attack
    plants accounts before the release: it needs a method, or it attacks the naive release.

    **Examples**

    `celosia graph attack friends.edges`  (names hidden, and nothing else)

    `celosia graph attack friends.edges safe.edges --key key.csv --report attacks.html`

    `celosia graph attack friends.edges --method random-switch:amount=0.2 --attack links`

    `celosia graph attack friends.edges --attack subgraph:edges=6 --attack propagation:seeds=5`

    `celosia graph attack friends.edges --attack active --attack hubs --seed 7 --json`
    """
    from celosia.core.randomness import source
    from celosia.core.report import Document
    from celosia.graphs import Network
    from celosia.graphs.attacks import AttackedGraph, ByPlantedAccounts, attack_from_text
    from celosia.graphs.attacks.structural import STRUCTURAL
    from celosia.graphs.matching import open_release

    outputs.check(inputs=(original, release, key, rules.vertices), candidates=exposed)
    wanted = tuple(dict.fromkeys(map(attack_from_text, attacks))) if attacks else STRUCTURAL
    active = any(isinstance(each, ByPlantedAccounts) for each in wanted)
    method = _method(methods, release, active=active)
    rng = source(seed)
    with outputs.working(None) as progress:
        reading = rules.read(original, progress)
        graph = reading.simple
        opened = None if release is None else open_release(release, progress=progress)
        if isinstance(reading.content, Network):
            found = _attack_network(reading.content, opened, key, wanted if attacks else ())
        else:
            both = _release(graph, opened, key, method, rng, progress)
            attacked = AttackedGraph(
                original=graph, release=both.release, numbers=both.numbers, method=method
            )
            found = [each.run(attacked, rng=rng, progress=progress) for each in wanted]
    messages.note_ignored(reading, original)
    if release is not None and opened is not None:
        messages.note_ignored(opened.reading, release)
    if exposed is not None:
        _write_candidates(graph, found, exposed, overwrite=outputs.overwrite)
    blocks = [block for each in found for block in each.blocks()]
    about = str(reading.content)
    outputs.write_report(lambda: Document(say("cli.graph.attacks"), f"{about}.", blocks))
    outputs.show(
        lambda: [each.as_dict() for each in found],
        lambda: _show(found),
        found[-1],
        candidates=exposed,
    )


def _attack_network(
    network: Network,
    opened: OpenedRelease | None,
    key: Path | None,
    wanted: Sequence[AttackMethod[Any]],
) -> list[AttackResult]:
    """By degree profiles, and by refinement of the simple graph below."""
    from celosia.graphs import attacks
    from celosia.graphs.attacks.structural import ByDegree, ByRefinement
    from celosia.graphs.matching import match_networks
    from celosia.graphs.networks import profile_attack
    from celosia.graphs.networks.method import refusal

    release, numbers = network, None
    if opened is not None:
        release, numbers = match_networks(network, opened, key=key)
    found: list[AttackResult] = []
    for each in wanted or (ByDegree(), ByRefinement()):
        if isinstance(each, ByDegree):
            found.append(profile_attack(network, release, numbers=numbers))
        elif isinstance(each, ByRefinement):
            below = network.simple, release.simple
            found.append(attacks.refinement(*below, rounds=each.rounds, numbers=numbers))
        else:
            raise refusal(each.method_name, network.kinds)
    return found


def _method(
    written: list[str] | None, release: Path | None, *, active: bool
) -> GraphMethod[Any] | None:
    chosen = methods_from_options(written)
    if len(chosen) > 1 or (chosen and release is not None) or (active and release is not None):
        raise InputError("CEL-G029.method")
    return chosen[0] if chosen else None


def _release(
    graph: Graph,
    opened: OpenedRelease | None,
    key: Path | None,
    method: GraphMethod[Any] | None,
    rng: Source,
    progress: Progress,
) -> MatchedRelease:
    """What is attacked, and where the vertices of the original are in it."""
    import numpy as np

    from celosia.graphs import GeneralisedGraph, Relabelling
    from celosia.graphs.matching import MatchedRelease, match_vertices, world_of

    if opened is not None:
        _refuse_groups(isinstance(opened.content, GeneralisedGraph))
        return match_vertices(graph, opened, key=key, rng=rng)
    content: Any = graph
    if method is not None and not isinstance(method, Relabelling):
        content = method.apply(graph, rng=rng, progress=progress).graph
        _refuse_groups(isinstance(content, GeneralisedGraph))
    same = np.arange(graph.order, dtype=np.int64)
    return MatchedRelease(release=world_of(content, rng).without_names(), numbers=same)


def _refuse_groups(wrong: bool) -> None:
    if wrong:
        raise InputError("CEL-G029.refuse_groups")


def _write_candidates(
    graph: Graph, found: list[AttackResult], path: Path, *, overwrite: bool
) -> None:
    """The candidates of each target by name: for the curator, as the original is."""
    import polars as pl

    from celosia.core.files import replacing
    from celosia.graphs.attacks import GraphAttack
    from celosia.graphs.relabelling import names_of

    names = names_of(graph)
    tables = [
        pl.DataFrame(
            {
                "vertex": names.gather(each.targets),
                "attack": pl.Series([each.name]).new_from_index(0, each.targets.size),
                "candidates": each.sizes,
                "exposed": (each.sizes == 1) & each.hit,
            }
        )
        for each in found
        if isinstance(each, GraphAttack)
    ]
    if not tables:
        raise InputError("CEL-G029.write_candidates")
    with replacing(path, overwrite=overwrite) as draft:
        pl.concat(tables).write_csv(draft)


def _show(found: list[AttackResult]) -> None:
    from celosia.graphs.attacks import GraphAttack

    messages.show_candidates(each for each in found if isinstance(each, GraphAttack))
    for each in found[:-1]:
        console.show(str(each))
