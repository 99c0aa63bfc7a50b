"""A hierarchy edited as a tree: tick values or groups, put them into a group, name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio import shell
from celosia.studio.language import _, n_
from celosia.studio.publish import grid as grids
from celosia.studio.publish.grid import Grid
from celosia.studio.publish.hierarchy_tasks import is_small
from celosia.studio.publish.rules import MOST_EDITED, editable, too_many
from celosia.studio.widgets.text import quiet

if TYPE_CHECKING:
    from celosia.studio.publish.pages.hierarchies import Editor


def edit_tree(editor: Editor, rule: dict[str, Any]) -> None:
    """The tree with a tick for each value and group, and what can be done with those ticked."""
    try:
        if editor.values is None or not is_small(editor.column, editor.values):
            raise too_many(editor.facts["distinct"])
        grid = editable(editor.column, editor.values)
    except CelosiaError as error:
        shell.show_error(error)
        return
    _Tree(editor, grid, editor.values.by_text)


class _Tree:
    def __init__(self, editor: Editor, grid: Grid, rows: dict[str, int]) -> None:
        self._editor, self._grid, self._rows = editor, grid, rows
        self._ticked: list[str] = []
        quiet(
            "Tick values, or groups of one level, and put them together. A group that is "
            "there already takes them in; a new name makes a new group."
        )
        with ui.row().classes("items-end w-full"):
            self._name = (
                ui.input(_("Name of the group"), autocomplete=self._known())
                .props('data-test="group-name" maxlength=200')
                .classes("grow")
            )
            ui.button(_("Put together"), icon="create_new_folder", on_click=self._put).props(
                'unelevated dense no-caps data-test="put"'
            )
        with ui.row():
            self._tool(_("Rename"), "edit", self._rename)
            self._tool(_("Take apart"), "call_split", self._dissolve)
            self._tool(_("Add a level"), "add", self._add_level)
            self._tool(_("Remove the top level"), "remove", self._remove_level)
        self._draw()

    def _tool(self, name: str, icon: str, act: Callable[[], Any]) -> None:
        ui.button(name, icon=icon, on_click=act).props("flat dense no-caps")

    def _known(self) -> list[str]:
        """Groups that are there, to be completed while typing."""
        levels = range(1, len(self._grid.levels))
        found = [label for level in levels for label in self._grid.labels(level)]
        return list(dict.fromkeys(found))[:MOST_EDITED]

    def _draw(self) -> None:
        counts = [
            grids.counts(self._grid, level, self._rows) for level in range(self._grid.top + 1)
        ]
        numbered = [
            {label: place for place, label in enumerate(self._grid.labels(level))}
            for level in range(self._grid.top + 1)
        ]

        def node(level: int, label: str) -> dict[str, Any]:
            text = n_("{count} record", "{count} records", counts[level][label])
            made: dict[str, Any] = {
                "id": f"{level}:{numbered[level][label]}",
                "label": f"{label}  ({text})",
            }
            if level:
                made["children"] = [
                    node(level - 1, child) for child in _children(self._grid, level, label)
                ]
            return made

        top = self._grid.top
        quiet(
            "The tree has {levels} between the values and the root “{root}”.",
            levels=n_("{count} level", "{count} levels", top),
            root=self._grid.root,
        )
        tree = ui.tree(
            [node(top, label) for label in self._grid.labels(top)],
            tick_strategy="strict",
            on_tick=self._tick,
        )
        tree.classes("celosia-tree w-full").props('data-test="tree"')
        tree.props["aria-label"] = _("Groups and values of {column}", column=self._editor.name)
        if len(self._grid.levels[0]) <= 60:
            tree.expand()

    def _tick(self, event: Any) -> None:
        self._ticked = list(event.value)

    def _chosen(self) -> tuple[int, list[str]]:
        """The level and the labels of what is ticked; all must be of one level."""
        places = [tuple(map(int, each.split(":"))) for each in self._ticked]
        levels = {level for level, _place in places}
        if len(levels) != 1:
            raise grids.nothing_chosen()
        level = levels.pop()
        labels = self._grid.labels(level)
        return level, [labels[place] for _level, place in places]

    async def _apply(self, change: Callable[[], Grid]) -> None:
        try:
            changed = change()
        except CelosiaError as error:
            shell.notify_error(error)
            return
        await self._editor.choose(grids.as_rule(changed), redraw=True)

    async def _put(self) -> None:
        def change() -> Grid:
            level, labels = self._chosen()
            return grids.put(self._grid, level, labels, self._name.value or "")

        await self._apply(change)

    async def _rename(self) -> None:
        def change() -> Grid:
            level, labels = self._chosen()
            return grids.rename(self._grid, level, _only(labels), self._name.value or "")

        await self._apply(change)

    async def _dissolve(self) -> None:
        def change() -> Grid:
            level, labels = self._chosen()
            return grids.dissolve(self._grid, level, _only(labels))

        await self._apply(change)

    async def _add_level(self) -> None:
        await self._apply(lambda: grids.add_level(self._grid, self._grid.top))

    async def _remove_level(self) -> None:
        await self._apply(lambda: grids.remove_level(self._grid, self._grid.top))


def _children(grid: Grid, level: int, label: str) -> list[str]:
    pairs = zip(grid.levels[level - 1], grid.levels[level], strict=True)
    return list(dict.fromkeys(low for low, high in pairs if high == label))


def _only(labels: list[str]) -> str:
    if len(labels) != 1:
        raise grids.nothing_chosen()
    return labels[0]
