"""The budget of a piece of work: its boxes, and what is left of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from celosia.studio.language import _, short
from celosia.studio.widgets.text import quiet


def budget_boxes(
    wanted: Mapping[str, Any], put: Callable[[str, Any], None], *, begun: bool
) -> None:
    """What all releases may cost together: fixed once the first was made."""
    for name, label in (
        ("budget", _("Budget: epsilon of all releases together")),
        ("budget_delta", _("Budget: delta of all releases together")),
    ):
        box = ui.number(
            label,
            value=wanted[name],
            min=0,
            on_change=lambda event, name=name: put(name, event.value),
        ).props(f'data-test="private-{name.replace("_", "-")}" debounce=400')
        box.classes("w-full")
        if begun:
            box.disable()


def show_left(left: Mapping[str, float]) -> None:
    """What is left of the budget."""
    quiet(
        "Left of the budget: epsilon {epsilon}, delta {delta}.",
        epsilon=short(left["epsilon"]),
        delta=short(left["delta"]),
    )
