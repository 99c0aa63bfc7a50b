"""What a release says of itself, as plain values and files that pages show and hand out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol

from celosia.core import report
from celosia.core.figures.svg import Svg
from celosia.core.files import replacing
from celosia.core.messages import Message, current, speaking
from celosia.core.release import Guarantee
from celosia.core.report import Document
from celosia.studio import stored_json
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

REPORT_VALUE = ".document.json"
"""The end of the name of a report that is kept as a value, to be written as PDF on demand."""
_PARTS: dict[str, type[Any]] = {
    each.__name__: each
    for each in (
        report.Document,
        report.Heading,
        report.Paragraph,
        report.KeyFigure,
        report.KeyFigures,
        report.Table,
        report.Figure,
        report.Notice,
        report.Facts,
        report.Details,
        Svg,
    )
}
_PART = "part"


class SavedRelease(Protocol):
    """A release of any door."""

    def save(self, path: Path, /) -> Path:
        """Write the data, and its certificate beside it."""

    def document_of(self, data: Path, /) -> Document:
        """The report of the release that was saved there."""


class PrivateRelease(SavedRelease, Protocol):
    """A release that says what it promises."""

    @property
    def guarantee(self) -> Guarantee:
        """The promise."""


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


def save_private(work: Work, release: PrivateRelease, name: str, **facts: object) -> dict[str, Any]:
    """Write a private release, and keep what its page shows of it under the same name."""
    write_release(release, work.path(f"{name}.csv"), prefix=f"{name}-")
    result = guarantee_facts(release.guarantee) | facts
    work.save(name, result)
    return result


def write_report(document: Document, path: Path) -> None:
    """The report as HTML, and beside it what is needed to write it as PDF.

    To write the PDF takes longer than most jobs, and few want it: see `on_demand`.
    """
    path.with_suffix(".pdf").unlink(missing_ok=True)  # of another report
    document.write(path)
    with replacing(path.with_suffix(REPORT_VALUE)) as draft:
        kept = {"language": current(), "document": packed(document)}
        draft.write_text(stored_json.dumps(kept), "utf-8")


def write_pdf(progress: JobProgress, *, folder: str, name: str) -> None:
    """Write the PDF of a report that is kept, in the language that it was written in."""
    path = Path(folder) / name
    kept = stored_json.loads(path.with_suffix(REPORT_VALUE).read_text("utf-8"))
    with speaking(kept["language"]):
        unpacked(kept["document"]).write(path)


def packed(value: Any) -> Any:
    """A report, or a part of one, as values that `stored_json` keeps.

    >>> packed(report.Heading("Risk"))
    {'part': 'Heading', 'text': 'Risk', 'level': 2}
    """
    if isinstance(value, str | Message):
        return value
    if is_dataclass(value):
        parts = {each.name: packed(getattr(value, each.name)) for each in fields(value)}
        return {_PART: type(value).__name__} | parts
    if isinstance(value, Sequence):
        return [packed(each) for each in value]
    # A number of another kind is shown as its text, too.
    return value if value is None or isinstance(value, int | float) else str(value)


def unpacked(value: Any) -> Any:
    """The inverse of `packed`.

    >>> unpacked(packed(report.Facts([("k", "5")])))
    Facts(items=[['k', '5']])
    """
    if isinstance(value, dict):
        given = {name: unpacked(each) for name, each in value.items() if name != _PART}
        return _PARTS[value[_PART]](**given)
    return [unpacked(each) for each in value] if isinstance(value, list) else value
