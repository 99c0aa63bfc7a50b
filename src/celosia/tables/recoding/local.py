"""Local recoding: whoever a global solution suppresses gets a coarser generalisation of her own.

The suppressed records are a table of their own: the search finds its best node without a limit,
keeps whom it can, and starts again with the rest, until nobody is left or nobody can be helped.
Different records are then released at different levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.tables.recoding.certificate import SearchResult
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node

MOST_ROUNDS = 200
"""Each round keeps at least one class; later ones keep hardly more than that."""


@dataclass(frozen=True, slots=True)
class Round:
    """One node, and the rows that are released at its levels."""

    node: Node
    rows: NDArray[np.int64] = field(repr=False)


def refine(
    first: Round,
    suppressed: NDArray[np.int64],
    lattice_of: Callable[[NDArray[np.int64]], Lattice],
    search: Callable[[Lattice], SearchResult],
) -> tuple[Sequence[Round], NDArray[np.int64]]:
    """The rounds that follow a global solution, and the rows that nobody could help.

    Args:
        first: the global solution and the rows that it keeps.
        suppressed: the rows that it suppresses.
        lattice_of: the lattice of some of the rows.
        search: the best node of a lattice, with any number of records suppressed.
    """
    rounds = [first]
    rest = suppressed
    while rest.size and len(rounds) < MOST_ROUNDS:
        lattice = lattice_of(rest)
        try:
            best = search(lattice).best
        except PrivacyError:  # too few are left, or too much alike
            break
        kept = best.kept[lattice.class_of_rows(best.node)]
        rounds.append(Round(best.node, rest[kept]))
        rest = rest[~kept]
    return rounds, rest
