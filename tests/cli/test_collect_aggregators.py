"""`celosia collect aggregator`, `upload` and `combine`: two services, each in its own process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.cli.running import MARK, Run
from tests.ports import own_port

from celosia.collect.secure.client import upload
from celosia.collect.secure.prio3 import Report
from celosia.collect.secure.tasks import load_task

HAS_HPKE = (
    find_spec("cryptography") is not None
    and find_spec("cryptography.hazmat.primitives.hpke") is not None
)
TOKENS = {"peer": "p" * 32, "collector": "c" * 32}
NAMED = ("--verify-key", "both.key", "--peer-token", "peer.token")
BOTH = (*NAMED, "--collector-token", "collector.token")


@pytest.fixture
def votes(tmp_path: Path, run: Run) -> Path:
    """The task, the table, the verify key and the tokens."""
    assert run is not None
    (tmp_path / "votes.toml").write_text(
        f'method = "prio3-histogram"\nepsilon = 20\ndomain = ["yes", "{MARK}"]\nleast = 10\n'
    )
    (tmp_path / "today.csv").write_text("vote\n" + "yes\n" * 9 + f"{MARK}\n" * 3)
    (tmp_path / "both.key").write_text(bytes(range(32)).hex())
    for name, text in TOKENS.items():
        (tmp_path / f"{name}.token").write_text(text)
    return tmp_path


@pytest.fixture
def start(votes: Path) -> Iterator[Callable[..., Any]]:
    """Starts an aggregator in a process of its own, and waits until it takes shares."""
    pytest.importorskip("fastapi", reason="the extra celosia[service] is not installed")
    begun: list[subprocess.Popen[bytes]] = []
    log = (votes / "log").open("ab")

    def begin(role: str, port: int, *more: str, wait: bool = True) -> subprocess.Popen[bytes]:
        command = [str(Path(sys.executable).with_name("celosia")), "collect", "aggregator"]
        named = ["votes.toml", "--as", role, "--folder", role, *BOTH, "--port", str(port)]
        before = ready(votes)
        process = subprocess.Popen([*command, *named, *more], cwd=votes, stdout=log, stderr=log)
        begun.append(process)
        if wait:
            until_ready(votes, process, before + 1)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.wait()
    log.close()


def ready(folder: Path) -> int:
    return (folder / "log").read_text().count("until Ctrl-C")


def until_ready(folder: Path, process: subprocess.Popen[bytes], times: int) -> None:
    end = time.monotonic() + 600
    while ready(folder) < times:
        assert process.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < end, "the aggregator does not begin"
        time.sleep(0.02)


def neither_token_does_the_work_of_the_other(helper: str) -> None:
    for path, token in ((f"batches/{'b' * 32}", "peer"), ("checks", "collector")):
        wanted = Request(
            f"{helper}/v1/{path}",
            b"" if path == "checks" else None,
            headers={"Authorization": f"Bearer {TOKENS[token]}"},
        )
        with pytest.raises(HTTPError, match="401"):
            urlopen(wanted, timeout=600)


def test_two_services_add_up_what_neither_can_read(
    start: Callable[..., Any], run: Run, votes: Path
) -> None:
    ports = own_port(), own_port()
    leader, helper = (f"http://127.0.0.1:{port}" for port in ports)
    asks = ("--peer", helper, "--every", "1")
    # Both at once: the leader may begin before the helper is there.
    (votes / "own.key").write_text(bytes(range(1, 33)).hex())
    sealing = ("--seal-key", "own.key") if HAS_HPKE else ()
    second = start("helper", ports[1], *sealing, wait=False)
    first = start("leader", ports[0], *asks, wait=False)
    until_ready(votes, first, 2)
    assert second.poll() is None
    task = load_task(votes / "votes.toml")
    reports = list(task.share(["yes"] * 5 + [MARK]))
    false = next(task.share(["yes"]))
    reports.append(Report(false.nonce, false.public, (reports[0].shares[0], false.shares[1])))
    seal_to: tuple[str | None, str | None] = (None, None)
    if HAS_HPKE:
        seal_to = (None, (votes / "log").read_text().partition("public key ")[2].split()[0])
    named: dict[str, Any] = {"leader": leader, "helper": helper, "seal_keys": seal_to}
    assert upload(task, reports, **named) == 7
    first.kill()
    first.wait()
    first = start("leader", ports[0], *asks)
    assert upload(task, reports, **named) == 7  # sent again
    united = ("collect", "combine", "votes.toml", leader, helper, "--token", "collector.token")
    early = run(*united)
    assert (early.code, early.out) == (2, "")
    assert "CEL-R109 the leader refuses: CEL-R096: fewer than 10 reports are valid." in early.err
    shares = ("--leader", "leader.clp", "--helper", "helper.clp")
    run("collect", "share", "votes.toml", "today.csv", "-c", "vote", *shares)
    for role, to, key in (("leader", leader, None), ("helper", helper, seal_to[1])) * 2:
        asked = ("--as", role, "--to", to, *([] if key is None else ["--seal-to", key]))
        made = run("collect", "upload", "votes.toml", f"{role}.clp", *asked)
        assert made.out == f"12 shares sent to the {role}\n"
    batch = ("--batch", "b" * 32, "--json")
    found = run(*united, *batch).data()
    # Noise of scale 1/10 from two: more than 6 is a chance below e^-30.
    figures = {each["value"]: each["figure"] for each in found["figures"]}
    assert figures["yes"] == pytest.approx(14, abs=6)
    assert figures[MARK] == pytest.approx(4, abs=6)
    assert (found["reports"], found["refused"]) == (18, 1)
    assert run(*united, *batch).data() == found  # the same batch, with the same noise
    neither_token_does_the_work_of_the_other(helper)
    for each in (first, second):
        each.send_signal(signal.SIGTERM)
        assert each.wait(timeout=600) == 0
    said = (votes / "log").read_text()
    assert "One aggregator alone sees addresses of devices" in said
    assert "Traceback" not in said
    assert MARK not in said
    gone = run(*united)
    assert (gone.code, gone.out) == (2, "")
    assert "CEL-R109 the leader could not be reached" in gone.err
    assert "--batch " in gone.err


@pytest.mark.usefixtures("votes")
@pytest.mark.parametrize(
    "options",
    [
        ("aggregator", "votes.toml", "--as", "leader", "--folder", "f", *BOTH),
        (
            "aggregator",
            "votes.toml",
            "--as",
            "helper",
            "--folder",
            "f",
            *BOTH,
            "--peer",
            "https://h",
        ),
        ("combine", "votes.toml", "https://leader.example", "helper.sum"),
        ("combine", "votes.toml", "https://leader.example", "https://helper.example"),
    ],
    ids=str,
)
def test_what_an_aggregator_lacks_is_said(options: tuple[object, ...], run: Run) -> None:
    run("collect", *options).complains("CEL-R109")
    one = ("--peer-token", "peer.token", "--collector-token", "peer.token")
    same = ("--as", "helper", "--folder", "f", "--verify-key", "both.key", *one)
    run("collect", "aggregator", "votes.toml", *same).complains("CEL-R088")


@pytest.mark.usefixtures("votes")
def test_the_guarantee_of_secure_aggregation_names_who_is_trusted(run: Run) -> None:
    found = run("collect", "guarantee", "votes.toml")
    assert "Both aggregators together can read every report" in found.out
    assert found.out.splitlines()[-1] == (
        "epsilon 20 if the two aggregators do not work together, none if they do"
    )
    (Path("grr.toml")).write_text('method = "grr"\nepsilon = 1\ndomain = ["a", "b"]\n')
    run("collect", "guarantee", "grr.toml").complains("CEL-I063")
