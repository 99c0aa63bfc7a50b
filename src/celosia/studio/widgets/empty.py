"""Drawings for places that have nothing to show yet, in the colours of the page."""

from __future__ import annotations

from typing import Literal

from nicegui import ui

EmptyPlace = Literal["release", "ledger", "comparison", "jobs"]

_TABLE = (
    '<rect class="frame" x="14" y="12" width="68" height="52" rx="4"/>'
    '<path class="line" d="M14 26h68M14 39h68M14 52h68M37 12v52M60 12v52"/>'
)
DRAWINGS: dict[EmptyPlace, str] = {
    # A table whose cells are empty, and the shield that it will have.
    "release": _TABLE
    + '<path class="mark" d="M76 38l14 5v10c0 9-6 14-14 17-8-3-14-8-14-17V43z"/>'
    + '<path class="tick" d="M70 54l5 5 9-10"/>',
    # A book with lines to be written, and the coins that are still there.
    "ledger": '<rect class="frame" x="14" y="8" width="44" height="58" rx="4"/>'
    '<path class="line" d="M22 20h28M22 30h28M22 40h28M22 50h18"/>'
    '<ellipse class="mark" cx="76" cy="60" rx="15" ry="5"/>'
    '<path class="mark" d="M61 40v20M91 40v20M61 50c0 7 30 7 30 0"/>'
    '<ellipse class="mark" cx="76" cy="40" rx="15" ry="5"/>',
    # Two bars beside each other that have no height yet.
    "comparison": '<path class="frame" d="M14 6v58h72"/>'
    '<rect class="line" x="26" y="22" width="18" height="42"/>'
    '<rect class="mark" x="54" y="36" width="18" height="28" stroke-dasharray="4 3"/>',
    # Places in a queue.
    "jobs": '<path class="line" d="M8 38h84"/><circle class="mark" cx="20" cy="38" r="9"/>'
    '<circle class="frame" cx="50" cy="38" r="9" stroke-dasharray="4 3"/>'
    '<circle class="frame" cx="80" cy="38" r="9" stroke-dasharray="4 3"/>',
}
"""Each in a box of 100 x 76."""


def draw_empty(place: EmptyPlace) -> None:
    """A small drawing above the words that say what is missing; it says nothing more itself."""
    drawing = f'<svg viewBox="0 0 100 76" aria-hidden="true">{DRAWINGS[place]}</svg>'
    ui.html(drawing, sanitize=False).classes("celosia-empty").props(f'data-test="empty-{place}"')
