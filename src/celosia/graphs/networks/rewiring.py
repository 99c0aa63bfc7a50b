"""Arcs with wanted out- and in-degrees, near the given ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.randomness import Source

Whole = NDArray[np.int64]

ROUNDS = 200
"""Rounds without any success before giving up."""
_TRIES = 64


def rewire_arcs(
    arcs: Whole, order: int, out_degrees: Whole, in_degrees: Whole, rng: Source
) -> Whole:
    """Arcs, as sorted numbers u * n + v, with exactly these degrees.

    Arcs are added between vertices that want more, or deleted, until their number is right; then
    the tails and the heads of arcs are moved from vertices with too many to those with too few.
    A tail only ever goes to a vertex that has or shall have one, so that sides stay sides.

    Raises:
        PrivacyError: CEL-G104 none were found.
    """
    work = _Rewiring(np.sort(arcs), order, out_degrees, in_degrees, rng)
    work.balance()
    idle = 0
    while (left := work.left()) and idle < ROUNDS:
        work.move(tails=True)
        work.move(tails=False)
        if work.left() >= left:
            idle += 1
            work.shake()
    if work.left():
        raise PrivacyError("CEL-G104.no_place")
    return work.arcs


@dataclass(slots=True, eq=False)
class _Rewiring:
    arcs: Whole
    order: int
    out_degrees: Whole
    in_degrees: Whole
    rng: Source
    tails: Whole = field(init=False)
    """The vertices that may have arcs from them."""
    heads: Whole = field(init=False)

    def __post_init__(self) -> None:
        out, inward = self._degrees()
        self.tails = np.flatnonzero((out > 0) | (self.out_degrees > 0))
        self.heads = np.flatnonzero((inward > 0) | (self.in_degrees > 0))

    def _degrees(self) -> tuple[Whole, Whole]:
        ends = np.divmod(self.arcs, self.order)
        out, inward = (np.bincount(each, minlength=self.order) for each in ends)
        return out, inward

    def left(self) -> int:
        """How many ends are at the wrong vertex."""
        out, inward = self._degrees()
        gap = np.abs(self.out_degrees - out).sum() + np.abs(self.in_degrees - inward).sum()
        return int(gap)

    def balance(self) -> None:
        """Add or delete arcs, until their number is right, rather where it is wanted."""
        surplus = int(self.out_degrees.sum()) - len(self.arcs)
        held = set(self.arcs.tolist()) if surplus else set()
        for _ in range(abs(surplus)):
            ends = np.divmod(np.array(sorted(held), dtype=np.int64), self.order)
            out, inward = (np.bincount(each, minlength=self.order) for each in ends)
            if surplus < 0:
                over = np.maximum(out - self.out_degrees, 0)[ends[0]]
                over += np.maximum(inward - self.in_degrees, 0)[ends[1]]
                held.remove(int(ends[0][np.argmax(over)] * self.order + ends[1][np.argmax(over)]))
                continue
            self._add(held, self.out_degrees - out, self.in_degrees - inward)
        if surplus:
            self.arcs = np.array(sorted(held), dtype=np.int64)

    def _add(self, held: set[int], out: Whole, inward: Whole) -> None:
        choices = [
            (np.flatnonzero(out > 0), np.flatnonzero(inward > 0)),
            (self.tails, self.heads),
        ]
        for ones, others in choices:
            for _ in range(_TRIES if ones.size and others.size else 0):
                one = int(ones[self.rng.integers(ones.size, 1)[0]])
                other = int(others[self.rng.integers(others.size, 1)[0]])
                if one != other and one * self.order + other not in held:
                    held.add(one * self.order + other)
                    return
        raise PrivacyError("CEL-G104.no_place")

    def move(self, *, tails: bool) -> None:
        """Move ends from vertices with too many to vertices with too few, paired by lot."""
        out, inward = self._degrees()
        wanted = self.out_degrees - out if tails else self.in_degrees - inward
        vertices = np.arange(self.order)
        losers = np.repeat(vertices, np.maximum(-wanted, 0))
        winners = np.repeat(vertices, np.maximum(wanted, 0))
        both = min(losers.size, winners.size)
        losers = losers[self.rng.permutation(losers.size)][:both]
        winners = winners[self.rng.permutation(winners.size)][:both]
        self._turn(losers, winners, tails=tails)

    def shake(self) -> None:
        """Move some ends to vertices by lot, to make room: they are moved on."""
        out, inward = self._degrees()
        for tails, wanted, places in (
            (True, self.out_degrees - out, self.tails),
            (False, self.in_degrees - inward, self.heads),
        ):
            losers = np.repeat(np.arange(self.order), np.maximum(-wanted, 0))
            if losers.size:
                others = places[self.rng.integers(places.size, losers.size)]
                self._turn(losers, others, tails=tails)

    def _turn(self, losers: Whole, winners: Whole, *, tails: bool) -> None:
        from celosia.graphs._edge_set import edge_set
        from celosia.graphs.networks._kernels import move_ends

        ends = np.divmod(self.arcs, self.order)
        mine, others = ends if tails else ends[::-1]
        by_vertex = np.argsort(mine, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(mine, minlength=self.order))])
        table = edge_set(self.arcs, room=8)
        move_ends(
            *(losers, winners, self.rng.words(losers.size), self.order, table),
            *(starts.astype(np.int64), others[by_vertex].astype(np.int32), tails),
        )
        self.arcs = np.sort(table[table >= 0])
