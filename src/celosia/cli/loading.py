"""Commands that are loaded when they are named: who asks for one does not wait for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, get_type_hints

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from celosia.cli.conversion import converting_plainly


@dataclass(frozen=True, slots=True)
class Home:
    """Where a command is: a module, and the name of a function or of a group in it."""

    module: str
    name: str
    summary: str
    """What the command does: the first paragraph of its help, so that a list of all loads none."""


class Commands(Mapping[str, Any]):
    """Commands by name. Names cost nothing, a command is put together when it is taken."""

    def __init__(self, homes: Mapping[str, Home]) -> None:
        self._homes = homes
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _command(name, self._homes[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


def group_of(homes: Mapping[str, Home]) -> type[TyperGroup]:
    """The class of a group of such commands, for `typer.Typer(cls=...)`."""

    class Group(TyperGroup):
        """Commands that are loaded when they are named."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands: Any = Commands(homes)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            """Write the help, in which commands are a name and a summary."""
            whole = self.commands
            self.commands = {
                name: TyperCommand(name, help=home.summary) for name, home in homes.items()
            }
            try:
                super().format_help(ctx, formatter)
            finally:
                self.commands = whole

        def get_params(self, ctx: Any) -> list[Any]:
            """The options before the command."""
            return converting_plainly(super().get_params(ctx))

        def list_commands(self, _: Any) -> list[str]:
            """All names, in the order of the help."""
            return list(homes)

    return Group


def _command(name: str, home: Home) -> Any:
    """The command, made as if it were the only one of the program."""
    found = getattr(import_module(home.module), home.name)
    alone = typer.Typer(
        callback=_nothing, rich_markup_mode="markdown", pretty_exceptions_enable=False
    )
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name)
    else:
        # Typer evaluates annotations several times: those that are not text any more take no time.
        found.__annotations__ = get_type_hints(found, include_extras=True)
        alone.command(name)(found)
    program: Any = typer.main.get_command(alone)
    made = program.commands[name]
    for command in _all_commands(made):
        command.get_params = _plainly(command.get_params)
    return made


def _all_commands(command: Any) -> Iterator[Any]:
    """A command, and those in it where it is a group."""
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from _all_commands(inner)


def _plainly(get_params: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    return lambda ctx: converting_plainly(get_params(ctx))


def _nothing() -> None:
    """What a program without options of its own does before its command."""
