"""`celosia graph assess`, `attack`, `draw`, `info`, `methods`, `release` and `sample`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import MARK, Result, Run

from celosia import graphs
from celosia.mechanisms import NoisyAnswer

ORIGINAL = ("friends.edges", "--vertices", "people.csv")


@pytest.fixture
def release(run: Run, friends: Path) -> Path:
    """A 5-degree anonymous release and its key, made without a seed as a curator does."""
    _publish(run, "--k-degree", 5, "-o", "safe.edges", "--key", "key.csv")
    return friends


def _publish(run: Run, *command: object) -> None:
    told = run("graph", "publish", *ORIGINAL, *command, "--no-assess")
    assert told.code == 0, told.err


def _told(result: Result) -> str:
    assert result.code == 0, result.err
    assert MARK not in result.out + result.err
    return result.out


@pytest.mark.usefixtures("release")
def test_a_release_is_compared_with_its_original_by_the_key(run: Run, tmp_path: Path) -> None:
    command = ("graph", "assess", ORIGINAL[0], "safe.edges", *ORIGINAL[1:])
    run(*command).complains("CEL-G028")
    told = _told(run(*command, "--key", "key.csv", "--report", "use.html"))
    assert "Average distance" in told
    assert told.splitlines()[-2] == "report: use.html"
    assert "of the edges kept" in told.splitlines()[-1]
    assert MARK not in (tmp_path / "use.html").read_text("utf-8")
    data = run(*command, "--key", "key.csv", "--json").data()
    assert data["edge_intersection"] > 0.7  # by strangers about 6 of 100 edges would match
    assert (data["world"], data["matched"]) == (False, True)
    # Without the certificate the edge list has lost its lonely vertices, and the key finds them.
    (tmp_path / "safe.edges.cert.json").unlink()
    again = run(*command, "--key", "key.csv", "--json").data()
    assert again["edge_intersection"] == data["edge_intersection"]
    assert again["after"]["order"] == data["after"]["order"]


@pytest.mark.usefixtures("friends")
def test_a_graph_compared_with_itself_needs_no_key(run: Run) -> None:
    data = run("graph", "assess", *ORIGINAL[:1], ORIGINAL[0], "--json").data()
    assert data["edge_intersection"] == 1.0
    assert max(each["value"] for each in data["errors"].values()) == 0


@pytest.mark.usefixtures("release")
def test_a_key_of_another_graph_is_refused(run: Run, tmp_path: Path) -> None:
    command = ("graph", "assess", ORIGINAL[0], "safe.edges", *ORIGINAL[1:], "--key")
    key = pl.read_csv(tmp_path / "key.csv")
    key.head(79).write_csv(tmp_path / "short.csv")
    key.with_columns(number=pl.lit(1)).write_csv(tmp_path / "same.csv")
    key.rename({"number": "place"}).write_csv(tmp_path / "named.csv")
    key.with_columns(vertex=pl.col("vertex") + "x").write_csv(tmp_path / "others.csv")
    for name in ("short.csv", "same.csv", "others.csv"):
        run(*command, name).complains("CEL-G027")
    run(*command, "named.csv").complains("CEL-F022")


@pytest.mark.usefixtures("friends")
def test_other_sorts_of_releases_are_compared_by_a_random_world(run: Run) -> None:
    _publish(
        *(run, "--method", "k-obfuscation:k=2,tolerance=0.3"),
        *("-o", "chances.csv", "--key", "key.csv"),
    )
    _publish(run, "--method", "sangreea:k=4", "-o", "groups.json")
    for name, key, known in (
        ("chances.csv", ("--key", "key.csv"), True),
        ("groups.json", (), False),
    ):
        command = ("graph", "assess", ORIGINAL[0], name, *ORIGINAL[1:], *key, "--seed", 1)
        data = run(*command, "--json").data()
        assert (data["world"], data["matched"]) == (True, known)
        told = run(*command)
        assert "one random world" in told.err
        assert ("of the edges kept" in _told(told)) == known
    command = ("graph", "attack", ORIGINAL[0], "groups.json", *ORIGINAL[1:])
    run(*command).complains("CEL-G029")


@pytest.mark.usefixtures("friends")
def test_the_naive_release_exposes_those_who_stand_out(run: Run, tmp_path: Path) -> None:
    command = ("graph", "attack", *ORIGINAL)
    told = _told(run(*command, "--exposed", "who.csv", "--report", "attacks.html"))
    assert "neighbourhood: " in told.splitlines()[-1]
    degrees = graphs.read(
        tmp_path / "friends.edges", vertices=tmp_path / "people.csv"
    ).graph.degrees
    alone = sum((degrees == degree).sum() == 1 for degree in degrees)
    data = run(*command, "--attack", "degree", "--json").data()
    assert len(data[0]["exposed"]) == alone > 0
    who = pl.read_csv(tmp_path / "who.csv").filter(pl.col("attack") == "degree")
    assert who["exposed"].sum() == alone
    assert set(who["vertex"]) == {f"{MARK}-{number}" for number in range(80)}
    assert MARK not in (tmp_path / "attacks.html").read_text("utf-8")


@pytest.mark.usefixtures("release")
def test_every_attack_can_be_run(run: Run) -> None:
    names = (
        *("degree", "refinement", "neighbourhood", "subgraph:edges=3", "hubs", "links"),
        *("percolation:marks=2", "propagation:seeds=5"),
    )
    asked = [word for name in names for word in ("--attack", name)]
    command = ("graph", "attack", ORIGINAL[0], "safe.edges", *ORIGINAL[1:], "--key", "key.csv")
    data = run(*command, *asked, "--seed", 2, "--json").data()
    assert [each["name"].split()[0] for each in data] == [
        *("degree", "refinement", "neighbourhood", "subgraph", "hub", "link"),
        *("percolation", "propagation"),
    ]
    assert data[0]["share_exposed"] == 0  # of a 5-degree anonymous graph
    assert data[-1]["seeds"] == 5
    method = ("--method", "random-switch:amount=0.5")
    own = ("graph", "attack", *ORIGINAL, *method, "--attack", "active", "--attack", "links")
    told = run(*own, "--seed", 2, "--json").data()
    assert told[0]["release"] == "random-switch"
    assert told[1]["edges_deleted"] > 20


@pytest.mark.usefixtures("release")
def test_attacks_that_do_not_fit_are_refused(run: Run, tmp_path: Path) -> None:
    released = ("graph", "attack", ORIGINAL[0], "safe.edges", *ORIGINAL[1:])
    run(*released).complains("CEL-G028")
    run(*released, "--attack", "active").complains("CEL-G029")
    run(*released, "--method", "k-degree:k=3").complains("CEL-G029")
    own = ("graph", "attack", *ORIGINAL)
    run(*own, "--method", "sangreea:k=3").complains("CEL-G029")
    run(*own, "--attack", "links", "--exposed", "who.csv").complains("CEL-G029")
    run(*own, "--attack", "subgraph:edges=99").complains("CEL-I060")
    run(*own, "--attack", "luck").complains("CEL-I061")
    assert not (tmp_path / "who.csv").exists()


@pytest.mark.usefixtures("release")
def test_graphs_are_drawn_with_names_only_on_demand(run: Run, tmp_path: Path) -> None:
    _told(run("graph", "draw", *ORIGINAL, "-o", "one.svg"))
    both = ("graph", "draw", ORIGINAL[0], "safe.edges", *ORIGINAL[1:], "--key", "key.csv")
    _told(run(*both, "-o", "both.svg"))
    for name in ("one.svg", "both.svg"):
        text = (tmp_path / name).read_text("utf-8")
        assert text.startswith("<svg")
        assert MARK[:8] not in text
    run(*both, "-o", "named.svg", "--names").complains("CEL-G421")
    assert run(*both, "-o", "named.svg", "--names", "--most", 20, "--json").data()
    assert MARK[:8] in (tmp_path / "named.svg").read_text("utf-8")
    _publish(run, "--method", "sangreea:k=4", "-o", "groups.json")
    assert "super-vertices" in _told(run("graph", "draw", "groups.json", "-o", "groups.svg"))


@pytest.mark.usefixtures("friends")
def test_a_graph_is_described_by_its_numbers(run: Run, tmp_path: Path) -> None:
    told = _told(run("graph", "info", *ORIGINAL))
    assert "Transitivity" in told
    assert told.splitlines()[-1].startswith("1-degree anonymous: ")
    data = run("graph", "info", *ORIGINAL, "--json").data()
    assert data["degree_anonymity"] == 1
    assert data["metrics"]["size"]["value"] == 200
    assert MARK not in json.dumps(data)


def test_the_methods_are_listed_with_their_parameters(run: Run) -> None:
    told = run("graph", "methods")
    assert told.code == 0
    assert (
        "  parameters: k, variant (least-change), probes (500), weight_ratio (2.0)"
        in told.out.splitlines()
    )
    listed = {each["method"]: each for each in run("graph", "methods", "--json").data()}
    assert set(listed) == set(graphs.methods())
    assert listed["k-degree"]["needs"] == ["k"]
    assert listed["k-obfuscation"]["makes"] == "UncertainGraph"


@pytest.mark.usefixtures("friends")
@pytest.mark.parametrize(
    ("statistic", "command", "question"),
    [
        ("edges", (), "number of edges"),
        ("edges", ("--level", "vertex", "--cap", 10), "number of edges, of each vertex at most 10"),
        ("degrees", (), "degrees in rising order"),
        ("histogram", ("--cap", 6), "number of vertices of each degree"),
        ("triangles", (), "number of triangles"),
        ("triangles", ("--delta", 1e-6), "number of triangles"),
        ("stars", ("--k", 3), "number of stars with 3 rays"),
        ("joint", ("--cap", 4), "number of edges by the degrees"),
    ],
    ids=str,
)
def test_a_private_statistic_is_released_with_its_certificate(
    statistic: str, command: tuple[object, ...], question: str, run: Run, tmp_path: Path
) -> None:
    asked = ("graph", "release", statistic, *ORIGINAL, "-e", 1, *command)
    told = _told(run(*asked, "-o", "answer.json"))
    assert told.splitlines()[-1].startswith(question)
    assert "differential privacy" in told.splitlines()[-1]
    assert NoisyAnswer.load(tmp_path / "answer.json").question.startswith(question)
    one, other = (run(*asked, "--seed", 3, "--json").data() for _ in range(2))
    assert one["measures"] == other["measures"]
    assert one["guarantee"]["simulation"] is True


@pytest.mark.usefixtures("friends")
def test_options_that_a_statistic_lacks_are_refused(run: Run, tmp_path: Path) -> None:
    for command in (
        ("degrees", "--level", "vertex"),
        ("degrees", "--cap", 4),
        ("edges", "--k", 3),
        ("joint",),
        ("stars", "--confidence", 0.9),
    ):
        asked = (
            "graph",
            "release",
            command[0],
            *ORIGINAL,
            *command[1:],
            "-e",
            1,
            "-o",
            "answer.json",
        )
        run(*asked).complains("CEL-G031")
    run("graph", "release", "edges", *ORIGINAL, "-e", 0).complains("CEL-I060")
    run("graph", "release", "edges", *ORIGINAL, "-e", 1, "--cap", 4).complains("CEL-G302")
    vertex = ("graph", "release", "triangles", *ORIGINAL, "-e", 1, "--level", "vertex")
    run(*vertex, "--delta", 1e-6).complains("CEL-G302")
    told = run(*vertex, "--cap", 8, "--seed", 1)
    assert told.code == 0
    assert "number of triangles, at most 8 at each vertex" in " ".join(
        (told.out + told.err).split()
    )
    assert not (tmp_path / "answer.json").exists()


@pytest.mark.usefixtures("friends")
def test_worlds_are_drawn_from_chances_and_from_groups(run: Run, tmp_path: Path) -> None:
    uncertain = ("--method", "k-obfuscation:k=2,tolerance=0.3")
    _publish(run, *uncertain, "-o", "chances.csv")
    _publish(run, "--method", "sangreea:k=4", "-o", "groups.json")
    told = _told(run("graph", "sample", "chances.csv", "-o", "w.edges", "--worlds", 3))
    assert told.splitlines()[0].startswith("w-1.edges: ")
    assert {f"w-{number}.edges" for number in (1, 2, 3)} <= {p.name for p in tmp_path.iterdir()}
    data = run("graph", "sample", "groups.json", "-o", "g.graphml", "--json").data()
    assert (data["vertices"], data["edges"], data["files"]) == (80, [200], ["g.graphml"])
    assert graphs.read(tmp_path / "g.graphml").graph.size == 200
    run("graph", "sample", *ORIGINAL[:1], "-o", "x.edges").complains("CEL-G030")
    run("graph", "sample", "chances.csv", "-o", "w.edges", "--worlds", 3).complains("CEL-I004")
    run("graph", "sample", "chances.csv", "-o", "w.xyz").complains("CEL-G002")
    assert not (tmp_path / "x.edges").exists()
