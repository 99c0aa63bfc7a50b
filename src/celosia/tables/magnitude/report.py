"""The report of a protected table, for the officer who answers for it."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core import report
from celosia.core.messages import joined, number, say
from celosia.tables.magnitude.audit import CellAudit
from celosia.tables.magnitude.protection import ProtectedTable

MOST_LISTED = 500
"""Beyond this number of suppressed cells the rest is only counted."""


def document(protected: ProtectedTable, audited: Sequence[CellAudit]) -> report.Document:
    """The whole report; it shows intervals of suppressed cells, so it must not be published."""
    facts = protected.as_dict()
    share = facts["published_share_of_value"]
    no_limit = say("tables.report.no_limit")
    minimal = say(
        "tables.report.proved_least" if protected.proved_minimal else "tables.report.by_heuristic"
    )
    blocks: list[report.Block] = [
        report.Notice(
            say("tables.report.magnitude_officer"),
            "warning",
        ),
        report.KeyFigures(
            [
                report.KeyFigure(
                    say("tables.report.cells"),
                    number(facts["cells"]),
                    say("tables.report.totals_included"),
                ),
                report.KeyFigure(
                    say("tables.report.unsafe"),
                    number(facts["primary"]),
                    say("tables.report.by_the_rules"),
                ),
                report.KeyFigure(
                    say("tables.report.suppressed_besides"), number(facts["secondary"]), minimal
                ),
                report.KeyFigure(
                    say("tables.report.value_published"),
                    say("tables.report.not_told") if share is None else number(share, ".1%"),
                    say("tables.report.inner_cells"),
                ),
            ]
        ),
        report.Heading(say("tables.report.rules")),
        report.Facts([(rule.method_name, str(rule)) for rule in protected.rules]),
        report.Heading(say("tables.report.computed_heading")),
        report.Paragraph(
            say(
                "tables.report.computed_all"
                if facts["insiders"] == "all"
                else "tables.report.computed_line"
            )
        ),
        report.Table(
            [
                *protected.table.by,
                say("tables.report.status"),
                say("tables.report.from"),
                say("tables.report.to"),
                say("tables.report.must_reach"),
                say("tables.report.to"),
                say("tables.report.holds_column"),
            ],
            [
                [
                    *each.cell,
                    _status(each),
                    number(each.low, ",.6g"),
                    no_limit if each.as_dict()["high"] is None else number(each.high, ",.6g"),
                    number(each.required_low, ",.6g"),
                    number(each.required_high, ",.6g"),
                    say("tables.report.yes" if each.holds else "tables.report.no"),
                ]
                for each in audited[:MOST_LISTED]
            ],
            caption=say("tables.report.suppressed_cells"),
        ),
    ]
    if len(audited) > MOST_LISTED:
        more = len(audited) - MOST_LISTED
        blocks.append(report.Paragraph(say("tables.report.more_cells", cells=more)))
    title = say(
        "tables.report.magnitude_title",
        value=protected.table.value,
        columns=joined("reports.joined.and", protected.table.by),
    )
    return report.Document(title, str(protected), blocks)


def _status(audited: CellAudit) -> str:
    unsafe = audited.status == "primary"
    return say("tables.report.primary" if unsafe else "tables.report.secondary")
