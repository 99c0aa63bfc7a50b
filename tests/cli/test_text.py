"""`celosia text`: documents from a folder to a verified release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import Run

from celosia.assess.recognisers import Match
from celosia.texts.detection import engines

NOTE = "Patient: Rebecca Entwistle\nSeen on 3 May 2025 by Dr. Paul Zimmer. Tel. 600 123 456.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    for number in (1, 2, 3):
        (made / f"P{number}-note.txt").write_text(NOTE.replace("3 May", f"{number} May"), "utf-8")
    return made


def test_a_folder_is_searched_published_verified_attacked_and_indexed(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    # Check 48: the examples of the specification.
    assert run("text", "init", "-o", "text.toml", "--person", "^(P[0-9]+)-").code == 0
    declared = (tmp_path / "text.toml").read_text("utf-8").replace("# person", "person")
    (tmp_path / "text.toml").write_text(
        declared.replace('"^(', "'^(").replace(')-"', ")-'"), "utf-8"
    )
    found = run("text", "find", "notes", "--declare", "text.toml", "-o", "findings.csv", "--json")
    assert found.code == 0
    assert json.loads(found.out)["data"]["findings"] == {"person": 6, "contact": 3, "date": 3}
    assert "Entwistle" not in (tmp_path / "findings.csv").read_text("utf-8")
    done = run(
        *("text", "publish", "notes", "--declare", "text.toml", "--findings", "findings.csv"),
        *("-o", "safe", "--key", "key.bin", "--names", "names.csv", "--report", "report.html"),
    )
    assert done.code == 0, done.err
    texts = [each.read_text("utf-8") for each in sorted((tmp_path / "safe").iterdir())]
    assert len(texts) == 3
    assert all("Entwistle" not in text and "[PERSON 1]" in text for text in texts)
    assert (tmp_path / "key.bin").stat().st_mode & 0o777 == 0o600
    assert "Entwistle" not in (tmp_path / "report.html").read_text("utf-8")
    assert run("text", "verify", "safe").code == 0
    searched = run("text", "verify", "safe", "--key", "key.bin", "--json")
    assert json.loads(searched.out)["data"]["texts"] >= 3
    assert (tmp_path / "key.bin.removed").stat().st_mode & 0o777 == 0o600
    assert "ntwistle" not in (tmp_path / "key.bin.removed").read_text("utf-8")
    checked = run(
        *("text", "verify", "safe", "--original", "notes", "--findings", "findings.csv"),
        *("--declare", "text.toml", "--json"),
    )
    assert json.loads(checked.out)["data"]["passed"]
    assert run("text", "index", "safe", "--k", "2", "-o", "index.csv").code == 0
    attacked = run(
        *("text", "attack", "safe", "--original", "notes", "--declare", "text.toml"),
        *("--names", "names.csv", "--index", "index.csv", "--seed", "1", "--json"),
    )
    assert attacked.code == 0, attacked.err
    assert json.loads(attacked.out)["data"][-1]["successes"] == 0
    measured = run(
        *("text", "assess", "notes", "safe", "--names", "names.csv"),
        *("--declare", "text.toml", "--json"),
    )
    assert 0 < json.loads(measured.out)["data"]["words_kept"] < 1
    looked = run("text", "review", "notes", "--findings", "findings.csv", "--declare", "text.toml")
    assert looked.code == 0
    assert "Entwistle" not in looked.out
    assert run("text", "forget-key", "key.bin", "--yes").code == 0
    assert not (tmp_path / "key.bin").exists()
    assert not (tmp_path / "key.bin.removed").exists()


def test_found_texts_are_written_after_a_question_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Dr. Ana Gil called.", "utf-8")
    (tmp_path / "text.toml").write_text("[text]\nlanguage = 'en'\n", "utf-8")
    command = ("text", "find", str(tmp_path / "note.txt"), "--with-text")
    out = tmp_path / "found.csv"
    assert run(*command, "-o", str(out)).code != 0  # nobody answers
    assert not out.exists()
    assert run(*command, "--yes", "-o", str(out)).code == 0
    assert "Gil" in out.read_text("utf-8")


def test_epsilon_on_prose_is_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    # Check 44.
    refused = run("text", "publish", "notes", "--epsilon", "1", "-o", "safe")
    assert refused.code == 1
    assert "CEL-N040" in refused.err
    assert not (tmp_path / "safe").exists()


def test_terms_are_released_with_differential_privacy(run: Run, folder: Path) -> None:
    words = ("text", "release", "terms", "notes", "--epsilon", "2", "--delta", "1e-5")
    assert run(*words).code == 1  # it is not known whose the documents are
    done = run(*words, "--unit", "document", "--per-person", "2", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["data"]["guarantee"]["neighbours"]


def test_secrets_inside_the_release_and_full_folders_are_refused(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    assert run("text", "publish", "notes", "-o", "safe", "--key", "safe/key.bin").code == 2
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x.txt").write_text("x", "utf-8")
    assert run("text", "publish", "notes", "-o", "full").code == 2
    assert run("text", "verify", "full").code == 2
    assert not (tmp_path / "safe").exists()
    assert not (tmp_path / "safe.cert.json").exists()


def test_methods_are_listed_and_notes_are_made(run: Run, tmp_path: Path) -> None:
    listed = json.loads(run("text", "methods", "--json").out)["data"]
    assert {each["name"] for each in listed} >= {"redact", "surrogate", "rare-terms", "k-safety"}
    made = run("datasets", "get", "notes", "--rows", "10", "-o", "invented", "--people", "p.csv")
    assert made.code == 0, made.err
    assert len(list((tmp_path / "invented").iterdir())) == 10
    assert run("datasets", "get", "notes", "-o", "invented").code == 2


def test_a_recogniser_is_named_where_documents_are_published(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Stand:
        name = "stand-in"

        def find(self, text: str, language: str) -> list[Match]:
            at = text.index("Seen")
            return [Match(at, at + 4, "person", self.name, 0.9)]

    monkeypatch.setattr(engines, "SpacyEngine", lambda model: Stand())
    assert run("text", "publish", "notes", "-o", "safe", "--engine", "spacy:x").code == 0
    assert all("Seen" not in each.read_text("utf-8") for each in (tmp_path / "safe").iterdir())
    both = run("text", "publish", "notes", "--engine", "spacy:x", "--findings", "f.csv")
    both.complains("CEL-N013")
