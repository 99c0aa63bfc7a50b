"""`celosia doctor`: versions, licences and the bill of materials."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import Run

from celosia.core import kernels


def test_the_licences_of_all_packages_in_use_are_listed(run: Run) -> None:
    packages = run("doctor", "--licences", "--json").data()["packages"]
    assert packages[0]["name"] == "celosia"
    assert packages[0]["licence"] == "Apache-2.0"
    assert {"name", "version", "licence"} == set(packages[1])
    assert "│ celosia " in run("doctor", "--licences").out


def test_a_bill_of_materials_is_written_beside_the_facts(run: Run, tmp_path: Path) -> None:
    result = run("doctor", "--sbom", "celosia.cdx.json", "--json")
    assert "celosia" in result.data()
    assert "celosia.cdx.json" in result.err
    bill = json.loads((tmp_path / "celosia.cdx.json").read_text("utf-8"))
    assert bill["metadata"]["component"]["name"] == "celosia"
    assert {"numpy", "polars"} <= {each["name"] for each in bill["components"]}


def test_a_bill_of_materials_takes_the_place_of_no_other_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("mine")
    run("doctor", "--sbom", "mine.json").complains("CEL-I004")
    assert (tmp_path / "mine.json").read_text() == "mine"
    assert run("doctor", "--sbom", "mine.json", "--overwrite").code == 0


def test_the_folder_of_compiled_kernels_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = run("doctor", "--json").data()
    found = kernels.kernel_folder()
    assert found is not None
    assert facts["compiled kernels"] == f"{found.path} (writable)"
    lost = kernels.KernelFolder(tmp_path / "nowhere", "user")
    monkeypatch.setattr(kernels, "kernel_folder", lambda: lost)
    assert run("doctor", "--json").data()["compiled kernels"] == f"{lost.path} (not writable)"
    monkeypatch.setattr(kernels, "kernel_folder", lambda: None)
    assert "NUMBA_CACHE_DIR" in run("doctor", "--json").data()["compiled kernels"]
