"""Files as logs, and bad input: each with a code and a count, never a value."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.logs import LogDeclaration, log_of, read, read_sets
from celosia.logs.damage import Damage
from celosia.logs.draft import draft_of
from celosia.logs.formats.access_log import read_blocks
from celosia.logs.readers import ACCESS_LOG

COMMON = '192.0.2.1 - ann [10/Oct/2025:13:55:36 +0200] "GET /a?b=1 HTTP/1.1" 200 2326'
COMBINED = COMMON + ' "https://example.org/s?q=me" "Mozilla/5.0 Firefox/128.0"'


DROPPING = replace(ACCESS_LOG, damaged="drop")


@pytest.fixture
def access(tmp_path: Path) -> Path:
    path = tmp_path / "access.log"
    lines = [
        COMBINED,
        COMMON.replace("192.0.2.1", "2001:db8::1").replace("2326", "-"),
        COMBINED.replace("GET /a?b=1 HTTP/1.1", "\\x16\\x03"),
        COMBINED.replace("10/Oct/2025", "40/Oct/2025"),
        COMBINED.replace('"Mozilla', '"A \\"quoted\\" Mozilla'),
        "not a line of an access log",
    ]
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe broken\n" + b"nul \x00 byte\n")
    return path


def test_an_access_log_needs_no_declaration_and_counts_what_it_leaves_out(access: Path) -> None:
    with pytest.raises(InputError, match=r"2 lines have bytes .* \(first at row 7\)"):
        read(access)
    log = read(access, DROPPING)
    assert log.records == 3
    assert dict(log.unread) == {
        "bad_encoding": 2,
        "no_access_log_line": 1,
        "bad_request": 1,
        "bad_time": 1,
    }
    assert log.frame["bytes"].null_count() == 1
    assert str(log.frame["time"][0]) == "2025-10-10 11:55:36+00:00"
    assert "ann" not in repr(log)


def test_a_packed_log_and_small_blocks_give_the_same_records(access: Path, tmp_path: Path) -> None:
    packed = tmp_path / "access.log.gz"
    packed.write_bytes(gzip.compress(access.read_bytes()))
    assert read(packed, DROPPING).frame.equals(read(access, DROPPING).frame)
    parts = list(read_blocks(access, counts := Damage(), block=64))
    assert len(parts) > 1
    assert sum(part.height for part in parts) == 3
    assert counts.counts == dict(read(access, DROPPING).unread)
    assert counts.firsts["bad_encoding"] == 7


def test_json_lines_and_tables_are_read_by_their_declaration(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": ["007", "008"], "query": ["12", "13"], "extra": [1, 2]})
    declaration = LogDeclaration(person="user", text="query")
    for name, write in (("a.csv", frame.write_csv), ("a.jsonl", frame.write_ndjson)):
        write(tmp_path / name)
        log = read(tmp_path / name, declaration)
        assert log.frame.columns == ["user", "query"]
        assert log.frame["user"].cast(pl.String).to_list() == ["007", "008"]


def test_basket_lines_and_persons_give_sets(tmp_path: Path) -> None:
    path = tmp_path / "baskets.txt"
    path.write_bytes(b"milk,bread,milk\n\nbeer\n\xff\xfe\n")
    with pytest.raises(InputError, match="first at row 4"):
        read_sets(path)
    sets = read_sets(path, LogDeclaration(layout="baskets", damaged="drop"))
    assert sets.sets() == [("bread", "milk"), ("beer",)]
    assert dict(sets.unread) == {"bad_encoding": 1}
    table = tmp_path / "log.csv"
    pl.DataFrame({"u": ["a", "b", "a"], "q": ["X", "y", "x "]}).write_csv(table)
    found = read_sets(table, LogDeclaration(person="u", text="q"))
    assert found.sets() == [("x",), ("y",)]


def test_records_without_a_person_or_a_text_are_counted_and_left_out() -> None:
    frame = pl.DataFrame({"u": ["a", None, "b", "c"], "q": ["x", "y", " ", "z" * 10_001]})
    with pytest.raises(InputError) as caught:  # one person is left
        log_of(frame, LogDeclaration(person="u", text="q", damaged="drop"))
    assert caught.value.code == "CEL-U013"
    more = pl.concat([frame, pl.DataFrame({"u": ["d"], "q": ["x"]})])
    for rows, place in ((more, "no person .*row 2"), (more[2:], "no query .*row 1"),
                        (more[3:], "10,000 .*row 1")):  # fmt: skip
        with pytest.raises(InputError, match=place) as caught:
            log_of(rows, LogDeclaration(person="u", text="q"))
        assert caught.value.code == "CEL-U014"
    found = log_of(more, LogDeclaration(person="u", text="q", damaged="drop"))
    assert dict(found.unread) == {"no_person": 1, "no_text": 1, "long_text": 1}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[other]\na = 1", "CEL-U001"),
        ('[log]\nperson = ""', "CEL-U001"),
        ('[log]\nperson = "u"\nunit = "day"', "CEL-U001"),
        ('[log]\npreson = "u"', "CEL-U001"),
        ('[log]\nip = "a"\nurl = "a"', "CEL-U001"),
        ('[log]\nzone = "Mars/Olympus"', "CEL-U001"),
        ("[log", "CEL-U002"),
    ],
)
def test_a_wrong_declaration_is_refused(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "log.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        LogDeclaration.load(path)
    assert caught.value.code == code


def test_a_declaration_is_written_and_read_alike(tmp_path: Path) -> None:
    given = LogDeclaration(
        person="user", text="query", keep=("status",), sensitive=("s.txt",), hierarchy="h.csv"
    )
    path = tmp_path / "log.toml"
    path.write_text(given.toml(comments={"person": "who"}), "utf-8")
    found = LogDeclaration.load(path)
    assert found.columns == given.columns
    assert found.keep == ("status",)
    assert found.hierarchy == str(tmp_path / "h.csv")


@pytest.mark.parametrize(
    ("name", "content", "declare", "code"),
    [
        ("a.unknown", "x y\n", None, "CEL-U003"),
        ("a.csv", "user,query\na,x\n", None, "CEL-U005"),
        ("a.csv", "user,query\na,x\n", LogDeclaration(person="who"), "CEL-F022"),
        ("a.jsonl", '{"user": "a"}\n', LogDeclaration(person="who"), "CEL-U011"),
        ("a.txt", "milk bread\n", LogDeclaration(layout="baskets"), "CEL-U006"),
    ],
)
def test_files_that_cannot_be_read_say_why(
    tmp_path: Path, name: str, content: str, declare: LogDeclaration | None, code: str
) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    with pytest.raises(InputError) as caught:
        read(path, declare)
    assert caught.value.code == code


def test_a_draft_takes_roles_from_names() -> None:
    found = draft_of(["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"])
    assert found.columns == {
        "person": "AnonID", "time": "QueryTime", "text": "Query", "url": "ClickURL",
    }  # fmt: skip
