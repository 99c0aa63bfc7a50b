"""What is installed with Celosía: its packages, their licences, and a bill of materials of them.

A package is listed where it is installed and Celosía needs it, directly or through another one;
what merely lies in the same environment is not. Everything comes from the metadata of the installed
packages: nothing is imported, and no network is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any
from uuid import NAMESPACE_URL, uuid5

ROOT = "celosia"
UNKNOWN = "unknown"
LONGEST_NAME = 60
"""Letters of a licence's name: some packages have the whole text in its place."""

_REQUIREMENT = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^\]]*)\])?[^;]*(?:;(?P<when>.*))?"
)
_EXTRA = re.compile(r"""extra\s*==\s*["'](?P<name>[^"']+)["']""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """An installed package.

    Args:
        name: as its authors write it.
        version: of it.
        licence: an SPDX expression, or the name that its metadata has.
        is_expression: whether the licence is an SPDX expression.
        needs: the canonical names of the installed packages that it needs.
    """

    name: str
    version: str
    licence: str
    is_expression: bool
    needs: tuple[str, ...]

    @property
    def address(self) -> str:
        """The package URL (purl), which bills of materials know it by.

        >>> Component(name="Some.Thing", version="1.0", licence="MIT", is_expression=True,
        ...           needs=()).address
        'pkg:pypi/some-thing@1.0'
        """
        return f"pkg:pypi/{canonical(self.name)}@{self.version}"

    def as_dict(self) -> dict[str, str]:
        """For people and programs: name, version and licence."""
        return {"name": self.name, "version": self.version, "licence": self.licence}


def canonical(name: str) -> str:
    """The one spelling of a package's name.

    >>> canonical("Typing_Extensions")
    'typing-extensions'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_components() -> list[Component]:
    """Celosía first, then all packages that it needs and that are installed, by name."""
    found: dict[str, tuple[Distribution, set[str]]] = {}
    own = distribution(ROOT)
    waiting: list[tuple[str, frozenset[str]]] = [
        (ROOT, frozenset(own.metadata.get_all("Provides-Extra") or ()))
    ]
    while waiting:
        name, extras = waiting.pop()
        if name not in found:
            try:
                found[name] = (distribution(name), set())
            except PackageNotFoundError:  # of an extra, or for another system
                continue
        elif extras <= found[name][1]:
            continue
        found[name][1].update(extras)
        waiting.extend(_needed(found[name][0], found[name][1]))
    listed = sorted(found, key=lambda name: (name != ROOT, name))
    return [_component(*found[name], known=found.keys() - {name}) for name in listed]


def _needed(package: Distribution, extras: set[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """What a package with some extras needs; other conditions are met by what is installed."""
    for line in package.requires or ():
        parts = _REQUIREMENT.fullmatch(line)
        if parts is None:
            continue
        wanted = {canonical(each["name"]) for each in _EXTRA.finditer(parts["when"] or "")}
        if not wanted or wanted & {canonical(each) for each in extras}:
            more = (parts["extras"] or "").replace(" ", "").split(",")
            yield canonical(parts["name"]), frozenset(each for each in more if each)


def _component(package: Distribution, extras: set[str], *, known: set[str]) -> Component:
    licence, is_expression = _licence(package)
    needs = {name for name, _ in _needed(package, extras)}
    return Component(
        name=package.metadata["Name"],
        version=package.version,
        licence=licence,
        is_expression=is_expression,
        needs=tuple(sorted(needs & known)),
    )


def _licence(package: Distribution) -> tuple[str, bool]:
    """The licence, and whether it is an SPDX expression."""
    expression = "".join(package.metadata.get_all("License-Expression") or ())
    if expression:
        return expression, True
    name = "".join(package.metadata.get_all("License") or ()).strip()
    if name and "\n" not in name and len(name) <= LONGEST_NAME:
        return name, False
    classifiers = package.metadata.get_all("Classifier") or ()
    names = [str(each).rpartition("::")[2].strip() for each in classifiers if _is_licence(each)]
    return ", ".join(names) or UNKNOWN, False


def _is_licence(classifier: str) -> bool:
    return classifier.startswith("License ::")


def bill_of_materials(components: list[Component], *, created: datetime) -> dict[str, Any]:
    """A CycloneDX 1.6 document of components, the first of which is what it is about.

    The serial number follows from the components: the same packages have the same one.
    """
    subject, *parts = components
    addresses = {canonical(each.name): each.address for each in components}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, ' '.join(addresses.values()))}",
        "version": 1,
        "metadata": {
            "timestamp": created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": _part(subject, kind="application"),
        },
        "components": [_part(each, kind="library") for each in parts],
        "dependencies": [
            {
                "ref": each.address,
                "dependsOn": [addresses[name] for name in each.needs if name in addresses],
            }
            for each in components
        ],
    }


def _part(component: Component, *, kind: str) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "type": kind,
        "bom-ref": component.address,
        "name": component.name,
        "version": component.version,
        "purl": component.address,
    }
    if component.is_expression:
        facts["licenses"] = [{"expression": component.licence}]
    elif component.licence != UNKNOWN:
        facts["licenses"] = [{"license": {"name": component.licence}}]
    return facts
