"""Detectors: text map, patterns, lists, structure, known facts, an optional engine, propagation.

`find` runs them in order over a collection and merges what they say; the order and the reasons are
in `detection/run.py`.
"""

from celosia.texts.detection.engines import Engine, PresidioEngine, SpacyEngine
from celosia.texts.detection.facts import Facts
from celosia.texts.detection.run import FoundTexts, find

__all__ = ["Engine", "Facts", "FoundTexts", "PresidioEngine", "SpacyEngine", "find"]
