"""A release is saved whole or not at all, and loads only as what was saved."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from celosia import KAnonymity, Seeded, datasets, frames
from celosia.core.errors import InputError
from celosia.core.release import certificate_path
from celosia.tables import Intervals, Mask, Schema, TableRelease, publish

SUFFIXES = ["csv", "tsv", "parquet", "arrow", "jsonl", "xlsx"]
SCHEMA = Schema.of(
    quasi_identifiers={
        "zip": Mask(),
        "age": Intervals(bounds=((20, 30, 40, 60),), style="bracket"),
    },
    sensitive=["disease"],
    insensitive=["visits", "weight", "note"],
)


@pytest.fixture(scope="module")
def release() -> TableRelease:
    """Nine patients with a suppressed record in reach, text that needs quotes, and holes."""
    table = datasets.examples.patients().with_columns(
        visits=pl.Series([3, 1, 4, 1, 5, 9, 2, 6, None]),
        weight=pl.Series([60.5, 71.25, 80.0, 55.5, 90.125, 66.0, 70.5, 81.0, None]),
        note=pl.Series(['a,"b"', "ñandú; x", "line\nbreak", "=1+1", "  x", "-", "e", "0x1", None]),
    )
    return publish(table, SCHEMA, KAnonymity(3), suppression=0, rng=Seeded(3))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_saved_release_is_read_back(release: TableRelease, tmp_path: Path, suffix: str) -> None:
    path = release.save(tmp_path / f"safe.{suffix}")
    back = TableRelease.load(path)
    assert_frame_equal(back.data, release.data)
    assert back.certificate() == release.certificate()
    assert (back.solution, back.risk) == (release.solution, release.risk)
    assert (back.guarantee, back.provenance) == (release.guarantee, release.provenance)
    assert (back.risk_before, back.warnings) == (release.risk_before, release.warnings)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_columnar_files_keep_every_type(tmp_path: Path, suffix: str) -> None:
    table = pl.DataFrame(
        {
            "born": [dt.date(1990, 1, 1)] * 2,
            "seen": [dt.datetime(2026, 1, 1, 12)] * 2,
            "small": pl.Series([1, 2], dtype=pl.UInt8),
            "flag": [True, None],
        }
    )
    schema = Schema.of(quasi_identifiers=["born"], sensitive=["seen", "small", "flag"])
    release = publish(table, schema, KAnonymity(2), rng=Seeded(1))
    back = TableRelease.load(release.save(tmp_path / f"safe.{suffix}"))
    assert_frame_equal(back.data, release.data)


@pytest.mark.parametrize("suffix", ["csv.gz", "tsv.gz", "jsonl.gz"])
def test_a_compressed_release_is_read_back(
    release: TableRelease, tmp_path: Path, suffix: str
) -> None:
    path = release.save(tmp_path / f"safe.{suffix}")
    assert_frame_equal(TableRelease.load(path).data, release.data)


def test_text_that_looks_like_numbers_is_read_back_as_text(tmp_path: Path) -> None:
    table = pl.DataFrame({"zip": ["12345"] * 4, "ward": ["1", "2", "3", "4"]})
    schema = Schema.of(quasi_identifiers=["zip"], sensitive=["ward"])
    release = publish(table, schema, KAnonymity(2), rng=Seeded(1))
    back = TableRelease.load(release.save(tmp_path / "safe.csv"))
    assert_frame_equal(back.data, release.data)


def test_the_certificate_lies_beside_the_data(release: TableRelease, tmp_path: Path) -> None:
    release.save(tmp_path / "safe.csv")
    assert names(tmp_path) == ["safe.csv", "safe.csv.cert.json"]
    facts = json.loads(certificate_path(tmp_path / "safe.csv").read_text("utf-8"))
    assert facts["data"]["file"] == "safe.csv"
    assert facts["kind"] == "table"
    assert facts["guarantee"]["promise"] == "3-anonymity over zip, age"


def test_the_certificate_holds_no_cell(release: TableRelease, tmp_path: Path) -> None:
    release.save(tmp_path / "safe.csv")
    text = certificate_path(tmp_path / "safe.csv").read_text("utf-8")
    # The most frequent interval of ages is a statistic of the release; no other label is told.
    for cell in ("Heart Disease", "476", "[30, 40[", "ñandú", "90.125"):
        assert cell not in text


def test_saving_again_replaces_both_files(release: TableRelease, tmp_path: Path) -> None:
    for _ in range(2):
        release.save(tmp_path / "safe.csv")
    assert TableRelease.load(tmp_path / "safe.csv").solution == release.solution


@pytest.mark.parametrize("existing", ["safe.csv", "safe.csv.cert.json"])
def test_existing_files_are_kept_unless_overwriting_is_allowed(
    release: TableRelease, tmp_path: Path, existing: str
) -> None:
    (tmp_path / existing).write_text("mine")
    with pytest.raises(InputError) as caught:
        release.save(tmp_path / "safe.csv", overwrite=False)
    assert caught.value.code == "CEL-I004"
    assert names(tmp_path) == [existing]
    assert (tmp_path / existing).read_text() == "mine"


def test_a_folder_that_is_not_there_is_refused(release: TableRelease, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        release.save(tmp_path / "nowhere" / "safe.csv")
    assert caught.value.code == "CEL-I005"


def test_a_name_without_a_known_ending_is_refused_and_leaves_nothing(
    release: TableRelease, tmp_path: Path
) -> None:
    with pytest.raises(InputError):
        release.save(tmp_path / "safe.docx")
    assert names(tmp_path) == []


def test_changed_data_is_refused(release: TableRelease, tmp_path: Path) -> None:
    path = release.save(tmp_path / "safe.csv")
    path.write_text(path.read_text("utf-8").replace("Flu", "Flo"), "utf-8")
    with pytest.raises(InputError) as caught:
        TableRelease.load(path)
    assert caught.value.code == "CEL-I022"


def test_a_release_of_another_kind_is_refused(release: TableRelease, tmp_path: Path) -> None:
    path = release.save(tmp_path / "safe.csv")
    paper = certificate_path(path)
    paper.write_text(paper.read_text("utf-8").replace('"kind": "table"', '"kind": "graph"', 1))
    with pytest.raises(InputError) as caught:
        TableRelease.load(path)
    assert caught.value.code == "CEL-I021"


@pytest.mark.parametrize("content", [None, b"", b"{", b"\xff"])
def test_without_a_readable_certificate_nothing_is_loaded(
    release: TableRelease, tmp_path: Path, content: bytes | None
) -> None:
    path = release.save(tmp_path / "safe.csv")
    paper = certificate_path(path)
    paper.unlink()
    if content is not None:
        paper.write_bytes(content)
    with pytest.raises(InputError) as caught:
        TableRelease.load(path)
    assert caught.value.code == "CEL-I020"


@pytest.mark.parametrize("content", ["{}", "[]", "null", '"x"', '{"kind": "table"}'])
def test_a_certificate_that_lacks_its_facts_is_refused_in_words(
    release: TableRelease, tmp_path: Path, content: str
) -> None:
    path = release.save(tmp_path / "safe.csv")
    certificate_path(path).write_text(content)
    with pytest.raises(InputError):
        TableRelease.load(path)


def test_a_certificate_without_its_data_is_refused_in_words(
    release: TableRelease, tmp_path: Path
) -> None:
    path = release.save(tmp_path / "safe.csv")
    path.unlink()
    with pytest.raises(InputError):
        TableRelease.load(path)


@pytest.mark.parametrize("fault", [OSError("disk full"), KeyboardInterrupt(), MemoryError()])
def test_a_failed_write_leaves_nothing(
    release: TableRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    def fail(frame: pl.DataFrame, path: Path, **_: Any) -> None:
        path.write_text("half a ta")
        raise fault

    monkeypatch.setattr(frames, "write", fail)
    with pytest.raises(type(fault)):
        release.save(tmp_path / "safe.csv")
    assert names(tmp_path) == []


@pytest.mark.parametrize("fault", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_earlier_release_as_it_was(
    release: TableRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    path = release.save(tmp_path / "safe.csv")
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}

    def fail(frame: pl.DataFrame, path: Path, **_: Any) -> None:
        path.write_text("half a ta")
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(frames, "write", fail)
        with pytest.raises(type(fault)):
            release.save(path)
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before
    assert TableRelease.load(path).solution == release.solution


def test_no_data_appears_without_its_certificate(
    release: TableRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def fail(draft: Path, target: Path) -> Path:
        if target.name.endswith(".cert.json"):
            raise OSError("the certificate cannot take its name")
        return replace(draft, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="cannot take its name"):
        release.save(tmp_path / "safe.csv")
    assert names(tmp_path) == []


def test_a_failed_report_leaves_the_earlier_one(
    release: TableRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("the earlier one")

    def fail(self: TableRelease) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TableRelease, "document", fail)
    with pytest.raises(KeyboardInterrupt):
        release.report(path)
    assert names(tmp_path) == ["report.html"]
    assert path.read_text() == "the earlier one"


def test_a_report_is_one_file(release: TableRelease, tmp_path: Path) -> None:
    path = release.report(tmp_path / "report.html")
    assert names(tmp_path) == ["report.html"]
    assert path.read_text("utf-8") == release.document().html()
