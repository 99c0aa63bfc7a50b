"""`celosia graph publish`: protect a graph and write it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.frame import ReleaseOutputs
from celosia.cli.graph import messages
from celosia.cli.graph.input_options import GraphFile, Methods, Rules, methods_from_options
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.graphs.attacks import GraphAttack
    from celosia.graphs.options import GraphPublishOptions
    from celosia.graphs.readers import ReadResult
    from celosia.graphs.release import GraphRelease
    from celosia.tables.masking import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOutputs(ReleaseOutputs):
    """The outputs of a command that publishes a graph."""

    report: options.PrivateReport = None

    def check_format(self, output: Path) -> None:
        """Leave the format to `check_ending`, which knows what is written."""


def publish(
    rules: Rules,
    graph: GraphFile,
    outputs: GraphOutputs,
    k_degree: Annotated[
        int | None,
        "--k-degree K",
        "k-degree anonymity: every degree is shared by at least K vertices.",
    ] = None,
    methods: Methods = None,
    attributes: Annotated[
        Path | None, "Recipe that masks vertex attributes. Default: they are not published."
    ] = None,
    key: Annotated[
        Path | None,
        "Write which vertex has which number (CSV). Keep this file secret: it re-identifies every "
        "vertex.",
    ] = None,
    keep_names: Annotated[bool, "--keep-names", "Publish the names of the vertices."] = False,
    drop_edge_attributes: Annotated[
        bool,
        "--drop-edge-attributes",
        "Leave out edge attributes (weights, times) that are not kept by --weight and --time.",
    ] = False,
    no_assess: Annotated[bool, "--no-assess", "Do not attack or measure the release."] = False,
    seed: options.Seed = None,
) -> None:
    """Publish a graph by one or more methods, with random numbers in place of names.

    With several methods, only the guarantee of the last one holds. Vertex attributes are left out
    unless a recipe masks them. A graph with edge attributes is refused unless --drop-edge-
    attributes leaves them out. Directions, weights, times and two sides are kept by --directed
    keep, --weight, --time and --bipartite, for the methods that protect them.

    **Examples**

    `celosia graph publish friends.edges --k-degree 10 -o safe.edges --report report.html`

    `celosia graph publish friends.edges --method k-obfuscation:k=20 -o safe.csv`

    `celosia graph publish friends.edges --method random-switch:amount=0.1 --k-degree 5`

    `celosia graph publish friends.edges --method sangreea:k=5 -o groups.json`

    `celosia graph publish friends.graphml --k-degree 5 --attributes recipe.toml -o safe.graphml`

    `celosia graph publish calls.csv --k-degree 5 --drop-edge-attributes -o safe.edges`

    `celosia graph publish calls.csv --k-degree 5 --directed keep --weight minutes --time day`
    """
    from celosia.core.randomness import source
    from celosia.graphs.options import GraphPublishOptions
    from celosia.graphs.relabelling import write_key
    from celosia.graphs.run import publish_graph

    outputs.check(inputs=(graph, rules.vertices, attributes), key=key)
    asked = GraphPublishOptions(
        methods=methods_from_options(methods, k_degree=k_degree),
        attributes=None if attributes is None else _recipe(attributes),
        keep_names=keep_names,
        drop_edge_attributes=drop_edge_attributes,
        assess=not no_assess,
        rng=source(seed),
    )
    _check(asked, outputs.output, key)
    with outputs.working(None) as progress:
        reading = rules.read(graph, progress)
        release = publish_graph(reading, asked, progress=progress)
    with ExitStack() as files:  # the key takes its name only with the release
        if key is not None and release.key is not None:
            files.enter_context(
                write_key(reading.content, release.key, key, overwrite=outputs.overwrite)
            )
        outputs.save(release)
    if key is not None:
        console.note(say("cli.graph.warning_re_identifies_every", the_key=key))
    # Beside a differentially private release no exact number is shown, because it could be
    # passed on.
    exact = {"reading": reading.as_dict()} if release.guarantee.neighbours is None else {}
    outputs.finish(
        release,
        lambda: _show(release, reading, outputs.output),
        facts=lambda: release.certificate() | exact,
        key=key,
    )


def _recipe(path: Path) -> Recipe:
    from celosia.tables.masking.recipe import Recipe  # loads all of masking

    return Recipe.load(path)


def _check(asked: GraphPublishOptions, output: Path | None, key: Path | None) -> None:
    """Refuse, before any work, files that the release could not be written to."""
    from celosia.graphs import GeneralisedGraph, Graph
    from celosia.graphs.readers import format_of
    from celosia.graphs.release import check_ending

    made = asked.makes
    if key is not None and (asked.keep_names or asked.is_private or made is GeneralisedGraph):
        raise InputError("CEL-G026")
    if output is None:
        return
    check_ending(made, output)
    masked = asked.attributes is not None
    if masked and made is Graph and format_of(output) in {"edges", "csv", "tsv", "pajek"}:
        raise InputError("CEL-G014.check", output=output)


def _show(release: GraphRelease, reading: ReadResult, output: Path | None) -> None:
    """Print how the file was read, what was done, and what risk and utility is left."""
    from celosia.graphs.report import LEFT_OUT

    console.show(say("cli.graph.read", reading=reading))
    for name in ("edge_attributes", "attributes"):
        if names := release.left_out.get(name):
            console.show(say("cli.graph.left_out", left_out=LEFT_OUT[name], names=", ".join(names)))
    for number, each in enumerate(release.methods, 1):
        console.show(say("cli.graph.step", number=number, each=each))
    account = release.account
    if account.attacks:
        title = say("cli.graph.found_in_world" if account.world else "cli.graph.found")
        _show_before_after(title, account.before, account.attacks)
    if account.network is not None:
        console.show(str(account.network))
    if account.utility is not None:
        console.show(
            say(
                "cli.graph.utility",
                utility=account.utility
                if account.matched
                else messages.describe_graphs(account.utility),
            )
        )
    elif account.attacks:
        console.note(say("cli.graph.utility_measured_run_celosia"))
    _note_isolated(release, output)


def _note_isolated(release: GraphRelease, output: Path | None) -> None:
    """Tell of vertices that an edge list has no line for."""
    from celosia.graphs import Graph
    from celosia.graphs.readers import format_of
    from celosia.graphs.release import EDGE_LISTS

    if output is None or not isinstance(release.data, Graph) or not release.data.isolated:
        return
    if format_of(output) in EDGE_LISTS:
        alone = release.data.isolated
        console.note(say("cli.graph.no_edge_therefore_no", alone=alone, name=output.name))


def _show_before_after(
    title: str, before: Sequence[GraphAttack], after: Sequence[GraphAttack]
) -> None:
    console.show_table(
        title,
        console.columns(
            "attack", "exposed_before", "after", "right_guesses_before:.2%", "after:.2%"
        ),
        [
            [
                new.name,
                messages.count_exposed(old),
                messages.count_exposed(new),
                old.chance,
                new.chance,
            ]
            for old, new in zip(before, after, strict=True)
        ],
    )
