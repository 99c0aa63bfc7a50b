"""The list of mutations: faults that are planted in the source, one at a time."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "celosia"
LIST = Path(__file__).with_name("mutations.toml")
CATCHES = Path(__file__).with_name("catches.toml")


class StaleMutationError(Exception):
    """The text that a mutation replaces is no longer in the source, or no longer unique."""


@dataclass(frozen=True)
class Mutation:
    """One fault: a text of one source file, and what replaces it."""

    id: str
    file: str
    """Relative to `src/celosia`."""
    fault: str
    """What the fault does, in one sentence."""
    old: str
    new: str
    tests: tuple[str, ...]
    """The files and folders of tests that are run, relative to the repository."""

    @property
    def package(self) -> str:
        """The first folder below `src/celosia`."""
        return self.file.partition("/")[0]

    def apply(self, text: str) -> str:
        """The source file with the fault.

        Raises:
            StaleMutationError: the text to replace does not occur exactly once.
        """
        times = text.count(self.old)
        if times != 1:
            raise StaleMutationError(f"the old text occurs {times} times in {self.file}")
        return text.replace(self.old, self.new)


def read_mutations() -> list[Mutation]:
    """All mutations, in the order of the file."""
    entries = tomllib.loads(LIST.read_text("utf-8"))["mutation"]
    return [Mutation(**entry | {"tests": tuple(entry["tests"])}) for entry in entries]


def read_catches() -> dict[str, str]:
    """For each mutation, the test that noticed it when the mutations were last run."""
    return tomllib.loads(CATCHES.read_text("utf-8")) if CATCHES.exists() else {}
