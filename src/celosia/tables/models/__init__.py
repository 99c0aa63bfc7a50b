"""Privacy models: one module per condition on equivalence classes."""

from celosia.tables.models.alpha_k import AlphaK
from celosia.tables.models.average_risk import AverageRisk
from celosia.tables.models.beta_likeness import BetaLikeness
from celosia.tables.models.classes import Classes, FullHistogram, Histogram, SensitiveColumn
from celosia.tables.models.delta_disclosure import DeltaDisclosure
from celosia.tables.models.delta_presence import DeltaPresence
from celosia.tables.models.distinct_diversity import DistinctDiversity
from celosia.tables.models.entropy_diversity import EntropyDiversity
from celosia.tables.models.k_anonymity import KAnonymity
from celosia.tables.models.k_map import KMap
from celosia.tables.models.model import Model, SensitiveModel, Verdict, all_or_none, judge_all
from celosia.tables.models.notation import (
    MODELS,
    closeness_from_text,
    diversity_from_text,
    model_from_dict,
    model_from_text,
)
from celosia.tables.models.p_sensitive import PSensitive
from celosia.tables.models.payoff import NoAttack, Profitable
from celosia.tables.models.population_uniqueness import PopulationUniqueness
from celosia.tables.models.recursive_diversity import RecursiveDiversity
from celosia.tables.models.t_closeness import TCloseness

__all__ = [
    "MODELS",
    "AlphaK",
    "AverageRisk",
    "BetaLikeness",
    "Classes",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctDiversity",
    "EntropyDiversity",
    "FullHistogram",
    "Histogram",
    "KAnonymity",
    "KMap",
    "Model",
    "NoAttack",
    "PSensitive",
    "PopulationUniqueness",
    "Profitable",
    "RecursiveDiversity",
    "SensitiveColumn",
    "SensitiveModel",
    "TCloseness",
    "Verdict",
    "all_or_none",
    "closeness_from_text",
    "diversity_from_text",
    "judge_all",
    "model_from_dict",
    "model_from_text",
]
