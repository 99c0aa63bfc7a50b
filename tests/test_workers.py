"""Tests that run on several processes are all run, and what goes wrong in a worker is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.distribution import ROOT


def test_failures_and_dead_workers_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "conftest.py").write_text(
        "import os, pytest\n@pytest.fixture(autouse=True)\n"
        "def prepared() -> None:\n    os.environ['PREPARED'] = 'yes'\n"
    )
    (tmp_path / "a" / "test_good.py").write_text(
        "import os\ndef test_it() -> None:\n    assert os.environ['PREPARED'] == 'yes'\n"
    )
    (tmp_path / "test_bad.py").write_text("def test_it() -> None:\n    assert False\n")
    (tmp_path / "test_broken.py").write_text("import no_such_module\n")
    (tmp_path / "test_deadly.py").write_text("import os\ndef test_it() -> None:\n    os._exit(3)\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.workers", "--workers=2", "a", "."],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "FAILED test_bad.py::test_it" in done.stdout
    assert "ERROR test_broken.py" in done.stdout
    assert "A worker died: test_deadly.py::test_it" in done.stdout
    assert "2 failed, 1 passed, 1 error" in done.stdout
