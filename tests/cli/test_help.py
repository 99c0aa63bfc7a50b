"""Help that can be copied: every command shows examples, and every example is a command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer.main
from tests.cli.running import Result, Run
from tests.commands import fresh
from tests.effort import some

from celosia.cli.app import app


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from _commands(child, (*path, name))


COMMANDS = sorted(_commands(typer.main.get_command(app)))

parsers = cache(fresh)
"""Commands to parse with alone: without the app above them they know fewer ways to ask for help."""


def _examples(text: str) -> list[list[str]]:
    """The lines of a help that begin with `celosia`, as arguments; remarks in brackets left out."""
    lines = re.findall(r"^ *(?!Usage)(?:[A-Z][a-z ]+: )?celosia ([a-z].*?) *$", text, re.MULTILINE)
    return [shlex.split(re.sub(r" +\(.*\)$", "", line)) for line in lines]


def _parse(arguments: list[str]) -> Any:
    """What a command understands; an option that it does not know is an error."""
    command: Any = parsers(app)
    words = list(arguments)
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    return command.make_context(arguments[0], words).params


def test_the_commands_are_those_of_the_design() -> None:
    assert {" ".join(path) for path in COMMANDS} >= {
        "demo",
        "publish",
        "explore",
        "assess attack",
        "assess check",
        "assess columns",
        "assess identifiers",
        "assess individual",
        "assess linkage",
        "assess risk",
        "assess synthetic",
        "assess uniqueness",
        "assess utility",
        "audit",
        "collect absorb",
        "collect choose",
        "collect estimate",
        "collect merge",
        "collect privatise",
        "collect serve",
        "collect simulate",
        "epsilon amplify",
        "epsilon belief",
        "epsilon choose",
        "epsilon compose",
        "epsilon curve",
        "epsilon group",
        "epsilon split",
        "graph assess",
        "graph attack",
        "graph draw",
        "graph info",
        "graph methods",
        "graph publish",
        "graph release",
        "graph sample",
        "hierarchy build",
        "hierarchy check",
        "history list",
        "history verify",
        "datasets",
        "datasets get",
        "explain",
        "doctor",
        "lab list",
        "lab run",
        "ledger export",
        "ledger show",
        "ledger verify",
        "magnitude",
        "market compensation",
        "market invoice",
        "market prices",
        "mask",
        "policy check",
        "policy draft",
        "policy show",
        "policy simulate",
        "query",
        "rdf check",
        "rdf export",
        "rdf info",
        "rdf load",
        "release above",
        "release count",
        "release histogram",
        "release mean",
        "release median",
        "release quantile",
        "release sum",
        "release top",
        "release variance",
        "serve",
        "sign",
        "teach",
        "token create",
        "token list",
        "token revoke",
        "verify",
        "wizard",
    }


HELP: dict[tuple[str, ...], Result] = {}


def _help(path: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch) -> Result:
    """The help of a command on a wide terminal, asked for once."""
    monkeypatch.setenv("COLUMNS", "200")
    if path not in HELP:
        HELP[path] = run(*path, "--help")
    return HELP[path]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_help_shows_examples_that_are_commands(
    path: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    help_text = _help(path, run, monkeypatch)
    assert help_text.code == 0
    assert help_text.err == ""
    assert "Example" in help_text.out or "Try it" in help_text.out
    examples = _examples(help_text.out)
    assert examples
    for example in examples:
        _parse(example)


def test_an_example_with_an_unknown_option_would_be_found() -> None:
    with pytest.raises(Exception, match="No such option"):
        _parse(["publish", "people.csv", "--k", "5", "--nonsense"])


@pytest.mark.parametrize("path", some(COMMANDS, 30), ids=" ".join)
def test_the_short_option_gives_the_same_help(
    path: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = _help(path, run, monkeypatch)
    assert run(*path, "-h").out == long.out


@pytest.mark.parametrize(
    "path",
    [
        *((), ("assess",), ("collect",), ("epsilon",), ("graph",), ("hierarchy",), ("ledger",)),
        *(("policy",), ("rdf",), ("release",), ("token",), ("trace",)),
    ],
    ids=" ".join,
)
def test_a_group_alone_shows_its_help(path: tuple[str, ...], run: Run) -> None:
    alone = run(*path)
    assert alone.code == 2
    assert "Usage: celosia" in alone.out
    assert ("Commands" if path else "Noise and budgets") in alone.out
    assert alone.err == ""


def test_the_help_tells_the_exit_codes_and_how_to_expand_an_error(run: Run) -> None:
    text = " ".join(run("--help").out.split())
    assert "0 success, 1 no such guarantee, 2 wrong input, 3 budget exhausted, 70 internal" in text
    assert "celosia explain CODE" in text


def test_the_version_is_shown(run: Run) -> None:
    import celosia

    assert run("--version").out == f"celosia {celosia.__version__}\n"


def test_a_misspelt_command_is_answered_with_the_nearest(run: Run) -> None:
    wrong = run("publsh")
    wrong.complains("CEL-I040")
    assert "Did you mean 'publish'?" in wrong.err
    assert "celosia --help" in wrong.err


def test_a_misspelt_option_names_the_help_of_its_command(run: Run) -> None:
    wrong = run("assess", "risk", "people.csv", "--treshold", "0.1")
    wrong.complains("CEL-I040")
    assert "--threshold" in wrong.err
    assert "celosia assess risk --help" in wrong.err


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (
            "celosia ",
            [
                *("advise", "assess", "audit", "collect", "datasets", "demo", "doctor", "epsilon"),
                "explain",
                *("explore", "graph", "hierarchy", "history", "lab", "ledger", "log", "magnitude"),
                *("market", "mask", "policy", "publish", "query"),
                *(
                    "rdf",
                    "release",
                    "serve",
                    "sign",
                    "sketch",
                    "stream",
                    "studio",
                    "synthesise",
                    "teach",
                ),
                *("text", "token"),
                *("trace", "verify"),
                "wizard",
                "workload",
            ],
        ),
        ("celosia hierarchy ", ["build", "check"]),
        (
            "celosia epsilon ",
            ["amplify", "belief", "choose", "compose", "curve", "group", "split"],
        ),
        ("celosia publish --su", ["--suppression"]),
        (
            "celosia graph ",
            ["assess", "attack", "draw", "info", "methods", "publish", "release", "sample"],
        ),
        ("celosia graph attack --att", ["--attack"]),
    ],
)
def test_a_shell_is_told_how_to_complete(
    line: str, offered: list[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_CELOSIA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    answer = run()
    assert answer.code == 0
    assert sorted(answer.out.split()) == offered


def test_the_completion_script_can_be_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    monkeypatch.setattr(typer.main, "get_command", fresh)
    script = run("--show-completion", "bash")
    assert script.code == 0
    assert "_CELOSIA_COMPLETE=complete_bash" in script.out


def test_the_help_lists_the_commands_in_panels_by_door(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = _help((), run, monkeypatch).out
    titles = re.findall(r"^╭─ (.*?) ─", text, re.MULTILINE)
    assert titles == [
        *("Options", "Tables", "Graphs", "Documents", "Traces", "Logs", "Queries", "Devices"),
        *("Noise and budgets", "Checking", "Learning", "Set-up"),
    ]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_no_help_shows_a_type_for_a_flag(
    path: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "<bool>" not in _help(path, run, monkeypatch).out


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_epsilon_has_a_short_option_everywhere(path: tuple[str, ...]) -> None:
    command: Any = parsers(app)
    for name in path:
        command = command.commands[name]
    for option in command.params:
        assert "--epsilon" not in option.opts or "-e" in option.opts


def test_every_command_that_takes_an_epsilon_takes_it_by_a_letter_too() -> None:
    found = {}
    for path in COMMANDS:
        command: Any = parsers(app)
        for name in path:
            command = command.commands[name]
        for option in command.params:
            if option.name == "epsilon" or "-e" in option.opts:
                found[" ".join(path)] = sorted(option.opts)
    assert len(found) >= 25
    assert {path: names for path, names in found.items() if names != ["--epsilon", "-e"]} == {}
