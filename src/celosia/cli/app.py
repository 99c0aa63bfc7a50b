"""The commands of `celosia`, each loaded when it is called, so that `celosia --help` loads none.

Typer converts every value with Pydantic, which takes longer to load than most commands take to run.
A plain text, number or path needs none of it. Every other word, and every word that is wrong, is
left to Typer, whose values and messages therefore stay what they are.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

PANELS: dict[str, dict[str, str]] = {
    "Tables": {
        "publish": "Publish a table so that its privacy models hold, with the least loss of "
        "information.",
        "wizard": "Publish a table by answering questions, and see the command of each answer.",
        "history": "List and verify the releases of a source: what was published when, at which "
        "levels.",
        "explore": "List the solutions on the front of loss and risk, to choose the one to "
        "publish.",
        "hierarchy": "Build and check generalisation hierarchies.",
        "mask": "Mask a table by a recipe: noise, microaggregation, swapping, synthesis and more.",
        "stream": "Mask records as they arrive; a restart goes on where it stopped.",
        "synthesise": "Make a synthetic table, or several that hang together, and measure risk and "
        "utility.",
        "magnitude": "Publish a table of sums, and suppress or round cells that disclose a "
        "contribution.",
    },
    "Graphs": {
        "graph": "Publish a social, communication or contact network, and measure its disclosure "
        "risk.",
    },
    "Documents": {
        "text": "Publish documents: find what identifies people, replace it, verify the new files.",
    },
    "Traces": {
        "trace": "Publish locations, check-ins and traces, and measure their disclosure risk.",
    },
    "Logs": {
        "log": "Publish search logs, access logs and baskets, and measure their disclosure risk.",
    },
    "Queries": {
        "query": "Query tables in SQL or a graph in SPARQL with differential privacy, within a "
        "budget.",
        "workload": "Answer the questions of a dashboard together, with less noise than one by "
        "one.",
        "policy": "Draft, check and show a policy: the allowed queries of a database and their "
        "budget.",
        "ledger": "Show, check and export the privacy ledger: every charge and the remaining "
        "budget.",
        "market": "Show prices of answers, and make invoices and compensation from the ledger.",
        "rdf": "Load an RDF graph into a store; inspect, check and export it.",
        "serve": "Serve queries over HTTP, under a policy and with a budget for each analyst.",
        "token": "Create, list and revoke the access tokens of a query service.",
    },
    "Devices": {
        "collect": "Collect statistics from devices with local differential privacy.",
        "sketch": "Summarise columns by sketches, merge them, and exchange them with DataSketches.",
    },
    "Noise and budgets": {
        "release": "Release one statistic of a table with differential privacy.",
        "epsilon": "Understand epsilon: its meaning, its error, and the total of several releases.",
    },
    "Checking": {
        "assess": "Measure the disclosure risk and the utility of a table.",
        "sign": "Sign the certificate of a release with the Ed25519 key of your house.",
        "verify": "Check that a release is what its certificate says, and who signed the "
        "certificate.",
        "audit": "Test the privacy guarantees: mechanisms by their outputs (the default), and "
        "private queries by their answers, and by the time, failures and sizes of these.",
    },
    "Learning": {
        "advise": "Recommend a door, a model and parameters, with reasons and commands to type.",
        "demo": "Generate a census of invented people, publish it with k-anonymity, and write a "
        "report.",
        "teach": "Follow a classic algorithm step by step on a table, and compare it with the "
        "optimum.",
        "lab": "Reproduce published tables and figures, cell by cell.",
        "datasets": "List the sample data, generated or loaded; nothing is downloaded.",
    },
    "Set-up": {
        "studio": "Open the studio, the web application, until Ctrl-C.",
        "explain": "Explain an error code: its meaning and its remedy.",
        "doctor": "Show versions, cores and optional packages, to paste into a bug report.",
    },
}
"""The commands by panel of the help, each with its summary. A command has a module of its name in
this package, with a function of that name, or with a group called `app`."""
ELSEWHERE = {"token": "serve"}
"""Commands that are in the module of another."""


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """What the list of all commands says about a command."""

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
            if name not in self._entries:
                raise KeyError(name)
            self._loaded[name] = _load(name)
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


def _load(name: str) -> Any:
    """The command, built as if it were the only one of the program."""
    from celosia.cli.frame import with_options

    module = import_module(f"celosia.cli.{ELSEWHERE.get(name, name)}")
    found = getattr(module, "app", None) or getattr(module, name)
    alone = typer.Typer(
        callback=_no_options, rich_markup_mode="markdown", pretty_exceptions_enable=False
    )
    if isinstance(found, typer.Typer):
        for each in (*found.registered_commands, found.registered_callback):
            if each is not None and each.callback is not None:
                each.callback = with_options(each.callback)
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


_UNRESTRICTED = {
    "min": None,
    "max": None,
    "parser": None,
    "path_type": None,
    "exists": False,
    "file_okay": True,
    "dir_okay": True,
    "readable": True,
    "writable": False,
    "resolve_path": False,
    "allow_dash": False,
}
"""How Typer describes a parameter for which any text, number or path will do."""


def convert_plain_words(parameters: list[Any]) -> list[Any]:
    """Let each parameter of a Typer command convert plain words by itself; return them.

    A Typer that converts in another way is left alone.
    """
    for each in parameters:
        typer_converter: Callable[[], Any] | None = getattr(each, "get_runtime_param", None)
        descriptor: Any = getattr(each, "type_descriptor", None)
        info = getattr(descriptor, "parameter_info", None)
        if typer_converter is None or info is None or "get_runtime_param" in vars(each):
            continue
        if each.nargs == 1 and not getattr(each, "multiple", False) and _is_unrestricted(info):
            each.get_runtime_param = _PlainWordConverter(
                descriptor.annotation, typer_converter
            ).itself
    return parameters


class _PlainWordConverter:
    """Stands where Typer has a converter of its own, and makes that one only when it is needed."""

    def __init__(self, kind: Any, typer_converter: Callable[[], Any]) -> None:
        self._kind = kind
        self._typer_converter = typer_converter

    def itself(self) -> _PlainWordConverter:
        """What Typer asks a parameter for."""
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of the kind that the command declares."""
        if value is None:
            return None
        plain = plain_value(self._kind, value)
        return (
            self._typer_converter().coerce(value, param=param, ctx=ctx) if plain is None else plain
        )


