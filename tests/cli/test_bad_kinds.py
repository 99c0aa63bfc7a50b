"""Bad traces, logs and documents, line by line: refused with a code, and nothing is written."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pikepdf
import pytest
from tests.cli.running import MARK, Run

from celosia.texts.formats.pdf import write_pages

Files = dict[str, str | bytes]

REGION = "region = [40.0, -4.0, 40.2, -3.8]"
TRACE = f"[trace]\nperson = 'who'\ntime = 'at'\nlatitude = 'lat'\nlongitude = 'lon'\n{REGION}\n"
TRACE += "zone = 'Europe/Madrid'\n"
HOUR = "2026-03-02T0{}:00:00+01:00"
ROWS = [
    f"p{at % 6},2026-03-02T0{at % 9}:{at + 10}:00+01:00,40.1{at % 7},-3.9{at % 5}"
    for at in range(36)
]


def trace(*rows: str, declared: str = TRACE) -> Files:
    """A file of points whose first rows are these, and its declaration."""
    lines = ["who,at,lat,lon", *rows, *ROWS[len(rows) :]]
    return {"points.csv": "\n".join(lines) + "\n", "trace.toml": declared}


def areas(*rings: list[list[float]]) -> str:
    """Polygons as GeoJSON."""
    made = [
        {
            "type": "Feature",
            "properties": {"name": f"n{at}"},
            "geometry": {"type": "Polygon", "coordinates": [ring]},
        }
        for at, ring in enumerate(rings)
    ]
    return json.dumps({"type": "FeatureCollection", "features": made})


GLOVE = "trace publish points.csv -d trace.toml --glove 3 -o out.csv"
GRID = "trace release grid points.csv -d trace.toml -o out.csv"
SHAPES = TRACE + "areas = 'areas.geojson'\n"
VISITS = "trace release visits points.csv -d trace.toml -e 1 -o out.csv"
SQUARE = [[-4.0, 40.0], [-3.8, 40.0], [-3.8, 40.2], [-4.0, 40.2], [-4.0, 40.0]]
BOW = [[-4.0, 40.0], [-3.8, 40.2], [-3.8, 40.0], [-4.0, 40.2], [-4.0, 40.0]]
PRIOR = GLOVE.replace("--glove 3", "--method planar-laplace:4,200,prior=prior.csv")
TRACES: dict[str, tuple[Files, str]] = {
    "swapped CEL-J003": (trace(f"p0,{HOUR.format(1)},-3.9,40.1"), GLOVE),
    "0,0 CEL-J003": (trace(f"p0,{HOUR.format(1)},0,0"), GLOVE),
    "metres CEL-J003": (trace(f"p0,{HOUR.format(1)},4474000,440000"), GLOVE),
    "repeated CEL-J003": (trace(ROWS[5], ROWS[5]), GLOVE),
    "two places at once CEL-J003": (
        trace(f"p0,{HOUR.format(1)},40.1,-3.9", f"p0,{HOUR.format(1)},40.15,-3.9"),
        GRID + " -e 1",
    ),
    "NaN CEL-J003": (trace(f"p0,{HOUR.format(1)},nan,-3.9"), GLOVE),
    "infinity CEL-J003": (trace(f"p0,{HOUR.format(1)},inf,-3.9"), GLOVE),
    "decimal comma CEL-J003": (trace(f'p0,{HOUR.format(1)},"40,1",-3.9'), GLOVE),
    "no zone CEL-J004": (
        trace("p0,2026-03-02T08:00:00,40.1,-3.9", declared=TRACE.replace("zone", "#")),
        GLOVE,
    ),
    "milliseconds CEL-J004": (
        {
            "points.csv": "who,at,lat,lon\np0,1772434800000,40.1,-3.9\n",
            "trace.toml": TRACE + "epoch = 's'\n",
        },
        GLOVE,
    ),
    "fewer than k CEL-J020": (trace(), GLOVE.replace("3", "7")),
    "no region CEL-J002": (trace(declared=TRACE.replace(REGION, "")), GLOVE),
    "inverted CEL-J002": (
        trace(declared=TRACE.replace("[40.0, -4.0, 40.2", "[40.2, -4.0, 40.0")),
        GLOVE,
    ),
    "pole CEL-J002": (trace(declared=TRACE.replace("40.2", "90.0")), GLOVE),
    "date line CEL-J002": (
        trace(declared=TRACE.replace("-4.0, 40.2, -3.8", "179, 40.2, -179")),
        GLOVE,
    ),
    "measured CEL-J030": (trace(declared=TRACE + "is_measured = true\n"), GRID + " -e 1"),
    "epsilon 0 CEL-I060": (trace(), GRID + " -e 0"),
    "epsilon infinite CEL-I060": (trace(), GRID + " -e inf"),
    "per degree CEL-J024": (trace(), GLOVE.replace("--glove 3", "--planar-laplace 0.1")),
    "level of 1 CEL-I060": (trace(), GLOVE.replace("--glove 3", "--planar-laplace 1x@200m")),
    "open polygon CEL-J007": (
        trace(declared=SHAPES) | {"areas.geojson": areas(SQUARE[:-1])},
        VISITS,
    ),
    "crossing polygon CEL-J007": (trace(declared=SHAPES) | {"areas.geojson": areas(BOW)}, VISITS),
    "overlap CEL-J007": (trace(declared=SHAPES) | {"areas.geojson": areas(SQUARE, SQUARE)}, VISITS),
    "prior that sums to 2 CEL-J008": (
        trace() | {"prior.csv": "latitude,longitude,weight\n40.1,-3.9,1\n40.2,-3.9,1\n"},
        PRIOR,
    ),
    "prior of the same points CEL-J008": (
        trace()
        | {"prior.csv": "latitude,longitude,weight\n40.12,-3.9,0.72222\n40.17,-3.9,0.27778\n"},
        PRIOR,
    ),
    "no hierarchy CEL-J014": (
        trace(),
        GLOVE.replace("--glove 3", "--method generalisation:k=3,places=place"),
    ),
}

LOG = "[log]\nperson = 'user'\ntext = 'query'\n"
KEEP = "log publish log.csv --declare log.toml --min-people 2 -o out.csv"
ACCESS = "log publish access.log --min-people 2 -o out.csv"
KEYS = "log release keys log.csv --declare log.toml -o out.csv -e 1"
SETS = "log publish sets.txt --sets --km 2 2 --hierarchy items.csv -o out.txt"


def log(*rows: str, declared: str = LOG) -> Files:
    lines = ["user,query", *(rows or (f"a,{MARK}", f"b,{MARK}", "c,x"))]
    return {"log.csv": "\n".join(lines) + "\n", "log.toml": declared}


def access(line: str | bytes) -> Files:
    """An access log of twelve sound lines and one more."""
    start = '192.0.2.{} - - [10/Oct/2025:13:55:36 +0000] "GET /p HTTP/1.1" 200 5 "-" "curl/8"\n'
    more = line.encode() if isinstance(line, str) else line
    return {"access.log": "".join(start.format(at % 4) for at in range(12)).encode() + more}


def fields(url: str = "http://example.org", ip: str = "192.0.2.1") -> Files:
    rows = ["user,url,ip", "a,http://example.org,192.0.2.1", f"b,{url},{ip}", "c,x.org,192.0.2.3"]
    declared = "[log]\nperson = 'user'\nurl = 'url'\nip = 'ip'\n"
    return {"log.csv": "\n".join(rows) + "\n", "log.toml": declared}


def sets(tree: str) -> Files:
    return {"sets.txt": f"a {MARK}\na b\nb\n", "items.csv": tree}


LOGS: dict[str, tuple[Files, str]] = {
    "unknown layout CEL-U003": (
        {"log.xyz": "?", "log.toml": LOG},
        KEEP.replace("csv --d", "xyz --d"),
    ),
    "NUL CEL-F019": (log("a,x\0y", "b,x", "c,x"), KEEP),
    "bad escapes CEL-F023": (
        {"log.jsonl": f'{{"user": "a", "query": "{MARK}\\x"}}\n', "log.toml": LOG},
        KEEP.replace("csv --d", "jsonl --d"),
    ),
    "mixed encodings CEL-F018": (
        {"log.csv": b"user,query\na,caf\xc3\xa9\nb,caf\xe9\n", "log.toml": LOG},
        KEEP,
    ),
    "mixed encodings, block by block CEL-F018": (
        {"log.csv": b"user,query\na,caf\xc3\xa9\nb,caf\xe9\n", "log.toml": LOG},
        KEEP + " --stream",
    ),
    "mixed JSON lines CEL-F018": (
        {
            "log.jsonl": b'{"user": "a", "query": "\xc3\xa9"}\n{"user": "b", "query": "\xe9"}\n',
            "log.toml": LOG,
        },
        KEEP.replace("csv --d", "jsonl --d"),
    ),
    "mixed access log CEL-U014": (access(b"caf\xe9\n"), ACCESS),
    "mixed access log, block by block CEL-U014": (access(b"caf\xe9\n"), ACCESS + " --stream"),
    "NUL in an access log CEL-U014": (access("x\0y\n"), ACCESS),
    "mixed baskets CEL-U014": (
        {"sets.txt": b"a b\nb \xe9\n", "items.csv": "a,A,*\nb,A,*\n"},
        SETS,
    ),
    "leading zeros CEL-U014": (fields(ip="010.001.2.3"), KEEP),
    "address with a zone CEL-U014": (fields(ip="fe80::1%eth0"), KEEP),
    "content for an address CEL-U014": (fields(url="data:text/plain"), KEEP),
    "program for an address CEL-U014": (fields(url="javascript:x()"), KEEP + " --stream"),
    "plain hashes CEL-U015": (
        {
            "log.csv": f"user,query,card\na,x,{'0a' * 16}\nb,x,{'0b' * 16}\n",
            "log.toml": LOG + "keep = ['card']\n",
        },
        KEEP,
    ),
    "long address CEL-U014": (fields(url="http://x.org/" + "z" * 100_001), KEEP),
    "no host, block by block CEL-U014": (fields(url="http://"), KEEP + " --stream"),
    "no query CEL-U014": (log(f"a,{MARK}", "b,", "c,x"), KEEP),
    "long query CEL-U014": (log(f"a,{MARK}", "b," + "y" * 10_001, "c,x"), KEEP),
    "no person CEL-U014": (log(f"a,{MARK}", ",x", "c,x"), KEEP),
    "no person, block by block CEL-U014": (log(f"a,{MARK}", ",x", "c,x"), KEEP + " --stream"),
    "constant person CEL-U013": (log("a,x", "a,y", "a,z"), KEEP),
    "k above persons CEL-U040": (log(), KEEP.replace("2", "9")),
    "item absent CEL-U031": (sets("a,A,*\nb,A,*\n"), SETS),
    "item inside CEL-U032": (sets(f"a,{MARK},*\nb,{MARK},*\n"), SETS),
    "several parents CEL-H003": (sets(f"a,A,*\na,B,*\nb,A,*\n{MARK},A,*\n"), SETS),
    "m of 0 CEL-I060": (sets(f"a,A,*\nb,A,*\n{MARK},A,*\n"), SETS.replace("--km 2 2", "--km 2 0")),
    "m of 6 CEL-I060": (sets(f"a,A,*\nb,A,*\n{MARK},A,*\n"), SETS.replace("--km 2 2", "--km 2 6")),
    "h above 1 CEL-I060": (sets("a,A,*\n"), SETS.replace("--km 2 2", "--method coherence:k=2,h=2")),
    "p of 0 CEL-I060": (sets("a,A,*\n"), SETS.replace("--km 2 2", "--method coherence:k=2,p=0")),
    "rho above 1 CEL-I060": (
        sets("a,A,*\n"),
        SETS.replace("--km 2 2", "--method rho-uncertainty:rho=2"),
    ),
    "delta 0 CEL-I060": (log(), KEYS + " --delta 0"),
    "per_person 0 CEL-I060": (log(), KEYS + " --delta 1e-6 --per-person 0"),
}

NOTE = f"Dr. {MARK} saw Mr. Gil on 3 May 2025.\n"
FIND = "text find notes --declare text.toml -o out.csv"
SAFE = "text publish notes --declare text.toml -o out"
FRENCH = "Le patient est venu avec sa femme dans le service pour une visite, et il est parti avec "
FRENCH += f"les resultats de {MARK} sur papier.\n"
TEXT = "[text]\nlanguage = 'en'\n"


def note(name: str = "a.txt", content: str | bytes = NOTE, **more: str | bytes) -> Files:
    return {f"notes/{name}": content, "text.toml": TEXT, **more}


def docx(**parts: str | bytes) -> bytes:
    """A Word file of one sentence, and further parts."""
    made = io.BytesIO()
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = f'<w:document xmlns:w="{main}"><w:body><w:p><w:r><w:t>{NOTE}</w:t></w:r></w:p>'
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in ({"word/document.xml": f"{body}</w:body></w:document>"} | parts).items():
            archive.writestr(name, part)
    return made.getvalue()


def bomb() -> bytes:
    """A Word file whose directory says that its last part unpacks to 300 MB."""
    content = bytearray(docx(**{"word/media/x.xml": "0"}))
    size = content.rfind(b"PK\x01\x02") + 24
    content[size : size + 4] = (300 << 20).to_bytes(4, "little")
    return bytes(content)


def pdf(*pages: str, **changes: bool) -> bytes:
    """A PDF file with these pages; encrypted, signed, or cut in the middle."""
    content = write_pages(pages)[0]
    made = io.BytesIO()
    with pikepdf.open(io.BytesIO(content)) as file:
        if changes.get("signed"):
            field = pikepdf.Dictionary(FT=pikepdf.Name.Sig, T="signature")
            file.Root["/AcroForm"] = pikepdf.Dictionary(Fields=[field])
        if changes.get("unmapped"):
            font = file.pages[0].obj["/Resources"]["/Font"]["/F1"]
            lines = "/CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange"
            lines += " 1 beginbfrange <00> <FF> <E000> endbfrange"
            font["/ToUnicode"] = file.make_stream(lines.encode())
        key = pikepdf.Encryption(user="u", owner="o") if changes.get("encrypted") else None
        file.save(made, encryption=key)
    return made.getvalue()[: len(content) // 2 if changes.get("cut") else None]


PSEUDONYM = TEXT + "[text.actions]\ndefault = 'redact'\nperson = 'pseudonym'\n"
SECRET_KEY: Files = {"text.toml": PSEUDONYM, "key.bin": b"celosia key"}
TEXTS: dict[str, tuple[Files, str]] = {
    "unknown encoding CEL-N003": (note(content=b"caf\xe9 \xff"), FIND),
    "lone surrogates CEL-N003": (note("a.json", '{"a": "b \\ud800"}'), FIND),
    "empty CEL-N003": (note(content=""), FIND),
    "binary CEL-N003": (note(content=b"\x7fELF\x00\x01\x02"), FIND),
    "damaged PDF CEL-N003": (note("a.pdf", b"%PDF-1.4 nothing"), FIND),
    "damaged DOCX CEL-N003": (note("a.docx", b"PK\x03\x04 broken"), FIND),
    "encrypted PDF CEL-N003": (note("a.pdf", pdf(NOTE, encrypted=True)), FIND),
    "signed PDF CEL-N003": (note("a.pdf", pdf(NOTE, signed=True)), SAFE),
    "scanned page CEL-N003": (note("a.pdf", pdf(NOTE, " ")), SAFE),
    "cut PDF CEL-N003": (note("a.pdf", pdf(NOTE, cut=True)), FIND),
    "fonts without a map CEL-N003": (note("a.pdf", pdf(NOTE, unmapped=True)), FIND),
    "DOCX without a body CEL-N003": (note("a.docx", docx(**{"word/document.xml": ""})), FIND),
    "DOCX that leads out CEL-N003": (note("a.docx", docx(**{"../x.xml": "x"})), FIND),
    "DOCX with entities CEL-N003": (
        note("a.docx", docx(**{"word/document.xml": "<!DOCTYPE x [<!ENTITY a 'b'>]><x/>"})),
        SAFE,
    ),
    "zip bomb CEL-N003": (note("a.docx", bomb()), FIND),
    "another language CEL-N006": (note(content=FRENCH), SAFE),
    "another alphabet CEL-N006": (note(content="\u043f\u0430\u0446 " * 30), SAFE),
    "image CEL-N002": (note("a.jpg", b"\xff\xd8\xff"), FIND),
    "deep JSON CEL-N003": (note("a.json", "[" * 150 + "]" * 150), FIND),
    "twice a key CEL-N003": (note("a.json", '{"a": 1, "a": 2}'), FIND),
    "findings not complete CEL-N025": (
        note() | {"f.csv": "document,digest,start,length,kind,score\n0,00,4,5,person,1\n"},
        SAFE + " --findings f.csv",
    ),
    "findings of another version CEL-N025": (
        note()
        | {
            "f.csv": "document,version,start,length,kind,group,score,by,decision\n"
            "0,00,4,3,person,0,1,x,\n"
        },
        SAFE + " --findings f.csv",
    ),
    "kind without an action CEL-N022": (
        note() | {"text.toml": TEXT + "[text.actions]\nperson = 'redact'\n"},
        SAFE,
    ),
    "short key CEL-I072": (note() | SECRET_KEY, SAFE + " --key key.bin"),
    "key inside the output CEL-I072": (note() | SECRET_KEY, SAFE + " --key out/key.bin"),
    "few characters CEL-I060": (
        note() | {"text.toml": PSEUDONYM.replace("pseudonym", "pseudonym:length=4")},
        SAFE,
    ),
    "promise without persons CEL-N041": (
        note(),
        "text release terms notes --declare text.toml -e 1 --delta 1e-6 -o out.csv",
    ),
    "engine with findings CEL-N013": (note(), SAFE + " --findings f.csv --engine spacy:x"),
    "no kind CEL-N010": (note() | {"text.toml": TEXT + "[text.actions]\nperso = 'redact'\n"}, SAFE),
    "key that others read CEL-I072": (
        note()
        | {"text.toml": TEXT + "[text.actions]\nperson = 'pseudonym'\n", "key.bin": b"1" * 32},
        SAFE + " --key key.bin",
    ),
    "facts of nobody CEL-N012": (
        note() | {"facts.csv": "name\nZoltan Quux\n"},
        FIND + " --facts facts.csv",
    ),
    "raw index CEL-I020": (note(), "text index notes -k 5 -o out.csv"),
    "folder not empty CEL-N024": (note() | {"out/x.txt": "x"}, SAFE),
    "epsilon on prose CEL-N040": (note(), SAFE + " --epsilon 1"),
}
BY_ROW = (
    "CEL-J003", "CEL-J004", "CEL-H003", "CEL-F018", "CEL-F023", "CEL-N006", "CEL-N025", "CEL-U014",
    "CEL-U015", "CEL-U031", "CEL-U032",
)  # fmt: skip
"""Errors that name the row."""
CASES = {
    f"{door}: {name}": case
    for door, cases in (("traces", TRACES), ("logs", LOGS), ("documents", TEXTS))
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_and_nothing_is_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    files, command = CASES[name]
    for path, content in files.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    done = run(*command.split())
    done.complains(name.rsplit(maxsplit=1)[-1], done.code)
    assert done.code in (1, 2)
    assert done.err.count("\n") >= 2, "what to do is missing"
    if name.rsplit(maxsplit=1)[-1] in BY_ROW:
        assert " row " in done.err
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
