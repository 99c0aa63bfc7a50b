"""The budget of a piece of work: its boxes, and what is left of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from celosia.studio.language import _, short
from celosia.studio.widgets.text import quiet

Put = Callable[[str, Any], None]
"""Keeps a number by its name."""


def price_boxes(labels: Mapping[str, str], wanted: Mapping[str, Any], put: Put) -> list[ui.number]:
    """Boxes for the numbers of a private release, by their names."""
    return [
        ui.number(
            label,
            value=wanted[name],
            min=0,
            on_change=lambda event, name=name: put(name, event.value),
        )
        .props(f'data-test="private-{name.replace("_", "-")}" debounce=400')
        .classes("w-full")
        for name, label in labels.items()
    ]


def budget_boxes(wanted: Mapping[str, Any], put: Put, *, begun: bool) -> None:
    """What all releases may cost together: fixed once the first was made.

    Releases that cost no delta have no box for it.
    """
    labels = {
        "budget": _("Budget: epsilon of all releases together"),
        "budget_delta": _("Budget: delta of all releases together"),
    }
    asked = {name: label for name, label in labels.items() if name in wanted}
    for box in price_boxes(asked, wanted, put):
        if begun:
            box.disable()


def show_left(left: Mapping[str, float]) -> None:
    """What is left of the budget."""
    quiet(
        "Left of the budget: epsilon {epsilon}, delta {delta}.",
        epsilon=short(left["epsilon"]),
        delta=short(left["delta"]),
    )
