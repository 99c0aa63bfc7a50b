"""Every solution of a lattice, and those among them that no other beats in both loss and risk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, inf
from time import monotonic

import numpy as np

from celosia.core.errors import InputError
from celosia.core.messages import Message, say_of
from celosia.core.methods import PlainValues, derived
from celosia.core.progress import Progress, Step, silent
from celosia.tables.metrics import Loss, Measure, Metric
from celosia.tables.models import Model
from celosia.tables.recoding.lattice import Lattice, Outcome
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import allowance, infeasibility_error

MOST_NODES = 200_000
"""Solutions may be as many; beyond this it would take many minutes."""
MOST_NOTED = 10_000_000
"""Of a larger lattice it is not noted which nodes are shown to fail: a byte for each."""


@dataclass(frozen=True, slots=True)
class ExploredSolution(PlainValues):
    """One node that meets the models within the suppression limit."""

    levels: Node
    score: float
    """By the metric, from 0 (the raw table) to 1."""
    suppressed: int
    classes: int
    average_risk: float
    highest_risk: float


@dataclass(frozen=True, slots=True)
class Exploration(PlainValues):
    """All solutions, the best first."""

    columns: tuple[str, ...]
    nodes: int
    rows: int
    solutions: tuple[ExploredSolution, ...]
    tried: int
    """Nodes that were evaluated or shown to fail: all of them, unless the time was up before."""

    @property
    @derived
    def front(self) -> tuple[ExploredSolution, ...]:
        """The solutions that no other beats in both score and average risk, the best score first.

        Choosing among them is a matter of judgement; choosing any other is a mistake.
        """
        front: list[ExploredSolution] = []
        for solution in sorted(self.solutions, key=lambda each: (each.score, each.average_risk)):
            if not front or solution.average_risk < front[-1].average_risk:
                front.append(solution)
        return tuple(front)

    def __str__(self) -> str:
        cut = self.tried < self.nodes
        return say_of(
            "tables.report.exploration_cut" if cut else "tables.report.exploration",
            self,
            solutions=len(self.solutions),
            front=len(self.front),
        )


def explore_lattice(
    lattice: Lattice,
    models: Sequence[Model],
    *,
    suppression: float = 0.0,
    metric: Metric | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Exploration:
    """Evaluate the nodes of a lattice, or as many as a time limit allows.

    Where more records must go at a node than may, they must at every node below it, too: see
    `Verdict`. Those are not evaluated.

    Raises:
        InputError: CEL-P003 the lattice has too many nodes, or none was found in time.
        PrivacyError: CEL-P001 no node meets the models.
    """
    if lattice.nodes > MOST_NODES and time_limit is None:
        raise InputError("CEL-P003.too_many_nodes", most_nodes=MOST_NODES, nodes=lattice.nodes)
    allowed = min(allowance(suppression, lattice.rows), lattice.rows - 1)
    measure = (metric or Loss()).over(lattice)
    until = inf if time_limit is None else monotonic() + time_limit
    from_top = product(*(range(levels - 1, -1, -1) for levels in lattice.shape))
    stage = Message("tables.stage.trying_nodes")
    noted = lattice.nodes <= MOST_NOTED
    is_open = np.ones(lattice.shape if noted else (1,) * len(lattice.shape), dtype=np.bool_)
    solutions, tried = [], 0
    for node in from_top if time_limit is None else _scattered(lattice):
        if noted and not is_open[node]:
            continue
        if tried and monotonic() > until:
            break
        progress(Step(stage, tried, lattice.nodes))
        outcome = lattice.evaluate(node, models)
        if outcome.suppressed <= allowed:
            solutions.append(_explored(outcome, measure))
        if noted:
            closed = _below(node) if outcome.must_go > allowed else node
            tried += int(np.count_nonzero(is_open[closed]))
            is_open[closed] = False
        else:
            tried += 1
    if not solutions and tried < lattice.nodes:
        raise InputError("CEL-P003.none_in_time", tried=tried, nodes=lattice.nodes)
    if not solutions:
        raise infeasibility_error(lattice.one_class(), models, suppression)
    solutions.sort(key=lambda solution: (solution.score, sum(solution.levels), solution.levels))
    names = tuple(column.name for column in lattice.columns)
    return Exploration(names, lattice.nodes, lattice.rows, tuple(solutions), tried)


def _explored(outcome: Outcome, measure: Measure) -> ExploredSolution:
    sizes = outcome.kept_units
    return ExploredSolution(
        outcome.node,
        measure.share(measure.score(outcome)),
        outcome.suppressed,
        int(sizes.size),
        float(sizes.size / sizes.sum()),
        1 / int(sizes.min()),
    )


def _below(node: Node) -> tuple[slice, ...]:
    """A node and all that generalise no column further."""
    return tuple(slice(0, level + 1) for level in node)


def _scattered(lattice: Lattice) -> Iterator[Node]:
    """Every node once, the top first, so that whenever one stops they are spread over the lattice.

    Steps of the golden ratio never leave a large gap (the three-distance theorem, Sos 1958). The
    step must share no divisor with the number of nodes: the nearest such number, for one that is
    further away may be near to a simple fraction, such as 2/3, and leave gaps.
    """
    count = lattice.nodes
    golden = count * 0.6180339887
    above = below = max(1, round(golden))
    while gcd(above, count) > 1:
        above += 1
    while gcd(below, count) > 1:
        below -= 1
    step = min(above, below, key=lambda each: abs(each - golden))
    place = count - 1
    for _ in range(count):
        rest, levels = place, []
        for size in reversed(lattice.shape):
            rest, level = divmod(rest, size)
            levels.append(level)
        yield tuple(reversed(levels))
        place = (place + step) % count
