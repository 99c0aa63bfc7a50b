"""The reference follows from the code."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import json
from functools import cache
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

import pytest
from tests.docs.examples import run

from celosia.cli.app import COMMANDS, PANELS
from celosia.collect.clients.files import CONFORMANCE, shipped
from celosia.collect.registry import PROTOCOLS
from celosia.core.catalogue import explanations
from celosia.core.methods import parameters
from celosia.tables.hierarchies.notation import BUILDERS, FILE_KEYS
from celosia.tables.masking import methods

DOCS = Path(__file__).parents[2] / "docs"


@cache
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    # The generator starts a process for each of a hundred commands; what they print is the same
    # here, where they are loaded already. One of them is compared with what the process prints.
    apart = generator()._help(("publish",))
    monkeypatch.setattr(generator(), "_help", help_here)
    assert help_here(("publish",)) == apart
    stale = []
    for path, text in generator().pages().items():
        found = path.read_text("utf-8") if path.exists() else ""
        stale += list(
            difflib.unified_diff(
                found.splitlines(), text.splitlines(), str(path), "what the code says", lineterm=""
            )
        )
    assert not stale, "run `python docs/generate.py`:\n" + "\n".join(stale[:60])


def test_every_public_name_is_in_the_reference_with_its_meaning() -> None:
    for name, file in generator().MODULES.items():
        page = (DOCS / "reference" / "api" / file).read_text("utf-8")
        for public in importlib.import_module(name).__all__:
            row = next((line for line in page.splitlines() if f"| [`{public}`]" in line), "")
            meaning = row.rstrip("| ").rpartition("|")[2]
            assert meaning.strip(), f"{name}.{public} has no one-line meaning in {file}"


def test_every_error_code_is_in_the_reference() -> None:
    page = (DOCS / "reference" / "errors.md").read_text("utf-8")
    assert [code for code in explanations() if f"### {code}:" not in page] == []


def test_no_colours_get_into_the_help() -> None:
    pages = [*(DOCS / "reference" / "command-line").iterdir()]
    assert len(pages) == len(PANELS)
    assert [page for page in pages if "\x1b" in page.read_text("utf-8")] == []


def test_the_first_page_of_the_command_line_leads_to_every_command() -> None:
    first = (DOCS / "reference" / "command-line.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"#celosia-{name}) |" not in first] == []


def test_every_key_of_a_hierarchy_is_in_the_reference_of_schema_files() -> None:
    page = (DOCS / "reference" / "schema-file.md").read_text("utf-8")
    keys = [*FILE_KEYS, *(key for builder in BUILDERS.values() for key in names_of(builder))]
    assert [key for key in keys if f"| `{key}` |" not in page] == []
    assert [name for name in BUILDERS if f'`method = "{name}"`' not in page] == []


def test_every_method_and_parameter_is_in_the_reference_of_recipe_files() -> None:
    page = (DOCS / "reference" / "recipe-file.md").read_text("utf-8")
    parts = [part.partition("\n") for part in page.split("\n### ")[1:]]
    for name, method in methods().items():
        (text,) = [text for heading, _, text in parts if f"`{name}`" in heading]
        rows = [line.split("|")[1] for line in text.split("\n## ")[0].splitlines() if "|" in line]
        assert [key for key in names_of(method) if f"`{key}`" not in " ".join(rows)] == [], name


ONE_AT_A_TIME = Lock()
"""The generator asks from several threads, and all of them share one screen."""


def help_here(command: tuple[str, ...]) -> str:
    with ONE_AT_A_TIME:
        done = run(" ".join(("celosia", *command, "--help")))
    assert done.returncode == 0
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def names_of(method: type[Any]) -> list[str]:
    return [each.name for each in parameters(method)]


def test_every_protocol_has_a_page_with_all_report_vectors_in_the_navigation() -> None:
    listed = json.loads(shipped(CONFORMANCE))["protocols"]
    told = [each["parameters"]["protocol"] for each in listed]
    assert set(told) == set(PROTOCOLS)
    navigation = (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    folder = DOCS / "reference" / "device-reports"
    assert {each.stem for each in folder.iterdir()} == set(told)
    for name in set(told):
        assert f"reference/device-reports/{name}.md" in navigation
        page = (folder / f"{name}.md").read_text("utf-8")
        for part in ("## Layout", "## Keys", "## Draws, in order"):
            assert part in page
        plain = page.replace("\n", "")  # long lines are broken
        vectors = [v for c in listed if c["parameters"]["protocol"] == name for v in c["vectors"]]
        assert all(f'report: "{vector["report"]}"' in plain for vector in vectors)
