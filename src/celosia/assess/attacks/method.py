"""The base of attacks on the classes of a release, with declared parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

from celosia.assess.attacks.classes import SensitiveView
from celosia.assess.attacks.result import Attack
from celosia.core.methods import Method, Parameter

CERTAINTY = Parameter(name="certainty", kind="number", above=0, most=1, default=1.0)
"""The share of a class from which it counts as exposed: 1 for what is certain."""

LEFT = Parameter(name="left", kind="whole", least=1, default=1)
"""How many values may remain for a class to count as exposed."""

WIDTH = Parameter(name="width", kind="number", least=0)
"""The difference up to which two numbers tell the same."""

CAP = Parameter(name="cap", kind="whole", least=0, default=20_000)
"""Up to so many ways are tried one by one."""

SAMPLES = Parameter(name="samples", kind="whole", least=1, default=2_000)
"""How many ways are drawn above the cap."""


class ClassAttack(Method, ABC):
    """An attack that needs the release alone; a frozen dataclass with its parameters."""

    def run(
        self,
        release: Any,
        quasi_identifiers: str | Sequence[str],
        sensitive: str,
        *,
        watched: Collection[str] | None = None,
    ) -> Attack:
        """Attack a sensitive column.

        Args:
            release: the table as published.
            quasi_identifiers: what the attacker knows of people.
            sensitive: the column that the attacker wants to learn.
            watched: the values that matter; all of them if not given.
        """
        return self.on(SensitiveView.of(release, quasi_identifiers, sensitive), watched)

    def on(self, view: SensitiveView, watched: Collection[str] | None = None) -> Attack:
        """As `run`, of a view that several attacks share."""
        return self._on(view, watched)

    @abstractmethod
    def _on(self, view: SensitiveView, watched: Collection[str] | None) -> Attack:
        """What `run` does, attack by attack."""
