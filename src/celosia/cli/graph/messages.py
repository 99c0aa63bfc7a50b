"""Messages of the commands of `celosia graph`, the most important line last."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.cli import console
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.graphs.attacks import GraphAttack
    from celosia.graphs.metrics import GraphUtility
    from celosia.graphs.readers import ReadResult


def note_ignored(reading: ReadResult | None, path: Path, *, changes: bool = True) -> None:
    """Tell what of a file a command does not look at, and what its rules did to it."""
    if reading is None:
        return
    names = reading.edge_attributes
    if names:
        console.note(say("cli.graph.ignored_edge_attributes", names=", ".join(names), path=path))
    if changes and reading.changed:
        console.note(say("cli.graph.read", reading=reading))


def count_exposed(found: GraphAttack) -> str:
    """The number of exposed vertices, and their share."""
    share = console.number(found.share_exposed, ".2%")
    return f"{console.number(found.exposed.size)} ({share})"


def show_candidates(attacks: Iterable[GraphAttack]) -> None:
    """Tell how many targets have how many candidates, attack by attack."""
    results = list(attacks)
    if not results:
        return
    console.show_table(
        say("cli.graph.candidates_each_target"),
        [
            *console.columns("attack"),
            *(console.Column(bucket, ",") for bucket in results[0].buckets),
            *console.columns("exposed"),
        ],
        [[each.name, *each.buckets.values(), count_exposed(each)] for each in results],
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
        console.columns("", "original", "release", "difference"),
        [
            [WORDS[name], str(value), str(after[name]), moved[name].signed()]
            for name, value in found.before.items()
        ],
    )
    console.show_table(
        say("cli.graph.common"),
        console.columns("", "value:.4f"),
        [
            [WORDS[name], value]
            for name, value in found.shares.items()
            if matched or name in WITHOUT_MATCH
        ],
    )


def show_numbers(title: str, rows: Iterable[tuple[str, Any]]) -> None:
    """Tell numbers by the words of the report."""
    from celosia.graphs.metrics.summary import WORDS

    console.show_table(
        title, console.columns("", "value"), [[WORDS[name], str(value)] for name, value in rows]
    )
