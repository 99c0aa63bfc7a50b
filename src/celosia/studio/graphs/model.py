"""Graphs in the studio: samples, methods as cards, and the text that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from celosia.core.notation import notation
from celosia.studio.parameters import MethodCard, controls
from celosia.studio.samples import Sample

if TYPE_CHECKING:
    from celosia.graphs import Graph

SUFFIXES = (
    ".edges",
    ".edgelist",
    ".txt",
    ".csv",
    ".tsv",
    ".graphml",
    ".xml",
    ".gml",
    ".net",
    ".json",
    ".graph",
    ".metis",
    ".mtx",
    ".gexf",
    ".konect",
)
"""Kinds of files that hold a graph."""

FAMILIES: dict[str, tuple[str, ...]] = {
    "k-anonymity of vertices": (
        "k-degree",
        "vertex-addition",
        "fuzzy-neighbourhood",
        "k-neighbourhood",
        "k-automorphism",
        "k-isomorphism",
    ),
    "Random changes": (
        "random-switch",
        "random-perturbation",
        "random-add-delete",
        "random-sparsification",
        "relevance",
        "spectral-switch",
        "spectral-add-delete",
    ),
    "Chances and groups": ("k-obfuscation", "sangreea", "partition-search"),
    "Differential privacy": ("private-graph",),
    "Names only": ("relabelling",),
}
"""The methods, those of like idea together."""

ENDINGS = {"Graph": "edges", "UncertainGraph": "csv", "GeneralisedGraph": "json", "Network": "csv"}
"""The file in which each kind of result is written."""


SAMPLES: tuple[Sample, ...] = (
    Sample(
        name="karate",
        title="Karate club",
        about="The 34 members of a club that quarrelled and split, and their 78 friendships "
        "(Zachary 1977).",
        python="graphs.examples.karate()",
    ),
    Sample(
        name="dan",
        title="Dan and his friends",
        about="Nine people with names: Dan hides by his degree, and is found by his neighbourhood.",
        python="graphs.examples.dan()",
    ),
    Sample(
        name="friends",
        title="A network of friends",
        about="200 invented people with 600 friendships: a few know very many, as in social "
        "networks.",
        python="datasets.friends(200, 600)",
    ),
    Sample(
        name="large",
        title="A large network",
        about="2,000 invented people with 10,000 friendships: too many to draw, so the hubs are.",
        python="datasets.friends(2000, 10000)",
    ),
)


def sample_graph(name: str) -> Graph:
    """A sample by its name."""
    from celosia.datasets import friends
    from celosia.graphs import examples

    if name == "friends":
        return friends(200, 600)
    if name == "large":
        return friends(2_000, 10_000)
    return examples.karate() if name == "karate" else examples.dan()


@cache
def cards() -> dict[str, MethodCard]:
    """Every method by its name, with its controls; slow the first time, for kernels are loaded."""
    from celosia.graphs.method import makes, methods

    return {
        kind: MethodCard(
            kind, controls(method), private=method.is_private, makes=makes(method).__name__
        )
        for kind, method in methods().items()
    }


def check(choice: Mapping[str, Any]) -> None:
    """Refuse a method that cannot be run.

    Raises:
        InputError: as `graphs.method_from` says.
    """
    from celosia.graphs import method_from

    method_from(choice["method"], choice["parameters"])


def code(
    name: str,
    sample: str | None,
    choice: Mapping[str, Any],
    *,
    seed: int | None = None,
    drop_edge_attributes: bool = False,
    network: Mapping[str, Any] | None = None,
) -> list[tuple[str, str]]:
    """The command and the Python text that publish the same graph."""
    from celosia.graphs import method_from

    known = next((each for each in SAMPLES if each.name == sample), None)
    card = cards()[choice["method"]]
    # Of a sample the studio hands out a file; what was uploaded lies where it came from.
    file = name if known is None else "graph.json"
    kept = {key: value for key, value in (network or {}).items() if value}
    output = f"published.{ENDINGS['Network' if kept else card.makes]}"
    method = notation(method_from(choice["method"], choice["parameters"]))
    parts = ["celosia", "graph", "publish", file, "--method", method]
    for key, value in kept.items():
        parts += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    parts += ["--drop-edge-attributes"] if drop_edge_attributes else []
    parts += ["-o", output, "--report", "report.html"]
    has_key = card.makes != "GeneralisedGraph" and not card.private
    parts += ["--key", "key.csv"] if has_key else []
    parts += [] if seed is None else ["--seed", str(seed)]
    imported = (
        ["graphs"] if known is None or "datasets" not in known.python else ["datasets", "graphs"]
    )
    rules = "".join(f", {key}={value!r}" for key, value in kept.items())
    made = f"graphs.read({name!r}{rules})" if known is None else known.python
    drawn = ", drop_edge_attributes=True" if drop_edge_attributes else ""
    drawn += "" if seed is None else f", rng=Seeded({seed})"
    python = [
        f"from celosia import {', '.join(([] if seed is None else ['Seeded']) + imported)}",
        "",
        f"graph = {made}",
        f"method = graphs.method_from({choice['method']!r}, {dict(choice['parameters'])!r})",
        f"release = graphs.publish(graph, method{drawn})",
        f'release.save("{output}")',
        'release.report("report.html")',
        "print(release)",
    ]
    return [("Command line", " ".join(map(shlex.quote, parts))), ("Python", "\n".join(python))]
