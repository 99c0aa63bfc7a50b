"""DOCX and PDF: what is hidden in a file is not in the new one, and the pass finds what is left."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pikepdf
import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject

from celosia.core.errors import InputError
from celosia.texts import find, publish, read
from celosia.texts.formats import parse
from celosia.texts.formats.docx import write_paragraphs
from celosia.texts.formats.pdf import shown_text, write_pages
from celosia.texts.verification import find_leaks, layers

SECRET = "Wolstenholme"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
BODY = f"""<w:p w:rsidR="00AA{SECRET}"><w:r><w:t>Saw Mr </w:t></w:r><w:r><w:rPr><w:b/></w:rPr>
<w:t>Wolsten</w:t></w:r><w:r><w:t>holme gladly</w:t></w:r></w:p>
<w:p><w:del w:author="{SECRET}"><w:r><w:delText>{SECRET}</w:delText></w:r></w:del>
<w:ins w:author="{SECRET}"><w:r><w:t>kept insertion</w:t></w:r></w:ins></w:p>
<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>{SECRET} hidden</w:t></w:r>
<w:commentRangeStart w:id="1"/><w:r><w:commentReference w:id="1"/></w:r></w:p>
<w:p><w:r><w:fldChar/><w:instrText>HYPERLINK mailto:{SECRET}</w:instrText></w:r></w:p>
<w:p><w:r><w:drawing><x>{SECRET}</x></w:drawing><w:t>after the image</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell text</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:sectPr w:x="{SECRET}"/>"""


def package(**more: str) -> bytes:
    parts = {
        "word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{BODY}</w:body></w:document>',
        "word/header1.xml": f'<w:hdr xmlns:w="{W}"><w:p><w:r><w:t>head</w:t></w:r></w:p></w:hdr>',
        "word/comments.xml": f"<c>{SECRET}</c>",
        "docProps/core.xml": f"<creator>{SECRET}</creator>",
        "docProps/thumbnail.jpeg": SECRET,
        "customXml/item1.xml": f"<x>{SECRET}</x>",
        f"word/embeddings/{SECRET}.xlsx": SECRET,
        "word/vbaProject.bin": SECRET,
        "word/settings.xml": f"<template>{SECRET}</template>",
        **more,
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.comment = SECRET.encode()
        for name, text in parts.items():
            archive.writestr(name, text)
    return made.getvalue()


def test_nothing_hidden_of_a_word_file_is_in_the_new_one(tmp_path: Path) -> None:
    # Check 38.
    (tmp_path / "a.docx").write_bytes(package())
    reading = read(tmp_path)
    assert reading.left_out["revisions"] >= 1
    assert reading.left_out["hidden text"] == 1
    assert reading.left_out["macros"] == 1
    assert reading.left_out["comments"] >= 1
    release = publish(find(reading), actions={"default": "redact"})
    new = release.files[0].content
    assert not find_leaks("a.docx", new, [(SECRET, "person")])
    text = reading.collection.documents[0].text
    for shown in ("Saw Mr Wolstenholme gladly", "kept insertion", "cell text", "head"):
        assert shown in text
    assert "gladly" in release.texts[0]
    with zipfile.ZipFile(io.BytesIO(new)) as archive:
        assert archive.namelist() == ["[Content_Types].xml", "_rels/.rels", "word/document.xml"]
        body = archive.read("word/document.xml").decode()
    assert "█████" in body
    assert "<w:b/>" in body
    assert parse(new, ".docx").documents


@pytest.mark.parametrize(
    "place", ["word/comments.xml", "docProps/core.xml", "customXml/item1.xml", "word/media/a.txt"]
)
def test_the_pass_finds_what_is_left_in_a_word_file(place: str) -> None:
    # Check 38.
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", "<x/>")
        archive.writestr(
            place, f"<a>{SECRET[:5]}</a><b>{SECRET[5:]}</b>" if "xml" in place else SECRET
        )
    assert find_leaks("a.docx", made.getvalue(), [(SECRET, "person")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"word/document.xml": "<!DOCTYPE x [<!ENTITY a 'b'>]><x/>"}, "damaged"),
        ({"word/document.xml": "<w:document"}, "damaged"),
        ({"../out.xml": "x"}, "leads out"),
    ],
)
def test_hostile_word_files_are_refused(change: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(package(**change), ".docx")


def test_a_zip_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celosia.texts.formats.docx.LARGEST", 1000)
    with pytest.raises(InputError, match="unpacks to more"):
        parse(package(), ".docx")


def rich_pdf() -> bytes:
    """A file with a secret in every place that is not the text of its page."""
    content, _ = write_pages([f"Saw Mr {SECRET} gladly.\nSecond line."])
    with pikepdf.open(io.BytesIO(content)) as file:
        file.docinfo["/Author"] = SECRET
        with file.open_metadata() as metadata:
            metadata["dc:creator"] = [SECRET]
        file.attachments["a.txt"] = SECRET.encode()
        page = file.pages[0]
        page.obj["/Annots"] = file.make_indirect(
            pikepdf.Array([pikepdf.Dictionary(Type=pikepdf.Name.Annot, Contents=SECRET)])
        )
        file.Root["/AcroForm"] = pikepdf.Dictionary(
            Fields=[pikepdf.Dictionary(FT=pikepdf.Name.Tx, T="field", V=SECRET)]
        )
        file.Root["/Outlines"] = pikepdf.Dictionary(Title=SECRET)
        file.Root["/OpenAction"] = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS=SECRET)
        made = io.BytesIO()
        file.save(made)
    return made.getvalue()


def test_nothing_hidden_of_a_pdf_is_in_the_new_one(tmp_path: Path) -> None:
    # Check 38.
    original = rich_pdf()
    (tmp_path / "a.pdf").write_bytes(original)
    reading = read(tmp_path)
    assert {"metadata", "attachments", "annotations", "fields", "outlines"} <= set(reading.left_out)
    release = publish(find(reading), actions={"default": "redact"})
    new = release.files[0].content
    assert not find_leaks("a.pdf", new, [(SECRET, "person")])
    assert "gladly" in shown_text(new)
    assert {layer for layer, _ in layers("a.pdf", new)} == {"name", "bytes", "stream", "text"}


def revised_pdf() -> bytes:
    """A file whose only page was replaced later: the packed old page is still in it."""
    packed = io.BytesIO()
    with pikepdf.open(io.BytesIO(write_pages([f"Saw Mr {SECRET} gladly."])[0])) as file:
        file.save(packed, compress_streams=True, recompress_flate=True)
    assert SECRET.encode() not in packed.getvalue()
    writer = PdfWriter(packed, incremental=True)
    page = DecodedStreamObject()
    page.set_data(b"BT /F1 9 Tf 50 780 Td (nothing here) Tj ET")
    writer._replace_object(writer.pages[0].raw_get("/Contents"), page)
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def test_an_old_revision_of_a_pdf_is_found_and_not_in_the_new_file(tmp_path: Path) -> None:
    # Check 38.
    content = revised_pdf()
    assert SECRET not in shown_text(content)
    assert find_leaks("a.pdf", content, [(SECRET, "person")])
    (tmp_path / "a.pdf").write_bytes(content)
    new = publish(find(read(tmp_path)), actions={"default": "redact"}).files[0].content
    assert not find_leaks("a.pdf", new, [(SECRET, "person")])


@pytest.mark.parametrize(
    "place", ["info", "xmp", "attachment", "annotation", "field", "stream", "utf-16"]
)
def test_the_pass_finds_what_is_left_in_a_pdf(place: str) -> None:
    # Check 38.
    content, _ = write_pages(["nothing here"])
    with pikepdf.open(io.BytesIO(content)) as file:
        value = SECRET if place != "utf-16" else f"{SECRET}\u0142"
        match place:
            case "info":
                file.docinfo["/Author"] = value
            case "xmp":
                with file.open_metadata() as metadata:
                    metadata["dc:creator"] = [value]
            case "attachment":
                file.attachments["a.txt"] = value.encode()
            case "annotation":
                file.pages[0].obj["/Annots"] = pikepdf.Array([pikepdf.Dictionary(Contents=value)])
            case "stream":
                file.Root["/X"] = file.make_stream(value.encode())
            case _:
                file.Root["/AcroForm"] = pikepdf.Dictionary(Fields=[pikepdf.Dictionary(V=value)])
        made = io.BytesIO()
        file.save(made, compress_streams=True)
    assert find_leaks("a.pdf", made.getvalue(), [(SECRET, "person")])


def test_pdf_files_that_cannot_be_read_are_refused() -> None:
    empty, _ = write_pages([" "])
    with pytest.raises(InputError, match="without text"):
        parse(empty, ".pdf")
    with pytest.raises(InputError, match="damaged"):
        parse(b"%PDF-1.4 broken", ".pdf")
    content, _ = write_pages(["text"])
    made = io.BytesIO()
    with pikepdf.open(io.BytesIO(content)) as file:
        file.save(made, encryption=pikepdf.Encryption(user="u", owner="o"))
    with pytest.raises(InputError, match="encrypted"):
        parse(made.getvalue(), ".pdf")
    made = io.BytesIO()
    with pikepdf.open(io.BytesIO(content)) as file:
        file.Root["/AcroForm"] = pikepdf.Dictionary(
            Fields=[pikepdf.Dictionary(FT=pikepdf.Name.Sig, T="signature")]
        )
        file.save(made)
    with pytest.raises(InputError, match="signed"):
        parse(made.getvalue(), ".pdf")


def pdf_that_says(text: str) -> bytes:
    """A file whose font maps its only letter to a text of any alphabet."""
    content, _ = write_pages(["A"])
    made = io.BytesIO()
    with pikepdf.open(io.BytesIO(content)) as file:
        mapped = text.encode("utf-16-be").hex().upper()
        lines = "/CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange"
        lines += f" 1 beginbfchar <41> <{mapped}> endbfchar"
        font = file.pages[0].obj["/Resources"]["/Font"]["/F1"]
        font["/ToUnicode"] = file.make_stream(lines.encode())
        file.save(made)
    return made.getvalue()


def test_fonts_without_a_map_to_letters_are_refused() -> None:
    with pytest.raises(InputError, match="of the characters cannot be read"):
        parse(pdf_that_says("\ue001\ue002"), ".pdf")


def test_letters_that_the_new_file_could_not_show_are_refused_with_their_count() -> None:
    with pytest.raises(InputError, match="2 letters are not of a Western") as caught:
        parse(pdf_that_says("日本"), ".pdf")
    assert "日" not in str(caught.value)
    with pytest.raises(InputError, match="7 letters"):
        parse(pdf_that_says("Людмила"), ".pdf")
    signs = parse(pdf_that_says("yes \u2713"), ".pdf")
    assert signs.left_out["marks"] == 1


def test_long_texts_and_accents_fit_on_pages() -> None:
    text = "\n".join(f"Línea {number}: ñandú (á) \\ " + "x" * 120 for number in range(200))
    content, missing = write_pages([text])
    assert missing == 0
    shown = shown_text(content)
    assert "Línea 199: ñandú (á)" in shown
    assert write_pages(["日本"])[1] == 2
    assert shown_text(write_pages(["the \ufb01le has a \u2264 b"])[0]) == "the file has a <= b"
    assert parse(write_paragraphs(["a", "b & c"]), ".docx").documents[0][1].text == "b & c"
