"""The publisher's payoff: what a release earns, less what attacks on it are expected to cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.methods import parameter
from celosia.tables.metrics.metric import Measure, Metric, over_all_nodes
from celosia.tables.models.classes import Classes
from celosia.tables.models.payoff import BENEFIT, COST, GAIN, LOSS, Profitable

if TYPE_CHECKING:
    from celosia.tables.recoding.lattice import Lattice, Outcome


class PublisherPayoffMeasure(Measure):
    """What is missing to the payoff of the raw table if nobody attacked it: benefit * records.

    A kept record lacks `benefit` times its lost information, and what an attack on it is expected
    to cost; a suppressed one lacks its whole benefit, which is no less than that of its lost
    information. So the lost information of all records, with none suppressed, is a floor; and so
    is the benefit of those who must go.
    """

    def __init__(self, lattice: Lattice, game: Profitable):
        self._lattice, self._game = lattice, game

    @cached_property
    def floors(self) -> NDArray[np.float64]:  # type: ignore[override]  # made when asked for
        """By the lost information of all records."""
        lost = self._lattice.lost_digits()
        return over_all_nodes([self._game.benefit * each for each in lost], np.add) * (1 - 1e-12)

    def floor(self, node: Sequence[int], must_go: int) -> float:
        """No less than the benefit of those who must go."""
        return max(float(self.floors[tuple(node)]), self._game.benefit * must_go * (1 - 1e-12))

    def score(self, outcome: Outcome) -> float:
        """The benefit of all records as they are, less the payoff of the node."""
        sizes, kept = outcome.table.sizes, outcome.kept
        information = self._lattice.information(outcome.node, outcome.table)
        chance = self._game.success(Classes(np.maximum(sizes, 1)))
        attacked = self._game.attacked(chance)
        each = self._game.benefit * information - np.where(attacked, self._game.loss * chance, 0.0)
        earned = float((sizes * each)[kept].sum())
        return self._game.benefit * self._lattice.rows - earned

    def share(self, score: float) -> float:
        """As a share of the benefit of the raw table; 1 if the release earns nothing, or loses."""
        return min(1.0, max(0.0, score / (self._game.benefit * self._lattice.rows)))


@dataclass(frozen=True)
class PublisherPayoff(Metric):
    """What the publisher does not earn, as a share of the benefit of the raw table.

    The attacker is a rational prosecutor: see the models `no-attack` and `profitable`.
    """

    method_name: ClassVar[str] = "publisher-payoff"

    benefit: float = parameter(1200.0, like=BENEFIT)
    loss: float = parameter(300.0, like=LOSS)
    gain: float = parameter(300.0, like=GAIN)
    cost: float = parameter(4.0, like=COST)

    def over(self, lattice: Lattice) -> PublisherPayoffMeasure:
        """The payoff over one table's lattice."""
        return PublisherPayoffMeasure(
            lattice, Profitable(self.benefit, self.loss, self.gain, self.cost)
        )
