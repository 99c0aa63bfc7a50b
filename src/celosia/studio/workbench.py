"""The state behind the pages of one piece of work, kept as JSON in a file of the work."""

from __future__ import annotations

from typing import Any

from celosia.core.errors import InputError
from celosia.studio.visitors import Work


class Workbench:
    """One piece of work: what was read, chosen and found, shared by all pages of a door."""

    def __init__(self, work: Work, name: str) -> None:
        """Load the state that the work keeps under a name.

        Raises:
            InputError: CEL-W076, nothing was read to the end.
        """
        self.work = work
        self._name = name
        self.state: dict[str, Any] = work.load(name) or {}
        if not self.state:
            raise InputError("CEL-W076")

    def save(self, **values: Any) -> None:
        """Keep some values; other values that another window has changed stay."""
        self.state = (self.work.load(self._name) or self.state) | values
        self.work.save(self._name, self.state)
