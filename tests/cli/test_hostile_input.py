"""Clumsy and hostile files: a clear message with a code, or a release; never a value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.cli.running import MARK, Run

from celosia import frames

HEADER = "age,zip,disease"
ROWS = [f"{20 + i % 5},{100 + i % 3},{MARK}" for i in range(60)]
TABLE = "\n".join([HEADER, *ROWS]) + "\n"
ROLES = ("-q", "age", "-q", "zip", "--sensitive", "disease", "--k", 5)

BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "CEL-F013"),
    "blank": (b"\n\n", "CEL-F013"),
    "a header alone": (HEADER.encode() + b"\n", "CEL-F015"),
    "a short row": (TABLE.encode() + b"1,2\n", "CEL-F016"),
    "a long row": (TABLE.encode() + f"1,2,3,{MARK}\n".encode(), "CEL-F016"),
    "binary": (bytes(range(256)) * 20, "CEL-F019"),
    "zero bytes": (TABLE.encode() + f"1,2,{MARK}\0\n".encode(), "CEL-F019"),
    "a column without a name": (TABLE.replace("zip", "", 1).encode(), "CEL-F003"),
    "an open quotation mark": (TABLE.encode() + f'1,2,"{MARK}\n'.encode(), "CEL-F017"),
    "an empty quasi-identifier": (TABLE.encode() + f",100,{MARK}\n".encode(), "CEL-T010"),
    "other columns": (TABLE.replace("zip", "city", 1).encode(), "CEL-S010"),
}


@pytest.mark.parametrize("stream", [(), ("--stream",)], ids=str)
@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused_and_nothing_written(
    case: str, stream: tuple[str, ...], run: Run, tmp_path: Path
) -> None:
    content, code = BROKEN[case]
    (tmp_path / "people.csv").write_bytes(content)
    run("publish", "people.csv", *ROLES, "-o", "safe.csv", *stream).complains(code)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("stream", [(), ("--stream",)], ids=str)
def test_a_name_that_comes_again_gets_a_number_which_is_noted(
    stream: tuple[str, ...], run: Run, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(TABLE.replace("zip", "age", 1))
    made = run("publish", "people.csv", *ROLES, *stream, "-o", "safe.csv")
    assert made.code == 2
    assert made.err.count("people.csv: a name comes more than once") == 1
    assert "CEL-S010" in made.err
    roles = ("-q", "age", "-q", "age (2)", "--sensitive", "disease", "--k", 5)
    assert run("publish", "people.csv", *roles, *stream, "-o", "safe.csv").code == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--delimiter", ";"), "CEL-S010"),
        (("--delimiter", "ab"), "CEL-F021"),
        (("--encoding", "utf-16"), "CEL-F018"),
        (("--encoding", "klingon"), "CEL-F021"),
        (("--no-header",), "CEL-S010"),
    ],
    ids=str,
)
def test_a_wrong_word_about_a_good_file_is_refused(
    options: tuple[str, ...], code: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(TABLE)
    run("publish", "people.csv", *ROLES, *options).complains(code)


def test_a_wrong_encoding_names_the_row_and_not_the_letter(run: Run, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(TABLE.replace(MARK, "ñ", 9).encode("latin-1"))
    refused = run("publish", "people.csv", *ROLES, "--encoding", "ascii")
    refused.complains("CEL-F018")
    assert "row 1" in refused.err


def test_a_folder_and_an_unknown_ending_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "people.docx").write_text(TABLE)
    run("publish", "folder.csv", *ROLES).complains("CEL-F011")
    run("publish", "people.docx", *ROLES).complains("CEL-F012")


def test_a_file_that_is_not_ours_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_text(TABLE)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # rights do not bind root, who runs many a test
    run("publish", "people.csv", *ROLES).complains("CEL-F014")


@pytest.mark.parametrize(
    "content",
    [
        TABLE.replace("\n", "\r\n").encode(),
        TABLE.replace(MARK, f'"{MARK}, ""quoted"""').encode(),
        TABLE.replace(MARK, "=cmd()|' /C calc'!A0").encode(),
        TABLE.replace(MARK, MARK + "x" * 100_000).encode(),
        TABLE.replace(MARK, "ñandú").encode("windows-1252"),
        TABLE.encode("utf-16"),
        TABLE.encode("utf-8-sig"),
    ],
    ids=["crlf", "quotes", "formula", "long cells", "windows-1252", "utf-16", "byte order mark"],
)
def test_an_unusual_file_is_published_whole(content: bytes, run: Run, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(content)
    for way in ("--in-memory", "--stream"):
        told = run("publish", "people.csv", *ROLES, way, "-o", f"safe{way}.csv")
        assert told.code == 0, told.err
        assert MARK not in told.out + told.err
        expected = frames.read(tmp_path / "people.csv")["disease"].sort()
        assert frames.read(tmp_path / f"safe{way}.csv")["disease"].sort().equals(expected)


STRANGE = ["[bold]zip[/]", "[/]", "[link=x]", ":smile:", "two\nlines", "\x1b[31mred", "%s {0} \\"]


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_column_name_is_shown_literally(name: str, run: Run, tmp_path: Path) -> None:
    head = name.replace('"', '""')
    (tmp_path / "people.csv").write_text(TABLE.replace("zip", f'"{head}"', 1))
    roles = ("-q", "age", "-q", name, "--sensitive", "disease", "--k", 5)
    shown = name.replace("\n", "\\n").replace("\x1b", "\\x1b")
    told = run("publish", "people.csv", *roles, "-o", "safe.csv", "--report", "report.html")
    assert told.code == 0, told.err
    assert f"│ {shown} " in told.out
    assert told.out.splitlines()[-1].startswith(f"5-anonymity over age, {shown}: ")
    assert "\x1b" not in told.out + told.err
    assert frames.read(tmp_path / "safe.csv").columns == ["age", name, "disease"]
    assert run("publish", "people.csv", *roles, "--json").data()
    assert run("assess", "risk", "safe.csv", "-q", "age", "-q", name).code == 0
    assert run("hierarchy", "build", "people.csv", "--column", name).code == 0


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_column_name_does_not_break_an_error(name: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(TABLE)
    refused = run("publish", "people.csv", "-q", name, "--other-columns", "insensitive", "--k", 5)
    refused.complains("CEL-S010")
    assert "\x1b" not in refused.err
    refused = run("hierarchy", "build", "people.csv", "--column", name)
    refused.complains("CEL-I035")
    assert len(refused.err.splitlines()) == 2, "a line end in a name must not end a line"


@pytest.mark.parametrize(
    "name",
    [
        "-people.csv",
        "spa ce.csv",
        "ñandú 日本.csv",
        "a:smile:.csv",
        "a'b\".csv",
        "[bold].csv",
        "x*.csv",
    ],
)
def test_a_strange_file_name_is_only_a_name(name: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / name).write_text(TABLE)
    for way in ("--in-memory", "--stream"):
        safe = f"{way[2:]} {name}"
        told = run("publish", *ROLES, way, "-o", f"./{safe}", "--", name)
        assert told.code == 0, told.err
        assert f"data: {safe}" in told.out
        assert frames.read(tmp_path / safe).height == 60


def test_brackets_in_a_file_name_are_no_markup(run: Run, tmp_path: Path) -> None:
    (tmp_path / "[bold].csv").write_text(TABLE)
    told = run("publish", "[bold].csv", *ROLES, "-o", "[red]safe[bold].csv")
    assert told.code == 0, told.err
    assert "data: [red]safe[bold].csv" in told.out
    run("publish", "[bold]no.csv", *ROLES).complains("CEL-F010")


def test_a_file_name_that_looks_like_an_option_is_explained(run: Run) -> None:
    run("publish", "-people.csv", *ROLES).complains("CEL-I040")


@pytest.mark.parametrize("way", ["--in-memory", "--stream"])
def test_names_that_we_use_ourselves_may_be_the_users_too(
    way: str, run: Run, tmp_path: Path
) -> None:
    names = [
        "count",
        "celosia hidden",
        "hidden",
        "row",
        "celosia released count",
        "size",
        "literal",
    ]
    rows = [",".join(str((i // 7 + n) % 3) for n in range(len(names))) for i in range(63)]
    (tmp_path / "people.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    roles = ("-q", "count", "-q", "celosia hidden", "-q", "row", "--other-columns", "insensitive")
    told = run("publish", "people.csv", *roles, "--k", 5, way, "-o", "safe.csv")
    assert told.code == 0, told.err
    assert frames.read(tmp_path / "safe.csv").columns == names
    kept = frames.read(tmp_path / "safe.csv").select("hidden", "size", "literal")
    original = frames.read(tmp_path / "people.csv").select("hidden", "size", "literal")
    assert kept.sort(kept.columns).equals(original.sort(original.columns))


def test_three_hundred_columns_are_published(run: Run, tmp_path: Path) -> None:
    lines = [",".join(f"c{i}" for i in range(300))]
    lines += [",".join(str(i * j % 7) for i in range(300)) for j in range(50)]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    command = ("publish", "wide.csv", "--k", 2)
    told = run(*command, "-q", "c1", "-q", "c2", "--other-columns", "insensitive", "-o", "safe.csv")
    assert told.code == 0
    assert frames.read(tmp_path / "safe.csv").width == 300
    every = run(*command, *(word for i in range(300) for word in ("-q", f"c{i}")))
    assert every.code == 0
    assert re.search(r"optimal among \d\.\de\+1\d\d nodes", every.out)  # and not all digits


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "CEL-S005"),
        ("[columns.age", "CEL-S004"),
        ("[columns.age]\nrole = 'quasi'\n", "CEL-S007"),
        ("[columns.age]\nrole = 'quasi-identifier'\nhierarchy = { file = 'no.csv' }\n", "CEL-H011"),
        ("[columns.age]\nrole = 'quasi-identifier'\nhierarchy = { method = 'x' }\n", "CEL-I061"),
        ("[colums.age]\nrole = 'quasi-identifier'\n", "CEL-S009"),
        ("[columns.age]\nrole = 'sensitive'\n[table]\nother_columns = 'sensitive'\n", "CEL-P013"),
    ],
)
def test_a_broken_schema_is_refused(text: str, code: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "people.toml").write_text(text)
    run("publish", "people.csv", "-s", "people.toml", "--k", 5).complains(code)
