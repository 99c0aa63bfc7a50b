"""Models by name, and in the notation of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.core.methods import by_name, method_from_dict
from celosia.core.notation import method_from_text
from celosia.tables.models.alpha_k import AlphaK
from celosia.tables.models.average_risk import AverageRisk
from celosia.tables.models.beta_likeness import BetaLikeness
from celosia.tables.models.delta_disclosure import DeltaDisclosure
from celosia.tables.models.delta_presence import DeltaPresence
from celosia.tables.models.distinct_diversity import DistinctDiversity
from celosia.tables.models.entropy_diversity import EntropyDiversity
from celosia.tables.models.k_anonymity import KAnonymity
from celosia.tables.models.k_map import KMap
from celosia.tables.models.model import Model
from celosia.tables.models.p_sensitive import PSensitive
from celosia.tables.models.payoff import NoAttack, Profitable
from celosia.tables.models.population_uniqueness import PopulationUniqueness
from celosia.tables.models.recursive_diversity import RecursiveDiversity
from celosia.tables.models.t_closeness import TCloseness

MODELS: Mapping[str, type[Model]] = by_name(
    KAnonymity,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    TCloseness,
    KMap,
    DeltaPresence,
    AlphaK,
    PSensitive,
    BetaLikeness,
    DeltaDisclosure,
    AverageRisk,
    PopulationUniqueness,
    NoAttack,
    Profitable,
)
"""The models by their names."""


def model_from_text(text: str) -> Model:
    """A model of any kind, written as NAME:VALUE,...,KEY=VALUE,...

    >>> model_from_text("alpha-k:0.5,5,column=disease")
    AlphaK(alpha=0.5, k=5, column='disease')
    >>> model_from_text("k-map:5,0.1").promise()
    'estimated 5-map (sampling fraction 0.1, confidence 0.95)'

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return method_from_text(MODELS, text, what="model")


def diversity_from_text(text: str) -> Model:
    """An l-diversity model: `3` or `distinct:3`, `entropy:3`, `recursive:4,3`.

    >>> diversity_from_text("3"), diversity_from_text("recursive:4,3,column=job").promise()
    (DistinctDiversity(l=3, column=None), 'recursive (4, 3)-diversity of job')
    """
    name, colon, rest = text.partition(":") if isinstance(text, str) else ("", ":", "")
    full = f"{name.strip().lower()}-diversity"
    if full in MODELS:
        return model_from_text(f"{full}{colon}{rest}")
    return model_from_text(text if colon else f"distinct-diversity:{text}")


def closeness_from_text(text: str) -> Model:
    """A t-closeness model: `0.2`, `0.2,ordered` or `0.2,ordered,column=salary`.

    >>> closeness_from_text("0.2,ordered,column=salary")
    TCloseness(t=0.2, distance='ordered', column='salary')
    """
    return model_from_text(f"t-closeness:{text}")


def model_from_dict(description: Mapping[str, Any]) -> Model:
    """The model that an `as_dict()` describes.

    >>> model_from_dict({"method": "recursive-diversity", "c": 4, "l": 3})
    RecursiveDiversity(c=4.0, l=3, column=None)

    Raises:
        InputError: as `core.methods.method_from_dict` says.
    """
    return method_from_dict(MODELS, description, what="model")
