"""How the tests call the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

MARK = "planted-7391"
"""A cell value that no message may repeat."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    def envelope(self) -> dict[str, Any]:
        """Standard output, which must be one JSON object and nothing else."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    def data(self) -> Any:
        """The result of a command that went well."""
        assert self.code == 0, self.err
        assert self.envelope()["ok"] is True
        return self.envelope()["data"]

    def complains(self, code: str, exit_code: int = 2) -> None:
        """Nothing but an error with a code, no traceback and no cell value."""
        said = self.out + self.err
        assert self.code == exit_code, said
        assert self.out == ""
        assert self.err.startswith(f"{code} "), said
        assert "Traceback" not in said
        assert MARK not in said


class Run(Protocol):
    """Calls `celosia` with these arguments."""

    def __call__(self, *arguments: object) -> Result: ...
