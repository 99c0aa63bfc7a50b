"""Formats: what is written again, and what is not in the new file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celosia.core.errors import InputError
from celosia.texts import Collection, TextDeclaration, find, publish, read
from celosia.texts.formats import parse


def rebuilt(content: str, suffix: str) -> str:
    """The file written again with the same texts."""
    found = parse(content.encode(), suffix)
    texts = [[piece.text for piece in pieces] for pieces in found.documents]
    return found.rebuild(texts).decode()


def test_plain_text_is_written_as_it_was() -> None:
    text = "Line one\r\n\tline two \u00ad é 👩‍🏽\n"
    assert rebuilt(text, ".txt") == text


def test_front_matter_and_comments_of_markdown_go() -> None:
    made = rebuilt(
        "---\nauthor: SECRET\n---\n# Title\n<!-- SECRET -->\n[link](http://x.org)\n", ".md"
    )
    assert "SECRET" not in made
    assert "# Title" in made


def test_html_keeps_what_is_shown_and_drops_the_rest() -> None:
    page = """<html><head><title>T</title><meta name=author content=SECRET><style>SECRET</style>
    <script>SECRET</script></head><body data-x=SECRET id=SECRET onclick="SECRET">
    <!-- SECRET --><p class=SECRET>Mr <b>Robert</b> Whitfield &amp; co<br>ok</p>
    <div hidden>SECRET</div><span style="display:none">SECRET <i>x</i></span>
    <input type=hidden value=SECRET><img src="data:image/png;base64,SECRET" alt="shown">
    <a href="mailto:a@b.org">mail</a><svg><text>SECRET</text></svg>
    <table><tr><td colspan=2>cell</table></body></html>"""
    made = rebuilt(page, ".html")
    assert "SECRET" not in made
    for shown in ("<b>Robert</b>", "&amp; co", 'alt="shown"', "mailto:a@b.org", 'colspan="2"'):
        assert shown in made
    left_out = parse(page.encode(), ".html").left_out
    assert left_out["scripts"] == 1
    assert left_out["hidden elements"] == 3
    assert rebuilt(made, ".html") == made


def test_a_name_that_is_split_over_elements_goes_whole(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>Saw Mr <b>Rob</b>ert <i>Whit</i>field gladly</p>", "utf-8")
    release = publish(find(read(tmp_path)), actions={"default": "redact"})
    made = release.files[0].content.decode()
    assert "field" not in made
    assert "Rob" not in made
    assert "█████" in made
    assert "gladly" in made


def test_json_lines_are_documents_and_keys_stay(tmp_path: Path) -> None:
    lines = [
        {"person": "p1", "name": "Ana Gil", "phone": 600123456, "n": 3, "x": [None, True]},
        {"person": "p2", "name": "Eva Sol", "notes": {"text": "vio a Ana Gil"}},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    reading = read(path, TextDeclaration(person="person", language="es", spread="collection"))
    assert [each.person for each in reading.collection] == ["p1", "p2"]
    release = publish(find(reading), actions={"default": "redact"})
    made = [json.loads(line) for line in release.files[0].content.decode().splitlines()]
    assert made[0] == {
        "person": "█████",
        "name": "█████",
        "phone": "█████",
        "n": 3,
        "x": [None, True],
    }
    assert made[1]["notes"]["text"] == "vio a █████"


def test_cells_of_a_table_are_found_by_their_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id;surname;note\n7;Oxbow;"saw; ""it"" well"\n8;Pryce;x\n', "utf-8")
    release = publish(find(read(path)), actions={"default": "redact"})
    made = release.files[0].content.decode().splitlines()
    assert made[0] == "id;surname;note"
    assert made[1] == '█████;█████;"saw; ""it"" well"'
    assert "Pryce" not in made[2]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b"a\x00b", "not a text"),
        ("a.txt", b"caf\xe9", "UTF-8"),
        ("a.jpg", b"x", "images"),
        ("a.xyz", b"x", "not read"),
        ("a.json", b'{"a": 1, "a": 2}', "twice"),
        ("a.json", b"[" * 200 + b"]" * 200, "nested"),
        ("a.json", b"{", "JSON of record 1"),
        ("a.json", b'{"a": "b \\ud800 c", "d": "e"}', "1 text has half"),
        ("a.json", b'{"a\\ud800": "b"}', "half of a character"),
        ("a.txt", b"\xff\xfe\x00\xd8a\x00", "UTF-8"),
        ("a.jsonl", b'{"a": 1}\nx\n', "JSON of record 2"),
        ("a.csv", b"a,b\n1\n", "row 2"),
        ("a.csv", b"a,a\n1,2\n", "same name"),
        ("a.docx", b"PK\x03\x04 broken", "damaged"),
    ],
)
def test_files_that_cannot_be_read_are_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path)
    assert "file 1" in str(caught.value)


def test_documents_in_other_or_several_languages_are_counted() -> None:
    french = "Le patient est venu avec sa femme dans le service pour une visite, et les resultats"
    texts = [
        f"{french} sont sur la table des infirmiers, qui ne sont pas la.",
        "The patient came in with her daughter and was seen by the doctor in the morning. El "
        "paciente fue visto por la tarde con su hija y no tiene fiebre, se va a casa con recetas.",
        "The dose is the same as it was before and there is nothing to be done about it for now, "
        "so she may go home with her husband.",
    ]
    taken = TextDeclaration(other_languages="publish")
    found = find(Collection.of(texts), declaration=taken)
    notes = " ".join(publish(found, actions={"default": "redact"}).warnings)
    assert "1 document seems to be in neither English nor Spanish" in notes
    assert "1 document mixes English and Spanish" in notes


def test_links_and_missing_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such"):
        read(tmp_path / "none")
    with pytest.raises(InputError, match="no document"):
        read(tmp_path)
    (tmp_path / "a.txt").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match="link"):
        read(tmp_path)


def test_every_document_must_say_whose_it_is_if_that_is_declared(tmp_path: Path) -> None:
    (tmp_path / "P1-a.txt").write_text("x", "utf-8")
    assert read(tmp_path, TextDeclaration(person="^(P[0-9]+)-")).collection.has_persons
    (tmp_path / "b.txt").write_text("x", "utf-8")
    with pytest.raises(InputError, match="1 of 2 documents"):
        read(tmp_path, TextDeclaration(person="^(P[0-9]+)-"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "TOML"),
        ("[log]\n", "table"),
        ("[text]\nlanguag = 'en'\n", "did you mean 'language'"),
        ("[text]\nlanguage = 'fr'\n", "language must be one of"),
        ("[text]\nask = 2\n", "from 0 to 1"),
        ("[text.actions]\nperso = 'redact'\n", "no kind 'perso'"),
        ("[text.actions]\nperson = 3\n", "texts as values"),
        ("[text]\nperson = '(a)(b)'\n", "exactly one group"),
        ("[text]\nperson = '(a'\n", "exactly one group"),
    ],
)
def test_declarations_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "text.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        TextDeclaration.load(path)
    assert message in str(caught.value)


def test_a_draft_is_a_declaration(tmp_path: Path) -> None:
    path = tmp_path / "text.toml"
    path.write_text(TextDeclaration(language="es").draft(), "utf-8")
    assert TextDeclaration.load(path) == TextDeclaration(language="es")
    assert TextDeclaration.from_dict(TextDeclaration().as_dict()) == TextDeclaration()
