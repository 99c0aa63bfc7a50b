"""The clients of devices: one file each, the same reports as ours byte by byte, the same law."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from celosia.collect import Memory, Reports
from celosia.collect.clients import conformance, files
from celosia.collect.clients.parameters import client_parameters
from celosia.collect.protocol import RememberingClient
from celosia.collect.registry import PROTOCOLS, protocol_from
from celosia.core.errors import InputError

FOLDER = Path(files.__file__).parent
HERE = Path(__file__).parent
DATA: dict[str, Any] = json.loads(files.shipped(files.CONFORMANCE))
CASES = [*DATA["protocols"], *DATA["memory"]]
FEW = 7.0
"""Standard errors: a normal law is beyond them once in 10^12."""


def loaded(path: Path) -> ModuleType:
    """The client, as from a file that was copied to a device."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CLIENT = loaded(FOLDER / "celosia_client.py")


class Scripted:
    """Random bytes that are given, and how many are left."""

    def __init__(self, text: str) -> None:
        self.left = bytes.fromhex(text)

    def __call__(self, count: int) -> bytes:
        assert count <= len(self.left), "more was drawn than is there"
        drawn, self.left = self.left[:count], self.left[count:]
        return drawn


def node(script: str, *arguments: str) -> Any:
    """What a script prints as JSON; the client is `client`, and the checks are `check`."""
    program = shutil.which("node") or shutil.which("nodejs")
    if program is None:
        pytest.skip("there is no Node here; tests/studio runs the client in a browser")
    parts = [
        f"import * as client from {json.dumps((FOLDER / files.JAVASCRIPT).as_uri())};",
        f"import * as check from {json.dumps((HERE / 'check_conformance.mjs').as_uri())};",
        'import { readFileSync } from "node:fs";',
        "const given = JSON.parse(readFileSync(0, 'utf8'));",
        f"console.log(JSON.stringify(await ({script})));",
    ]
    done = subprocess.run(
        [program, "--input-type=module", "--eval", "\n".join(parts)],
        input=arguments[0],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_conformance_file_is_what_the_protocols_do_now() -> None:
    assert files.shipped(files.CONFORMANCE) == conformance.conformance_text()
    assert {case["parameters"]["protocol"] for case in DATA["protocols"]} == set(PROTOCOLS)


@pytest.mark.parametrize(
    "case", DATA["protocols"], ids=[each["parameters"]["protocol"] for each in DATA["protocols"]]
)
def test_the_python_client_reproduces_every_report(case: dict[str, Any]) -> None:
    for vector in case["vectors"]:
        raw = Scripted(vector["randomness"])
        report = CLIENT.Client(case["parameters"], raw=raw).report(vector["value"])
        assert (report.hex(), raw.left) == (vector["report"], b"")
    for value in case["refused"]:
        with pytest.raises(CLIENT.ClientError):
            CLIENT.Client(case["parameters"]).report(value)


def test_the_javascript_client_reproduces_every_report() -> None:
    found = node("check.check(client, given)", json.dumps(DATA))
    assert found["wrong"] == []
    assert found["reports"] == sum(len(case["vectors"]) for case in CASES)


def test_digests_columns_and_batches_are_those_of_the_file() -> None:
    for each in DATA["digests"]:
        assert str(CLIENT.digest(each["value"])) == each["digest"]
    for each in DATA["columns"]:
        number = CLIENT.digest(each["value"])
        assert CLIENT.column(each["key"], each["row"], each["width"], number) == each["column"]
    batch = DATA["batch"]
    client = CLIENT.Client(batch["parameters"])
    reports = [bytes.fromhex(each) for each in batch["reports"]]
    assert client.batch(reports).hex() == batch["batch"]
    with pytest.raises(CLIENT.ClientError):
        client.batch([b"\0"])


@pytest.mark.parametrize(
    "case", DATA["memory"], ids=[each["parameters"]["protocol"] for each in DATA["memory"]]
)
def test_a_memory_of_ours_and_one_of_the_client_are_the_same_file(
    case: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "memory"
    Memory.open(path, budget=100)
    protocol = protocol_of(case["parameters"])
    ours = protocol.client()
    assert isinstance(ours, RememberingClient)
    for vector in case["vectors"]:
        raw = Scripted(vector["randomness"])
        client = CLIENT.Client(case["parameters"], memory=CLIENT.Memory(path), raw=raw)
        report = client.report(vector["value"])
        ours.memory, ours.rng = Memory.open(path), Given(vector["randomness"])
        before = ours.memory.spent
        assert ours.privatise([vector["value"]]).packed.tobytes() == report
        if case["parameters"].get("lasting", "") is not None:  # else each report is paid
            assert ours.memory.spent == before


class Given(conformance.RecordedDraws):
    """Ours from the same bytes."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self.raw = Scripted(text)  # type: ignore[method-assign]


def protocol_of(parameters: dict[str, Any]) -> Any:
    """The protocol of a case, found by its fingerprint."""
    for description, _, _ in conformance._CASES:
        made = conformance._protocol(description)
        if made.fingerprint.hex() == parameters["fingerprint"]:
            return made
    raise AssertionError(parameters["protocol"])


def test_a_budget_is_never_exceeded_and_a_refused_report_costs_nothing(tmp_path: Path) -> None:
    sketch = client_parameters(protocol_from({"method": "hcms", "epsilon": "1/2", "hashes": 8}))
    memory = CLIENT.Memory(tmp_path / "device", budget="5/4")
    client = CLIENT.Client(sketch, memory=memory)
    client.report("a")
    client.report("a")
    for _ in range(2):
        with pytest.raises(CLIENT.BudgetSpent):
            client.report("a")
    assert memory.spent == 1
    assert (tmp_path / "device").stat().st_mode & 0o077 == 0
    with pytest.raises(CLIENT.ClientError, match="another budget"):
        CLIENT.Memory(tmp_path / "device", budget=9)
    shutil.copy(tmp_path / "device", tmp_path / "copy")
    with pytest.raises(CLIENT.ClientError, match="copy"):
        CLIENT.Memory(tmp_path / "copy")


def test_what_is_kept_answers_again_without_a_further_price(tmp_path: Path) -> None:
    mean = client_parameters(protocol_from({"method": "one-bit-mean", "epsilon": 1, "levels": 1}))
    memory = CLIENT.Memory(tmp_path / "device", budget=2)
    client = CLIENT.Client(mean, memory=memory)
    assert len({client.report(1.0) for _ in range(20)}) == 1
    assert memory.spent == 1


def test_a_javascript_budget_is_never_exceeded() -> None:
    sketch = client_parameters(protocol_from({"method": "hcms", "epsilon": "1/2", "hashes": 8}))
    script = 'check.spendAll(client, given, new client.ProcessMemory("5/4"), ["a", "a", "a"])'
    assert node(script, json.dumps(sketch)) == {"reports": 2, "refused": True, "spent": "1"}


LAWS = [
    {"method": "hcms", "epsilon": 3, "hashes": 4, "width": 16},
    {"method": "olh", "epsilon": 2, "pool": 4},
    {"method": "oue", "epsilon": 2, "domain": ["a", "b", "c"]},
    {"method": "ss", "epsilon": 1, "domain": ["a", "b", "c", "d", "e"], "size": 2},
    {"method": "rappor", "bits": 4, "cohorts": 2, "hashes": 1},
]


MANY = {"python": 2500, "javascript": 500}
MORE = 20
"""How many times as many reports of ours."""


def batches_of(language: str) -> list[bytes]:
    """Reports of the value "a" by each protocol of `LAWS`, drawn from the system."""
    listed = [client_parameters(protocol_from(each)) for each in LAWS]
    if language == "javascript":
        many = f"check.manyReports(client, each, Array({MANY[language]}).fill('a'))"
        found = node(f"Promise.all(given.map((each) => {many}))", json.dumps(listed))
        return [bytes.fromhex(each) for each in found]
    clients = [CLIENT.Client(each) for each in listed]
    return [each.batch(each.report("a") for _ in range(MANY[language])) for each in clients]


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_reports_from_the_system_have_the_law_of_ours(language: str) -> None:
    for description, data in zip(LAWS, batches_of(language), strict=True):
        protocol = protocol_from(description)
        assert protocol.server().absorb(data).users == MANY[language]
        theirs = Counter(row.tobytes() for row in Reports.from_bytes(data).packed)
        sample = protocol.client().privatise(["a"] * MANY[language] * MORE).packed
        ours = Counter(row.tobytes() for row in sample)
        both = ours + theirs
        means = np.array([both[each] / (MORE + 1) for each in both])
        apart = np.array([theirs[each] - ours[each] / MORE for each in both])
        # Two samples of one law: (x - y)^2 over its variance is 1 on average, with a variance of
        # 2 + 1 / mean for a count of that mean.
        statistic = float((apart**2 / (means * (1 + 1 / MORE))).sum())
        assert statistic < len(both) + FEW * float((2 + 1 / means).sum()) ** 0.5


def test_a_client_imports_nothing_but_the_standard_library(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "celosia_client.py", tmp_path)
    code = "import sys, celosia_client; print(*sorted({n.partition('.')[0] for n in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    names = set(done.stdout.split()) - {"celosia_client", "__main__", "__mp_main__"}
    assert {each for each in names if not each.startswith("_")} <= set(sys.stdlib_module_names)
    assert not names & {"numpy", "celosia", "sqlite3", "urllib"}


def test_client_files_are_ready_to_ship(tmp_path: Path) -> None:
    protocol = protocol_from({"method": "grr", "epsilon": 2, "domain": ["a", "ñ", 3]})
    made = tmp_path / "ready.py"
    made.write_text(files.client_text(protocol, ".py"), "utf-8")
    client = loaded(made).client()
    assert protocol.server().absorb(client.batch([client.report("ñ")])).users == 1
    assert json.loads(files.client_text(protocol, ".json")) == client.parameters
    assert "export const parameters" in files.client_text(protocol, ".mjs")
    assert files.types_text().count("export class Client ") == 1


def test_a_domain_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(InputError) as refusal:
        client_parameters(protocol_from({"method": "grr", "epsilon": 2, "domain": [1, 2**60]}))
    assert refusal.value.code == "CEL-R072"


def test_prices_are_those_of_the_protocols() -> None:
    found = client_parameters(protocol_from({"method": "dbitflip", "epsilon": 1, "bits": 1}))
    assert Fraction(found["price"]) == Fraction(1, 2)


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_client_that_is_sent_away_sends_again_with_the_same_mark(
    language: str, tmp_path: Path
) -> None:
    """Once without room, once cut off, then taken; a batch that is wrong is not sent again."""
    seen: list[tuple[str | None, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.headers["Idempotency-Key"], body))
            if len(seen) == 2:
                self.close_connection = True
                return
            self.send_response({1: 503, 3: 200, 4: 422}[len(seen)])
            self.send_header("Retry-After", "0.01")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    protocol = protocol_from({"method": "hcms", "epsilon": 4, "hashes": 4, "width": 16})
    ending = {"python": ".py", "javascript": ".mjs"}[language]
    source = files.client_text(protocol, ending)
    text = {"python": "wait = 5.0", "javascript": "|| 5;"}[language]
    assert source.count(text) == 1
    quick = source.replace(
        text, text.replace("5.0", "5").replace("5", "0.01")
    )  # five seconds are long for a test
    (tmp_path / f"client{ending}").write_text(quick, "utf-8")
    program = {"python": sys.executable, "javascript": shutil.which("node")}[language]
    if program is None:
        pytest.skip("there is no Node here")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        script = {
            "python": "from client import client\nc = client()\nr = [c.report('a')]\n"
            f"c.send({address!r}, r)\n"
            f"try:\n    c.send({address!r}, r)\nexcept OSError as e:\n    print(e.code)",
            "javascript": "import { client } from './client.mjs';\nconst c = client();\n"
            f"const r = [await c.report('a')];\nawait c.send({address!r}, r);\n"
            f"try {{ await c.send({address!r}, r); }} catch (e) {{ console.log(e.message); }}",
        }[language]
        (tmp_path / f"run{ending}").write_text(script, "utf-8")
        try:
            done = subprocess.run(
                [program, f"run{ending}"], cwd=tmp_path, capture_output=True, text=True, check=False
            )
        finally:
            server.shutdown()
    assert "422" in done.stdout, done.stderr
    assert len(seen) == 4
    assert len({mark for mark, _ in seen[:3]}) == len({body for _, body in seen}) == 1
    assert seen[3][0] != seen[0][0]
