"""Projective geometry response: a report is a point, likely on the hyperplane of the value.

Values are points of the projective space of t coordinates over the field of q elements. A point is
written with 1 as its first coordinate that is not 0; one with m coordinates after that 1, read as a
number v with q as its base, has the number (q^m - 1)/(q - 1) + v. So the points that start with 0
are those of the space of t - 1 coordinates, under the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.oracles import pure
from celosia.collect.oracles._projective import MOST_POINTS, ProjectiveSpace, best_space, is_prime
from celosia.collect.protocol import BlanketShares, Client
from celosia.collect.reports import Packed, bits_for, pack
from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.core.numbers import exactly
from celosia.core.randomness import Source


@dataclass(frozen=True, kw_only=True)
class ProjectiveGeometry(pure.DomainProtocol, pure.PureProtocol):
    """A point of projective space, likely one that is orthogonal to the point of the value.

    As good as subset selection where a prime is close to e^epsilon + 1, with reports as short as a
    value, and a server that needs a Fourier transform rather than each report with each value.

    Guarantee: epsilon-LDP for each report, between any two values of the domain: a point is
    e^epsilon times as likely by values that are orthogonal to it. The chance of an orthogonal point
    is a multiple of 2^-32, rounded down. Every further report of a person costs as much.

    Reference: Feldman, Nelson, Nguyen & Talwar 2022, "Private Frequency Estimation via Projective
    Geometry". Their dynamic programme is replaced by the projection-slice theorem.

    Args:
        epsilon: of one report, for any two values of one person.
        key: the name of the collection.
        domain: all possible values, in an order that all devices share.
        order: the prime q; 0 takes the best one.
        coordinates: t; 0 takes the best number.

    Raises:
        InputError: CEL-R056 no prime, or a space with fewer points than values, or too many.
    """

    method_name: ClassVar[str] = "pgr"

    order: int = parameter(0, least=0, most=MOST_POINTS)
    coordinates: int = parameter(0, least=0, most=32)

    def check(self) -> None:
        """Refuse a space that does not fit the domain; take the best where none is given."""
        super().check()
        order, coordinates = self.order, self.coordinates
        if order == 0 and coordinates == 0:
            price = exactly(self.epsilon)
            best = best_space(price, len(self.values))
            order, coordinates = best.order, best.coordinates
        if (
            coordinates < 2
            or order < 2
            or not is_prime(order)
            or not len(self.values) <= ProjectiveSpace(order, coordinates).points <= MOST_POINTS
        ):
            raise InputError("CEL-R056")
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "coordinates", coordinates)
        _ = self.coin

    @cached_property
    def space(self) -> ProjectiveSpace:
        """The points."""
        return ProjectiveSpace(self.order, self.coordinates)

    @cached_property
    def coin(self) -> Coin:
        """Chooses an orthogonal point."""
        return pure.set_coin(self.epsilon, self.space.outside)

    @cached_property
    def support(self) -> pure.Support:
        """The chances that the point is orthogonal to the value, and to another one."""
        own = Fraction(self.coin.heads, WHOLE)
        return pure.Support(own, self.space.other(own))

    @property
    def blanket(self) -> BlanketShares:
        """The points that are orthogonal to one value, and to two."""
        points, q = self.space.points, self.order
        inside = 1 / (1 + self.space.outside)
        both = (q ** (self.coordinates - 2) - 1) // (q - 1)
        return inside, Fraction(both, points)

    @property
    def report_bits(self) -> int:
        """Those of one point."""
        return bits_for(self.space.points)

    def client(self, *, rng: Source | None = None) -> ProjectiveClient:
        return ProjectiveClient(self, rng=rng)

    def server(self) -> ProjectiveServer:
        return ProjectiveServer(self, self.space.points)


class ProjectiveClient(Client):
    """Sends points."""

    protocol: ProjectiveGeometry

    def _encode(self, values: Any) -> Packed:
        protocol = self.protocol
        places = protocol.values.places(values)
        kept = protocol.coin.toss(places.size, self.rng)
        # Vectors orthogonal to the value but 0, each point q - 1 times; and those with a product of
        # 1, each other point once. All but one coordinate are free.
        vectors = protocol.order ** (protocol.coordinates - 1)
        inside = 1 + self.rng.integers(vectors - 1, places.size)
        outside = self.rng.integers(vectors, places.size)
        free = np.where(kept, inside, outside)
        reported = protocol.space.completed(places, free, (~kept).astype(np.int64))
        return pack([(reported, protocol.report_bits)])


class ProjectiveServer(pure.PlaceServer):
    """Counts how often each point was told."""

    protocol: ProjectiveGeometry

    def _supports(self) -> NDArray[np.int64]:
        found = self.protocol.space.orthogonal(self.counts)
        return found[: len(self.protocol.values)]
