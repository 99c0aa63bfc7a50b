"""The report of a published log or of published sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.core.messages import Message, say, sentence
from celosia.core.release import Guarantee, Provenance
from celosia.core.release_report import (
    before_and_after,
    facts_block,
    made_blocks,
    promise_blocks,
)
from celosia.core.report import Block, Document, Heading, Notice, Paragraph, Table, table_section
from celosia.logs.account import LogAccount

REASONS = {
    "bad_encoding": Message("logs.reason.bad_encoding"),
    "no_access_log_line": Message("logs.reason.no_access_log_line"),
    "bad_request": Message("logs.reason.bad_request"),
    "bad_time": Message("logs.reason.bad_time"),
    "no_person": Message("logs.reason.no_person"),
    "no_text": Message("logs.reason.no_text"),
    "long_text": Message("logs.reason.long_text"),
    "empty_sets": Message("logs.reason.empty_sets"),
}
"""Why a line or a record is not used, in the order of the report."""

FACTS = {
    "agent_unread": "logs.fact.agent_unread",
    "ambiguous_queries": "logs.fact.ambiguous_queries",
    "chunks": "logs.fact.chunks",
    "clusters": "logs.fact.clusters",
    "concepts_after": "logs.fact.concepts_after",
    "groups": "logs.fact.groups",
    "ip_unread": "logs.fact.ip_unread",
    "items_after": "logs.fact.items_after",
    "items_before": "logs.fact.items_before",
    "items_suppressed": "logs.fact.items_suppressed",
    "kept_by_a_record_threshold_only": "logs.fact.kept_by_a_record_threshold_only",
    "ncp": "logs.fact.ncp",
    "nodes_with_several_parents": "logs.fact.nodes_with_several_parents",
    "occurrences_suppressed": "logs.fact.occurrences_suppressed",
    "queries_after": "logs.fact.queries_after",
    "queries_before": "logs.fact.queries_before",
    "queries_not_in_the_lexicon": "logs.fact.queries_not_in_the_lexicon",
    "queries_with_identifiers": "logs.fact.queries_with_identifiers",
    "records_kept": "logs.fact.records_kept",
    "referrer_unread": "logs.fact.referrer_unread",
    "share_of_records_kept": "logs.fact.share_of_records_kept",
    "share_suppressed": "logs.fact.share_suppressed",
    "shared_chunks": "logs.fact.shared_chunks",
    "smallest_group": "logs.fact.smallest_group",
    "terms": "logs.fact.terms",
    "times_unread": "logs.fact.times_unread",
    "url_unread": "logs.fact.url_unread",
}
"""The words for the facts of methods."""

UTILITY = {
    "records_kept": Message("logs.utility.records_kept"),
    "queries_kept": Message("logs.utility.queries_kept"),
    "items_kept": Message("logs.utility.items_kept"),
    "top_items_overlap": Message("logs.utility.top_items_overlap"),
    "pair_error": Message("logs.utility.pair_error"),
    "items_in_chunks": Message("logs.utility.items_in_chunks"),
}


def document(
    guarantee: Guarantee,
    provenance: Provenance,
    warnings: Sequence[str],
    methods: Sequence[tuple[str, Mapping[str, Any]]],
    account: LogAccount,
    *,
    left_out: Mapping[str, int],
    published: str,
) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = []
    if guarantee.simulation:
        blocks.append(Notice(str(guarantee), tone="simulation"))
    blocks += [Notice(str(warning), tone="warning") for warning in warnings]
    blocks += promise_blocks(guarantee)
    blocks += _checked(account)
    blocks += _methods(methods)
    blocks += _left_out(left_out)
    blocks += account_blocks(account)
    blocks += made_blocks(provenance)
    return Document(
        say("logs.report.title"), f"{sentence(guarantee.promise)} {sentence(published)}", blocks
    )


def account_blocks(account: LogAccount) -> list[Block]:
    """The risk and the use that are left."""
    return [*_risk(account), *_utility(account)]


def _checked(account: LogAccount) -> list[Block]:
    if account.violations is None:
        return []
    return [Paragraph(say("logs.report.checked"))]


def _methods(methods: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Block]:
    blocks: list[Block] = [
        Heading(say("logs.report.done")),
        Table(
            [say("logs.report.method"), say("logs.report.does")],
            [[name, Message(f"methods.{name}.summary").render()] for name, _ in methods],
            say("logs.report.in_order"),
        ),
    ]
    for name, facts in methods:
        blocks += facts_block(name, facts, FACTS)
    return blocks


def _left_out(left_out: Mapping[str, int]) -> list[Block]:
    rows = [
        [str(words), f"{left_out[name]:,}"] for name, words in REASONS.items() if left_out.get(name)
    ]
    return table_section(
        say("logs.report.left_out"),
        [say("logs.report.reason"), say("logs.report.count")],
        rows,
        say("logs.report.not_used"),
        numeric=(1,),
    )


def _risk(account: LogAccount) -> list[Block]:
    if not account.attacks:
        return []
    header = [say("logs.report.attack"), say("logs.report.before"), say("logs.report.after")]
    return [
        Heading(say("logs.report.risk")),
        *before_and_after(account.before, account.attacks, header, say("logs.report.exposed")),
    ]


def _utility(account: LogAccount) -> list[Block]:
    rows = [
        [str(words), f"{account.utility[name]:.2%}"]
        for name, words in UTILITY.items()
        if name in account.utility
    ]
    return table_section(
        say("logs.report.utility"),
        [say("logs.report.measure"), say("logs.report.value")],
        rows,
        say("logs.report.compared"),
        numeric=(1,),
    )
