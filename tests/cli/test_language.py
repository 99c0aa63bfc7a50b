"""The language of messages: an option before or after the command, or a variable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import Run

from celosia.core import messages

MISSING = "CEL-F010 no existe el archivo none.csv."
PUBLISH = ("publish", "none.csv", "-q", "age", "--k", 3)


@pytest.mark.parametrize(
    "words",
    [
        ("--language", "es", *PUBLISH),
        ("--language=es", *PUBLISH),
        (*PUBLISH, "--language", "es"),
        (*PUBLISH[:2], "--language=es", *PUBLISH[2:]),
    ],
    ids=str,
)
def test_an_error_is_told_in_the_language_asked_for(words: tuple[object, ...], run: Run) -> None:
    assert run(*words).err.startswith(MISSING)
    assert run(*PUBLISH).err.startswith("CEL-F010 there is no file none.csv.")  # forgotten again


def test_the_language_may_be_a_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELOSIA_LANGUAGE", "es")
    assert run(*PUBLISH).err.startswith(MISSING)
    assert "no file" in run("--language", "en", *PUBLISH).err


def test_json_is_english_in_every_language(run: Run) -> None:
    assert run(*PUBLISH, "--json", "--language", "es").out == run(*PUBLISH, "--json").out


def test_an_explanation_is_told_in_spanish(run: Run) -> None:
    found = run("explain", "CEL-I004", "--language", "es")
    assert found.out.startswith("CEL-I004: El archivo ya existe\n")
    assert "CEL-I004  El archivo ya existe" in run("explain", "--language", "es").out


def test_another_language_is_refused(run: Run) -> None:
    run("--language", "fr", "explain").complains("CEL-I040")


def test_what_follows_two_dashes_is_no_option(run: Run, tmp_path: Path) -> None:
    assert "--language" in run("publish", "-q", "age", "--k", 3, "--", "--language").err


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_help_and_version_read_no_message(option: str) -> None:
    code = (
        "import sys; from celosia.cli.main import main; sys.argv = ['celosia', sys.argv[1]]\n"
        "try: main()\n"
        "except SystemExit: print('tomllib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, option], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_the_language_of_a_command_ends_with_it(run: Run) -> None:
    run("--language", "es", *PUBLISH)
    assert messages.current() == "en"
