"""The active attack: find accounts planted before the release, then their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, comb, log2

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, say, say_of, sentence
from celosia.core.methods import PlainValues, derived, parameter
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.core.report import Block, Facts, Heading, Paragraph
from celosia.graphs.attacks.method import AttackedGraph, AttackMethod
from celosia.graphs.attacks.result import Numbers
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod
from celosia.graphs.relabelling import relabel
from celosia.graphs.sampling import subset

LINKS = 3
"""Accounts that befriend each target."""

PATH = 4
"""The fewest planted accounts: they form a path."""

_MOST_STEPS = 20_000_000
_MOST_PATHS = 2


@dataclass(frozen=True, slots=True, eq=False)
class PlantedGraph:
    """A graph with accounts that the attacker made, and what the attacker remembers of them."""

    graph: Graph
    """The last vertices are the accounts, along their path."""
    targets: Numbers
    inside: NDArray[np.bool_]
    """Which accounts are joined with each other."""
    links: NDArray[np.bool_]
    """Which accounts (rows) are joined with which targets (columns)."""

    @property
    def accounts(self) -> int:
        """How many were planted."""
        return len(self.inside)

    @property
    def degrees(self) -> Numbers:
        """How many contacts each account has."""
        return np.asarray(self.inside.sum(axis=1) + self.links.sum(axis=1), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Recovery:
    """What the attacker finds in one release."""

    paths: NDArray[np.int64]
    """The paths that fit, no more than two."""
    candidates: tuple[NDArray[np.int64], ...]
    """The vertices that each target may be; empty unless there is one path."""
    cut: bool
    """Whether the search was given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveAttack(PlainValues):
    """Planted accounts over several runs."""

    accounts: int
    targets: int
    """In each run."""
    runs: int
    recovered: int
    """Runs in which the accounts were found, and no other path fits."""
    ambiguous: int
    """Runs in which more than one path fits."""
    exposed: int
    """Targets found for certain, over all runs."""
    release: str

    @property
    @derived
    def name(self) -> str:
        """What it is called."""
        return "active"

    @property
    @derived
    def rate(self) -> float:
        """The share of runs in which the accounts were found."""
        return self.recovered / self.runs

    @property
    @derived
    def share_exposed(self) -> float:
        """The share of the targets found for certain."""
        return self.exposed / (self.runs * self.targets)

    def blocks(self) -> list[Block]:
        """The attack as parts of a report."""
        facts = [
            (say("graphs.report.attacker"), say("graphs.report.active_attacker")),
            (say("graphs.report.prevent"), say("graphs.report.active_prevent")),
            (say("graphs.report.accounts"), f"{self.accounts:,}"),
            (say("graphs.report.ambiguous"), f"{self.ambiguous:,}"),
        ]
        return [
            Heading(say("graphs.report.active"), level=3),
            Paragraph(sentence(str(self))),
            Facts(facts),
        ]

    def __str__(self) -> str:
        return say_of("graphs.attack.active", self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByPlantedAccounts(AttackMethod[ActiveAttack]):
    """The attacker plants accounts before the release, and looks for them; see `active`."""

    accounts: int | None = parameter(None, least=PATH)
    """How many are planted; by default as many as are found almost surely."""
    targets: int = parameter(10, least=1)
    """How many people are attacked in each run."""
    runs: int = parameter(20, least=1)
    """How often."""

    method_name = "active"

    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> ActiveAttack:
        return active(
            pair.original,
            rng=rng,
            method=pair.method,
            accounts=self.accounts,
            targets=self.targets,
            runs=self.runs,
            progress=progress,
        )


def accounts_needed(order: int, *, slack: float = 0.4) -> int:
    """How many accounts are found again almost surely: (2 + slack) times log2 n.

    >>> accounts_needed(1000)
    24
    """
    return max(4, ceil((2 + slack) * log2(max(order, 2))))


def plant(graph: Graph, *, accounts: int, targets: Numbers, rng: Source) -> PlantedGraph:
    """Add a path of accounts with random edges among them, and link each target to three of them.

    No two targets are linked to the same three.

    Raises:
        InputError: CEL-G407 fewer than four accounts, or more targets than threes of them.
    """
    count = whole(accounts)
    if count is None or count < PATH or len(targets) > comb(count, LINKS):
        raise InputError("CEL-G407", accounts=accounts, targets=len(targets), links=LINKS)
    inside = np.zeros((count, count), dtype=np.bool_)
    low, high = np.triu_indices(count, 1)
    inside[low, high] = (rng.integers(2, low.size) == 1) | (high - low == 1)
    inside |= inside.T
    links = np.zeros((count, len(targets)), dtype=np.bool_)
    used: set[tuple[int, ...]] = set()
    for place in range(len(targets)):
        chosen = tuple(subset(count, LINKS, rng).tolist())
        while chosen in used:
            chosen = tuple(subset(count, LINKS, rng).tolist())
        used.add(chosen)
        links[list(chosen), place] = True
    own = np.argwhere(np.triu(inside)) + graph.order
    who, whom = np.nonzero(links)
    outside = np.stack([targets[whom], who + graph.order], axis=1)
    ends = np.concatenate([graph.edges.astype(np.int64), own, outside])
    return PlantedGraph(Graph.of(ends, order=graph.order + count), targets, inside, links)


def recover(release: Graph, planted: PlantedGraph) -> Recovery:
    """Look for the planted path by degrees and edges among its vertices, then read the targets.

    Reference: Backstrom, Dwork, Kleinberg 2007, the walk-based attack.
    """
    from celosia.graphs.attacks._kernels import find_paths

    paths = np.empty((_MOST_PATHS, planted.accounts), dtype=np.int64)
    asked = (release.starts, release.neighbours, planted.degrees, planted.inside)
    found = find_paths(*asked, _MOST_STEPS, paths)
    if found != 1:
        return Recovery(paths[: max(found, 0)], (), cut=found < 0)
    path = paths[0]
    seen = np.zeros((release.order, planted.accounts), dtype=np.bool_)
    for place, account in enumerate(path.tolist()):
        seen[release.neighbours_of(account), place] = True
    seen[path] = False
    candidates = tuple(np.flatnonzero((seen == link).all(axis=1)) for link in planted.links.T)
    return Recovery(paths[:1], candidates, cut=False)


def active(
    graph: Graph,
    *,
    rng: Source,
    method: GraphMethod[Graph] | None = None,
    accounts: int | None = None,
    targets: int = 10,
    runs: int = 20,
    progress: Progress = silent,
) -> ActiveAttack:
    """Plant, publish, look for the accounts: again and again, with other draws each time.

    Args:
        graph: the network before the attacker comes.
        rng: where targets, accounts and the release draw from.
        method: what is done to the graph before its vertices get random numbers; nothing by
            default.
        accounts: how many are planted; by default as many as are found almost surely.
        targets: how many people are attacked in each run.
        runs: how often.
        progress: called now and then.

    Raises:
        InputError: CEL-I060 no runs or no targets; CEL-G407 too few accounts for the targets;
            CEL-G408 more targets than vertices.
    """
    asked = ByPlantedAccounts(accounts=accounts, targets=targets, runs=runs)
    count = accounts_needed(graph.order) if asked.accounts is None else asked.accounts
    if asked.targets > graph.order:
        raise InputError("CEL-G408", targets=targets, order=graph.order)
    recovered = ambiguous = exposed = 0
    for turn in range(runs):
        progress(Step(Message("graphs.stage.plant"), turn, runs))
        chosen = subset(graph.order, targets, rng)
        planted = plant(graph, accounts=count, targets=chosen, rng=rng)
        changed = planted.graph
        if method is not None:
            changed = method.apply(planted.graph, rng=rng).graph
        published = relabel(changed, rng)
        found = recover(published.graph, planted)
        ambiguous += len(found.paths) > 1
        true = published.numbers[graph.order : graph.order + count]
        if len(found.paths) != 1 or not np.array_equal(found.paths[0], true):
            continue
        recovered += 1
        exposed += sum(
            each.size == 1 and int(each[0]) == int(published.numbers[target])
            for each, target in zip(found.candidates, chosen.tolist(), strict=True)
        )
    return ActiveAttack(
        accounts=count,
        targets=targets,
        runs=runs,
        recovered=recovered,
        ambiguous=ambiguous,
        exposed=exposed,
        release="naive" if method is None else method.method_name,
    )
