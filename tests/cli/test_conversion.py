"""Words of the command line become the values that Typer makes of them, with less to load."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
import typer.main

from celosia.cli.app import convert_plain_words, plain_value

PLAIN = {
    "text": ["a", "", " a ", "SELECT 1\nFROM t", "ñ", "-", "0.5"],
    "whole": ["0", "7", "123456789012345"],
    "number": ["0", "7", "0.5", "10.25", "0.1234567890123", "007.5"],
    "path": ["a.csv", "folder/a.csv", ".", "", "ñ.csv", "-"],
}
OTHER = {
    "text": ["\udcff"],
    "whole": ["", " 7", "+7", "-7", "1_000", "7.0", "1e3", "٣", "x", "1" * 30],
    "number": ["", " 0.5", "-1", "+1", ".5", "5.", "1e-3", "nan", "inf", "1_0.5", "0,5", "x"],
    "path": ["\udcff.csv"],
}


def values(
    *,
    text: Annotated[str | None, typer.Option()] = None,
    whole: Annotated[int | None, typer.Option()] = None,
    number: Annotated[float, typer.Option()] = 0.25,
    path: Annotated[Path | None, typer.Option()] = None,
    many: Annotated[list[str] | None, typer.Option()] = None,
    few: Annotated[int | None, typer.Option(min=0, max=5)] = None,
    share: Annotated[float, typer.Option(min=0, max=1)] = 0.5,
    there: Annotated[Path | None, typer.Option(exists=True, dir_okay=False)] = None,
) -> None:
    """Nothing: what the options are converted to is looked at before."""


def command() -> Any:
    """A command with options of every kind."""
    app = typer.Typer()
    app.command()(values)
    return typer.main.get_command(app)


def converted(word: str, *, plainly: bool) -> object:
    """The values of a word and of the defaults, or what is wrong with it."""
    program = command()
    if plainly:
        convert_plain_words(program.params)
    try:
        context = program.make_context("values", [word])
    except Exception as error:
        return type(error), str(error)
    return {name: repr(value) for name, value in context.params.items()}


@pytest.mark.parametrize(
    ("option", "word"),
    [(option, word) for known in (PLAIN, OTHER) for option in known for word in known[option]],
)
def test_a_word_has_the_value_and_the_message_of_typer(option: str, word: str) -> None:
    given = f"--{option}={word}"
    assert converted(given, plainly=True) == converted(given, plainly=False)


@pytest.mark.parametrize(
    ("option", "word"), [(option, word) for option in PLAIN for word in PLAIN[option]]
)
def test_plain_words_need_no_other_converter(option: str, word: str) -> None:
    kinds = {"text": str, "whole": int, "number": float, "path": Path}
    assert plain_value(kinds[option], word) is not None


@pytest.mark.parametrize(
    ("option", "word"), [(option, word) for option in OTHER for word in OTHER[option]]
)
def test_all_other_words_are_left_to_typer(option: str, word: str) -> None:
    kinds = {"text": str, "whole": int, "number": float, "path": Path}
    assert plain_value(kinds[option], word) is None


@pytest.mark.parametrize(
    "word",
    ["--few=7", "--few=5", "--share=7", "--share=1", "--there=none.csv", "--there=.", "--many=a"],
)
def test_the_limits_of_a_parameter_hold(word: str) -> None:
    assert converted(word, plainly=True) == converted(word, plainly=False)


def test_a_file_that_may_not_be_read_is_left_to_typer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "a.csv"
    there.touch()
    assert plain_value(Path, str(there)) == there
    monkeypatch.setattr("os.access", lambda *_: False)
    assert plain_value(Path, str(there)) is None


def test_a_typer_that_converts_in_another_way_is_left_alone() -> None:
    parameters: list[Any] = [object()]
    assert convert_plain_words(parameters) is parameters
