"""The map is true: layers as the import contract has them, and places that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
SOURCE = ROOT / "src" / "celosia"


def layers_of_the_contract() -> list[set[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    return [{name.strip().removeprefix("celosia.") for name in row.split("|")} for row in layers]


def test_the_page_shows_the_layers_of_the_import_contract() -> None:
    (block,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    shown = [re.split(r" {2,}", line)[0] for line in block.splitlines()]
    assert [set(re.split(r" \| ", row)) for row in shown] == layers_of_the_contract()


def test_every_package_is_on_the_page() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages == set().union(*layers_of_the_contract())


def test_every_place_that_the_page_names_exists() -> None:
    places = re.findall(r"`([a-z_0-9]+(?:/[a-z_0-9]+)*/?(?:\.py|\.toml)?)`", PAGE)
    named = [place for place in places if "/" in place]
    assert len(named) > 30
    assert [place for place in named if not (SOURCE / place).exists()] == []
