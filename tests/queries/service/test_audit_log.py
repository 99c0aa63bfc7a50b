"""The audit log: lines that are only ever added, and are on disk."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.queries.service.vaults import POLICY

from celosia.core.errors import EngineError
from celosia.queries.service import AuditLine, AuditLog
from celosia.queries.service.audit_log import question_hash

LINE = AuditLine(action="query", outcome="ok", status=200, who="ada")


def test_lines_are_added_to_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for _ in range(2):
        with AuditLog(path) as log:
            log.write(LINE)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == [LINE.as_dict()] * 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_line_is_on_disk_before_write_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def noted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def both(*given: Any) -> Any:
            calls.append(name)
            return call(*given)

        return both

    with AuditLog(tmp_path / "audit.jsonl") as log:
        monkeypatch.setattr(os, "write", noted("write", os.write))
        monkeypatch.setattr(os, "fsync", noted("fsync", os.fsync))
        log.write(LINE)
    assert calls == ["write", "fsync"]


def test_names_with_line_breaks_stay_on_their_line(tmp_path: Path) -> None:
    odd = 'a\n{"who": "carla"}\r\u2028\ud800'
    with AuditLog(tmp_path / "audit.jsonl") as log:
        log.write(AuditLine(action="query", outcome="ok", status=200, who=odd))
    (line,) = (tmp_path / "audit.jsonl").read_text().splitlines()
    assert json.loads(line)["who"] == odd


def test_two_logs_of_one_file_do_not_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with AuditLog(path) as one, AuditLog(path) as other, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: (one, other)[number % 2].write(LINE), range(200)))
    lines = path.read_text().splitlines()
    assert len(lines) == 200
    assert all(json.loads(line) == LINE.as_dict() for line in lines)


def test_a_line_that_was_cut_off_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text('{"at": "2026-')
    with AuditLog(path) as log:
        log.write(LINE)
    torn, whole = path.read_text().splitlines()
    assert torn == '{"at": "2026-'
    assert json.loads(whole) == LINE.as_dict()


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "where"):
        with pytest.raises(EngineError) as caught:
            AuditLog(path)
        assert caught.value.key == "CEL-Q181.audit_log"
    log = AuditLog(tmp_path / "audit.jsonl")
    log.close()
    with pytest.raises(EngineError):
        log.write(LINE)


def test_equal_questions_have_equal_hashes() -> None:
    first = question_hash("SELECT count(*) FROM orders", POLICY)
    assert first == question_hash("select COUNT( * ) from ORDERS as o  -- why", POLICY)
    assert first != question_hash("SELECT count(*) FROM nation", POLICY)


@pytest.mark.parametrize("text", ["not  SQL", "\ud800", "", "\0", "(" * 5000])
def test_what_is_no_question_has_a_hash_too(text: str) -> None:
    assert len(question_hash(text, POLICY)) == 64
    assert question_hash(f" {text}\n", POLICY) == question_hash(text, POLICY)
