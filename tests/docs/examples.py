"""The examples of a Markdown page, run from top to bottom as one story.

Four sorts of fenced block are run, in the order of the page and in one empty folder:

- a block with a title, such as ```toml title="people.toml", is written to a file of that name;
- a ```toml block must be sound: the columns it shows are taken as a schema;
- a ```python block is run; lines after a prompt are compared with what they print;
- a ```console block runs each `$ command` in a shell, which must end well, and compares what it
  prints with the lines below. A line of `...` stands for any lines; no lines at all, for anything.

One page is one test, because its blocks build on each other and workers must not share them out.
A page with the comment `<!-- needs: spark -->` finds a Spark running; with `<!-- needs: postgres
-->` the variable SHOP_DATABASE holds the address of a fresh PostgreSQL server. Where that cannot be
had the page is skipped, and the reason told.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.example import SybilFailure
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer
from tests.engines.server import postgres_server
from tests.spark import local_spark

from celosia import Role, Schema
from celosia.cli import main
from celosia.lab import registry

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr

CONSOLE = re.compile(r"console[^\n]*\n")
TOML = re.compile(r"toml\n")
TITLED = re.compile(r"\w+ title=\"(?P<title>[^\"]+)\"[^\n]*\n")

QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
"""Letters that mean nothing to a shell."""

NEEDS = re.compile(r"<!-- needs: (?P<part>spark|postgres) -->")

SHOWING = ' || echo "exit code $?"'
"""How a page shows that a command is to fail, and with which exit code."""


class FencedBlocks:
    """A parser of the fenced blocks whose first line has a form."""

    def __init__(self, first_line: re.Pattern[str]):
        self._lexer = RawFencedCodeBlockLexer(first_line)

    def __call__(self, document: Document) -> Iterable[Region]:
        for region in self._lexer(document):
            region.parsed = region.lexemes
            region.evaluator = self.evaluate
            yield region

    def evaluate(self, example: Example) -> str | None:
        """What is wrong with the block, or None."""
        raise NotImplementedError


class Files(FencedBlocks):
    """Writes blocks that have a title."""

    def __init__(self) -> None:
        super().__init__(TITLED)

    def evaluate(self, example: Example) -> str | None:
        Path(example.parsed["title"]).write_text(str(example.parsed["source"]), "utf-8")
        return None


class SchemaParts(FencedBlocks):
    """Reads TOML blocks; those of hierarchies alone get the role that a hierarchy is for."""

    def __init__(self) -> None:
        super().__init__(TOML)

    def evaluate(self, example: Example) -> str | None:
        shown = tomllib.loads(str(example.parsed["source"]))
        for column in shown.get("columns", {}).values():
            column.setdefault("role", Role.QUASI_IDENTIFIER)
        if shown.keys() & {"table", "columns"}:
            shown.setdefault("columns", {"any": {"role": "insensitive"}})
            Schema.from_table(shown, folder=Path())
        return None


class Console(FencedBlocks):
    """Runs commands and compares what they print."""

    def __init__(self) -> None:
        super().__init__(CONSOLE)

    def evaluate(self, example: Example) -> str | None:
        for command, expected in commands(str(example.parsed["source"])):
            done = run(command)
            if done.returncode != 0:
                return f"$ {command}\nended with exit code {done.returncode}:\n{done.stdout}"
            if expected and not matches(expected, done.stdout):
                return f"$ {command}\nexpected:\n{expected}\nprinted:\n{done.stdout}"
        return None


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with the text below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.replace("\\\n", "").splitlines()
        yield lines[0], "\n".join(lines[1:]).strip("\n")


def run(command: str) -> subprocess.CompletedProcess[str]:
    """A command as a reader would type it, on a screen without colours, 100 letters wide.

    Our own command runs here rather than in a process of its own, which would spend most of its
    time on loading, also where the page shows its exit code; what else needs a shell gets one, and
    there it runs for real.
    """
    alone = command.removesuffix(SHOWING)
    if alone.startswith("celosia ") and not set(QUOTED.sub("", alone)) & set("|&;<>$`\\"):
        done = _run_here(shlex.split(alone))
        if alone == command or done.returncode == 0:
            return done
        shown = f"{done.stdout}exit code {done.returncode}\n"
        return subprocess.CompletedProcess(done.args, 0, shown)
    return subprocess.run(
        ["/bin/sh", "-c", command],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=plain_environment(),
        timeout=600,
    )


def _run_here(words: list[str]) -> subprocess.CompletedProcess[str]:
    screen = io.StringIO()
    with (
        patch.dict(os.environ, plain_environment(), clear=True),
        patch.object(sys, "argv", words),
        # Whose name is that of its file, also where the tests are run as `python -m pytest`.
        patch.object(sys.modules["__main__"], "__package__", None),
        redirect_stdout(screen),
        redirect_stderr(screen),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    return subprocess.CompletedProcess(words, int(ended.value.code or 0), screen.getvalue())


def plain_environment() -> dict[str, str]:
    """The variables of this process, less what changes how commands look."""
    folder = str(Path(sys.executable).parent)
    return os.environ | {
        "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
    }


def matches(expected: str, printed: str) -> bool:
    """Whether a text is what was expected, where `...` stands for anything."""
    plain = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    parts = re.split(r"^\.\.\.\n?", expected, flags=re.MULTILINE)
    pattern = r"(?:[\s\S]*\n)?".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, plain + "\n" if expected.endswith("...") else plain) is not None


@contextmanager
def _needed(part: str | None) -> Iterator[None]:
    """The part that a page needs, there while the page is run."""
    if part == "spark":
        with local_spark():
            yield
    elif part == "postgres":
        with postgres_server() as url, patch.dict(os.environ, {"SHOP_DATABASE": url}):
            yield
    else:
        yield


SYBIL = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE),
        Files(),
        SchemaParts(),
        Console(),
    ],
    patterns=["*.md"],
)


class Page(pytest.File):
    """A Markdown file; its examples are one test."""

    def collect(self) -> Iterator[Story]:
        document = SYBIL.parse(self.path)
        examples = list(document.examples())
        needs = NEEDS.search(document.text)
        part = needs["part"] if needs else None
        if examples:
            yield Story.from_parent(self, name="examples", examples=examples, part=part)


class Story(pytest.Item):
    """All examples of a page, run in an empty folder."""

    def __init__(self, *, examples: list[Example], part: str | None, **common: object):
        super().__init__(**common)  # type: ignore[arg-type]  # what from_parent hands on
        self._examples = examples
        self._part = part
        if part == "spark":
            self.add_marker(pytest.mark.spark)

    def runtest(self) -> None:
        known = patch.dict(registry._KNOWN)  # a page may add a study, and other tests list them all
        with known, _needed(self._part), tempfile.TemporaryDirectory() as folder, chdir(folder):
            for example in self._examples:
                example.evaluate()

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        if isinstance(excinfo.value, SybilFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"the examples of {self.path.name}"
