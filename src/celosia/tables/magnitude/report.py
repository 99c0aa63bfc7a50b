"""The report of a protected table, for the officer who answers for it."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.report import (
    Block,
    Document,
    Facts,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Paragraph,
    Table,
)
from celosia.tables.magnitude.audit import CellAudit
from celosia.tables.magnitude.protection import ProtectedTable

MOST_LISTED = 500
"""Beyond this number of suppressed cells the rest is only counted."""


def document(protected: ProtectedTable, audited: Sequence[CellAudit]) -> Document:
    """The whole report; it shows intervals of suppressed cells, so it must not be published."""
    facts = protected.as_dict()
    share = facts["published_share_of_value"]
    minimal = "proved to be the least" if protected.proved_minimal else "found by a heuristic"
    blocks: list[Block] = [
        Notice(
            "For the data officer. The intervals below tell suppressed cells more closely than "
            "the published table does: do not publish this page.",
            "warning",
        ),
        KeyFigures(
            [
                KeyFigure("Cells", f"{facts['cells']:,}", "totals included"),
                KeyFigure("Unsafe", f"{facts['primary']:,}", "by the rules"),
                KeyFigure("Suppressed besides", f"{facts['secondary']:,}", minimal),
                KeyFigure(
                    "Value published",
                    "not told" if share is None else f"{share:.1%}",
                    "of the sum over inner cells",
                ),
            ]
        ),
        Heading("The rules"),
        Facts([(rule.kind, str(rule)) for rule in protected.rules]),
        Heading("What can be computed of suppressed cells"),
        Paragraph(
            "For each suppressed cell, the least and the greatest value that fit the published "
            "cells and totals, no cell being negative. An unsafe cell holds if this reaches as far "
            "below and above its value as its rules ask for, also to a contributor who is alone in "
            "another cell" + ("." if facts["insiders"] == "all" else " of the same line.")
        ),
        Table(
            [*protected.table.by, "status", "from", "to", "must reach from", "to", "holds"],
            [
                [
                    *each.cell,
                    each.status,
                    f"{each.low:,.6g}",
                    "no limit" if each.as_dict()["high"] is None else f"{each.high:,.6g}",
                    f"{each.required_low:,.6g}",
                    f"{each.required_high:,.6g}",
                    "yes" if each.holds else "no",
                ]
                for each in audited[:MOST_LISTED]
            ],
            caption="Suppressed cells",
        ),
    ]
    if len(audited) > MOST_LISTED:
        blocks.append(Paragraph(f"{len(audited) - MOST_LISTED:,} more cells are not listed."))
    return Document(
        f"{protected.table.value} by {' and '.join(protected.table.by)}", str(protected), blocks
    )
