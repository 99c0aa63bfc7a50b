"""The report of published documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.messages import say, sentence
from celosia.core.release_report import made_blocks, plain, promise_blocks
from celosia.core.report import (
    Block,
    Document,
    Facts,
    Heading,
    Notice,
    Paragraph,
    Table,
    table_section,
)
from celosia.texts.labels import KIND_LABELS, LEFT_OUT_LABELS, ROLE_LABELS

if TYPE_CHECKING:
    from celosia.texts.release import TextRelease


def document(release: TextRelease) -> Document:
    """The whole report, as blocks; it holds counts and no text of a document."""
    guarantee = release.guarantee
    blocks: list[Block] = []
    if guarantee.simulation:
        blocks.append(Notice(str(guarantee), tone="simulation"))
    blocks += [Notice(str(warning), tone="warning") for warning in release.warnings]
    blocks += promise_blocks(guarantee)
    blocks += _found(release)
    blocks += _models(release)
    blocks += _left_out(release)
    blocks += _verification(release)
    blocks += made_blocks(release.provenance)
    account = release.account
    counted = say("texts.report.counted", documents=account.documents, persons=account.persons)
    return Document(say("texts.report.title"), f"{sentence(guarantee.promise)} {counted}", blocks)


def _found(release: TextRelease) -> list[Block]:
    account = release.account
    rows = [
        [
            str(KIND_LABELS[kind]),
            str(ROLE_LABELS[role]),
            f"{count:,}",
            f"{entities:,}",
            release.actions.get(kind, ""),
        ]
        for kind, role, count, entities in account.rows()
    ]
    return [
        Heading(say("texts.report.found")),
        Table(
            [
                say("texts.report.kind"),
                say("texts.report.role"),
                say("texts.report.findings"),
                say("texts.report.entities"),
                say("texts.report.action"),
            ],
            rows,
            say("texts.report.found_caption"),
            numeric=(2, 3),
        ),
        Facts(
            [
                (say("texts.report.untouched"), f"{account.share_untouched:.1%}"),
                (say("texts.report.to_review"), f"{account.to_review:,}"),
                (say("texts.report.kept"), f"{sum(account.kept.values()):,}"),
            ]
        ),
    ]


def _models(release: TextRelease) -> list[Block]:
    rows = [
        [
            each.model,
            ", ".join(
                f"{name.replace('_', ' ')}: {plain(value)}" for name, value in each.facts.items()
            ),
        ]
        for each in release.models
    ]
    return table_section(
        say("texts.report.models"),
        [say("texts.report.model"), say("texts.report.facts")],
        rows,
        say("texts.report.models_caption"),
    )


def _left_out(release: TextRelease) -> list[Block]:
    rows = [[str(LEFT_OUT_LABELS[what]), f"{count:,}"] for what, count in release.left_out.items()]
    return table_section(
        say("texts.report.left_out"),
        [say("texts.report.what"), say("texts.report.count")],
        rows,
        say("texts.report.left_out_caption"),
        numeric=(1,),
    )


def _verification(release: TextRelease) -> list[Block]:
    facts = release.verification
    if not facts:
        return []
    return [
        Heading(say("texts.report.verified")),
        Paragraph(say("texts.report.verified_words", files=facts["files"], texts=facts["texts"])),
    ]
