"""Writes constraints.txt anew from what pip found, and keeps its markers.

    pip freeze | python .ci/constraints.py constraints.txt

A package may have several pins, each for some Pythons, as in

    some-package==1.9; python_full_version < "3.11.5"
    some-package==2.0; python_full_version >= "3.11.5"

Run by one Python, this refreshes the pins that hold for it and leaves the others as they are. It
ends with exit code 1, after writing the file, where a pin shuts out a Python that we support.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet

SUPPORTED = ("3.11.2", "3.12.0", "3.13.0")
"""The oldest Pythons that must do: Debian's own, and the first of each later version."""

TOOLS = {"pip", "setuptools", "wheel"}
_LINE = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[0-9][\w.+!]*)(?:; (?P<marker>.+))?")


@dataclass(frozen=True, slots=True)
class Pin:
    """A line of the file: one version of a package, for all Pythons or for some."""

    name: str
    version: str
    marker: str = ""

    def __str__(self) -> str:
        return f"{self.name}=={self.version}{self.marker and f'; {self.marker}'}"

    @property
    def key(self) -> str:
        """The one spelling of the name."""
        return re.sub(r"[-_.]+", "-", self.name).lower()

    def holds(self, python: str | None = None) -> bool:
        """Whether it is about a Python, such as "3.11.2"; about this one if None."""
        if not self.marker or python is None:
            return not self.marker or Marker(self.marker).evaluate()
        short = ".".join(python.split(".")[:2])
        return Marker(self.marker).evaluate(
            {"python_version": short, "python_full_version": python}
        )


def parse(lines: Iterable[str]) -> list[Pin]:
    """The pins among some lines; comments and editable packages are passed over."""
    found = (_LINE.fullmatch(line.strip()) for line in lines)
    return [Pin(each["name"], each["version"], each["marker"] or "") for each in found if each]


def refreshed(old: Iterable[Pin], found: Iterable[Pin]) -> list[Pin]:
    """The pins after a refresh by this Python: versions of `found`, markers of `old`."""
    marked: dict[str, list[Pin]] = {}
    for pin in old:
        if pin.marker:
            marked.setdefault(pin.key, []).append(pin)
    made: list[Pin] = []
    for pin in found:
        if pin.key not in TOOLS:
            before = marked.pop(pin.key, [])
            made += [replace(e, version=pin.version) if e.holds() else e for e in before] or [pin]
    for left in marked.values():  # needed by other Pythons only
        made += [pin for pin in left if not pin.holds()]
    return sorted(made, key=lambda pin: str(pin).upper())


def shut_out(pins: Iterable[Pin]) -> Iterator[str]:
    """What is wrong: pins, installed here, that a Python we support could not install."""
    for pin in pins:
        try:
            package = distribution(pin.name)
        except PackageNotFoundError:
            continue
        wanted = ",".join(package.metadata.get_all("Requires-Python") or ())
        if package.version != pin.version or not wanted:
            continue
        for python in SUPPORTED:
            if pin.holds(python) and not SpecifierSet(wanted).contains(python):
                yield f"{pin} needs Python {wanted}: pin an older one for Python {python}"


def main() -> int:
    """Refresh the file that is named."""
    path = Path(sys.argv[1])
    pins = refreshed(parse(path.read_text("utf-8").splitlines()), parse(sys.stdin))
    path.write_text("".join(f"{pin}\n" for pin in pins), "utf-8")
    problems = list(shut_out(pins))
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
