"""The base of attacks by name: what the attacker knows or does, as declared parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from celosia.core.methods import Method
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.traces.attacks.result import TraceAttack
from celosia.traces.points import Traces
from celosia.traces.samples import Samples


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackedTraces:
    """The original, and the samples of the release that is attacked."""

    original: Traces
    release: Samples | None = None
    """None for the original itself under numbers in place of names."""
    period: str = "whole"
    """How long a pseudonym of the release lasts."""


class TraceAttackMethod(Method, ABC):
    """An attack; a frozen dataclass whose fields are its parameters."""

    @abstractmethod
    def run(
        self, attacked: AttackedTraces, *, rng: Source, progress: Progress = silent
    ) -> TraceAttack:
        """Attack a release."""
