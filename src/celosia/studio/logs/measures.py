"""What a release of a log or of baskets is measured by, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.core.messages import Message, render
from celosia.studio.language import _, percent
from celosia.studio.widgets.meanings import formula_drawer
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading


def show_left_out(counts: Mapping[str, int]) -> None:
    """Lines and records that could not be used."""
    from celosia.logs.report import REASONS

    if counts:
        show_table(
            [_("reason"), _("records")],
            [[render(REASONS[name]), count] for name, count in counts.items()],
            caption=_("Lines and records that cannot be used"),
        )


def show_attacks(found: list[dict[str, Any]]) -> None:
    """Who is found before and after."""
    if not found:
        return
    heading("Persons singled out")
    show_table(
        [_("attack"), _("found before"), _("found after")],
        [[render(each["name"]), percent(each["before"]), percent(each["after"])] for each in found],
        caption=_("Before means the original with names removed."),
    )


def show_facts(result: Mapping[str, Any]) -> None:
    """What was done, and what use is left."""
    from celosia.logs.report import FACTS, UTILITY

    heading("What was done")
    rows: list[list[Any]] = [
        [render(Message(FACTS[name])), value]
        for name, value in result["facts"].items()
        if isinstance(value, int) and name not in result["utility"]  # shares come below
    ]
    rows += [[render(UTILITY[name]), percent(value)] for name, value in result["utility"].items()]
    show_table([_("what"), _("value")], rows)
    shown = [(render(UTILITY[name]), FORMULAS[name]) for name in result["utility"]]
    if shown:
        formula_drawer(
            _(
                "n records, q different queries and o occurrences of items, c of them in record "
                "chunks; s the number of records with an item, or with one of the m most frequent "
                "pairs; T the most frequent items; a prime marks the release."
            ),
            shown,
        )


FORMULAS = {
    "records_kept": r"\frac{n'}{n}",
    "queries_kept": r"\frac{q'}{q}",
    "items_kept": r"\frac{1}{o} \sum_{i} \min(s_i, s_i')",
    "top_items_overlap": r"\frac{|T \cap T'|}{|T|}",
    "pair_error": r"\frac{1}{m} \sum_{j=1}^{m} \frac{|s_j' - s_j|}{s_j}",
    "items_in_chunks": r"\frac{c}{o}",
}
"""Of what use is left."""
