"""Commands that are loaded when they are called, so that `celosia --help` loads none of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from celosia.cli.conversion import convert_plain_words


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command: the module that holds it, and what the list of all commands says about it."""

    module: str
    name: str
    """The name of a function or of a group (`typer.Typer`) in the module."""
    summary: str
    """The first paragraph of its help, repeated here so that the list of commands loads none."""
    panel: str
    """The title of the panel of `celosia --help` that lists it."""


class LazyCommands(Mapping[str, Any]):
    """Commands by name. A command is imported when it is looked up, not before."""

    def __init__(self, entries: Mapping[str, CommandEntry]) -> None:
        self._entries = entries
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = _load(name, self._entries[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def lazy_group(entries: Mapping[str, CommandEntry]) -> type[TyperGroup]:
    """The class of a group of such commands, for `typer.Typer(cls=...)`."""

    class LazyGroup(TyperGroup):
        """Commands that are loaded when they are called."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands: Any = LazyCommands(entries)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            """Write the help, in which a command is its name and its summary."""
            commands = self.commands
            self.commands = {
                name: TyperCommand(name, help=entry.summary, rich_help_panel=entry.panel)
                for name, entry in entries.items()
            }
            try:
                super().format_help(ctx, formatter)
            finally:
                self.commands = commands

        def get_params(self, ctx: Any) -> Any:
            """The options, of which flags show no type and plain words need no Pydantic."""
            return convert_plain_words(_hide_flag_types(super().get_params(ctx)))

        def list_commands(self, _: Any) -> list[str]:
            """All names, in the order of the help."""
            return list(entries)

    return LazyGroup


def _load(name: str, entry: CommandEntry) -> Any:
    """The command, built as if it were the only one of the program."""
    from celosia.cli.frame import with_options

    found = getattr(import_module(entry.module), entry.name)
    alone = typer.Typer(
        callback=_no_options, rich_markup_mode="markdown", pretty_exceptions_enable=False
    )
    if isinstance(found, typer.Typer):
        for each in found.registered_commands:
            each.callback = None if each.callback is None else with_options(each.callback)
        alone.add_typer(found, name=name)
    else:
        alone.command(name)(with_options(found))
    program: Any = typer.main.get_command(alone)
    command = program.commands[name]
    _adapt_parameters(command)
    return command


def _adapt_parameters(command: Any) -> None:
    """Let a command and those below it convert plain words and show no type for flags."""
    get_params = command.get_params
    command.get_params = lambda ctx: convert_plain_words(_hide_flag_types(get_params(ctx)))
    for child in getattr(command, "commands", {}).values():
        _adapt_parameters(child)


def _hide_flag_types(parameters: Any) -> Any:
    """The same parameters; the help would show `<bool>` for a flag, which takes no value."""
    for each in parameters:
        if getattr(each, "is_flag", False):
            each.metavar = ""
    return parameters


def _no_options() -> None:
    """The callback of a program without options of its own."""
