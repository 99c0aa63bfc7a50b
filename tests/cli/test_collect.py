"""`celosia collect`: values into reports, reports into counts, counts into estimates."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.cli.running import MARK, Run
from tests.ports import own_port

from celosia.collect.registry import load_protocol
from celosia.collect.shuffler.guarantee import shuffle_guarantee
from celosia.core.randomness import Seeded

PROTOCOL = 'method = "hcms"\nepsilon = 4\nkey = "emoji"\nhashes = 32\nwidth = 64\n'
CURATOR = {"Authorization": f"Bearer {'c' * 32}"}
WORDS = ["smile"] * 600 + ["cry"] * 300 + [MARK] * 100


@pytest.fixture
def emoji(run: Run, tmp_path: Path) -> Path:
    """A protocol file, and a table of a thousand words."""
    (tmp_path / "emoji.toml").write_text(PROTOCOL)
    (tmp_path / "today.csv").write_text("\n".join(["emoji", *WORDS]) + "\n")
    return tmp_path


def privatised(run: Run, output: str, *more: object) -> Any:
    return run(
        *("collect", "privatise", "emoji.toml", "today.csv", "--column", "emoji", "-o", output),
        *more,
    )


@pytest.mark.parametrize("ending", [".clr", ".parquet", ".arrow"])
def test_values_become_reports_and_reports_become_estimates(
    ending: str, run: Run, emoji: Path
) -> None:
    made = privatised(run, f"reports{ending}", "--seed", 7)
    assert made.out == f"1,000 reports of 2 bytes each: reports{ending}\n"
    assert "Simulation" in made.err
    assert MARK.encode() not in (emoji / f"reports{ending}").read_bytes()
    absorb = ("collect", "absorb", "emoji.toml", f"reports{ending}", "--folder", "state")
    assert run(*absorb).out == "1,000 reports from 1 files; 1,000 in all\n"
    again = run(*absorb, "--json").data()
    assert (again["counted"], again["already_counted"], again["total"]) == (0, 1000, 1000)
    (emoji / "list.txt").write_text("smile\ncry\n")
    asked = ("collect", "estimate", "emoji.toml", "--folder", "state", "--candidates", "list.txt")
    told = run(*asked, "-o", "found.csv", "--json").data()
    protocol = load_protocol(emoji / "emoji.toml")
    reports = protocol.client(rng=Seeded(7)).privatise(WORDS)
    expected = protocol.server().absorb(reports).estimate(["smile", "cry"])
    assert told == expected.as_dict()
    assert len((emoji / "found.csv").read_text().splitlines()) == 3
    shown = run(*asked)
    assert shown.out.splitlines()[-1] == "2 estimates from 1,000 reports (hcms)"
    assert "smile" in shown.out


def test_shards_are_merged_once(run: Run, emoji: Path) -> None:
    for shard in ("one", "two"):
        privatised(run, f"{shard}.clr")
        run("collect", "absorb", "emoji.toml", f"{shard}.clr", "--folder", shard)
    merge = ("collect", "merge", "emoji.toml", "one", "two", "--folder", "total")
    assert run(*merge).out.splitlines()[-1] == "2,000 reports in all"
    run(*merge).complains("CEL-R081")
    protocol = load_protocol(emoji / "emoji.toml")
    (emoji / "three.state").write_bytes(
        protocol.server().absorb(protocol.client().privatise(["cry"] * 5)).to_bytes()
    )
    third = ("collect", "merge", "emoji.toml", "three.state", "--folder", "total", "--json")
    assert [run(*third).data()["total"] for _ in range(2)] == [2005, 2005]


def test_a_bad_file_does_not_keep_the_others_from_being_counted(run: Run, emoji: Path) -> None:
    privatised(run, "good.clr")
    (emoji / "bad.clr").write_bytes(b"noise")
    wrong = run("collect", "absorb", "emoji.toml", "bad.clr", "good.clr", "--folder", "state")
    assert wrong.code == 2
    assert "bad.clr" in wrong.err
    assert "1,000 reports of the others are counted" in wrong.err
    found = run("collect", "absorb", "emoji.toml", "good.clr", "--folder", "state", "--json")
    assert found.data()["already_counted"] == 1000


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("absorb", "nothing.toml", "r.clr", "--folder", "state"), "CEL-R071"),
        (("absorb", "emoji.toml", "r.clr", "--folder", "state"), "CEL-R082"),
        (("merge", "emoji.toml", "nothing", "--folder", "state"), "CEL-R082"),
        (("merge", "emoji.toml", ".", "--folder", "state"), "CEL-R075"),
        (("estimate", "emoji.toml", "--folder", "state", "--numbers"), "CEL-R082"),
        (("estimate", "emoji.toml", "--folder", "state"), "CEL-R075"),
        (("estimate", "emoji.toml", "--folder", "state", "--candidate", "a"), "CEL-R075"),
        (
            ("estimate", "emoji.toml", "--folder", "s", "--candidate", "a", "--numbers"),
            "CEL-R082",
        ),
        (
            ("privatise", "emoji.toml", "today.csv", "--column", "emojis", "-o", "r.clr"),
            "CEL-R082",
        ),
        (
            ("privatise", "emoji.toml", "today.csv", "--column", "emoji", "-o", "r.csv"),
            "CEL-R082",
        ),
        (("serve", "emoji.toml", "--folder", "s", "--curator-token", "none"), "CEL-R088"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("emoji")
def test_what_cannot_be_done_is_said(options: tuple[object, ...], code: str, run: Run) -> None:
    run("collect", *options).complains(code)


@pytest.fixture
def serving(emoji: Path) -> Iterator[Callable[..., tuple[str, Any]]]:
    """Starts `celosia collect serve` in a process of its own, on one port."""
    pytest.importorskip("fastapi", reason="the extra celosia[service] is not installed")
    (emoji / "carla.token").write_text("c" * 32 + "\n")
    port = own_port()
    begun: list[subprocess.Popen[bytes]] = []
    log = (emoji / "log").open("ab")

    def start(kind: str = "serve", *more: str) -> tuple[str, Any]:
        command = [str(Path(sys.executable).with_name("celosia")), "collect", kind, "emoji.toml"]
        listens = port if kind == "serve" else own_port()
        named = ["--folder", "state", "--curator-token", "carla.token"]
        if kind == "shuffle":
            named = ["--folder", "pool", "--every", "0.1"]
        before = (emoji / "log").read_text().count("Collecting at http://")
        begun.append(
            subprocess.Popen(
                [*command, *named, *more, "--port", str(listens)], cwd=emoji, stdout=log, stderr=log
            )
        )
        address = f"http://127.0.0.1:{listens}/v1"
        _wait(begun[-1], emoji / "log", before + 1)
        # Whoever reads the address tries it: there is somebody already.
        urlopen(f"{address}/health", timeout=600).close()
        return address, begun[-1]

    yield start
    for process in begun:
        process.kill()
        process.wait()
    log.close()


def _wait(process: subprocess.Popen[bytes], log: Path, times: int) -> None:
    end = time.monotonic() + 600
    while log.read_text().count("Collecting at http://") < times:
        assert process.poll() is None, "the endpoint has ended"
        assert time.monotonic() < end, "the endpoint does not begin"
        time.sleep(0.02)


def test_an_endpoint_that_is_killed_has_all_that_it_acknowledged(
    serving: Callable[..., tuple[str, Any]], run: Run, emoji: Path
) -> None:
    protocol = load_protocol(emoji / "emoji.toml")
    client = protocol.client(rng=Seeded(3))
    batches = [client.privatise([f"word {at}"] * 10).to_bytes() for at in range(30)]

    def send(address: str, at: int, more: str = "") -> bool:
        headers = {"Idempotency-Key": f"{MARK}-{at:010}{more}"}
        with urlopen(Request(f"{address}/reports", batches[at], headers), timeout=600) as answer:
            return b'"counted":true' in answer.read()

    address, process = serving()
    port = address.rpartition(":")[2].removesuffix("/v1")
    taken = run("collect", "serve", "emoji.toml", "--folder", "other", "--port", port)
    taken.complains("CEL-R089")
    assert "Another program uses the port" in taken.err
    assert not (emoji / "other").exists()
    assert all(send(address, at) for at in range(20))
    run("collect", "absorb", "emoji.toml", "today.csv", "--folder", "state").complains("CEL-R074")
    process.kill()
    process.wait()
    address, process = serving()
    assert [send(address, at) for at in range(15, 25)] == [False] * 5 + [True] * 5
    process.send_signal(signal.SIGHUP)  # it starts again, and nobody is refused meanwhile
    assert [send(address, at) for at in range(20, 30)] == [False] * 5 + [True] * 5
    _wait(process, emoji / "log", 3)
    with pytest.raises(HTTPError, match="401"):
        urlopen(f"{address}/estimates?candidate=a", timeout=600)
    shuffled, shuffler = serving("shuffle", "--to", address.removesuffix("/v1"), "--least", "25")
    assert [send(shuffled, at, "x") for at in range(3)] == [True] * 3
    wanted = Request(f"{address}/estimates?candidate=a", headers=CURATOR)
    end = time.monotonic() + 600
    while json.loads(urlopen(wanted, timeout=600).read())["data"]["users"] < 330:
        assert time.monotonic() < end, "nothing was sent on"
        time.sleep(0.05)
    for each in (shuffler, process):
        each.send_signal(signal.SIGTERM)
        assert each.wait(timeout=600) == 0
    told = run("collect", "estimate", "emoji.toml", "--folder", "state", "--candidate", "word 1")
    assert told.out.splitlines()[-1] == "1 estimates from 330 reports (hcms)"
    said = (emoji / "log").read_text()
    assert "Traceback" not in said
    assert MARK not in said


def test_a_client_is_written_for_devices_and_its_reports_are_counted(run: Run, emoji: Path) -> None:
    made = run("collect", "client", "emoji.toml", "-o", "emoji.mjs")
    assert made.out == "A client of hcms with the public parameters: emoji.mjs\n"
    assert (emoji / "emoji.d.mts").read_text().startswith("/** Types of")
    told = run("collect", "client", "emoji.toml", "-o", "client.py", "--json").data()
    assert told["fingerprint"] == load_protocol(emoji / "emoji.toml").fingerprint.hex()
    names: dict[str, Any] = {"__name__": "client"}
    exec((emoji / "client.py").read_text(), names)
    client = names["client"]()
    (emoji / "one.clr").write_bytes(client.batch([client.report("smile")] * 2))
    absorb = ("collect", "absorb", "emoji.toml", "one.clr", "--folder", "state")
    assert run(*absorb).out == "2 reports from 1 files; 2 in all\n"
    refused = run("collect", "client", "emoji.toml", "-o", "emoji.rs")
    assert refused.code == 2
    assert "CEL-R082" in refused.err


def test_the_conformance_file_is_written(run: Run, tmp_path: Path) -> None:
    told = run("collect", "conformance", "-o", "conformance.json", "--json").data()
    assert told["vectors"] == 152
    assert (tmp_path / "conformance.json").stat().st_size > 10_000


def test_the_guarantee_of_shuffled_reports_is_told_for_both_trust_models(
    run: Run, emoji: Path
) -> None:
    found = run("collect", "guarantee", "emoji.toml", "--reports", "10000", "--json").data()
    told = shuffle_guarantee(load_protocol(emoji / "emoji.toml"), reports=10_000)
    assert found == told.as_dict()
    assert found["honest_epsilon"] < found["colluding_epsilon"]
    assert found["is_own_bound"] is True
    lines = run("collect", "guarantee", "emoji.toml", "--reports", "10000").out
    assert "If the shuffler is honest, and 10,000 honest reports" in lines
    assert "If shuffler and collector work together" in lines
