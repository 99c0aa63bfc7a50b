"""DOCX: the paragraphs are read, and a new package is written with nothing else in it.

Revisions are accepted and deleted text goes; comments, hidden text, fields, images, embedded
objects, macros, custom XML, properties, thumbnails and identifiers of editing sessions are not in
the new file, because only listed elements are written.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from celosia.core.errors import InputError
from celosia.texts.formats import LARGEST, FileContent, Piece, Texts

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_BODY = "word/document.xml"
_OTHERS = re.compile(r"word/(?:header|footer|footnotes|endnotes)\d*\.xml")
_DEEPEST = 200

_KEPT = frozenset(("p", "tbl", "tr", "tc", "r", "t", "tab", "br", "cr", "tblGrid", "gridCol"))
_OPENED = frozenset(
    (
        "ins",
        "moveTo",
        "hyperlink",
        "sdt",
        "sdtContent",
        "smartTag",
        "fldSimple",
        "customXml",
        "dir",
        "bdo",
    )
)
"""Elements that go and leave what they hold."""
_DROPPED = {
    "del": "revisions",
    "moveFrom": "revisions",
    "delText": "revisions",
    "delInstrText": "revisions",
    "instrText": "fields",
    "fldChar": "fields",
    "drawing": "images",
    "pict": "images",
    "object": "embedded objects",
    "commentReference": "comments",
    "altChunk": "embedded objects",
    "sdtPr": "fields",
    "ruby": "embedded objects",
    "sym": "characters",
}
_MARKUP = {"b": "<w:b/>", "i": "<w:i/>", "u": '<w:u w:val="single"/>', "strike": "<w:strike/>"}
_RUN_MARKS = tuple(_MARKUP)
_PARTS = {
    "comments": "comments", "docProps": "metadata", "customXml": "custom parts", "media": "images",
    "embeddings": "embedded objects", "vbaProject": "macros", "thumbnail": "metadata",
    "people": "metadata", "settings": "metadata", "glossary": "custom parts",
}  # fmt: skip

_CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<Types xmlns="http://schemas.'
    'openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType='
    '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
    'ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<Relationships xmlns="http://schemas.'
    'openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.'
    'openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target='
    '"word/document.xml"/></Relationships>'
)


def parse(content: bytes, suffix: str) -> FileContent:
    """The paragraphs of a document, its headers and notes, and a new package for them."""
    del suffix
    members, left_out = _members(content)
    reader = _Reader(left_out)
    for name in [_BODY, *sorted(each for each in members if _OTHERS.fullmatch(each))]:
        root = _tree(members[name])
        inside = root.find(f"{_W}body") if name == _BODY else root
        if inside is None:
            raise InputError("CEL-N003.damaged")
        reader.read(inside, 0)
    made = tuple(reader.made)

    def rebuild(texts: Texts) -> bytes:
        values = texts[0]
        return _package("".join(_shown(each, values) for each in made))

    return FileContent((tuple(reader.pieces),), rebuild, dict(left_out))


def _shown(part: str | int, values: Iterable[str]) -> str:
    if isinstance(part, str):
        return part
    text = list(values)[part] if not isinstance(values, list | tuple) else values[part]
    legal = "".join(mark for mark in text if mark >= " " or mark in "\t\n\r")
    return f'<w:t xml:space="preserve">{escape(legal)}</w:t>'


def _members(content: bytes) -> tuple[dict[str, bytes], Counter[str]]:
    left_out: Counter[str] = Counter()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            if sum(each.file_size for each in infos) > LARGEST:
                raise InputError("CEL-N003.large", most=LARGEST >> 20)
            if any(each.flag_bits & 1 for each in infos):
                raise InputError("CEL-N003.encrypted")
            members = {}
            for each in infos:
                name = each.filename
                if name.startswith("/") or ".." in name.split("/"):
                    raise InputError("CEL-N003.link")
                if name == _BODY or _OTHERS.fullmatch(name):
                    members[name] = _unpacked(archive, each)
                for part, what in _PARTS.items():
                    left_out[what] += part in name and not name.endswith(".rels")
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError):
        raise InputError("CEL-N003.damaged") from None
    if _BODY not in members:
        raise InputError("CEL-N003.damaged")
    return members, +left_out


def _unpacked(archive: zipfile.ZipFile, each: zipfile.ZipInfo) -> bytes:
    """A member, of which no more is read than it says: its size may be a lie."""
    with archive.open(each) as stream:
        found = stream.read(each.file_size + 1)
    if len(found) > each.file_size:
        raise InputError("CEL-N003.large", most=LARGEST >> 20)
    return found


def _tree(content: bytes) -> ElementTree.Element:
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise InputError("CEL-N003.damaged")
    try:
        return ElementTree.fromstring(content)  # noqa: S314 - without a document type nothing expands
    except ElementTree.ParseError:
        raise InputError("CEL-N003.damaged") from None


class _Reader:
    """Turns elements into what is written again: markup as text, pieces as their numbers."""

    def __init__(self, left_out: Counter[str]) -> None:
        self.pieces: list[Piece] = []
        self.made: list[str | int] = []
        self.left_out = left_out
        self._glue = "\n"

    def read(self, element: ElementTree.Element, depth: int) -> None:
        """All that an element holds."""
        if depth > _DEEPEST:
            raise InputError("CEL-N003.deep", most=_DEEPEST)
        for each in element:
            space, _, name = each.tag.rpartition("}") if isinstance(each.tag, str) else ("", "", "")
            if space != f"{{{_SPACE}":
                self._alternative(each, name, depth)
            elif name in _DROPPED:
                self.left_out[_DROPPED[name]] += 1
            elif name in _OPENED:
                self.read(each, depth + 1)
            elif name == "r":
                self._run(each, depth)
            elif name == "t":
                self._text(each.text or "")
            elif name in ("tab", "br", "cr"):
                self.made.append(f"<w:{name}/>")
                self._glue = "\n" if name != "tab" else " "
            elif name in _KEPT:
                self._kept(each, name, depth)
            elif name in ("footnote", "endnote"):
                self.read(each, depth + 1)

    def _alternative(self, each: ElementTree.Element, name: str, depth: int) -> None:
        """Text boxes stand twice, as a choice and as a fallback: only paragraphs of the first."""
        if name == "AlternateContent":
            self.left_out["images"] += 1

    def _kept(self, each: ElementTree.Element, name: str, depth: int) -> None:
        if name == "p":
            self._glue = "\n"
        self.made.append(f"<w:{name}>{_properties(each) if name == 'p' else ''}")
        self.read(each, depth + 1)
        if name == "tc" and each.find(f".//{_W}p") is None:
            self.made.append("<w:p/>")
        self.made.append(f"</w:{name}>")
        if name in ("p", "tc"):
            self._glue = "\n"

    def _run(self, each: ElementTree.Element, depth: int) -> None:
        marks = each.find(f"{_W}rPr")
        if marks is not None:
            if _is_set(marks, "vanish") or _is_set(marks, "webHidden"):
                self.left_out["hidden text"] += 1
                return
            if marks.find(f"{_W}rPrChange") is not None:
                self.left_out["revisions"] += 1
        names = [name for name in _RUN_MARKS if marks is not None and _is_set(marks, name)]
        shown = "".join(_MARKUP[name] for name in names)
        self.made.append(f"<w:r><w:rPr>{shown}</w:rPr>" if shown else "<w:r>")
        self.read(each, depth + 1)
        self.made.append("</w:r>")

    def _text(self, text: str) -> None:
        self.made.append(len(self.pieces))
        self.pieces.append(Piece(text, glue=self._glue))
        self._glue = ""


def _is_set(marks: ElementTree.Element, name: str) -> bool:
    found = marks.find(f"{_W}{name}")
    return found is not None and found.get(f"{_W}val", "1") not in ("0", "false", "none")


def _properties(paragraph: ElementTree.Element) -> str:
    """Of a paragraph only its alignment."""
    found = paragraph.find(f"{_W}pPr/{_W}jc")
    value = "" if found is None else found.get(f"{_W}val", "")
    return f'<w:pPr><w:jc w:val="{value}"/></w:pPr>' if value in ("center", "right", "both") else ""


def _package(body: str) -> bytes:
    document = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
        f'<w:document xmlns:w="{_SPACE}"><w:body>{body}</w:body></w:document>'
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _files(document):
            # A fixed time: that of the original, and of this machine, tells nothing.
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text.encode("utf-8"))
    return made.getvalue()


def _files(document: str) -> Iterator[tuple[str, str]]:
    yield "[Content_Types].xml", _CONTENT_TYPES
    yield "_rels/.rels", _RELATIONS
    yield _BODY, document


def write_paragraphs(lines: Iterable[str]) -> bytes:
    """A new document with one paragraph for each line."""
    body = "".join(
        f'<w:p><w:r><w:t xml:space="preserve">{escape(line)}</w:t></w:r></w:p>' for line in lines
    )
    return _package(body)
