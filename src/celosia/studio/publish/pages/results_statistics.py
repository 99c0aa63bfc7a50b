"""The statistics of the numeric columns, before and after, as one would write them in a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.core.messages import render
from celosia.studio.language import Words, _, n_, number, percent, short
from celosia.studio.publish.pages.results_parts import Results, not_computed
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, quiet
from celosia.tables.account import STATISTICS

LIMITS = {name: STATISTICS[name] for name in ("mean_lower", "mean_upper")}
"""What only intervals have."""
NOUGHT = 1e-9
"""What is smaller than this comes from rounding."""


def show(found: Results) -> None:
    """A table for each column of numbers."""
    heading("Statistics of the numeric columns", 2)
    listed = found.facts["statistics"]
    not_computed(found)
    if not listed:
        lead(
            "No column of numbers is released as numbers or intervals, so there is nothing to "
            "average. Give such a column a hierarchy of intervals to keep it countable."
        )
        return
    lead(
        "An interval of the release counts as its midpoint; its limits count for minimum, "
        "maximum and range. Suppressed and empty cells count only where that is said."
    )
    for entry in listed:
        heading(entry["column"], 3)
        if not entry["generalised"]:
            quiet("Released unchanged.")
        before, after = entry["before"], entry["after"]
        show_table(
            [_("statistic"), _("before"), _("after"), _("change")],
            [
                [
                    name,
                    _value(key, before[key]),
                    _value(key, after[key]),
                    _change(key, before, after),
                ]
                for key, name in _NAMES.items()
            ]
            + [
                [render(title), "", _value(key, found.facts["intervals"][entry["column"]][key]), ""]
                for key, title in LIMITS.items()
                if entry["column"] in found.facts.get("intervals", {})
            ],
        )
        left = after["cells"] - after["count"]
        quiet(
            n_(
                "{count} cell of the release holds no number (* or empty).",
                "{count} cells of the release hold no number (* or empty).",
                left,
            )
        )
    with ui.expansion(_("What each of them is")).classes("w-full"):
        show_table([_("statistic"), _("meaning")], [list(each) for each in _meanings()])


_NAMES = Words(
    {
        "count": "count",
        "mean": "mean",
        "median": "median",
        "mode": "mode",
        "mode_count": "count of the mode",
        "standard_deviation": "standard deviation",
        "variance": "variance",
        "skewness": "skewness",
        "kurtosis": "kurtosis (excess)",
        "minimum": "minimum",
        "maximum": "maximum",
        "range": "range (maximum less minimum)",
        "first_quartile": "first quartile",
        "third_quartile": "third quartile",
        "geometric_mean": "geometric mean",
        "harmonic_mean": "harmonic mean",
        "entropy": "entropy, bits",
    }
)


def _value(key: str, value: Any) -> str:
    if value is None:
        return "\N{EN DASH}"
    if key == "mode":
        return _label(str(value))
    if key in ("count", "mode_count"):
        return number(value)
    # Twelve digits: the rest comes from the order in which things were added up.
    return short(0.0 if abs(value) < NOUGHT else float(f"{value:.12g}"))


def _label(text: str) -> str:
    """A label of the column: a number as the language writes it, an interval as it is."""
    try:
        return short(float(text))
    except ValueError:
        return text


def _change(key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """How much a statistic moved, as a share of what it was."""
    old, new = before[key], after[key]
    if key == "mode" or old is None or new is None:
        return ""
    if abs(old) < NOUGHT:
        return _("none") if abs(new) < NOUGHT else ""
    change = round((new - old) / abs(old), 3) + 0.0  # no minus before a nought
    if change == 0 and new != old:
        return _("below 0.1 %") if abs(new - old) > NOUGHT * abs(old) else percent(0)
    return f"{'+' if change > 0 else ''}{percent(change)}"


def _meanings() -> list[tuple[str, str]]:
    return [
        (_("count"), _("cells that hold a number or an interval")),
        (_("median"), _("half of the numbers lie below it, half above")),
        (_("mode"), _("the most frequent label, * included")),
        (_("variance"), _("mean square of the distance to the mean, with n - 1")),
        (_("skewness"), _("above 0 where the long tail is on the right; 0 is even")),
        (_("kurtosis (excess)"), _("above 0 where tails are heavier than a normal curve's")),
        (_("first quartile"), _("a quarter of the numbers lie below it")),
        (_("third quartile"), _("a quarter of the numbers lie above it")),
        (_("geometric mean"), _("the n-th root of the product; only of numbers above 0")),
        (_("harmonic mean"), _("for rates; only of numbers above 0")),
        (_("entropy, bits"), _("yes-or-no questions needed to name a label, on average")),
    ]
