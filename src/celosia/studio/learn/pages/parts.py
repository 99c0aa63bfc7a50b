"""Parts of the pages of Learn: tables, bars and networks; the stepper; the live controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from nicegui import ui

from celosia.studio.language import _, number
from celosia.studio.learn.parts import (
    Bars,
    Control,
    Network,
    Part,
    Story,
    Table,
    Tree,
    Vertex,
    View,
)
from celosia.studio.widgets.chart import bars
from celosia.studio.widgets.table import key_figures, show_table
from celosia.studio.widgets.text import heading

WIDTH, HEIGHT, MARGIN = 480, 320, 40


def network_svg(network: Network) -> str:
    """The drawing; what came is thick, what went is dashed, so that colour is never alone.

    >>> "<svg" in network_svg(Network(vertices=(), kept=(), description="nobody"))
    True
    """
    lines = [
        *(_line(network, pair, "kept") for pair in network.kept),
        *(_line(network, pair, "removed") for pair in network.removed),
        *(_line(network, pair, "added") for pair in network.added),
    ]
    points = [_point(vertex) for vertex in network.vertices]
    text = escape(network.description)
    return (
        f'<svg class="celosia-network" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{text}"><title>{text}</title>{"".join(lines)}{"".join(points)}</svg>'
    )


def _place(vertex: Vertex) -> tuple[float, float]:
    across, down = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    return round(MARGIN + vertex.x * across, 1), round(MARGIN + vertex.y * down, 1)


def _line(network: Network, pair: tuple[int, int], kind: str) -> str:
    (x1, y1), (x2, y2) = (_place(network.vertices[end]) for end in pair)
    faded = kind == "kept" and any(network.vertices[end].faded for end in pair)
    names = f"{kind} faded" if faded else kind
    return f'<line class="{names}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _point(vertex: Vertex) -> str:
    x, y = _place(vertex)
    names = " ".join(["marked"] * vertex.marked + ["faded"] * vertex.faded)
    return (
        f'<g class="{names}"><circle cx="{x}" cy="{y}" r="{13 if vertex.marked else 9}"/>'
        f'<text x="{x}" y="{y - 17}">{escape(vertex.name)}</text></g>'
    )


LINE, LETTER = 26, 7.4
"""Between two values of a hierarchy, and the width of a letter."""


def tree_svg(tree: Tree) -> str:
    """A hierarchy from its values, on the left, to its root, on the right.

    >>> tree_svg(Tree(paths=(("1", "*"), ("2", "*")), description="")).count("<text")
    3
    """
    levels = len(tree.paths[0])
    width = [max(len(path[level]) for path in tree.paths) * LETTER + 24 for level in range(levels)]
    left = [sum(width[:level]) + level * 36 for level in range(levels)]
    middle: list[dict[str, float]] = []
    for level in range(levels):
        rows: dict[str, list[int]] = {}
        for row, path in enumerate(tree.paths):
            rows.setdefault(path[level], []).append(row)
        middle.append({name: LINE * (sum(at) / len(at) + 0.6) for name, at in rows.items()})
    lines = {
        (
            left[level] + width[level],
            middle[level][path[level]],
            left[level + 1],
            middle[level + 1][path[level + 1]],
        )
        for path in tree.paths
        for level in range(levels - 1)
    }
    drawn = [
        f'<path d="M{x1:.0f} {y1:.1f} C{x1 + 18:.0f} {y1:.1f} {x2 - 18:.0f} {y2:.1f} '
        f'{x2:.0f} {y2:.1f}"/>'
        for x1, y1, x2, y2 in sorted(lines)
    ]
    drawn += [
        f'<rect x="{left[level]:.0f}" y="{y - 10:.1f}" width="{width[level]:.0f}" height="20" '
        f'rx="5"/><text x="{left[level] + width[level] / 2:.0f}" y="{y + 4.5:.1f}">'
        f"{escape(name)}</text>"
        for level, places in enumerate(middle)
        for name, y in places.items()
    ]
    size = f"{left[-1] + width[-1] + 1:.0f} {LINE * (len(tree.paths) + 0.4):.0f}"
    text = escape(tree.description)
    return (
        f'<svg class="celosia-hierarchy" viewBox="0 0 {size}" role="img" aria-label="{text}" '
        f'style="max-width: {left[-1] + width[-1]:.0f}px">{"".join(drawn)}</svg>'
    )


MOST_BARS = 10
"""Bars from which on a chart takes the whole width."""


class Address:
    """The state of a page in its own address, so that reload and back find it again."""

    def __init__(self, path: str, given: Mapping[str, str]) -> None:
        self._path = path
        self._values = dict(given)

    def text(self, name: str) -> str | None:
        """What the address has under a name."""
        return self._values.get(name)

    def place(self, name: str, many: int) -> int:
        """Which of so many things the address asks for, from 0; there they are counted from 1.

        >>> Address("/learn", {"step": "3"}).place("step", 5)
        2
        """
        text = self._values.get(name, "")
        found = int(text) - 1 if text.isascii() and text.isdigit() and len(text) < 4 else 0
        return found if 0 <= found < many else 0

    def keep(self, name: str, text: str | int) -> None:
        """Write a value into the address."""
        self._values[name] = str(text)
        ui.navigate.history.replace(f"{self._path}?{urlencode(self._values)}")


def show_parts(parts: Sequence[Part]) -> None:
    """Tables, bars and networks side by side, below each other on a phone."""
    with ui.element("div").classes("celosia-parts"):
        for part in parts:
            wide = isinstance(part, Bars) and len(part.categories) > MOST_BARS
            with ui.element("div").classes("wide" if wide else ""):
                _show(part)


def _show(part: Part) -> None:
    if isinstance(part, Table):
        if part.caption:  # above the table, not in it: it wraps where a wide table scrolls
            ui.label(part.caption).classes("caption")
        show_table(
            part.columns,
            part.rows,
            classes=part.classes,
            marked=part.marked,
            faded=part.faded,
            label=part.caption,
        )
    elif isinstance(part, Bars):
        bars(part.categories, part.series, description=part.description, x=part.x, y=part.y)
        ui.label(part.description).classes("celosia-quiet")
    elif isinstance(part, Tree):
        ui.html(tree_svg(part), sanitize=False).classes("w-full")  # all escaped there
        ui.label(part.description).classes("celosia-quiet")
    else:
        _show_network(part)


def _show_network(network: Network) -> None:
    ui.html(network_svg(network), sanitize=False).classes("w-full")  # all escaped there
    ui.label(network.description).classes("celosia-quiet")
    kinds = (
        (network.kept, _("as it was")),
        (network.added, _("added")),
        (network.removed, _("removed")),
    )
    rows = [
        (network.vertices[one].name, network.vertices[other].name, text)
        for pairs, text in kinds
        for one, other in pairs
    ]
    with ui.expansion(_("The same as a table")).classes("w-full celosia-quiet"):
        show_table((_("from"), _("to"), _("edge")), rows)


class Stepper:
    """Attacks played step by step: by buttons, or by the arrow keys.

    Args:
        stories: the attacks; with several, one is chosen by its tab.
        address: where the step is kept.
    """

    def __init__(self, stories: Sequence[Story], address: Address) -> None:
        self._stories = stories
        self._address = address
        self._story = address.place("attack", len(stories))
        self._step = address.place("step", len(self._steps))
        if len(stories) > 1:
            names = [story.title for story in stories]
            with ui.tabs().props("dense align=left no-caps outside-arrows mobile-arrows") as tabs:
                for name in names:
                    ui.tab(name)
            tabs.props["aria-label"] = _("Attacks")
            tabs.set_value(names[self._story])
            tabs.on_value_change(self._chosen)
        with ui.element("section").classes("celosia-stepper").props('tabindex="0"') as whole:
            whole.props["aria-label"] = _("The attack step by step; arrow keys move")
            self._body = ui.element("div").props('aria-live="polite"')
            with ui.row().classes("items-center buttons"):
                self._back = ui.button(
                    _("Previous"), icon="chevron_left", on_click=lambda: self._move(-1)
                ).props("outline no-caps data-test=previous")
                self._count = ui.label()
                self._next = ui.button(_("Next"), on_click=lambda: self._move(1)).props(
                    "no-caps icon-right=chevron_right data-test=next"
                )
        whole.on("keydown.left", lambda: self._move(-1), args=[])
        whole.on("keydown.right", lambda: self._move(1), args=[])
        self._draw()

    @property
    def _steps(self) -> Sequence[Any]:
        return self._stories[self._story].steps

    def _chosen(self, event: Any) -> None:
        self._story = [story.title for story in self._stories].index(event.value)
        self._address.keep("attack", self._story + 1)
        self._go(0)

    def _move(self, by: int) -> None:
        if 0 <= self._step + by < len(self._steps):
            self._go(self._step + by)

    def _go(self, step: int) -> None:
        self._step = step
        self._address.keep("step", step + 1)
        self._draw()

    def _draw(self) -> None:
        step = self._steps[self._step]
        self._body.clear()
        with self._body:
            heading(step.title, 3)
            ui.label(step.text)
            show_parts(step.parts)
            if step.learnt:
                with ui.element("p").classes("celosia-learnt"):
                    ui.icon("visibility").props('aria-hidden="true"')
                    ui.label(step.learnt)
        self._count.set_text(
            _(
                "Step {step} of {steps}",
                step=number(self._step + 1),
                steps=number(len(self._steps)),
            )
        )
        self._back.set_enabled(self._step > 0)
        self._next.set_enabled(self._step + 1 < len(self._steps))


class LiveView:
    """Controls, and what each setting of them gives.

    Args:
        controls: what can be changed.
        view: what a setting gives.
        address: where the setting is kept.
    """

    def __init__(
        self,
        controls: Sequence[Control],
        view: Callable[[tuple[int, ...]], View],
        address: Address,
    ) -> None:
        self._controls = controls
        self._view = view
        self._address = address
        self._places = [each.place(address.text(each.name)) for each in controls]
        with ui.element("div").classes("celosia-controls"):
            for at, control in enumerate(controls):
                self._control(at, control)
        self._body = ui.element("div").props('aria-live="polite" data-test=result')
        self._draw()

    def _control(self, at: int, control: Control) -> None:
        with ui.element("div"):
            title = ui.label(self._control_text(at))

            def changed(event: Any) -> None:
                self._changed(at, int(event.value))
                title.set_text(self._control_text(at))
                if control.slides:
                    made.props["aria-valuetext"] = control.choices[self._places[at]]

            made: ui.slider | ui.radio
            if control.slides:
                last = len(control.choices) - 1
                made = ui.slider(min=0, max=last, step=1, value=self._places[at], on_change=changed)
                made.props("markers snap")
                # Its number is a place among the choices: say the choice itself.
                made.props["aria-valuetext"] = control.choices[self._places[at]]
            else:
                choices = dict(enumerate(control.choices))
                made = ui.radio(choices, value=self._places[at], on_change=changed)
                made.props("inline dense")
            made.props["aria-label"] = control.label
            made.props["data-test"] = control.name

    def _control_text(self, at: int) -> str:
        control = self._controls[at]
        if not control.slides:  # the chosen button says it
            return control.label
        return _("{name} = {value}", name=control.label, value=control.choices[self._places[at]])

    def _changed(self, at: int, place: int) -> None:
        if place == self._places[at]:
            return
        self._places[at] = place
        control = self._controls[at]
        self._address.keep(control.name, control.written(place))
        self._draw()

    def _draw(self) -> None:
        found = self._view(tuple(self._places))
        self._body.clear()
        with self._body:
            ui.label(found.text).classes("q-my-sm")
            if found.figures:
                key_figures(found.figures)
            show_parts(found.parts)
