"""How a release was made: parameters, versions, time, and the seed if there was one."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import distribution
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The facts needed to explain a release, and to make it again from the same input."""

    made_by: str
    """The public function that made the release."""
    parameters: dict[str, Any]
    """What it was called with, as plain values."""
    seed: int | None
    created: str
    versions: dict[str, str]

    @classmethod
    def now(
        cls, made_by: str, parameters: dict[str, Any], *, seed: int | None = None
    ) -> Provenance:
        """Provenance of a release made at this moment with the installed versions."""
        return cls(
            made_by=made_by,
            parameters=parameters,
            seed=seed,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            versions=dict(_versions()),
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


@cache  # a file that is searched for and read anew at every look
def installed_version(name: str) -> str:
    """The version of an installed package, as `importlib.metadata.version` tells it.

    That one parses a whole description as a mail to find one line of its head.

    Raises:
        PackageNotFoundError: it is not installed.
    """
    found = distribution(name)
    head, _, _ = (found.read_text("METADATA") or "").partition("\n\n")
    versions = [line[9:].strip() for line in head.splitlines() if line.startswith("Version: ")]
    return versions[0] if len(versions) == 1 else found.version


def _versions() -> tuple[tuple[str, str], ...]:
    return (
        ("celosia", installed_version("celosia")),
        ("python", platform.python_version()),
        ("numpy", installed_version("numpy")),
        ("polars", installed_version("polars")),
    )
