"""The looks that an algorithm takes at nodes, written down as they happen."""

from __future__ import annotations

from collections.abc import Iterable

from celosia.core.errors import InputError
from celosia.core.progress import Progress, Step
from celosia.tables.models import KAnonymity, Model
from celosia.tables.recoding.classic.search_trace import Choice, Story, Tally, Visit
from celosia.tables.recoding.infeasibility import impossible
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node


def asked_k(k: int | KAnonymity, algorithm: str) -> KAnonymity:
    """The k that was asked for, as a model.

    Raises:
        InputError: CEL-P010 k is too small, CEL-P050 another model.
    """
    if isinstance(k, KAnonymity):
        return k
    if isinstance(k, Model):
        raise InputError(
            "CEL-P050",
            f"{algorithm} cannot search for {k.promise()}.",
            why="It relies on a rule of k-anonymity: a more general table never has more records "
            "to suppress.",
            fix="Give a number for k, or use publish(), whose search is exact for every model.",
        )
    return KAnonymity(k)


class Walk:
    """One run of an algorithm over a lattice: what it asks, and what it has seen so far."""

    def __init__(
        self,
        algorithm: str,
        lattice: Lattice,
        model: KAnonymity,
        allowed: int,
        progress: Progress,
    ):
        if lattice.rows < model.k:  # otherwise the top works: all records are one class there
            raise impossible(lattice.whole(), [model], allowed / lattice.rows)
        self.algorithm = algorithm
        self.lattice = lattice
        self.model = model
        # A release without a single kept class is none, whatever the limit.
        self.allowed = min(allowed, lattice.rows - 1)
        self.columns = tuple(column.name for column in lattice.columns)
        self.visits: list[Visit] = []
        self._progress = progress

    def suppressed(self, node: Node) -> int:
        """How many records are in classes smaller than k at a node."""
        return self.lattice.evaluate(node, [self.model]).suppressed

    def tell(self, visit: Visit) -> None:
        """Write a look down."""
        self.visits.append(visit)
        self._progress(Step(f"Walking the lattice with {self.algorithm}", len(self.visits)))

    def story(
        self, found: Iterable[Node], *, guarantee: str, tallies: Iterable[Tally] | None = None
    ) -> Story:
        """The end: what was found, and everything told on the way."""
        whole = Tally(self.columns, self.lattice.nodes, len(self.visits))
        choices = [self._choice(node) for node in found]
        return Story(
            algorithm=self.algorithm,
            k=self.model.k,
            rows=self.lattice.rows,
            allowed=self.allowed,
            columns=self.columns,
            shape=self.lattice.shape,
            found=tuple(sorted(choices, key=_rank)),
            guarantee=guarantee,
            visits=tuple(self.visits),
            tallies=(whole,) if tallies is None else tuple(tallies),
        )

    def _choice(self, node: Node) -> Choice:
        outcome = self.lattice.evaluate(node, [self.model])
        return Choice(node, outcome.suppressed, self.lattice.loss.total(outcome.leaf_sums))


def _rank(choice: Choice) -> tuple[float, int, Node]:
    # The last digits of a loss depend on the order of columns; they must not settle a tie.
    return round(choice.loss, 12), choice.height, choice.node
