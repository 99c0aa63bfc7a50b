"""Models: what else must go, judged by the persons who share a term or by what a term tells.

`MODELS` lists them by the names that the command line uses.
"""

from celosia.texts.models.c_sanitised import CSanitised
from celosia.texts.models.k_safety import KSafety
from celosia.texts.models.model import ModelResult, RemainingTexts, Selected, TextModel
from celosia.texts.models.rare_terms import RareTerms
from celosia.texts.models.t_plausibility import TPlausibility

MODELS: dict[str, type[TextModel]] = {
    each.method_name: each for each in (RareTerms, KSafety, TPlausibility, CSanitised)
}

__all__ = [
    "MODELS",
    "CSanitised",
    "KSafety",
    "ModelResult",
    "RareTerms",
    "RemainingTexts",
    "Selected",
    "TPlausibility",
    "TextModel",
]
