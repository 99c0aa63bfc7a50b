"""The runner of examples finds faults; a runner that never fails would prove nothing."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest
from sybil.example import SybilFailure
from tests.docs.examples import SYBIL, commands, matches


def play(folder: Path, text: str) -> None:
    page = folder / "page.md"
    page.write_text(text, "utf-8")
    with chdir(folder):
        for example in SYBIL.parse(page).examples():
            example.evaluate()


def test_blocks_build_on_each_other(tmp_path: Path) -> None:
    play(
        tmp_path,
        '```text title="a.txt"\nhello\n```\n\n```console\n$ cat a.txt\nhello\n```\n\n'
        "```python\n>>> open('a.txt').close()\n\n```\n",
    )


@pytest.mark.parametrize(
    "text",
    [
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ false\n```\n",
        "```python\n>>> 1 + 1\n3\n\n```\n",
        "```python\nraise ValueError\n```\n",
        '```toml\n[columns.age]\nrole = "nobody"\n```\n',
        '```toml\n[columns.age.hierarchy]\nmethod = "intervals"\nwidth = [5]\n```\n',
    ],
)
def test_a_wrong_example_fails(tmp_path: Path, text: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - each block fails in its own way
        play(tmp_path, text)
    assert isinstance(caught.value, SybilFailure | ValueError) or "CEL-" in str(
        getattr(caught.value, "code", "")
    )


def test_commands_are_told_from_what_they_print() -> None:
    block = "$ celosia doctor \\\n    --json\n{\n$ ls\n"
    assert list(commands(block)) == [("celosia doctor     --json", "{"), ("ls", "")]


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\n...\nc", "a\nb\nb\nc\n", True),
        ("...\nc", "c\n", True),
        ("a\n...", "a\n", True),
        ("a", "a\nb\n", False),
        ("...\nc", "a\nd\n", False),
    ],
)
def test_dots_stand_for_any_lines(expected: str, printed: str, same: bool) -> None:
    assert matches(expected, printed) is same
