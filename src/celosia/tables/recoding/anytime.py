"""A good node of a lattice too large to be searched through, with a bound on what it misses.

Simulated annealing: from the top, one column or two are taken to other levels at random. A node
that loses less is always taken, one that loses more with a chance that falls as the search cools.
A node that would suppress more records than may be is not forbidden but fined, and the fine grows:
the way between two good nodes often leads through such nodes. Rounds follow one another, each
longer than the last, for the whole time limit and on two cores.

`column_bound` says how much less any node can lose. What is published is evaluated again without
the hashes that made the search fast (see `trial`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import exp
from random import Random
from threading import Event
from time import monotonic

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.tables.metrics import Loss
from celosia.tables.metrics.loss import LossMeasure
from celosia.tables.models import Model
from celosia.tables.recoding.column_bound import ColumnBound
from celosia.tables.recoding.lattice import Lattice, Outcome
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import (
    Certificate,
    SearchResult,
    allowance,
    infeasibility_error,
)
from celosia.tables.recoding.trial import NodeEvaluation, Trial

SECONDS = 10.0
"""How long to go on without a time limit."""

FIRST_ROUND, LONGER = 1.0, 3.0
"""Seconds of the first round, and how many times as long each round is as the last one."""

HOT, COLD = 3e-3, 1e-4
"""By how much more loss a node is still taken, at the start and at the end of a round."""

FINE_FIRST, FINE_LAST = 0.5, 4.0
"""What suppressing all records above the limit is fined, in losses of a table."""

KNOWN_NODES, STALE = 200_000, 200
"""How many nodes are remembered; a round ends after so many steps to remembered nodes in a row."""

STAGE = Message("tables.stage.annealing")

BOUND_SHARE = 0.2
"""The share of the time that goes into the bound."""

DESCENT_SHARE = 0.1
"""By which share of the time the last descent may go beyond it."""


def anytime_search(
    lattice: Lattice,
    models: Sequence[Model],
    *,
    suppression: float = 0.0,
    metric: Loss | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> SearchResult:
    """The best node found in time, and how much better one could be at most.

    Raises:
        PrivacyError: CEL-P001 no node meets the models within the limit; CEL-P066 none of those
            tried does.
    """
    started, seconds = monotonic(), SECONDS if time_limit is None else time_limit
    allowed = min(allowance(suppression, lattice.rows), lattice.rows - 1)
    measure = (metric or Loss()).over(lattice)
    board = _Board(lattice, measure, allowed, started, started + seconds, progress)
    trial = Trial(lattice, models, measure)
    if board.look(trial, lattice.top).must_go > allowed:
        raise infeasibility_error(lattice.one_class(), models, suppression)
    raw = board.look(trial, (0,) * len(lattice.shape))
    if raw.suppressed == 0:
        bound = raw.score  # nothing loses less than the table as it is
    else:
        bound = _search_on_two_cores(board, trial, seconds)
        _descend(board, trial, until=board.deadline + DESCENT_SHARE * seconds)
    best = board.verified(models)
    if best is None:
        raise PrivacyError("CEL-P066", promises=[model.promise() for model in models])
    score = measure.score(best)
    proven = score <= bound or board.all_known
    rule = "closed_by_bound" if proven else "still_open"
    evaluated = min(board.looked, lattice.nodes)  # both threads may look at a node at once
    certificate = Certificate(
        nodes=lattice.nodes,
        evaluated=evaluated,
        at_least=measure.share(score if proven else bound),
        **{rule: lattice.nodes - evaluated},
    )
    return SearchResult(best, measure.share(score), certificate)


@dataclass(slots=True)
class _Board:
    """What the threads of a search share."""

    lattice: Lattice
    measure: LossMeasure
    allowed: int
    started: float
    deadline: float
    progress: Progress
    known: dict[Node, NodeEvaluation] = field(default_factory=dict)
    looked: int = 0
    """How many nodes were evaluated; each counts once while it is remembered."""
    best: list[NodeEvaluation] = field(default_factory=list)
    """Each better than the one before, the last the best."""
    stop: Event = field(default_factory=Event)

    @property
    def all_known(self) -> bool:
        """Whether every node was looked at."""
        return len(self.known) == self.lattice.nodes

    def is_over(self) -> bool:
        """Whether to stop."""
        return self.stop.is_set() or monotonic() > self.deadline

    def look(self, trial: Trial, node: Node) -> NodeEvaluation:
        """What a node would give, remembered."""
        found = self.known.get(node)
        if found is None:
            found = trial.look(node)
            if len(self.known) >= KNOWN_NODES:
                self.known.clear()
            self.known[node] = found
            self.looked += 1
            if found.suppressed <= self.allowed and self._is_better(found):
                self.best.append(found)
        return found

    def _is_better(self, found: NodeEvaluation) -> bool:
        if not self.best:
            return True
        last = self.best[-1]
        return (found.score, sum(found.node)) < (last.score, sum(last.node))

    def report(self) -> None:
        """Show how much of the time is over."""
        whole = max(1, round(self.deadline - self.started))
        done = min(whole, int(monotonic() - self.started))
        self.progress(Step(STAGE, done, whole))

    def verified(self, models: Sequence[Model]) -> Outcome | None:
        """The best node that keeps within the limit also without hashes; None if there is none."""
        for found in reversed(self.best):
            outcome = self.lattice.evaluate(found.node, models)
            if outcome.suppressed <= self.allowed:
                return outcome
        return None


def _search_on_two_cores(board: _Board, trial: Trial, seconds: float) -> float:
    """Anneal in two threads, one of which begins with the bound; returns the bound."""
    # The walks need not be secret: what is released meets the models whichever way it was found.
    first, second = Random(1), Random(2)  # noqa: S311

    def is_time_for_the_walk() -> bool:
        board.report()
        return monotonic() > board.started + BOUND_SHARE * seconds

    with ThreadPoolExecutor(1) as pool:
        try:
            other = pool.submit(_anneal, board, trial.another(), first)
            bound = ColumnBound(board.lattice, board.measure, board.allowed)
            least = bound.improve(trial, is_time_for_the_walk)
            _anneal(board, trial, second, show=True)
        finally:
            board.stop.set()
        other.result()
    return least


def _anneal(board: _Board, trial: Trial, random: Random, *, show: bool = False) -> None:
    """Rounds until the time is over, or no round sees a node that is new."""
    length = FIRST_ROUND
    while not board.is_over():
        start, before = monotonic(), board.looked
        end = min(start + length, board.deadline)
        if board.deadline - end < length:  # what is left would be no whole round
            end = board.deadline
        froze = _Round(board, trial, random, start, end, show=show).run()
        if board.all_known or (froze and board.looked == before):
            return
        length *= LONGER


def _descend(board: _Board, trial: Trial, *, until: float) -> None:
    """Lower single columns of the best node as long as that is better: chance may pass them by."""
    best = None
    while board.best and board.best[-1] is not best:
        best = board.best[-1]
        trial.move(best.node)
        for column, level in enumerate(best.node):
            if monotonic() > until:
                return
            if level > 0:
                now = board.best[-1].node
                board.look(trial, (*now[:column], level - 1, *now[column + 1 :]))


@dataclass(slots=True)
class _Round:
    """One cooling from hot to cold, beginning at the top."""

    board: _Board
    trial: Trial
    random: Random
    start: float
    end: float
    show: bool

    def run(self) -> bool:
        """Walk until the round is over; true if it came to stand among nodes that it knew."""
        shape = self.board.lattice.shape
        columns = [column for column, levels in enumerate(shape) if levels > 1]
        here = self._go(self.board.look(self.trial, self.board.lattice.top))
        stale = 0
        while columns and stale < STALE:
            done = (monotonic() - self.start) / max(1e-9, self.end - self.start)
            if done >= 1 or self.board.is_over():
                return False
            if self.show:
                self.board.report()
            before = self.board.looked
            there = self.board.look(self.trial, self._neighbour(here.node, columns))
            stale = 0 if self.board.looked > before else stale + 1
            if self._is_taken(here, there, done):
                here = self._go(there)
        return True

    def _go(self, there: NodeEvaluation) -> NodeEvaluation:
        self.trial.move(there.node)
        return there

    def _is_taken(self, here: NodeEvaluation, there: NodeEvaluation, done: float) -> bool:
        heat = HOT * (COLD / HOT) ** done
        fine = FINE_FIRST * (FINE_LAST / FINE_FIRST) ** done
        worse = self._energy(there, fine) - self._energy(here, fine)
        return worse <= 0 or self.random.random() < exp(-worse / heat)

    def _energy(self, node: NodeEvaluation, fine: float) -> float:
        above = max(0, node.suppressed - self.board.allowed) / self.board.lattice.rows
        return self.board.measure.share(node.score) + fine * above

    def _neighbour(self, node: Node, columns: Sequence[int]) -> Node:
        """One column at another level, or one higher and one lower."""
        levels = list(node)
        shape = self.board.lattice.shape
        one, other = self.random.choice(columns), self.random.choice(columns)
        can_trade = one != other and levels[one] + 1 < shape[one] and levels[other] > 0
        if can_trade and self.random.random() < 0.5:
            levels[one] = self._near(levels[one] + 1, shape[one] - 1)
            levels[other] = self._near(levels[other] - 1, 0)
        else:
            step = self.random.randrange(1, shape[one])
            levels[one] = (levels[one] + step) % shape[one]
        return tuple(levels)

    def _near(self, nearest: int, farthest: int) -> int:
        """The nearest level, or any as far as the farthest."""
        if self.random.random() < 0.5:
            return nearest
        return self.random.randint(min(nearest, farthest), max(nearest, farthest))
