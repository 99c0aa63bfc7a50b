"""Two aggregators that run apart: each report in one batch, one noise a batch, crashes included."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from celosia.collect.collector.access import Access
from celosia.collect.collector.writer import TooBusy
from celosia.collect.secure.aggregation import combine
from celosia.collect.secure.client import (
    KEY_HEADER,
    AggregatorClient,
    collect_batch,
)
from celosia.collect.secure.guarantee import secure_guarantee
from celosia.collect.secure.networked import LeadingAggregator, NetworkedAggregator
from celosia.collect.secure.prio3 import Report
from celosia.collect.secure.records import (
    Role,
    pack_checks,
    pack_nonces,
    pack_shares,
    unpack_sum,
)
from celosia.collect.secure.sealing import public_key, seal
from celosia.collect.secure.service import AggregatorAccess, create_aggregator_app
from celosia.collect.secure.share_folder import ShareFolder
from celosia.collect.secure.tasks import SecureCount, SecureHistogram
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded

KEY = bytes(range(32))
TASK = SecureCount(epsilon=30, least=3)
"""Noise of scale 1/30: 0 but for a chance of 1e-13."""
ONE, TWO = "1" * 32, "2" * 32


def count_reports(*values: int, seed: int = 1) -> list[Report]:
    return list(TASK.share(values, rng=Seeded(seed)))


class Pair:
    """Both aggregators, opened again as after a crash."""

    def __init__(self, folder: Path, task: Any = TASK) -> None:
        self.folder, self.task = folder, task
        self.today = 20_000
        self.open()

    def open(self) -> None:
        waits: Any = {"wait_days": 7, "today": lambda: self.today}
        self.helper = NetworkedAggregator(self.folder / "helper", self.task, "helper", KEY, **waits)
        self.leader = LeadingAggregator(
            self.folder / "leader", self.task, KEY, self.helper, **waits
        )

    def close(self) -> None:
        self.leader.close()
        self.helper.close()

    def take(self, reports: list[Report], *roles: Role) -> list[int]:
        found = []
        for each in (self.leader, self.helper):
            if not roles or each.role in roles:
                found.append(each.take(pack_shares(self.task, each.role, reports)).new)
        return found

    def collect(self, id: str = ONE) -> tuple[int, int, int]:
        first = unpack_sum(self.task, "leader", self.leader.collect(id))
        found = combine(self.task, first, unpack_sum(self.task, "helper", self.helper.sum_of(id)))
        return found.figures[0], found.reports, found.refused


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    made = Pair(tmp_path)
    yield made
    made.close()


def refused(call: Callable[[], object], code: str = "CEL-R109") -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.code == code
    return caught.value.what


def test_a_report_is_in_one_batch_and_a_batch_has_one_sum(pair: Pair) -> None:
    reports = count_reports(1, 0, 1, 1)
    assert pair.take(reports) == [4, 4]
    assert pair.take(reports) == [0, 0]  # sent again
    assert pair.collect() == (3, 4, 0)
    sums = pair.leader.collect(ONE), pair.helper.sum_of(ONE)
    assert pair.take(reports) == [0, 0]  # sent again after the batch
    refused(lambda: pair.leader.collect(TWO), "CEL-R096")
    assert pair.take(count_reports(1, 1, 1, seed=2)) == [3, 3]
    assert pair.collect(TWO) == (3, 3, 0)
    assert (pair.leader.collect(ONE), pair.helper.sum_of(ONE)) == sums
    refused(lambda: pair.helper.sum_of("3" * 32))


def test_a_report_counts_when_both_shares_are_there(pair: Pair) -> None:
    whole, half = count_reports(1, 1, 1), count_reports(1, 1, seed=2)
    pair.take(whole)
    pair.take(half[:1], "leader")
    pair.take(half[1:], "helper")
    assert pair.collect() == (3, 3, 0)
    assert pair.leader.waiting == 1
    pair.take(half)
    pair.take(count_reports(0, seed=3))
    assert pair.collect(TWO) == (2, 3, 0)


def test_a_share_waits_for_its_other_half_no_longer_than_declared(pair: Pair) -> None:
    half, whole = count_reports(1, 1, 1), count_reports(1, 1, seed=2)
    pair.take(half[:1], "leader")
    pair.take(half[1:], "helper")
    pair.take(whole)
    pair.leader.verify()
    pair.today += 7
    pair.take(count_reports(1, seed=3))
    pair.leader.verify()
    assert (pair.leader.expired, pair.helper.expired) == (0, 0)
    pair.today += 1
    away = pair.leader._helper
    pair.leader._helper = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):  # while the helper is away nothing is dropped
        pair.leader.verify()
    assert pair.leader.expired == 0
    pair.leader._helper = away
    pair.take(count_reports(0, seed=4), "helper")
    pair.leader.verify()
    assert (pair.leader.expired, pair.helper.expired) == (1, 2)
    assert (pair.leader.waiting, pair.helper.waiting) == (3, 4)
    assert pair.take(half) == [2, 1]  # what was dropped is not taken in again
    # Valid reports do not expire, however long they wait for a batch.
    pair.today += 100
    pair.close()
    pair.open()
    pair.take([], "helper")
    assert pair.collect() == (3, 3, 0)
    assert pair.leader.waiting == 0


def test_shares_that_were_tampered_with_are_refused_and_spoil_nothing(tmp_path: Path) -> None:
    task = SecureHistogram(epsilon=30, domain=("a", "b"), least=2)
    pair = Pair(tmp_path, task)
    good = list(task.share(["a", "b", "a"], rng=Seeded(4)))
    last = list(task.share(["b"] * 4, rng=Seeded(5)))
    leader, helper = last[0].shares
    turned = leader[:8] + bytes([leader[8] ^ 1]) + leader[9:]
    bad = [
        Report(last[0].nonce, last[0].public, (turned, helper)),
        Report(last[1].nonce, last[1].public[:8] + bytes(56), last[1].shares),
        Report(last[2].nonce, last[2].public, (b"\xff" * len(leader), last[2].shares[1])),
        Report(last[3].nonce, last[3].public, last[0].shares),
    ]
    pair.take([*good, *bad])
    # What one aggregator is told of the part for everybody is not what the other one is told.
    forged = list(task.share(["b"], rng=Seeded(6)))
    other = [Report(each.nonce, bytes(64), each.shares) for each in forged]
    pair.take(forged, "leader")
    pair.take(other, "helper")
    assert pair.collect() == (2, 3, 5)
    pair.close()


def test_the_helper_adds_up_only_what_it_finds_valid_and_only_once(pair: Pair) -> None:
    reports = count_reports(1, 1, 1, 1)
    pair.take(reports)

    def asked(id: str, some: list[Report]) -> Callable[[], object]:
        nonces = pack_nonces(TASK, [each.nonce for each in some])
        return lambda: pair.helper.close_batch(id, nonces)

    assert "not valid" in refused(asked(ONE, reports))  # nobody has checked them
    assert pair.leader.verify() == 4
    refused(asked(ONE, reports[:2]), "CEL-R096")  # a batch of the leader's choice is not small
    refused(asked(ONE, [reports[0]] * 3), "CEL-R096")
    unknown = count_reports(1, seed=9)
    refused(asked(ONE, [*reports, *unknown]))
    asked(ONE, reports[:3])()
    asked(ONE, reports[:3])()
    assert "other reports" in refused(asked(ONE, reports))
    refused(asked(TWO, reports))  # three of them are in a batch
    cheating = [Report(each.nonce, each.public, each.shares) for each in count_reports(1, seed=8)]
    pair.take(cheating)
    wrong = pack_checks(TASK, "leader", {cheating[0].nonce: bytes(32)})
    pair.helper.decide(wrong)
    refused(asked(TWO, [reports[3], *cheating, *unknown]))


def test_after_a_crash_at_any_write_a_batch_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = ShareFolder.writing
    left = 0

    class CrashError(Exception):
        pass

    @contextmanager
    def crashing(self: ShareFolder) -> Iterator[None]:
        nonlocal left
        left -= 1
        if left == 0:
            raise CrashError  # before anything is on disk
        with writing(self):
            yield
        left -= 1
        if left == 0:
            raise CrashError  # all of it is on disk, and nobody was told

    reports = count_reports(1, 0, 1)
    step = 0
    while left <= 0:
        step += 1
        monkeypatch.setattr(ShareFolder, "writing", writing)
        (tmp_path / f"{step}").mkdir()
        pair = Pair(tmp_path / f"{step}")
        monkeypatch.setattr(ShareFolder, "writing", crashing)
        left = step
        try:
            pair.take(reports)
            pair.collect()
            left = max(left, 1)  # it ended before this step
        except CrashError:
            left = 0
        monkeypatch.setattr(ShareFolder, "writing", writing)
        kept = [
            sums
            for sums in [each._folder.batch(ONE) for each in (pair.leader, pair.helper)]
            if sums is not None and sums[1] is not None
        ]
        pair.leader._folder.close()
        pair.helper._folder.close()
        pair.open()
        pair.take(reports)
        assert pair.collect() == (2, 3, 0)
        after = [each._folder.batch(ONE) for each in (pair.leader, pair.helper)]
        assert all(each in after for each in kept)
        pair.close()
    assert step > 16


def test_shares_are_overwritten_and_folders_are_of_one_task_role_and_key(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    reports = count_reports(1, 1, 1)
    pair.take(reports)
    pair.collect()
    pair.close()
    for role in ("leader", "helper"):
        kept = b"".join(each.read_bytes() for each in (tmp_path / role).iterdir())
        shares = [each.shares[role == "helper"] for each in reports]
        assert not any(each[:12] in kept for each in shares)
        assert all(each.nonce in kept for each in reports)
    refused(lambda: NetworkedAggregator(tmp_path / "leader", TASK, "helper", KEY), "CEL-R076")
    refused(lambda: NetworkedAggregator(tmp_path / "helper", TASK, "helper", bytes(32)), "CEL-R076")
    refused(lambda: NetworkedAggregator(tmp_path / "new", TASK, "helper", b"short"), "CEL-R096")
    crowded = NetworkedAggregator(tmp_path / "new", TASK, "helper", KEY, waiting=2)
    with closing(crowded), pytest.raises(TooBusy):
        crowded.take(pack_shares(TASK, "helper", reports))


def test_sealed_shares_are_read_by_their_aggregator_alone(tmp_path: Path) -> None:
    pytest.importorskip("cryptography.hazmat.primitives.hpke")
    reports = count_reports(1, 1, 1)
    shares = pack_shares(TASK, "helper", reports)
    own, other = bytes(range(1, 33)), bytes(range(2, 34))
    made = NetworkedAggregator(tmp_path / "h", TASK, "helper", KEY, seal_key=own)
    with closing(made) as helper:
        assert helper.public_key == public_key(own)
        sealed = seal(TASK, "helper", shares, public_key(own))
        assert reports[0].shares[1] not in sealed
        assert sealed != seal(TASK, "helper", shares, public_key(own))
        for wrong in (
            shares,  # not sealed at all
            seal(TASK, "helper", shares, public_key(other)),
            seal(TASK, "leader", shares, public_key(own)),
            seal(SecureCount(epsilon=1), "helper", shares, public_key(own)),
            sealed[:-1] + bytes([sealed[-1] ^ 1]),
            sealed[:4],
        ):
            refused(partial(helper.take, wrong), "CEL-R096")
        assert helper.waiting == 0
        assert helper.take(sealed).new == 3
    refused(lambda: seal(TASK, "helper", shares, b"short"), "CEL-R096")
    refused(lambda: public_key(b"short"), "CEL-R096")


def test_each_party_may_do_its_own_part_only(tmp_path: Path) -> None:
    pytest.importorskip("fastapi", reason="the extra celosia[service] is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would rather have the successor of httpx
        testing = import_module("fastapi.testclient")
    helper = NetworkedAggregator(tmp_path / "helper", TASK, "helper", KEY)
    who = AggregatorAccess(
        access=Access(curator="c" * 32, senders={"app": "s" * 32}, monitor="m" * 32),
        peer=Access(curator="p" * 32),
    )
    app = create_aggregator_app(lambda: helper, who=who, origins=["https://app.example"])

    with ExitStack() as stack:
        http = stack.enter_context(testing.TestClient(app))

        def asked(method: str, path: str, token: str, data: bytes = b"", key: str = "") -> Any:
            named = {"Authorization": f"Bearer {token * 32}", KEY_HEADER: key}
            return http.request(method, f"/v1/{path}", content=data, headers=named)

        shares = pack_shares(TASK, "helper", count_reports(1, 1, 1))
        told = asked("POST", "shares", "s", shares)
        assert told.json()["data"] == {"reports": 3, "new": 3}
        other = pack_shares(TASK, "leader", count_reports(1))
        assert asked("POST", "shares", "s", other).json()["code"] == "CEL-R096"
        for method, path, right in (
            ("POST", "shares", "s"),
            ("POST", "checks", "p"),
            ("PUT", f"batches/{ONE}", "p"),
            ("POST", f"batches/{ONE}", "c"),
            ("GET", f"batches/{ONE}", "c"),
            ("GET", "metrics", "m"),
        ):
            for token in "cspmx":
                status = asked(method, path, token).status_code
                assert (status == 401) == (token != right), (path, token)
        checks = pack_checks(TASK, "leader", {})
        assert asked("POST", "checks", "p", checks).json()["code"] == "CEL-R109"  # no key
        mark = helper.key_mark
        assert asked("POST", "checks", "p", checks, mark).status_code == 200
        assert asked("POST", f"batches/{ONE}", "c").json()["code"] == "CEL-R109"
        assert asked("GET", "batches/x", "c").json()["code"] == "CEL-R109"
        assert "celosia_collect_shares_waiting 3" in asked("GET", "metrics", "m").text
        told = http.get("/v1/task", headers={"Origin": "https://app.example"})
        assert told.json()["data"]["role"] == "helper"
        assert told.headers["access-control-allow-origin"] == "https://app.example"


def test_addresses_that_others_could_read_along_are_refused() -> None:
    for address in ("ftp://leader.example", "leader.example", "https://"):
        refused(partial(AggregatorClient, address, "leader"))
    assert "example" in refused(lambda: AggregatorClient("http://leader.example", "leader"))
    AggregatorClient("http://127.0.0.1:8450", "leader")
    same = "https://one.example"
    refused(lambda: collect_batch(TASK, ONE, leader=same, helper=f"{same}/x", token="none"))


def test_the_guarantee_names_all_parties() -> None:
    found = secure_guarantee(TASK)
    assert found.as_dict() == {
        "method": "prio3-count",
        "epsilon": 30.0,
        "sensitivity": 1,
        "least": 3,
    }
    said = " ".join(found.lines())
    for each in ("One aggregator alone", "Both aggregators together", "The collector", "A device"):
        assert each in said
