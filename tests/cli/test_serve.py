"""`celosia serve` and `celosia token`: a vault for others, and who they are."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.cli.running import MARK, Run
from tests.ports import own_port

from celosia.queries.service import tokens_path

pytest.importorskip("fastapi", reason="the extra celosia[service] is not installed")

ORDERS = "SELECT count(*) FROM orders"
SEGMENTS = "SELECT mktsegment, count(*) AS n FROM customer GROUP BY mktsegment"
POLICY = "shop/policy.toml"
TOKENS = tokens_path(POLICY)


def test_a_token_is_shown_once_and_kept_as_a_hash(run: Run, shop: Path) -> None:
    made = run("token", "create", POLICY, "--analyst", "ana", "--days", 3)
    assert made.code == 0, made.err
    token = made.out.strip()
    assert token.startswith("celosia_")
    assert "not shown again" in made.err
    assert token.rpartition("_")[2].encode() not in TOKENS.read_bytes()
    (listed,) = run("token", "list", POLICY, "--json").data()["tokens"]
    assert (listed["role"], listed["name"], listed["revoked"]) == ("analyst", "ana", None)
    assert token not in run("token", "list", POLICY).out
    ended = run("token", "revoke", POLICY, listed["id"])
    assert ended.out == f"{listed['id']}: analyst ana, revoked\n"
    assert run("token", "list", POLICY, "--json").data()["tokens"][0]["revoked"] is not None


@pytest.mark.usefixtures("shop")
def test_a_token_can_go_to_a_file_that_only_its_owner_reads(run: Run, tmp_path: Path) -> None:
    result = run("token", "create", POLICY, "--curator", "carla", "-o", "carla.token", "--json")
    token = (tmp_path / "carla.token").read_text().strip()
    assert token not in result.out + result.err
    assert result.data()["output"] == "carla.token"
    assert stat.S_IMODE((tmp_path / "carla.token").stat().st_mode) == 0o600
    again = run("token", "create", POLICY, "--curator", "carla", "-o", "carla.token")
    again.complains("CEL-I004")
    assert len(run("token", "list", POLICY, "--json").data()["tokens"]) == 1


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("token", "create", POLICY), "CEL-Q209"),
        (("token", "create", POLICY, "--analyst", "a", "--curator", "b"), "CEL-Q209"),
        (("token", "create", POLICY, "--analyst", "a", "--days", 0), "CEL-Q182"),
        (("token", "create", POLICY, "--analyst", "a", "--days", 999), "CEL-Q182"),
        (("token", "create", POLICY, "--analyst", " "), "CEL-Q182"),
        (("token", "create", "nothing.toml", "--analyst", "a"), "CEL-Q001"),
        (("token", "list", POLICY), "CEL-Q209"),
        (("token", "revoke", POLICY, "0123456789abcdef"), "CEL-Q209"),
        (("serve", POLICY), "CEL-Q209"),
        (("serve", "nothing.toml"), "CEL-Q001"),
        (("serve", POLICY, "--port", 0), "CEL-I040"),
        (("serve", POLICY, "--certificate", "a.pem"), "CEL-Q212"),
        (("serve", POLICY, "--certificate", "a.pem", "--key", "a.key"), "CEL-Q212"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("shop")
def test_what_cannot_be_done_is_said(options: tuple[object, ...], code: str, run: Run) -> None:
    run(*options).complains(code)


def test_a_token_is_for_an_analyst_of_the_policy(run: Run, shop: Path) -> None:
    shop.write_text(shop.read_text("utf-8") + "\n[analysts.ana]\nepsilon = 1\n", "utf-8")
    wrong = run("token", "create", POLICY, "--analyst", "anna")
    wrong.complains("CEL-Q209")
    assert "did you mean 'ana'" in wrong.err
    assert not TOKENS.exists()
    assert run("token", "create", POLICY, "--analyst", "ana").code == 0
    run("token", "revoke", POLICY, "0123456789abcdef").complains("CEL-Q173")


@pytest.mark.usefixtures("shop")
def test_a_service_without_a_curator_or_in_the_open_does_not_start(run: Run) -> None:
    run("token", "create", POLICY, "--analyst", "ana")
    alone = run("serve", POLICY)
    assert (alone.code, "CEL-Q189" in alone.err) == (2, True)
    assert f"celosia token create {POLICY} --curator NAME" in alone.err
    run("token", "create", POLICY, "--curator", "carla")
    bare = run("serve", POLICY, "--host", "0.0.0.0")
    assert (bare.code, "CEL-Q188" in bare.err) == (2, True)
    assert "--plain" in bare.err


@pytest.fixture
def service(run: Run, shop: Path, tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """`celosia serve` in a process of its own, for ana, who may spend 1, and a curator."""
    shop.write_text(shop.read_text("utf-8") + "\n[analysts.ana]\nepsilon = 1\n", "utf-8")
    run("token", "create", POLICY, "--analyst", "ana", "-o", "ana.token")
    run("token", "create", POLICY, "--curator", "carla", "-o", "carla.token")
    port = own_port()
    command = [str(Path(sys.executable).with_name("celosia")), "serve", POLICY, "--port", str(port)]
    log = (tmp_path / "log").open("w+")
    process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(process, tmp_path / "log", f"Serving tpch at {address} until Ctrl-C.")
        # Whoever reads the address tries it: there is somebody already.
        urlopen(f"{address}/v1/health", timeout=600).close()
        yield address, process
    finally:
        process.kill()
        process.wait()
        log.close()


def _wait(process: Any, log: Path, line: str) -> None:
    end = time.monotonic() + 600
    while line not in log.read_text().splitlines():
        assert process.poll() is None, "the service has ended"
        assert time.monotonic() < end, "the service does not begin"
        time.sleep(0.02)


def test_a_service_is_asked_as_a_policy_is(
    service: tuple[str, Any], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, process = service
    ana = ("--server", address, "--token-file", "ana.token")
    plan = run("query", *ana, SEGMENTS, "-e", 0.5, "--explain")
    assert plan.out.splitlines()[-1] == "price: epsilon 0.5"
    result = run("query", *ana, SEGMENTS, "-e", 0.5, "-o", "n.csv", "--report", "n.html")
    assert result.code == 0, result.err
    assert "left: epsilon 0.5, delta 1e-06" in result.out
    assert "certificate: n.csv.cert.json" in result.out
    assert result.out.splitlines()[-1] == "5 rows; 0.5-differential privacy"
    monkeypatch.setenv("CELOSIA_TOKEN", (tmp_path / "ana.token").read_text())
    again = run("query", "--server", address, SEGMENTS, "-e", 0.5, "--json").data()
    assert (again["stored"], len(again["rows"])) == (True, 5)
    run("query", *ana, ORDERS, "-e", 0.75).complains("CEL-Q111", 3)
    run("query", *ana, "SELECT * FROM orders", "-e", 0.1).complains("CEL-Q042", 1)
    (listed, _) = run("token", "list", POLICY, "--json").data()["tokens"]
    run("token", "revoke", POLICY, listed["id"])
    run("query", *ana, ORDERS, "-e", 0.1).complains("CEL-Q171", 1)
    taken = run("serve", POLICY, "--port", address.rpartition(":")[2])
    taken.complains("CEL-Q208")
    assert "Another program uses the port" in taken.err
    assert "Serving" not in taken.err
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=600) == 0
    log = (tmp_path / "log").read_text()
    assert f"Serving tpch at {address} until Ctrl-C." in log
    assert "Traceback" not in log
    assert MARK not in log + result.out
    run("query", *ana, ORDERS, "-e", 0.1).complains("CEL-Q186")
    assert run("ledger", "verify", POLICY).code == 0
