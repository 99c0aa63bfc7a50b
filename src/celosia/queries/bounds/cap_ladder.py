"""What mechanisms share that answer a total under one cap of a ladder."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from celosia.core.messages import Message
from celosia.mechanisms.mechanism import Input, Mechanism, Output
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_epsilon, check_whole
from celosia.queries.bounds.caps import check_add_remove, check_share, ladder

FINEST = 2**10
"""Parts of the unit of the totals, at the most."""
COARSEST = 6
"""Bits of a total under a cap that are kept below the cap itself."""


@dataclass(frozen=True, kw_only=True)
class CapLadder(Mechanism[Input, Output]):
    """A total under one of the caps 1, 2, 4, ..., `most`, each with the noise of its cap."""

    epsilon: float
    most: int
    failure: float
    """The chance that the cap is worse than it needs to be."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_epsilon(self.epsilon)
        check_share(self.failure, name="failure")
        check_add_remove(self.neighbours)

    @property
    def parts_per_unit(self) -> int:
        """Into how many parts the unit of the totals is divided."""
        return 1

    @property
    @abstractmethod
    def laws(self) -> tuple[DiscreteLaplace, ...]:
        """The noise under each cap, in parts."""

    @cached_property
    def caps(self) -> tuple[int, ...]:
        """The caps to choose from."""
        return ladder(self.most)

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """The most by which one person moves each total, in parts."""
        return shifts(self.caps, self.parts_per_unit)

    @property
    def sensitivity(self) -> float:
        """Of the total under the largest cap, in units of the answer."""
        return self.shifts[-1] / self.parts_per_unit

    def typical_error(self, largest: int) -> float:
        """The scale of the noise under the least cap that no person exceeds.

        A prediction from a guess of the largest contribution, not a bound.
        """
        place = next(i for i, cap in enumerate(self.caps) if cap >= min(largest, self.most))
        return float(self.laws[place].scale / self.parts_per_unit)


@dataclass(frozen=True, kw_only=True)
class CapChoice(CapLadder[Input, Output]):
    """A cap that is chosen for a share of epsilon; the rest buys the total under it."""

    share: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share(self.share, name="share")

    @cached_property
    def epsilon_shares(self) -> tuple[Fraction, Fraction]:
        """The epsilon of the choice, and that of the answer."""
        # Basic composition (Dwork & Roth 2014, Thm 3.14): the choice and the answer cost their sum.
        whole = check_epsilon(self.epsilon)
        first = whole * check_share(self.share, name="share")
        return first, whole - first


@dataclass(frozen=True, kw_only=True)
class GrainedLadder(CapLadder[Input, Output]):
    """Totals that may be told in parts of their unit, and rounded."""

    grain: int = 1
    """Into how many parts the unit of the totals is divided; above 1 they carry a rounding."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.grain, name=Message("queries.bounds.grain"), most=FINEST)

    @property
    def parts_per_unit(self) -> int:
        return self.grain


def rounding(cap: int, grain: int) -> int:
    """The step that a total under a cap is rounded to, in parts: a 64th of the cap, or one part.

    Finer steps would ask more of a solver of programs than floats can give where caps are large.

    >>> rounding(1, 16), rounding(4, 16), rounding(1024, 16), rounding(1024, 1)
    (1, 1, 256, 0)
    """
    return 0 if grain == 1 else max(1, cap * grain >> COARSEST)


def shifts(caps: tuple[int, ...], grain: int) -> tuple[int, ...]:
    """The most by which one person moves the total under each cap, in parts of 1 / grain.

    Of rounded totals it is the largest multiple of the step s below cap * grain + 2 s, see
    `r2t_program`.

    >>> shifts((1, 2), 1), shifts((1, 2, 8), 16)
    ((1, 2), (17, 33, 130))
    """
    return tuple(_shift(cap * grain, rounding(cap, grain)) for cap in caps)


def _shift(parts: int, step: int) -> int:
    # The largest multiple of the step that is below parts + 2 step, not equal to it: two optima
    # are each less than one step off, so that their difference never reaches that sum.
    return parts if step == 0 else (parts + 2 * step - 1) // step * step


def in_units(parts: int, grain: int) -> float:
    """A number of parts as one of units: a whole number where the parts are units."""
    return parts if grain == 1 else float(Fraction(parts, grain))
