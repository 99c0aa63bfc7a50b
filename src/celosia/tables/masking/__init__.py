"""Masking: noise, microaggregation, swapping, PRAM, rounding, coding, suppression, recipes.

A recipe lists methods and their columns; `mask` applies them one after the other to a table in
memory, `mask_on` to batches of rows on an engine, and `mask_stream` to records as they arrive. The
release carries what each step promises, and the risk and utility measured against the original.
"""

from celosia.tables.masking.coding import Recoding, Sampling, TopBottom
from celosia.tables.masking.method import MaskingMethod, MethodResult, Reach
from celosia.tables.masking.microaggregation import (
    Mdav,
    Microaggregation,
    PrincipalComponent,
    RefinedMdav,
    VariableMdav,
)
from celosia.tables.masking.perturbation import (
    Noise,
    Pram,
    ProbabilisticK,
    RankSwap,
    Resampling,
    Rounding,
    Shuffling,
    unbiased_counts,
)
from celosia.tables.masking.recipe import Recipe, RecipeStep, method_from, method_from_text, methods
from celosia.tables.masking.release import EngineMaskedTable, MaskedTable, StepOutcome
from celosia.tables.masking.risk_utility_map import map_methods, variants
from celosia.tables.masking.run import mask
from celosia.tables.masking.run_on_engine import mask_on
from celosia.tables.masking.stream import StreamMasker, StreamOptions, mask_stream
from celosia.tables.masking.suppression import LocalSuppression

__all__ = [
    "EngineMaskedTable",
    "LocalSuppression",
    "MaskedTable",
    "MaskingMethod",
    "Mdav",
    "MethodResult",
    "Microaggregation",
    "Noise",
    "Pram",
    "PrincipalComponent",
    "ProbabilisticK",
    "RankSwap",
    "Reach",
    "Recipe",
    "RecipeStep",
    "Recoding",
    "RefinedMdav",
    "Resampling",
    "Rounding",
    "Sampling",
    "Shuffling",
    "StepOutcome",
    "StreamMasker",
    "StreamOptions",
    "TopBottom",
    "VariableMdav",
    "map_methods",
    "mask",
    "mask_on",
    "mask_stream",
    "method_from",
    "method_from_text",
    "methods",
    "unbiased_counts",
    "variants",
]
