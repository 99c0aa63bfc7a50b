"""The Containerfile, read as a builder would: users, places, health, and commands that exist.

Where a builder is found, `make images` builds and runs it as well; this needs none.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from celosia.cli.app import app
from celosia.queries.service.app import PORT
from celosia.queries.service.gate import OPEN
from celosia.studio.settings import Settings
from tests.commands import fresh

ROOT = Path(__file__).parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
KNOWN = {
    *("ARG", "FROM", "WORKDIR", "RUN", "COPY", "ENV", "USER", "ENTRYPOINT", "EXPOSE"),
    *("HEALTHCHECK", "CMD"),
}


@dataclass
class Stage:
    """A part of the file from FROM to the next one."""

    name: str
    parent: str
    lines: list[tuple[str, str]] = field(default_factory=list)


def stages() -> dict[str, Stage]:
    """The stages by name; lines that end in a backslash are joined."""
    text = (ROOT / "Containerfile").read_text("utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    found: dict[str, Stage] = {}
    stage: Stage | None = None
    for line in filter(None, map(str.strip, text.splitlines())):
        word, _, rest = line.partition(" ")
        assert word in KNOWN, line
        if word == "FROM":
            parts = re.fullmatch(r"(?P<parent>\S+) AS (?P<name>[a-z-]+)", rest)
            assert parts is not None, "a stage has a name"
            stage = found[parts["name"]] = Stage(parts["name"], parts["parent"])
        elif stage is not None:
            stage.lines.append((word, rest.strip()))
        else:
            assert word == "ARG"
    return found


def lines_of(name: str) -> list[tuple[str, str]]:
    """The lines of a stage after those of the stages that it comes from."""
    stage = stages()[name]
    before = lines_of(stage.parent) if stage.parent in stages() else []
    return before + stage.lines


def last(name: str, word: str) -> str:
    return [rest for each, rest in lines_of(name) if each == word][-1]


def copies(*, between_stages: bool) -> list[str]:
    return [
        rest
        for stage in stages().values()
        for word, rest in stage.lines
        if word == "COPY" and rest.startswith("--from=") is between_stages
    ]


TARGETS = {"studio": (Settings().port, "/health"), "service": (PORT, "/v1/health")}


def test_the_base_image_has_a_version_and_a_python_that_we_support() -> None:
    (given,) = re.findall(r"^ARG PYTHON=python:(\S+)$", _text(), flags=re.MULTILINE)
    assert re.fullmatch(r"3\.1[123]-slim", given)
    assert {each.parent for each in stages().values()} <= {"${PYTHON}", *stages()}


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_runs_as_a_user_without_rights(target: str) -> None:
    user = last(target, "USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user), "a number, which a cluster can check"
    own = [word for word, _ in stages()[target].lines]
    assert "RUN" not in own
    assert "USER" not in own, "nobody goes back to root"


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_asks_its_own_health_at_an_address_that_tells_nothing(target: str) -> None:
    port, path = TARGETS[target]
    assert last(target, "EXPOSE") == str(port)
    command = json.loads(last(target, "HEALTHCHECK").partition("CMD ")[2])
    assert command[:2] == ["python", "-c"]
    compile(command[2], "health", "exec")
    assert f"'http://127.0.0.1:{port}{path}'" in command[2]
    assert "timeout=" in command[2]
    assert path in OPEN or target == "studio"


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_starts_a_command_that_exists(target: str) -> None:
    assert json.loads(last(target, "ENTRYPOINT")) == ["celosia"]
    name, *options = json.loads(last(target, "CMD"))
    commands: Any = fresh(app)
    command = commands.commands[name]
    with command.make_context(name, [*options]) as context:
        assert context.params["port"] == TARGETS[target][0]
        assert context.params["host"] in (None, "0.0.0.0")
    assert name == "serve" or "--share" in options, "never open without a password"


def test_images_write_nowhere_but_to_their_data_and_to_temporary_files() -> None:
    settings = dict(each.split("=", 1) for each in shlex.split(last("base", "ENV")))
    assert settings["HOME"] == "/tmp"
    assert settings["PYTHONDONTWRITEBYTECODE"] == "1"
    assert last("base", "WORKDIR") == "/data"


def test_nothing_secret_is_in_an_image() -> None:
    assert not re.search(r"(?i)(password|token|secret|key)\s*=", _text())


def test_what_is_copied_is_there_and_let_through() -> None:
    ignoring = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    passed = {line[1:] for line in ignoring if line.startswith("!")}
    assert "*" in ignoring
    copied = {name for rest in copies(between_stages=False) for name in rest.split()[:-1]}
    assert copied == passed
    for name in copied:
        assert (ROOT / name).exists()
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {needed["readme"], *needed["license-files"], "constraints.txt", "src"} <= copied
    assert any(fnmatch("src/celosia/__pycache__", each) for each in ignoring)


def test_stages_copy_from_stages_that_install_extras_that_exist() -> None:
    for rest in copies(between_stages=True):
        source = rest.partition(" ")[0].removeprefix("--from=")
        install = last(source, "RUN")
        assert "--no-cache-dir --constraint constraints.txt" in install
        (extras,) = re.findall(r"'\.\[(.*)\]'", install)
        assert set(extras.split(",")) <= set(EXTRAS)
        assert source.removeprefix("build-") in extras.split(",")


def _text() -> str:
    return (ROOT / "Containerfile").read_text("utf-8")