def plain_value(kind: Any, value: object) -> str | int | float | Path | None:
    """The value of a plain word, or of a default that has its kind already; else None.

    >>> plain_value(float, "0.5"), plain_value(int, "12"), plain_value(int, " 12 ")
    (0.5, 12, None)
    """
    if not isinstance(value, str):
        return value if isinstance(value, int | float) and type(value) is kind else None
    fits, made = _KINDS.get(kind, (_is_never, str))
    return made(value) if fits(value) else None


def _is_whole(text: str) -> bool:
    return re.fullmatch("0|[1-9][0-9]{0,14}", text) is not None


def _is_decimal(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?", text) is not None


def _is_path(text: str) -> bool:
    """Whether the path can be read, or leads nowhere yet."""
    if "\0" in text or not _is_unicode(text):
        return False
    return os.access(text, os.R_OK) or not os.path.exists(text)


def _is_never(_: str) -> bool:
    return False


def _is_unrestricted(info: Any) -> bool:
    return all(getattr(info, name, usual) is usual for name, usual in _UNRESTRICTED.items())


def _is_unicode(text: str) -> bool:
    """Whether no byte of the word was foreign to the encoding of the system."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_KINDS: dict[Any, tuple[Callable[[str], bool], Callable[[str], str | int | float | Path]]] = {
    int: (_is_whole, int),
    float: (_is_decimal, float),
    str: (_is_unicode, str),
    Path: (_is_path, Path),
}
"""By the kind that a command declares: which words are plain, and what makes a value of one."""


COMMANDS = {
    name: CommandEntry(summary, panel)
    for panel, commands in PANELS.items()
    for name, summary in commands.items()
}
"""All commands, in the order of the help."""

app = typer.Typer(
    name="celosia",
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 1 no such guarantee, 2 wrong input, 3 budget exhausted, "
    "70 internal error. "
    "`celosia explain CODE` explains an error code.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from celosia import __version__

        typer.echo(f"celosia {__version__}")
        raise typer.Exit


def _speak(wanted: str | None) -> str | None:
    """Let messages and reports be in a language; JSON, which is for programs, stays English."""
    if wanted is None:
        return None
    from celosia.core.messages import LANGUAGES, language

    if wanted not in LANGUAGES:
        raise typer.BadParameter(f"{wanted!r} is not one of {', '.join(LANGUAGES)}.")
    if "--json" not in sys.argv:
        language.set(wanted)
    return wanted


@app.callback()
def celosia(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="en|es",
            envvar="CELOSIA_LANGUAGE",
            callback=_speak,
            help="Language of messages and reports; it may also follow the command. Help and JSON "
            "are in English.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Data privacy: publish tables and graphs, answer queries privately, and check the guarantees.

    **Try it:** `celosia demo`

    **Publish a table:** `celosia publish people.csv --schema people.toml --k 5 -o safe.csv`

    **Release an answer:** `celosia release mean pay.csv --column pay --lower 0 --upper 9000 -e 0.5`

    **Query a database:** `celosia query policy.toml "SELECT count(*) FROM orders" --epsilon 0.5`
    """
