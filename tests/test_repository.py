"""About the repository: layering, sizes and names of modules, what imports cost."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

import celosia

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "celosia"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
HEAVY = {
    "numpy",
    "polars",
    "numba",
    "pyarrow",
    "duckdb",
    "pandas",
    "scipy",
    "matplotlib",
    "opendp",
    "dp_accounting",
}

LONGEST = 600
"""Lines of a module: 400 are the advice, and beyond this it is surely several ideas."""


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after running some code."""
    tail = "\nimport sys, json\nsys.stderr.write(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code + tail], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {name.partition(".")[0] for name in json.loads(result.stderr.splitlines()[-1])}


def test_dependencies_point_downwards_only() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stdout


def test_every_part_of_the_package_has_its_place_in_the_layers() -> None:
    (layers,) = (
        contract["layers"]
        for contract in PROJECT["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    placed = {name.strip(" ()") for layer in layers for name in re.split(r"[|:]", layer)}
    parts = {f"celosia.{path.parent.name}" for path in SOURCE.glob("*/__init__.py")}
    assert parts <= placed


def test_a_module_is_one_idea_under_a_telling_name() -> None:
    """In one test: a thousand of them would take longer to report than to run."""
    texts = {path: path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    empty_words = {"utils", "util", "helpers", "helper", "misc", "common"}
    assert len(texts) > 500
    # The client of devices is one file, so that an app can take it with it.
    long = [path.name for path, text in texts.items() if len(text.splitlines()) > LONGEST]
    assert long == ["celosia_client.py"]
    assert [path for path in texts if path.stem.strip("_") in empty_words] == []
    assert [path for path, text in texts.items() if not text.startswith(('"""', 'r"""'))] == []


def test_every_public_name_leads_somewhere() -> None:
    assert sorted(celosia.__all__) == celosia.__all__
    for name in celosia.__all__:
        assert getattr(celosia, name) is not None
    assert set(celosia.__all__) <= set(dir(celosia))


@pytest.mark.parametrize(
    "door",
    [
        "accounting",
        "accounting.ledger",
        "assess",
        "assess.attacks",
        "assess.audit",
        "assess.linkage",
        "assess.risk",
        "assess.utility",
        "assess.utility.numeric",
        "core.figures",
        "datasets",
        "engines",
        "frames",
        "graphs",
        "graphs.attacks",
        "graphs.automorphism",
        "graphs.generalisation",
        "graphs.kdegree",
        "graphs.metrics",
        "graphs.neighbourhood",
        "graphs.perturbation",
        "graphs.private",
        "graphs.uncertain",
        "graphs.verification",
        "lab",
        "logs",
        "logs.attacks",
        "logs.private",
        "mechanisms",
        "mechanisms.noise",
        "mechanisms.sparse",
        "queries",
        "queries.emission",
        "queries.policy",
        "queries.service",
        "queries.sql",
        "sketches",
        "tables",
        "tables.hierarchies",
        "tables.magnitude",
        "tables.masking",
        "tables.metrics",
        "tables.models",
        "tables.private",
        "tables.recoding",
        "tables.recoding.classic",
        "tables.recoding.mondrian",
        "tables.synthesis",
        "traces",
        "traces.attacks",
        "traces.places",
        "traces.planar",
        "traces.private",
    ],
)
def test_every_public_name_of_a_door_leads_somewhere(door: str) -> None:
    module = importlib.import_module(f"celosia.{door}")
    for name in module.__all__:
        assert hasattr(module, name), name


def test_an_unknown_name_of_the_package_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'publsh'"):
        _ = celosia.publsh


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert modules_after("import celosia") & (HEAVY | {"typer", "rich"}) == set()


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["publish", "--help"], ["explain", "CEL-P001"]],
    ids=str,
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"import sys\nsys.argv = ['celosia', *{arguments}]\nfrom celosia.cli import main\n"
    code += "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code"
    assert modules_after(code) & HEAVY == set()


def test_the_package_says_that_it_is_typed() -> None:
    assert files("celosia").joinpath("py.typed").is_file()


def test_the_version_is_that_of_the_project() -> None:
    assert version("celosia") == PROJECT["project"]["version"] == celosia.__version__
