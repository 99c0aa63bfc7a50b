"""Messages of the commands of `celosia graph`, the most important line last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.cli import console
from celosia.cli.frame import show_warnings
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.graphs.attacks import GraphAttack
    from celosia.graphs.metrics import GraphUtility
    from celosia.graphs.readers import ReadResult
    from celosia.graphs.release import GraphRelease


def show_release(
    release: GraphRelease, reading: ReadResult, places: dict[str, Path | None], *, as_json: bool
) -> None:
    """Tell a release: how the file was read, what was done, what risk and use is left."""
    from celosia.core.release import certificate_path
    from celosia.graphs.report import LEFT_OUT

    show_warnings(release)
    if as_json:
        # Beside a differentially private release no exact number is shown, because it could be
        # passed on.
        exact = {"reading": reading.as_dict()} if release.guarantee.neighbours is None else {}
        console.show_json(release.certificate() | exact)
        return
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
    if account.utility is not None:
        console.show(
            say(
                "cli.graph.utility",
                utility=account.utility if account.matched else describe_graphs(account.utility),
            )
        )
    elif account.attacks:
        console.note(say("cli.graph.utility_measured_run_celosia"))
    output = places.get("release")
    written = places | {"certificate": None if output is None else certificate_path(output)}
    console.show_files(written)
    _note_isolated(release, output)
    if output is None:
        console.note(say("cli.graph.release_written_give_o"))
    console.show(str(release), strong=True)


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


def note_ignored(reading: ReadResult | None, path: Path, *, changes: bool = True) -> None:
    """Tell what of a file a command does not look at, and what its rules did to it."""
    if reading is None:
        return
    names = reading.edge_attributes
    if names:
        console.note(say("cli.graph.ignored_edge_attributes", names=", ".join(names), path=path))
    if changes and reading.changed:
        console.note(say("cli.graph.read", reading=reading))


def _show_before_after(
    title: str, before: Sequence[GraphAttack], after: Sequence[GraphAttack]
) -> None:
    console.show_table(
        title,
        [
            say("cli.column.attack"),
            say("cli.column.exposed_before"),
            say("cli.column.after"),
            say("cli.column.right_guesses_before"),
            say("cli.column.after"),
        ],
        [
            [
                new.name,
                f"{old.exposed.size:,} ({old.share_exposed:.2%})",
                f"{new.exposed.size:,} ({new.share_exposed:.2%})",
                console.number(old.chance, ".2%"),
                console.number(new.chance, ".2%"),
            ]
            for old, new in zip(before, after, strict=True)
        ],
    )


def show_candidates(attacks: Iterable[GraphAttack]) -> None:
    """Tell how many targets have how many candidates, attack by attack."""
    results = list(attacks)
    if not results:
        return
    console.show_table(
        say("cli.graph.candidates_each_target"),
        [say("cli.column.attack"), *results[0].buckets, say("cli.column.exposed")],
        [
            [
                each.name,
                *(console.number(count, ",") for count in each.buckets.values()),
                f"{each.exposed.size:,} ({each.share_exposed:.2%})",
            ]
            for each in results
        ],
    )


def describe_graphs(found: GraphUtility) -> str:
    """Describe both graphs where their vertices cannot be matched."""
    words = {
        "average_distance": say("cli.graph.average_distance"),
        "transitivity": say("cli.graph.transitivity"),
        "largest_eigenvalue": "lambda 1",
        "modularity": say("cli.graph.modularity"),
    }
    before, after = dict(found.before.items()), dict(found.after.items())
    return ", ".join(f"{word} {before[name]} -> {after[name]}" for name, word in words.items())


def show_utility(found: GraphUtility, *, matched: bool) -> None:
    """Tell the numbers of both graphs, and what they have in common."""
    from celosia.graphs.metrics.summary import WORDS
    from celosia.graphs.release import WITHOUT_MATCH

    after, moved = dict(found.after.items()), found.errors
    console.show_table(
        say("cli.graph.whole_graph"),
        ["", say("cli.column.original"), say("cli.column.release"), say("cli.column.difference")],
        [
            [WORDS[name], str(value), str(after[name]), str(moved[name])]
            for name, value in found.before.items()
        ],
    )
    console.show_table(
        say("cli.graph.common"),
        ["", say("cli.column.value")],
        [
            [WORDS[name], console.number(value, ".4f")]
            for name, value in found.shares.items()
            if matched or name in WITHOUT_MATCH
        ],
    )


def show_numbers(title: str, rows: Iterable[tuple[str, Any]]) -> None:
    """Tell numbers by the words of the report."""
    from celosia.graphs.metrics.summary import WORDS

    console.show_table(
        title, ["", say("cli.column.value")], [[WORDS[name], str(value)] for name, value in rows]
    )
