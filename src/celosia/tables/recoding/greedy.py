"""A good node of a lattice too large to be searched through, with a bound on what it misses.

From the top, one column at a time is taken a level down wherever the models still hold within the
suppression limit and the loss falls. A column that cannot go down at a node cannot at any node
below, because more records would have to be suppressed there, so it is left alone from then on.
Several orders of columns are tried while there is time.

The bound looks at each column by itself: with all others at the top, a level at which too many
records would have to go is out of reach whatever the others do. So no node loses less than all
columns at the lowest level within their own reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from time import monotonic
from typing import NamedTuple

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message, did_you_mean
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded
from celosia.tables.metrics import Loss, Metric
from celosia.tables.models import Model
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import (
    Certificate,
    SearchResult,
    allowance,
    infeasibility_error,
    is_searchable,
)

SECONDS, ORDERS = 10.0, 12
"""How long to go on without a time limit, and how many orders of columns to try at most."""


def greedy_search(
    lattice: Lattice,
    models: Sequence[Model],
    *,
    suppression: float = 0.0,
    metric: Loss | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> SearchResult:
    """The best node found by going down from the top, and how much better one could be at most.

    Raises:
        PrivacyError: CEL-P001 no node meets the models within the limit; CEL-P066 the top does not,
            and nodes below were not tried.
    """
    return _Descent(lattice, models, suppression, metric or Loss(), progress).found(time_limit)


class _NodeEvaluation(NamedTuple):
    """What is kept of an evaluated node: its classes would fill the memory."""

    node: Node
    score: float
    suppressed: int
    must_go: int


class _Descent:
    def __init__(
        self,
        lattice: Lattice,
        models: Sequence[Model],
        suppression: float,
        metric: Loss,
        progress: Progress,
    ):
        self.lattice, self.models, self.suppression = lattice, models, suppression
        self.allowed = min(allowance(suppression, lattice.rows), lattice.rows - 1)
        self.measure = metric.over(lattice)
        self.progress = progress
        self.known: dict[Node, _NodeEvaluation] = {}

    def found(self, time_limit: float | None) -> SearchResult:
        started, seconds = monotonic(), SECONDS if time_limit is None else time_limit
        deadline = started + seconds
        best = self._look(self.lattice.top)
        if best.must_go > self.allowed:
            raise infeasibility_error(self.lattice.one_class(), self.models, self.suppression)
        if best.suppressed > self.allowed:
            raise _unknown(self.models)
        reach = self._reach(started + seconds / 3)
        least = prod(
            float(factors[level])
            for factors, level in zip(self.measure.factors, reach, strict=True)
        )
        for order in self._orders(reach):
            candidate = self._go_down(order, reach, deadline)
            best = min(best, candidate, key=lambda look: look.score)
            if monotonic() > deadline:
                break
        rule = "still_open" if best.score > least else "closed_by_bound"
        certificate = Certificate(
            nodes=self.lattice.nodes,
            evaluated=len(self.known),
            at_least=self.measure.share(least),
            **{rule: self.lattice.nodes - len(self.known)},
        )
        outcome = self.lattice.evaluate(best.node, self.models)
        return SearchResult(outcome, self.measure.share(best.score), certificate)

    def _reach(self, deadline: float) -> Node:
        """For each column the lowest level that is within reach with all others at the top."""
        reach = []
        for column, top in enumerate(self.lattice.top):
            level = 0
            while level < top and monotonic() < deadline:
                outcome = self._look(_at(self.lattice.top, column, level))
                if outcome.must_go <= self.allowed:
                    break
                level += 1
            reach.append(level)
        return tuple(reach)

    def _orders(self, reach: Node) -> Iterator[list[int]]:
        """Columns to lower, those first that have most to gain; then others by chance."""
        gains = [
            float(factors[-1] / factors[level])
            for factors, level in zip(self.measure.factors, reach, strict=True)
        ]
        by_gain = sorted(range(len(gains)), key=lambda column: -gains[column])
        yield by_gain
        yield by_gain[::-1]
        chance = Seeded(0)  # the order is no secret and changes no promise
        for _ in range(ORDERS - 2):
            yield [by_gain[place] for place in chance.permutation(len(by_gain))]

    def _go_down(self, order: Sequence[int], reach: Node, deadline: float) -> _NodeEvaluation:
        """From the top, lower each column as far as the models and the loss allow."""
        here = self._look(self.lattice.top)
        for column in order:
            for level in range(reach[column], here.node[column]):
                if monotonic() > deadline:
                    return here
                outcome = self._look(_at(here.node, column, level))
                fits = outcome.suppressed <= self.allowed
                if fits and outcome.score < here.score:
                    here = outcome
                    break
        return here

    def _look(self, node: Node) -> _NodeEvaluation:
        if node not in self.known:
            self.progress(Step(Message("tables.stage.going_down"), len(self.known)))
            outcome = self.lattice.evaluate(node, self.models)
            score = self.measure.score(outcome)
            self.known[node] = _NodeEvaluation(node, score, outcome.suppressed, outcome.must_go)
        return self.known[node]


def _unknown(models: Sequence[Model]) -> PrivacyError:
    """The error for a table that as one class fails, though parts of it might not."""
    promises = [model.promise() for model in models]
    return PrivacyError("CEL-P066", promises=promises)


def _at(node: Node, column: int, level: int) -> Node:
    return (*node[:column], level, *node[column + 1 :])


def evaluate_levels(
    lattice: Lattice,
    levels: Mapping[str, int],
    models: Sequence[Model],
    suppression: float,
    metric: Metric,
) -> SearchResult:
    """The outcome of a chosen node; nothing is claimed of other nodes.

    Raises:
        InputError: CEL-P008 the levels do not fit the columns; CEL-P012 the lattice is too large
            for the metric.
        PrivacyError: CEL-P001 the node does not meet the models within the limit.
    """
    node = _node(lattice, levels)
    if not isinstance(metric, Loss) and not is_searchable(lattice):
        raise InputError(
            "CEL-P012.metric",
            columns=len(lattice.shape),
            metric=metric.method_name,
            nodes=lattice.nodes,
        )
    outcome = lattice.evaluate(node, models)
    if outcome.suppressed > min(allowance(suppression, lattice.rows), lattice.rows - 1):
        raise PrivacyError(
            "CEL-P001.chosen_levels",
            share=outcome.suppressed / lattice.rows,
            suppression=suppression,
            suppressed=outcome.suppressed,
        )
    measure = metric.over(lattice)
    certificate = Certificate(
        nodes=lattice.nodes, evaluated=1, still_open=lattice.nodes - 1, at_least=0.0
    )
    return SearchResult(outcome, measure.share(measure.score(outcome)), certificate)


def _node(lattice: Lattice, levels: Mapping[str, int]) -> Node:
    names = [column.name for column in lattice.columns]
    unknown = [name for name in levels if name not in names]
    if unknown:
        raise InputError(
            "CEL-P008.unknown_column",
            unknown=unknown[0],
            hint=did_you_mean(unknown[0], names),
            names=", ".join(names),
        )
    node = []
    for column in lattice.columns:
        level = whole(levels.get(column.name, 0))
        if level is None or not 0 <= level <= column.hierarchy.height:
            raise InputError(
                "CEL-P008.out_of_range",
                height=column.hierarchy.height,
                level=levels[column.name],
                column=column.name,
            )
        node.append(level)
    return tuple(node)
