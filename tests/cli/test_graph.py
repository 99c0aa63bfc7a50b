"""`celosia graph publish`, and the network to try it on."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
import pytest
from tests.cli.running import MARK, Run

from celosia import graphs
from celosia.graphs import GraphRelease

PUBLISH = ("graph", "publish", "friends.edges", "--vertices", "people.csv")


def test_a_graph_is_published_with_certificate_report_and_key(run: Run, friends: Path) -> None:
    told = run(
        *(*PUBLISH, "--k-degree", 8, "-o", "safe.edges"),
        *("--report", "r.html", "--key", "key.csv"),
    )
    assert told.code == 0, told.err
    lines = told.out.splitlines()
    assert lines[0] == (
        "read: 80 vertices, 200 edges from 200 records: as they are; vertices without an edge: 3"
    )
    assert lines[1] == "left out: attributes of vertices age, city"
    assert lines[2].startswith("step 1: k-degree: ")
    assert "Who can be found" in told.out
    for line in ("data: safe.edges", "certificate: safe.edges.cert.json", "report: r.html"):
        assert line in lines
    assert lines[-1].startswith(
        "k-degree anonymity, k = 8: every degree is shared by at least 8 vertices"
    )
    assert "key.csv re-identifies every vertex" in told.err
    assert MARK not in told.out + told.err
    for name in ("safe.edges", "safe.edges.cert.json", "r.html"):
        assert MARK not in (friends / name).read_text("utf-8"), name
    release = GraphRelease.load(friends / "safe.edges")
    assert release.data.order == 80
    assert np.unique(release.data.degrees, return_counts=True)[1].min() >= 8  # type: ignore[union-attr]
    key = pl.read_csv(friends / "key.csv")
    assert key.columns == ["vertex", "number"]
    assert sorted(key["number"]) == list(range(80))
    assert set(key["vertex"]) == {f"{MARK}-{number}" for number in range(80)}
    assert stat.S_IMODE((friends / "key.csv").stat().st_mode) == 0o600


@pytest.mark.usefixtures("friends")
def test_nothing_is_overwritten_unless_forced(run: Run, tmp_path: Path) -> None:
    command = (*PUBLISH, "--k-degree", 3, "--no-assess", "-o", "safe.edges")
    assert run(*command).code == 0
    run(*command).complains("CEL-I004")
    assert run(*command, "--overwrite").code == 0
    run(*PUBLISH, "--k-degree", 3, "-o", "friends.edges", "--overwrite").complains("CEL-I007")
    run(*command, "--overwrite", "--key", "people.csv").complains("CEL-I007")
    run(*command, "--overwrite", "--report", "safe.edges").complains("CEL-I043")
    assert MARK in (tmp_path / "people.csv").read_text()


@pytest.mark.usefixtures("friends")
def test_a_seed_repeats_the_file_and_makes_a_simulation(run: Run, tmp_path: Path) -> None:
    for name in ("a.edges", "b.edges"):
        told = run(*PUBLISH, "--k-degree", 5, "--seed", 4, "--no-assess", "-o", name)
        assert "Simulation: made with a seed" in told.err
    assert (tmp_path / "a.edges").read_bytes() == (tmp_path / "b.edges").read_bytes()
    # By chance the same numbers come once in 80! cases.
    run(*PUBLISH, "--k-degree", 5, "--no-assess", "-o", "c.edges")
    run(*PUBLISH, "--k-degree", 5, "--no-assess", "-o", "d.edges")
    assert (tmp_path / "c.edges").read_bytes() != (tmp_path / "d.edges").read_bytes()


@pytest.mark.usefixtures("friends")
def test_methods_are_done_in_order_each_with_its_parameters(run: Run) -> None:
    two = ("--method", "random-switch:amount=0.2", "--k-degree", 5)
    data = run(*PUBLISH, *two, "--no-assess", "--seed", 1, "--json").data()
    assert data["provenance"]["parameters"]["methods"] == [
        {"method": "random-switch", "amount": 0.2},
        {"method": "k-degree", "k": 5},
    ]
    assert data["guarantee"]["promise"].startswith("k-degree anonymity, k = 5")
    assert data["reading"]["vertices"] == 80
    assert MARK not in json.dumps(data)
    one = ("--method", "k-degree:k=4,variant=liu-terzi")
    data = run(*PUBLISH, *one, "--no-assess", "--json").data()
    assert data["provenance"]["parameters"]["methods"] == [
        {"method": "k-degree", "k": 4, "variant": "liu-terzi"}
    ]


@pytest.mark.usefixtures("friends")
def test_the_rules_of_reading_are_told_and_obeyed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "raw.edges").write_text(
        (tmp_path / "friends.edges").read_text() + f"{MARK}-1 {MARK}-1\n{MARK}-2 {MARK}-2\n"
    )
    command = ("graph", "publish", "raw.edges", "--k-degree", 5, "--no-assess")
    assert "2 loops dropped" in run(*command).out
    run(*command, "--loops", "refuse").complains("CEL-G006")
    run(*command, "--loops", "keep").complains("CEL-I040")
    assert run(*command, "--json").data()["reading"]["loops"] == 2


@pytest.mark.usefixtures("friends")
def test_a_recipe_masks_the_attributes_of_vertices(run: Run, tmp_path: Path) -> None:
    command = (*PUBLISH, "--k-degree", 3, "--no-assess", "--attributes", "recipe.toml")
    run(*command, "-o", "safe.edges").complains("CEL-G014")
    run(*command[:-1], "none.toml", "-o", "safe.graphml").complains("CEL-V015")
    assert run(*command, "-o", "safe.graphml").code == 0
    known = GraphRelease.load(tmp_path / "safe.graphml").data.attributes  # type: ignore[union-attr]
    assert known is not None
    assert known.columns == ["age", "city"]
    assert known["age"].value_counts()["count"].min() >= 10  # type: ignore[operator]
    assert MARK not in (tmp_path / "safe.graphml").read_text("utf-8")


@pytest.mark.usefixtures("friends")
def test_kept_names_are_warned_of(run: Run, tmp_path: Path) -> None:
    command = (*PUBLISH, "--method", "random-switch:amount=5", "--keep-names")
    told = run(*command, "--no-assess", "-o", "safe.json")
    assert told.code == 0, told.err
    assert "people named in the graph are named in the release" in told.err
    assert MARK in (tmp_path / "safe.json").read_text("utf-8")  # as was asked for
    assert MARK not in told.out + told.err
    run(*command, "--key", "key.csv").complains("CEL-G026")


@pytest.mark.usefixtures("friends")
def test_nothing_exact_is_told_beside_a_private_graph(run: Run) -> None:
    command = (*PUBLISH, "--method", "private-graph:epsilon=1", "--seed", 1)
    data = run(*command, "--json").data()
    assert "reading" not in data
    assert data["measures"]["figures"] == {}
    assert "before" not in json.dumps(data["measures"])


@pytest.mark.usefixtures("friends")
@pytest.mark.parametrize(
    ("command", "code", "exit_code"),
    [
        ((), "CEL-G021", 2),
        (("--k-degree", 1), "CEL-I060", 2),
        (("--k-degree", 81), "CEL-G100", 2),
        (("--method", "k-degre:k=3"), "CEL-I061", 2),
        (("--method", "k-degree"), "CEL-I063", 2),
        (("--method", "k-degree:k=3,5"), "CEL-I064", 2),
        (("--method", "k-degree:l=3"), "CEL-I062", 2),
        (("--method", "k-obfuscation:k=3", "--k-degree", 3), "CEL-G021", 2),
        (("--method", "k-obfuscation:k=3"), "CEL-G024", 2),
        (("--method", "sangreea:k=3", "--key", "k.csv"), "CEL-G026", 2),
        (("--k-degree", 3, "--format", "xls"), "CEL-G002", 2),
    ],
    ids=str,
)
def test_a_wrong_wish_writes_nothing(
    command: tuple[object, ...], code: str, exit_code: int, run: Run, tmp_path: Path
) -> None:
    told = run(*PUBLISH, *command, "--no-assess", "-o", "safe.edges", "--report", "r.html")
    told.complains(code, exit_code)
    assert not (tmp_path / "safe.edges").exists()
    assert not (tmp_path / "r.html").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{MARK}\n", "CEL-G003"),
        (f"{MARK} b\nb {MARK} c d\n", "CEL-G003"),
        ("", "CEL-F013"),
    ],
    ids=["one column", "ragged", "empty"],
)
def test_a_bad_file_tells_no_name(text: str, code: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.edges").write_text(text)
    told = run("graph", "publish", "bad.edges", "--k-degree", 2, "-o", "safe.edges")
    told.complains(code)
    assert not (tmp_path / "safe.edges").exists()


@pytest.mark.usefixtures("friends")
@pytest.mark.parametrize("where", ["write_data", "report", "certificate"])
def test_ctrl_c_and_faults_leave_no_half_written_file(
    where: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any, **__: Any) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(GraphRelease, where, stop)
    before = {path.name for path in tmp_path.iterdir()}
    command = (*PUBLISH, "--k-degree", 3, "--no-assess", "-o", "s.edges", "--key", "k.csv")
    told = run(*command, "--report", "r.html")
    assert told.code == 130
    after = {path.name for path in tmp_path.iterdir()} - before
    whole = {"s.edges", "s.edges.cert.json", "k.csv"}
    assert after == (whole if where == "report" else set())


def test_a_network_to_try_comes_with_people_and_schema(run: Run, tmp_path: Path) -> None:
    command = ("datasets", "get", "network", "--vertices", 90, "--edges", 200, "-o", "f.edges")
    told = run(*command, "--people", "p.csv", "--schema", "s.toml")
    assert told.out.splitlines() == [
        "people: p.csv",
        "schema: s.toml",
        "90 vertices, 200 edges: f.edges",
    ]
    read = graphs.read(tmp_path / "f.edges", vertices=tmp_path / "p.csv").graph
    assert (read.order, read.size) == (90, 200)
    assert read.attributes is not None
    assert read.attributes.columns == ["age", "city"]
    groups = ("--method", "sangreea:k=5,alpha=0.5,beta=0.5,schema=s.toml")
    done = run(
        *("graph", "publish", "f.edges", "--vertices", "p.csv", *groups),
        *("-o", "groups.json", "--no-assess"),
    )
    assert done.code == 0, done.err
    run(*command, "--people", "p.csv").complains("CEL-I004")
    again = run(*command, "--people", "p.csv", "--overwrite", "--json").data()
    assert again == {"vertices": 90, "edges": 200, "data": "f.edges", "people": "p.csv"}
    assert run("datasets", "get", "network", "-o", "f.graphml", "--vertices", 50).code == 0
    run("datasets", "get", "network", "-o", "g.json", "--people", "q.csv").complains("CEL-D008")
    run("datasets", "get", "network", "-o", "g.edges", "--rows", 5).complains("CEL-D008")
    run("datasets", "get", "census", "-o", "c.csv", "--vertices", 5).complains("CEL-D008")
    run("datasets", "get", "network", "-o", "g.edges", "--vertices", 1).complains("CEL-G032")
    assert "celosia datasets get network -o FILE" in run("datasets").err


CALLS = "who,whom,weight,time\nana,bea,3,1\nbea,ana,5,2\nbea,carl,1,3\ncarl,dan,2,4\ndan,eva,2,5\n"
UNSEEN = "Ignored: the edge attributes weight, time of calls.csv."


@pytest.fixture
def calls(run: Run, tmp_path: Path) -> Path:
    """Calls with weights and times; two of them between the same people."""
    (tmp_path / "calls.csv").write_text(CALLS, "utf-8")
    return tmp_path


def test_edge_attributes_are_refused_unless_they_may_be_left_out(run: Run, calls: Path) -> None:
    command = ("graph", "publish", "calls.csv", "--k-degree", 2, "--no-assess", "-o", "safe.edges")
    refused = run(*command)
    refused.complains("CEL-G033")
    assert "edge attributes weight, time" in refused.err
    assert "Merged records with other values: 1." in refused.err
    assert not (calls / "safe.edges").exists()
    told = run(*command, "--drop-edge-attributes")
    assert told.code == 0, told.err
    assert "1 repeated edges merged; merged records with other edge attributes: 1" in told.out
    assert "left out: edge attributes weight, time" in told.out.splitlines()
    data = run(*command, "--drop-edge-attributes", "--overwrite", "--json").data()
    assert data["measures"]["left_out"]["edge_attributes"] == ["weight", "time"]
    assert data["reading"]["edge_attributes"] == ["weight", "time"]
    assert (data["reading"]["repeated"], data["reading"]["differing"]) == (1, 1)


@pytest.mark.usefixtures("calls")
def test_commands_say_that_they_do_not_look_at_edge_attributes(run: Run) -> None:
    published = run(
        *("graph", "publish", "calls.csv", "--k-degree", 2, "--no-assess"),
        *("--drop-edge-attributes", "-o", "safe.edges", "--key", "key.csv"),
    )
    assert published.code == 0, published.err
    for command in (
        ("info", "calls.csv", "--json"),
        ("attack", "calls.csv", "--attack", "degree", "--json"),
        ("assess", "calls.csv", "safe.edges", "--key", "key.csv", "--json"),
        ("draw", "calls.csv", "-o", "one.svg", "--json"),
        ("draw", "calls.csv", "safe.edges", "--key", "key.csv", "-o", "two.svg"),
        ("release", "edges", "calls.csv", "--epsilon", 1, "--json"),
    ):
        told = run("graph", *command)
        assert told.code == 0, told.err
        assert UNSEEN in told.err.splitlines(), command
        if command[0] != "info":  # which tells it as its result
            assert "1 repeated edges merged" in told.err, command


def test_vertices_that_an_edge_list_cannot_hold_are_counted(run: Run, friends: Path) -> None:
    command = (*PUBLISH, "--method", "relabelling", "--no-assess", "-o")
    told = run(*command, "safe.edges")
    assert "3 vertices have no edge and therefore no line in safe.edges" in told.err
    assert "no edge" not in run(*command, "safe.json").err
    assert GraphRelease.load(friends / "safe.edges").data.order == 80
