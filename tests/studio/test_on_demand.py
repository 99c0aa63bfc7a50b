"""Reports are kept as values, and written as PDF when somebody asks for one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from celosia.core.errors import EngineError
from celosia.core.messages import Message, current, speaking
from celosia.core.report import Document, Paragraph, Table
from celosia.studio import on_demand, stored_json
from celosia.studio.release_facts import packed, unpacked, write_pdf, write_report
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress, Task
from tests.core.test_report import EVIL, every_block

QUIET = JobProgress(lambda text: None)


def test_a_report_is_the_same_after_it_was_kept() -> None:
    count: Any = np.int64(7)
    table = Table(["a", "b"], [["x", count]], numeric=range(1, 2))
    said = Paragraph(Message("studio.the_file"))
    document = Document(EVIL, "k", [*every_block(EVIL), table, said])
    kept = unpacked(stored_json.loads(stored_json.dumps(packed(document))))
    assert kept.html() == document.html()
    with speaking("es"):  # messages stay messages
        assert "el archivo" in kept.html()


def test_a_pdf_speaks_as_its_report_and_goes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Document, "pdf", lambda document: f"{document.title} {current()}".encode())
    with speaking("es"):
        write_report(Document("A", "", []), tmp_path / "report.html")
    write_pdf(QUIET, folder=str(tmp_path), name="report.pdf")
    assert (tmp_path / "report.pdf").read_bytes() == b"A es"
    write_report(Document("B", "", []), tmp_path / "report.html")
    assert not (tmp_path / "report.pdf").exists()


class Jobs:
    """A queue that does each job at once, or refuses it."""

    def __init__(self, refused: EngineError | None = None) -> None:
        self.refused = refused

    def submit(self, visitor: str, title: str, task: Task[Any], *, listed: bool) -> Any:
        if self.refused is not None:
            return SimpleNamespace(over=True, error=self.refused)
        write_pdf(QUIET, **task.arguments)
        return SimpleNamespace(over=True, error=None)


def test_a_file_is_found_made_or_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor: Any = SimpleNamespace(token="")
    work = Work.at(str(tmp_path))

    def find(name: str, jobs: Jobs) -> bytes:
        monkeypatch.setattr(on_demand, "studio", lambda: SimpleNamespace(jobs=jobs))
        return asyncio.run(on_demand.find(visitor, work, name)).read_bytes()

    write_report(Document("A", "", []), work.path("report.html"))
    assert on_demand.is_there(work, "report.pdf")
    assert not on_demand.is_there(work, "release.zip")
    with pytest.raises(EngineError, match="jobs"):
        find("report.pdf", Jobs(EngineError("CEL-W022", most=3)))
    assert find("report.pdf", Jobs()).startswith(b"%PDF")
    assert find("report.html", Jobs(EngineError("CEL-W022"))).startswith(b"<!DOCTYPE")
    for name in ("other.pdf", "report.txt", "release.zip"):
        with pytest.raises(FileNotFoundError):
            find(name, Jobs())
