"""The packages that Celosía needs, their licences, and the bill of materials."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from celosia.core import components as module
from celosia.core.components import bill_of_materials, canonical, installed_components

ROOT = Path(__file__).parents[2]
MADE = datetime(2026, 3, 1, 12, 30, tzinfo=timezone(timedelta(hours=1)))


class Installed(Distribution):
    """A package of which there is nothing but metadata."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        return Path(path)


def installed(monkeypatch: pytest.MonkeyPatch, **packages: str) -> None:
    """Only these packages are installed, each with more lines of metadata."""

    def found(name: str) -> Distribution:
        if name not in packages:
            raise PackageNotFoundError(name)
        return Installed(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{packages[name]}")

    monkeypatch.setattr(module, "distribution", found)


def test_celosia_comes_first_then_all_that_it_needs_by_name() -> None:
    names = [canonical(each.name) for each in installed_components()]
    assert names[0] == "celosia"
    assert names[1:] == sorted(set(names[1:]))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {canonical(re.split(r"[<>=!~;\[ ]", each)[0]) for each in project["dependencies"]}
    assert wanted <= set(names)
    assert "pytest" not in names, "it lies beside, and is not needed"


def test_every_package_in_use_has_a_licence() -> None:
    assert [each.name for each in installed_components() if each.licence == module.UNKNOWN] == []


def test_packages_of_extras_are_listed_where_they_are_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed(
        monkeypatch,
        celosia="Provides-Extra: one\nProvides-Extra: two\nRequires-Dist: base>=1\n"
        "Requires-Dist: here[fast] ; extra == 'one'\nRequires-Dist: gone; extra == 'two'\n",
        base='Requires-Dist: unwanted; extra == "tests"\nRequires-Dist: base[more]\n',
        here="Requires-Dist: quick (>=2,<3); (python_version > '3') and extra == 'fast'\n"
        "Requires-Dist: slow; extra == 'slow'\n",
        quick="",
        slow="",
        unwanted="",
    )
    found = {each.name: each.needs for each in installed_components()}
    assert found == {"celosia": ("base", "here"), "base": (), "here": ("quick",), "quick": ()}


@pytest.mark.parametrize(
    ("metadata", "licence", "is_expression"),
    [
        ("License-Expression: MIT OR Apache-2.0\nLicense: other\n", "MIT OR Apache-2.0", True),
        ("License: BSD-3-Clause\nClassifier: License :: OSI Approved :: Else\n", "BSD-3-Clause", 0),
        (f"License: {'word ' * 20}\nClassifier: License :: OSI Approved :: Some\n", "Some", False),
        (
            "License: one\n        two\nClassifier: License :: A\nClassifier: License :: B\n",
            "A, B",
            False,
        ),
        ("Classifier: Typing :: Typed\n", "unknown", False),
    ],
)
def test_a_licence_is_an_expression_or_else_a_short_name(
    monkeypatch: pytest.MonkeyPatch, metadata: str, licence: str, is_expression: bool
) -> None:
    installed(monkeypatch, celosia=metadata)
    (only,) = installed_components()
    assert (only.licence, only.is_expression) == (licence, bool(is_expression))


def test_a_bill_of_materials_is_cyclonedx_in_which_every_reference_leads_somewhere() -> None:
    components = installed_components()
    bill = bill_of_materials(components, created=MADE)
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    assert bill["metadata"]["timestamp"] == "2026-03-01T11:30:00Z"
    parts = [bill["metadata"]["component"], *bill["components"]]
    assert [each["type"] for each in parts] == ["application", *["library"] * len(components[1:])]
    references = Counter(each["bom-ref"] for each in parts)
    assert set(references.values()) == {1}
    assert [each["ref"] for each in bill["dependencies"]] == list(references)
    for each in bill["dependencies"]:
        assert set(each["dependsOn"]) <= references.keys()
    for each in parts:
        assert re.fullmatch(r"pkg:pypi/[a-z0-9-]+@[0-9][\w.+!]*", each["purl"])
        (licence,) = each["licenses"]
        assert licence.keys() == {"expression"} or licence["license"].keys() == {"name"}


def test_the_serial_number_follows_from_the_packages() -> None:
    first, *others = installed_components()
    one = bill_of_materials([first, *others], created=MADE)
    same = bill_of_materials([first, *others], created=datetime.now(UTC))
    fewer = bill_of_materials([first], created=MADE)
    assert one["serialNumber"] == same["serialNumber"] != fewer["serialNumber"]


def test_a_package_without_a_known_licence_claims_none(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, celosia="")
    bill = bill_of_materials(installed_components(), created=MADE)
    assert "licenses" not in bill["metadata"]["component"]
