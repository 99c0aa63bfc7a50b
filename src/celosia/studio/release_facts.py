"""What a release says of itself, as plain values and files that pages show and hand out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from celosia.core.release import Guarantee


class SavedRelease(Protocol):
    """A release of any door."""

    def save(self, path: Path, /) -> Path:
        """Write the data, and its certificate beside it."""

    def report(self, path: Path, /) -> object:
        """Write the report."""


def guarantee_facts(guarantee: Guarantee) -> dict[str, Any]:
    """What is promised, as `widgets.method_form.promise` shows it."""
    return {
        "guarantee": {
            "promise": guarantee.promise,
            "protects": guarantee.protects,
            "leaves_open": list(guarantee.leaves_open),
        },
        "simulation": guarantee.simulation,
    }


def write_release(release: SavedRelease, data: Path, *, prefix: str = "") -> None:
    """The data, and beside it its certificate and its report under names of ours."""
    saved = release.save(data)
    certificate = saved.with_name(f"{saved.name}.cert.json")
    certificate.replace(data.with_name(f"{prefix}certificate.json"))
    release.report(data.with_name(f"{prefix}report.html"))
