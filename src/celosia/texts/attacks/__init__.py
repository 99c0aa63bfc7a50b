"""Attacks on published documents: each returns shares and counts, and no text."""

from celosia.texts.attacks.authorship import authorship
from celosia.texts.attacks.index_difference import index_difference
from celosia.texts.attacks.leak import leak
from celosia.texts.attacks.rare_terms import rare_terms
from celosia.texts.attacks.result import TextAttack

__all__ = ["TextAttack", "authorship", "index_difference", "leak", "rare_terms"]
