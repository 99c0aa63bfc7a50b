"""A total whose cap is chosen privately from the totals under all caps, also for self-joins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss, PureLoss
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_whole
from celosia.mechanisms.selection.permute_and_flip import PermuteAndFlip
from celosia.mechanisms.values import from_zero
from celosia.queries.bounds.cap_ladder import CapChoice, GrainedLadder, in_units, rounding
from celosia.queries.bounds.caps import read_totals

STEPS = 2**10
"""Steps that one person may move a score by: scores are rounded down to whole steps."""
FARTHEST = 2**40
"""Steps beyond which a score is cut off."""


@dataclass(frozen=True, kw_only=True)
class R2TCap(GrainedLadder[Any, float], CapChoice[Any, float]):
    """A total under a cap that R2T chooses for a share of epsilon; the rest buys fresh noise.

    Where `R2T` pays for a noisy total under each of the n caps, this pays for the name of the
    winner only, and then for one total: its noise is wider by 1 / (1 - share) instead of n. It
    needs the totals only, so it serves rows of several people (`r2t_program`) as well.

    With s the sensitivity of the total Q under a cap and a public rate r, the value of a cap is
    m = Q - r s, and its score the most, over all caps j, of (m_j - m) / max(s_j, s): by how many
    sensitivities it falls short of the best. Permute-and-flip takes the least score.

    Guarantee: epsilon-DP with delta 0 for one person with all their rows, added or removed. Adding
    a person raises Q_j by something in [0, s_j] and Q by something in [0, s]; so m_j - m moves by
    at most max(s_j, s), each quotient by at most 1, and so does their maximum, with and without
    rounding down to a whole number of steps, of which 1 is a whole number. The choice is therefore
    (share * epsilon)-DP and the total under the chosen cap (1 - share) * epsilon-DP. (The rounded
    totals of a program move by something in [-r, s] with r the step of `rounding`, so that the
    differences move by at most max(s_j, s) + max(r_j, r), which is then what divides them.)
    Assumptions as for `R2T`.

    Reference: Raskhodnikova & Smith, Lipschitz extensions for node-private graph statistics and the
    generalized exponential mechanism, FOCS 2016; McKenna & Sheldon 2020 for permute-and-flip.

    >>> from celosia.core.randomness import Seeded
    >>> r2t = R2TCap(epsilon=1, most=2**10)
    >>> r2t.measure([min(cap, 7) * 5000 for cap in r2t.caps], rng=Seeded(1)).parts["cap"]
    8
    """

    share: float = 0.5
    failure: float = 0.02

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.laws, self.choice  # what is out of reach is refused here

    @cached_property
    def roundings(self) -> tuple[int, ...]:
        """What each total is rounded to multiples of, in parts; 0 for exact totals."""
        return tuple(rounding(cap, self.grain) for cap in self.caps)

    @cached_property
    def choice(self) -> PermuteAndFlip:
        """How the cap is chosen."""
        return PermuteAndFlip(epsilon=self.epsilon_shares[0], sensitivity=STEPS)  # type: ignore[arg-type]

    @cached_property
    def laws(self) -> tuple[DiscreteLaplace, ...]:
        """The noise of the answer under each cap, in parts."""
        return tuple(DiscreteLaplace(shift / self.epsilon_shares[1]) for shift in self.shifts)

    @cached_property
    def rate(self) -> int:
        """What a cap is charged with, in sensitivities: the noise, and the doubt of the choice.

        Without the second part, caps that are far too large would be hardly worse than the best.
        """
        doubt = 2 * log(len(self.caps) / float(self.failure)) / float(self.epsilon_shares[0])
        return ceil(doubt + 1 / float(self.epsilon_shares[1]))

    def privacy_loss(self) -> ComposedLoss:
        """Epsilon: the choice, then the answer."""
        return ComposedLoss((PureLoss(self.epsilon_shares[0]), PureLoss(self.epsilon_shares[1])))

    def scores(self, totals: list[int]) -> NDArray[np.int64]:
        """By how many steps each cap falls short of the best, below 0; private, never shown."""
        values = [
            total - self.rate * shift for total, shift in zip(totals, self.shifts, strict=True)
        ]
        # Generalised exponential mechanism: divided by the larger of the two sensitivities, each
        # comparison moves by at most 1 with one person, and so does the maximum of all of them.
        # Undivided scores would all have the sensitivity of the largest cap.
        short = [
            max(
                (other - own) * STEPS // (max(wide, shift) + max(rough, step))
                for other, wide, rough in zip(values, self.shifts, self.roundings, strict=True)
            )
            for own, shift, step in zip(values, self.shifts, self.roundings, strict=True)
        ]
        return np.array([-min(each, FARTHEST) for each in short], dtype=np.int64)

    def measure(self, x: Any, *, rng: Source) -> Measurement[float]:
        """Choose the cap and answer under it, from exact totals, one for each cap.

        Raises:
            InputError: CEL-Q081 not a whole number within 2^50 for each cap.
        """
        totals = read_totals(x, len(self.caps))
        place = self.choice.measure(self.scores(totals), rng=rng).value
        law = self.laws[place]
        noisy = totals[place] + int(law.draw(1, rng)[0])
        return Measurement(
            in_units(noisy, self.grain),
            {
                "cap": self.caps[place],
                "caps": self.caps,
                "error": in_units(law.bound(0.95), self.grain),
            },
        )

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that is not exceeded whatever the data are, in terms of the largest cap.

        If the chosen score is d short of the best, whose score is 0, the value of the largest cap
        exceeds that of the chosen one by at most d of its sensitivities: the total is cut by no
        more than rate + d of them.
        """
        doubt = (
            (1 - check_confidence(confidence))
            / 2
            / check_whole(size, name=Message("queries.bounds.size"))
        )
        steps = self.choice.accuracy(1 - doubt, size=len(self.caps)) + 1
        cut = (self.rate + steps / STEPS) * (self.shifts[-1] + self.roundings[-1])
        return (cut + self.laws[-1].bound(1 - doubt)) / self.grain

    def interval(
        self, measurement: Measurement[float], confidence: float = 0.95
    ) -> tuple[float, float]:
        """A lower bound of the exact total, and no upper one: a cap can only take away."""
        place = self.caps.index(measurement.parts["cap"])
        # The chance of noise above a bound is half of that of noise larger in size; with a
        # confidence of a half or less, any bound will do.
        doubt = min(2 * (1 - check_confidence(confidence)), 0.999)
        bound = self.laws[place].bound(1 - doubt) + self.roundings[place]
        return from_zero(measurement.value - bound / self.grain, measurement.value, inf)
