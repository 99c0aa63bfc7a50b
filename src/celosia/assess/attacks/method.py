"""The base of attacks on the classes of a release, with declared parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

from celosia.assess.attacks.result import Attack
from celosia.core.methods import Method


class ClassAttack(Method, ABC):
    """An attack that needs the release alone; a frozen dataclass with its parameters."""

    @abstractmethod
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
