"""Certificates signed with the key of a house, and checked by anybody."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader
from tests.cli.running import Run

from celosia import KAnonymity, datasets, tables
from celosia.core import signatures
from celosia.core.errors import CelosiaError, InputError
from celosia.core.release import certificate_path


@pytest.fixture
def released(tmp_path: Path) -> Path:
    schema = tables.Schema.of(quasi_identifiers=["age"], sensitive=["disease"])
    frame = datasets.examples.patients().select("age", "disease")
    tables.publish(frame, schema, KAnonymity(3)).save(tmp_path / "safe.csv")
    signatures.make_key(tmp_path / "house.key")
    return tmp_path / "safe.csv"


def key(released: Path, name: str = "house.key") -> Path:
    return released.with_name(name)


def test_a_signed_release_is_verified_with_the_public_key_alone(released: Path) -> None:
    assert signatures.verify(released).signed_by is None
    signatures.sign(released, key(released))
    key(released).unlink()
    found = signatures.verify(released, key(released, "house.key.pub"))
    assert found.promise.startswith("3-anonymity")
    assert found.is_known_key
    assert found.signed_by == signatures.verify(released).signed_by
    assert not signatures.verify(released).is_known_key


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("data", "CEL-I022"),
        ("certificate", "CEL-I081"),
        ("signature", "CEL-I081"),
        ("no signature", "CEL-I081"),
        ("other key", "CEL-I081"),
        ("algorithm", "CEL-I081"),
    ],
)
def test_what_was_changed_or_signed_by_others_does_not_hold(
    released: Path, change: str, code: str
) -> None:
    signature = signatures.sign(released, key(released))
    if change == "data":
        released.write_text(released.read_text() + "*,flu\n")
    elif change == "certificate":
        paper = certificate_path(released)
        paper.write_text(paper.read_text().replace("3-anonymity", "9-anonymity"))
    elif change == "no signature":
        signature.unlink()
    elif change == "other key":
        signatures.make_key(key(released, "mallory.key"))
        signatures.sign(released, key(released, "mallory.key"))
    else:
        facts = json.loads(signature.read_text())
        changed = {"algorithm": "none"} if change == "algorithm" else {"signature": "AAAA"}
        signature.write_text(json.dumps(facts | changed))
    with pytest.raises(CelosiaError) as caught:
        signatures.verify(released, key(released, "house.key.pub"))
    assert caught.value.code == code


def test_keys_are_private_never_lost_and_nothing_else_is_taken_for_one(released: Path) -> None:
    assert key(released).stat().st_mode & 0o077 == 0
    for path in (key(released), key(released, "house.key.pub")):
        with pytest.raises(InputError):
            signatures.make_key(key(released))
        with pytest.raises(InputError):
            signatures.sign(released, path.with_name("absent.key"))
    for wrong in (released, key(released, "house.key.pub")):
        wrong.chmod(0o600)
        with pytest.raises(InputError) as caught:
            signatures.sign(released, wrong)
        assert caught.value.code == "CEL-I080"
    with pytest.raises(InputError):
        signatures.verify(released, released)
    key(released).chmod(0o644)
    with pytest.raises(InputError, match="other users"):
        signatures.sign(released, key(released))


def test_no_data_is_signed_that_is_not_that_of_the_certificate(released: Path) -> None:
    released.write_text("age,disease\n29,Flu\n")
    with pytest.raises(InputError) as caught:
        signatures.sign(released, key(released))
    assert caught.value.code == "CEL-I022"
    assert not signatures.signature_path(released).exists()


def test_the_commands_make_a_key_sign_and_verify(run: Run, released: Path) -> None:
    new = str(key(released, "new.key"))
    assert "fingerprint" in run("sign", "--new-key", "--key", new).out
    signed = run("sign", str(released), "--key", new)
    assert "safe.csv.cert.json.sig" in signed.out.replace("\n", "")
    assert (
        "Signed by the key that you gave" in run("verify", str(released), "--key", f"{new}.pub").out
    )
    assert "compare it" in run("verify", str(released)).out
    other = run("verify", str(released), "--key", str(key(released, "house.key.pub")))
    other.complains("CEL-I081", 1)
    signatures.signature_path(released).unlink()
    assert "not signed" in run("--language", "en", "verify", str(released)).out


def test_the_report_tells_fingerprint_signature_and_attacks(released: Path) -> None:
    release = tables.TableRelease.load(released)
    report = released.with_name("report.html")
    sha256 = json.loads(certificate_path(released).read_text("utf-8"))["data"]["sha256"]
    page = release.report(report, data=released).read_text("utf-8")
    assert sha256 in page
    assert "not signed when this report was written" in page
    assert "Homogeneity, disease" in page
    signatures.sign(released, key(released))
    page = release.report(report, data=released).read_text("utf-8")
    assert str(signatures.signed_by(released)) in page
    paper = certificate_path(released)
    paper.write_text(paper.read_text().replace("3-anonymity", "9-anonymity"))
    page = release.report(report, data=released).read_text("utf-8")
    assert "the signature beside it is of another certificate" in page


def test_a_command_writes_a_pdf_where_the_name_ends_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    datasets.examples.patients().select("age", "disease").write_csv("people.csv")
    asked = ["people.csv", "-q", "age", "--sensitive", "disease", "--k", "3", "-o", "safe.csv"]
    assert run("publish", *asked, "--report", "report.pdf").code == 0
    text = " ".join(page.extract_text() for page in PdfReader("report.pdf").pages)
    assert "The file and its signature" in text
    monkeypatch.setitem(sys.modules, "fpdf", None)
    refused = run("publish", *asked, "--overwrite", "--report", "other.pdf")
    assert "CEL-I082" in refused.err
    assert not Path("other.pdf").exists()
