"""Publishing, saving, verifying, and what may never be shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.core.errors import InputError, PrivacyError
from celosia.core.pseudonyms.keys import Key
from celosia.core.randomness import Seeded
from celosia.datasets.notes import notes
from celosia.texts import (
    Collection,
    RareTerms,
    TextDeclaration,
    TextRelease,
    find,
    publish,
    read,
    read_findings,
    write_findings,
)
from celosia.texts.detection.run import FoundTexts
from celosia.texts.documents import Finding, Span
from celosia.texts.release import PublishedFile
from celosia.texts.removed import RemovedTexts
from celosia.texts.verification import (
    StringSearch,
    find_leaks,
    left_in_text,
    verify_release,
)


def example(seed: int | None = None, **more: object) -> TextRelease:
    made = notes(12, seed=5)
    rng = None if seed is None else Seeded(seed)
    return publish(find(made.collection), rng=rng, **more)  # type: ignore[arg-type]


def test_a_saved_release_is_opened_equal(tmp_path: Path) -> None:
    # Check 46.
    release = example(models=[RareTerms(k=2)])
    release.save(tmp_path / "safe")
    again = TextRelease.load(tmp_path / "safe")
    assert again.files == release.files
    assert sorted(again.texts) == sorted(release.texts)
    assert again.certificate() == release.certificate()
    assert again.guarantee == release.guarantee
    assert again.guarantee.unit
    assert again.guarantee.assumes
    assert again.guarantee.leaves_open
    assert again.guarantee.neighbours is None


def test_changed_files_are_refused(tmp_path: Path) -> None:
    example().save(tmp_path / "safe")
    first = next((tmp_path / "safe").iterdir())
    first.write_text("changed", "utf-8")
    with pytest.raises(InputError, match="not"):
        TextRelease.load(tmp_path / "safe")


def test_the_same_seed_gives_the_same_bytes_and_a_simulation() -> None:
    # Check 45.
    first, second = example(1), example(1)
    assert [each.content for each in first.files] == [each.content for each in second.files]
    assert [each.name for each in first.files] == [each.name for each in second.files]
    assert first.guarantee.simulation
    assert not example().guarantee.simulation
    assert example(key=Key.new(Seeded(3)), actions={"default": "pseudonym"}).guarantee.simulation


def test_only_an_empty_folder_or_a_former_release_is_written_to(tmp_path: Path) -> None:
    release = example()
    folder = tmp_path / "safe"
    folder.mkdir()
    (folder / "other.txt").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="no release"):
        release.save(folder)
    assert (folder / "other.txt").read_text("utf-8") == "mine"
    release.save(tmp_path / "new")
    with pytest.raises(InputError):
        release.save(tmp_path / "new", overwrite=False)
    release.save(tmp_path / "new")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["new", "new.cert.json", "safe"]


def test_names_of_files_are_numbers_in_random_order(tmp_path: Path) -> None:
    made = notes(12, seed=5)
    made.write(tmp_path / "notes")
    found = find(read(tmp_path / "notes"))
    orders = {tuple(sorted(publish(found).names.items())) for _ in range(4)}
    assert len(orders) > 1
    with pytest.raises(InputError, match="identifies"):
        publish(found, keep_names=True)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "minutes.txt").write_text("Mr. Zyzzyva came.", "utf-8")
    release = publish(find(read(tmp_path / "plain")), keep_names=True)
    assert release.files[0].name == "minutes.txt"


MARKER = "Qwertzuiop"


def test_marker_words_are_in_no_certificate_report_error_or_temporary_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Check 39.
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / f"{MARKER}.txt").write_text(f"Patient: Ana {MARKER}\nDNI 12345678Z {MARKER}", "utf-8")
    (folder / "t.csv").write_text(f"name,note\n{MARKER},vio a {MARKER}\n", "utf-8")
    found = find(read(folder), declaration=TextDeclaration(spread="collection"))
    release = publish(found, actions={"default": "redact"})
    release.save(tmp_path / "safe")
    release.report(tmp_path / "r.html")
    write_findings(found, tmp_path / "f.csv")
    for path in tmp_path.rglob("*"):
        if path.is_file() and folder not in path.parents:
            assert MARKER.encode() not in path.read_bytes(), path.name
            assert MARKER not in path.name
    assert MARKER not in repr(found) + repr(release) + str(release)
    assert MARKER not in json.dumps(release.certificate())
    (folder / f"{MARKER}2.txt").write_bytes(f"{MARKER} \xe9".encode("latin-1"))
    with pytest.raises(InputError) as caught:
        read(folder)
    assert MARKER not in str(caught.value) + json.dumps(caught.value.as_dict())
    assert MARKER not in "".join(capsys.readouterr())


def test_findings_are_kept_without_text_and_applied_again(tmp_path: Path) -> None:
    collection = Collection.of(["Dr. Ana Gil saw Rosa at home on 3 May 2025."], language="en")
    found = find(collection)
    path = write_findings(found, tmp_path / "f.csv")
    assert "Gil" not in path.read_text("utf-8")
    again = read_findings(collection, path)
    assert again.findings == found.findings
    rows = path.read_text("utf-8").splitlines()
    kept = [rows[0], *(row + ("keep" if ",date," in row else "replace") for row in rows[1:])]
    path.write_text("\n".join(kept), "utf-8")
    decided = read_findings(collection, path)
    assert "date" not in decided.counts()
    assert not decided.to_review()
    private = write_findings(found, tmp_path / "t.csv", with_text=True)
    assert "Ana Gil" in private.read_text("utf-8")
    assert private.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.replace(row.split(",")[1], "0" * 16), "another version"),
        (lambda row: row.replace(",person,", ",nobody,"), "not complete"),
        (lambda row: ",".join([*row.split(",")[:2], "9999", *row.split(",")[3:]]), "outside"),
        (lambda row: ",".join(["7", *row.split(",")[1:]]), "another version"),
        (lambda row: f"{row}\n{row}", "overlap"),
        (lambda row: row + "perhaps", "not complete"),
    ],
)
def test_findings_that_do_not_fit_are_refused(tmp_path: Path, change: object, message: str) -> None:
    collection = Collection.of(["Dr. Ana Gil came."], language="en")
    path = write_findings(find(collection), tmp_path / "f.csv")
    head, row = path.read_text("utf-8").splitlines()
    path.write_text(f"{head}\n{change(row)}\n", "utf-8")  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        read_findings(collection, path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "latin-1"])
def test_the_pass_finds_a_text_in_every_encoding(encoding: str) -> None:
    secret = "Peñalver Ruiz"
    hidden = b"\x00\x01" + secret.encode(encoding) + b"\x00 rest"
    assert find_leaks("a.bin", hidden, [(secret, "person")])
    assert find_leaks("a.bin", secret.encode(encoding).hex().encode(), [(secret, "person")])
    assert find_leaks(f"{secret}.txt", b"nothing", [(secret, "person")])
    assert not find_leaks("a.txt", b"nothing", [(secret, "person")])
    assert not find_leaks("a.txt", b"Cruzada", [("Cruz", "person")])


def test_many_strings_are_found_as_one_by_one() -> None:
    words = [b"he", b"she", b"his", b"hers", b"ushers"]
    found = sorted(StringSearch({word: word for word in words}).find(b"ushers and his"))
    plain = sorted(
        (at, at + len(word), word)
        for word in words
        for at in range(14)
        if b"ushers and his"[at : at + len(word)] == word
    )
    assert found == plain


def test_a_text_that_stays_elsewhere_withdraws_the_release() -> None:
    text = "Zimmermann met Zimmermann."
    collection = Collection.of([text], language="en")
    found = FoundTexts(collection, (Finding(Span(0, 0, 10), "person"),), TextDeclaration())
    with pytest.raises(PrivacyError, match="still in the new files") as caught:
        publish(found)
    assert "Zimmermann" not in str(caught.value)
    assert caught.value.exit_code == 1
    assert left_in_text(text, [(0, 10, "x")], [("Zimmermann", "person")]) == ["person"]


def test_a_release_is_verified_again_with_the_original(tmp_path: Path) -> None:
    made = notes(12, seed=6)
    made.write(tmp_path / "notes")
    found = find(read(tmp_path / "notes"))
    key = Key.new()
    release = publish(found, actions={"default": "redact", "id": "pseudonym"}, key=key)
    release.save(tmp_path / "safe")
    loaded = TextRelease.load(tmp_path / "safe")
    assert verify_release(loaded, found, fingerprint=key.fingerprint()).passed
    with pytest.raises(InputError, match="not made"):
        verify_release(loaded, fingerprint=Key.new().fingerprint())
    raw = publish(found, actions={"default": "keep:reason=none"})
    assert not verify_release(raw, found).leaks  # what is kept on purpose is no leak
    object.__setattr__(raw, "actions", {})
    assert verify_release(raw, found).leaks


def test_a_release_is_searched_by_fingerprints_alone(tmp_path: Path) -> None:
    texts = ["Mr Zebulon Quartermain left.", "Call 0161 496 0123."]
    key, path = Key.new(), tmp_path / "key.bin"
    release = publish(find(Collection.of(texts)), actions={"default": "redact"}, key=key)
    RemovedTexts.of(release, key).save(path)
    kept = (tmp_path / "key.bin.removed").read_text("utf-8").lower()
    assert not any(each in kept for each in ("zebulon", "quartermain", "01614960123", "0161 496"))
    known = RemovedTexts.load(path)
    assert known.verify(release, key).passed
    assert known.verify(release, key).texts == 2
    leaking = replace(
        release,
        files=(
            PublishedFile("0001.txt", "they saw ZEBULON  Quar\u00adtermain".encode()),
            PublishedFile("0002.txt", "0161-496-0123".encode("utf-16-le")),
            PublishedFile("0003.txt", b"Zebulon the first, Quartermain the second"),
        ),
    )
    with pytest.raises(InputError, match="another release"):
        known.verify(leaking, key)
    leaks = replace(known, files=RemovedTexts.of(leaking, key).files).verify(leaking, key).leaks
    assert {(each.file, each.kind) for each in leaks} == {
        ("0001.txt", "person"),
        ("0002.txt", "contact"),
    }
    other = replace(known, files=RemovedTexts.of(leaking, key).files)
    assert other.verify(leaking, Key.new()).passed  # another key finds nothing
    with pytest.raises(InputError, match="no fingerprints"):
        RemovedTexts.load(tmp_path / "other.bin")


def test_warnings_say_what_is_weaker() -> None:
    collection = Collection.of(["Ana Gil left. Rosa stayed."], language="en")
    release = publish(find(collection), actions={"default": "keep:reason=test"})
    said = " ".join(release.warnings)
    assert "own person" in said
    assert "Direct identifiers are kept" in said


OTHERS = {
    "French": "Le patient est venu avec sa femme dans le service, et il est parti avec les siens. ",
    "Catalan": "Els malalts del centre van arribar amb els pares pel carrer, i aquest va caure. ",
    "Cyrillic": "\u043f\u0430\u0446\u0438\u0435\u043d\u0442 \u0443\u0448\u0451\u043b ",
    "Chinese": "\u75c5\u4eba\u6628\u5929\u6765\u5230\u533b\u9662\u7136\u540e\u56de\u5bb6\u4e86",
}


@pytest.mark.parametrize("other", OTHERS)
def test_documents_in_other_languages_are_refused_unless_they_are_taken(other: str) -> None:
    collection = Collection.of(["Ana Gil left the house. " * 5, OTHERS[other] * 5])
    with pytest.raises(InputError, match=r"1 of 2 documents is in.*row 2") as caught:
        publish(find(collection))
    assert caught.value.code == "CEL-N006"
    taken = TextDeclaration(other_languages="publish")
    release = publish(find(collection, declaration=taken))
    assert any("neither English nor Spanish" in each for each in release.warnings)


@pytest.mark.parametrize(
    "text",
    [
        "Glucose 98 mg/dl, urea 31 mg/dl, sodium 140 mmol/l, " * 8,  # a list: nothing tells
        "Caf\u00e9, \u00c1vila, \u00dcbeda y M\u00e9rida en la lista del paciente. " * 8,
        "El paciente vino. The patient came with her mother and was seen by the doctor. " * 8,
        "Die die.",  # too short to be judged
    ],
)
def test_what_is_in_no_other_language_is_published(text: str) -> None:
    assert publish(find(Collection.of([text]))).texts
