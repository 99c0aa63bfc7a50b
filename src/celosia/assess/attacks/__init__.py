"""Attacks on a release: who is exposed, and how confident the attacker is."""

from celosia.assess.attacks.background import WorstBackground, background, worst_background
from celosia.assess.attacks.compatibility import Meanings
from celosia.assess.attacks.complementary import complementary
from celosia.assess.attacks.homogeneity import Homogeneity, homogeneity
from celosia.assess.attacks.linkage import linkage
from celosia.assess.attacks.method import ClassAttack
from celosia.assess.attacks.minimality import minimality
from celosia.assess.attacks.order import tuple_order
from celosia.assess.attacks.posterior import (
    negative_disclosures,
    positive_disclosures,
    posterior,
)
from celosia.assess.attacks.result import Attack, Exposure
from celosia.assess.attacks.similarity import categories_of, near_numbers, similarity
from celosia.assess.attacks.skewness import Skewness, effective_values, skewness
from celosia.assess.attacks.summary import ATTACKS, attack_from_text, attack_release

__all__ = [
    "ATTACKS",
    "Attack",
    "ClassAttack",
    "Exposure",
    "Homogeneity",
    "Meanings",
    "Skewness",
    "WorstBackground",
    "attack_from_text",
    "attack_release",
    "background",
    "categories_of",
    "complementary",
    "effective_values",
    "homogeneity",
    "linkage",
    "minimality",
    "near_numbers",
    "negative_disclosures",
    "positive_disclosures",
    "posterior",
    "similarity",
    "skewness",
    "tuple_order",
    "worst_background",
]
