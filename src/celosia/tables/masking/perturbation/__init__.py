"""Perturbation: values that may become false, so that none can be told to be true.

`Noise`, `RankSwap`, `Pram`, `Rounding`, `Resampling`, `ProbabilisticK` and `Shuffling` are methods
of a recipe; `unbiased_counts` estimates counts from a column after PRAM.
"""

from celosia.tables.masking.method import MaskingMethod
from celosia.tables.masking.perturbation.noise import Noise
from celosia.tables.masking.perturbation.pram import (
    Pram,
    invariant_matrix,
    make_invariant,
    plain_matrix,
    unbiased_counts,
)
from celosia.tables.masking.perturbation.probabilistic_k import ProbabilisticK
from celosia.tables.masking.perturbation.rank_swap import RankSwap
from celosia.tables.masking.perturbation.resampling import Resampling
from celosia.tables.masking.perturbation.rounding import Rounding
from celosia.tables.masking.perturbation.shuffling import Shuffling

METHODS: tuple[type[MaskingMethod], ...] = (
    Noise,
    Pram,
    ProbabilisticK,
    RankSwap,
    Resampling,
    Rounding,
    Shuffling,
)
"""The methods of this family, for the registry of recipes."""

__all__ = [
    "METHODS",
    "Noise",
    "Pram",
    "ProbabilisticK",
    "RankSwap",
    "Resampling",
    "Rounding",
    "Shuffling",
    "invariant_matrix",
    "make_invariant",
    "plain_matrix",
    "unbiased_counts",
]
