"""Every solution of a lattice, and those among them that no other beats in both loss and risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from celosia.core.errors import InputError
from celosia.core.progress import Progress, Step, silent
from celosia.tables.metrics import Loss, Metric
from celosia.tables.models import Model
from celosia.tables.recoding.certificate import allowance
from celosia.tables.recoding.impossible import impossible
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node

MOST_NODES = 200_000
"""Each node is evaluated; beyond this it would take many minutes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One node that meets the models within the suppression limit."""

    levels: Node
    score: float
    """By the metric, from 0 (the raw table) to 1."""
    suppressed: int
    classes: int
    average_risk: float
    highest_risk: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Exploration:
    """All solutions, the best first."""

    columns: tuple[str, ...]
    nodes: int
    rows: int
    choices: tuple[Choice, ...]

    @property
    def front(self) -> tuple[Choice, ...]:
        """The solutions that no other beats in both score and average risk, the best score first.

        Choosing among them is a matter of judgement; choosing any other is a mistake.
        """
        front: list[Choice] = []
        for choice in sorted(self.choices, key=lambda each: (each.score, each.average_risk)):
            if not front or choice.average_risk < front[-1].average_risk:
                front.append(choice)
        return tuple(front)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "columns": list(self.columns),
            "nodes": self.nodes,
            "rows": self.rows,
            "solutions": [choice.as_dict() for choice in self.choices],
            "front": [choice.as_dict() for choice in self.front],
        }

    def __str__(self) -> str:
        return (
            f"{len(self.choices):,} of {self.nodes:,} nodes meet the models; "
            f"{len(self.front)} of them are beaten by no other in both loss and risk"
        )


def explore_lattice(
    lattice: Lattice,
    models: Sequence[Model],
    *,
    suppression: float = 0.0,
    metric: Metric | None = None,
    progress: Progress = silent,
) -> Exploration:
    """Evaluate every node of a lattice.

    Raises:
        InputError: CEL-P003 the lattice has too many nodes.
        PrivacyError: CEL-P001 no node meets the models.
    """
    if lattice.nodes > MOST_NODES:
        raise InputError(
            "CEL-P003",
            f"the lattice has {lattice.nodes:,} nodes, too many to list them all.",
            why=f"Each of them is evaluated; up to {MOST_NODES:,} are.",
            fix="Use fewer levels per hierarchy or fewer quasi-identifiers, or let the search find "
            "the best one.",
            nodes=lattice.nodes,
        )
    allowed = min(allowance(suppression, lattice.rows), lattice.rows - 1)
    measure = (metric or Loss()).over(lattice)
    choices = []
    for number, node in enumerate(product(*(range(levels) for levels in lattice.shape))):
        progress(Step("Trying every node", number, lattice.nodes))
        outcome = lattice.evaluate(node, models)
        if outcome.suppressed <= allowed:
            sizes = outcome.kept_sizes
            choices.append(
                Choice(
                    node,
                    measure.share(measure.score(outcome)),
                    outcome.suppressed,
                    int(sizes.size),
                    float(sizes.size / sizes.sum()),
                    1 / int(sizes.min()),
                )
            )
    if not choices:
        raise impossible(lattice.whole(), models, suppression)
    choices.sort(key=lambda choice: (choice.score, sum(choice.levels), choice.levels))
    names = tuple(column.name for column in lattice.columns)
    return Exploration(names, lattice.nodes, lattice.rows, tuple(choices))
