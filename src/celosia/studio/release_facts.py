"""What a release says of itself, as plain values and files that pages show and hand out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from celosia.core.release import Guarantee
from celosia.core.report import Document


class SavedRelease(Protocol):
    """A release of any door."""

    def save(self, path: Path, /) -> Path:
        """Write the data, and its certificate beside it."""

    def document_of(self, data: Path, /) -> Document:
        """The report of the release that was saved there."""


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
    """The data, and beside it its certificate and its report, under names of ours."""
    saved = release.save(data)
    write_report(release.document_of(saved), data.with_name(f"{prefix}report.html"))
    certificate = saved.with_name(f"{saved.name}.cert.json")
    certificate.replace(data.with_name(f"{prefix}certificate.json"))


def write_report(document: Document, path: Path) -> None:
    """The report as HTML, and as PDF beside it."""
    for ending in (".html", ".pdf"):
        document.write(path.with_suffix(ending))
