"""Choosing the best candidate, or the best few, by a private score."""

from celosia.mechanisms.selection.exponential import Exponential
from celosia.mechanisms.selection.noisy_max import NoisyMax
from celosia.mechanisms.selection.permute_and_flip import PermuteAndFlip
from celosia.mechanisms.selection.top_selection import TopSelection

__all__ = ["Exponential", "NoisyMax", "PermuteAndFlip", "TopSelection"]
