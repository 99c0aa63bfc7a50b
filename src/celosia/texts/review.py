"""Findings as a file: places and kinds without text, with a decision for each.

The file can be kept, edited and applied again. It says which version of each text it is about:
findings of another version are refused, since their places would be other words.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from celosia.assess.recognisers import KINDS
from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.texts.detection.run import FoundTexts
from celosia.texts.documents import Collection, Finding, Span
from celosia.texts.options import TextDeclaration
from celosia.texts.readers import ReadResult

COLUMNS = ("document", "version", "start", "length", "kind", "group", "score", "by", "decision")
TEXT = "text"
DECISIONS = ("", "replace", "keep")
"""What may be decided: nothing (it is replaced), replace, or no identifier at all."""


def findings_table(found: FoundTexts, *, with_text: bool = False) -> str:
    """Findings as CSV."""
    made = io.StringIO(newline="")
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow([*COLUMNS, *([TEXT] if with_text else [])])
    digests = [document.digest() for document in found.collection]
    for each in found.findings:
        span = each.span
        text = found.collection.documents[span.document].text[span.start : span.end]
        writer.writerow(
            [
                span.document,
                digests[span.document],
                span.start,
                span.length,
                each.kind,
                each.group,
                each.score,
                "+".join(each.by),
                "",
                *([text] if with_text else []),
            ]
        )
    return made.getvalue()


def write_findings(
    found: FoundTexts, path: str | Path, *, with_text: bool = False, overwrite: bool = False
) -> Path:
    """Write findings as CSV; with their texts, the file is as private as the documents."""
    file = Path(path)
    with replacing(file, overwrite=overwrite) as draft:
        draft.write_text(findings_table(found, with_text=with_text), "utf-8")
    if with_text:
        file.chmod(0o600)
    return file


def read_findings(
    data: ReadResult | Collection,
    path: str | Path,
    *,
    declaration: TextDeclaration | None = None,
) -> FoundTexts:
    """The findings of a file with its decisions, for documents that have not changed since.

    Raises:
        InputError: CEL-N025 the file cannot be read, is about other texts, or has places that
            overlap or lie outside of the text.
    """
    source = data if isinstance(data, ReadResult) else ReadResult(data, (), TextDeclaration())
    collection, declaration = source.collection, declaration or source.declaration
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, ValueError, csv.Error):
        raise InputError("CEL-N025.file", path=path) from None
    findings = sorted(_findings(rows, collection), key=lambda each: each.span)
    _check_overlaps(findings)
    return FoundTexts(collection, tuple(findings), declaration, source.files, source.left_out)


def _findings(rows: list[dict[str, str]], collection: Collection) -> Iterator[Finding]:
    digests = [document.digest() for document in collection]
    for number, row in enumerate(rows, 2):
        try:
            span = Span(int(row["document"]), int(row["start"]), int(row["length"]))
            made = Finding(
                span,
                row["kind"],
                int(row["group"] or 0),
                float(row["score"] or 1),
                tuple(row["by"].split("+")),
            )
            decision = (row["decision"] or "").strip().lower()
        except (KeyError, TypeError, ValueError):
            raise InputError("CEL-N025.row", row=number) from None
        if made.kind not in KINDS or decision not in DECISIONS:
            raise InputError("CEL-N025.row", row=number)
        if not 0 <= span.document < len(collection):
            raise InputError("CEL-N025.version", row=number)
        if row.get("version") != digests[span.document]:
            raise InputError("CEL-N025.version", row=number)
        if (
            span.start < 0
            or span.length < 1
            or span.end > len(collection.documents[span.document].text)
        ):
            raise InputError("CEL-N025.outside", row=number)
        if decision == "replace":
            made = made._replace(score=1.0)
        if decision != "keep":
            yield made


def _check_overlaps(findings: list[Finding]) -> None:
    for number, (first, second) in enumerate(pairwise(findings), 2):
        same = first.span.document == second.span.document
        if same and second.span.start < first.span.end:
            raise InputError("CEL-N025.overlap", row=number)
