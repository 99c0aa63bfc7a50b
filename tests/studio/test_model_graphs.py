"""What the pages of graphs compute: samples, cards, drawings, jobs and texts."""

from __future__ import annotations

import json
import runpy
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from celosia.cli.app import app
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameters
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.graphs import Graph, examples, methods
from celosia.graphs.drawing import MOST_DRAWN
from celosia.graphs.generators import power_law
from celosia.graphs.metrics.summary import WORDS
from celosia.graphs.report import LEFT_OUT
from celosia.studio.graphs import drawing, jobs, labels, model
from celosia.studio.graphs.pages import result as graphs_result
from celosia.studio.language import Language, _catalogue, chosen
from celosia.studio.parameters import help_text
from celosia.studio.uploads import Brought
from celosia.studio.worker import JobEvent, JobProgress

STAGES: list[Step] = []


def text(said: JobEvent) -> None:
    if said.kind == "step":
        STAGES.append(said.value)


VOICE = JobProgress(text)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The karate club, prepared."""
    jobs.prepare(VOICE, folder=str(tmp_path), brought=Brought(sample="karate"))
    return tmp_path


def published(folder: Path, kind: str, **parameters: Any) -> dict[str, Any]:
    choice = model.cards()[kind].first_choice()
    choice["parameters"] |= parameters
    return jobs.run(VOICE, folder=str(folder), choice=choice, seed=3)


def test_every_method_is_on_one_card_and_in_one_family() -> None:
    listed = [kind for kinds in model.FAMILIES.values() for kind in kinds]
    assert sorted(listed) == sorted(methods()) == sorted(model.cards())


def test_every_parameter_has_a_control_or_is_left_to_the_command_line() -> None:
    for kind, method in methods().items():
        asked = [each.name for each in model.cards()[kind].controls]
        assert asked == [each.name for each in parameters(method) if each.is_asked]


def test_a_form_asks_and_a_card_speaks_in_the_language_of_the_page() -> None:
    card = model.cards()["random-switch"]
    (amount,) = card.controls
    token = chosen.set("es")
    try:
        assert (card.kind, card.title) == ("random-switch", "Permutas al azar")
        assert help_text(card.kind, amount).startswith("Cuántas aristas se cambian")
    finally:
        chosen.reset(token)
    assert model.cards()["random-switch"].first_choice()["parameters"] == {"amount": 0.2}


def test_every_word_has_a_spanish_one() -> None:
    spanish = _catalogue("es")[0]
    tables = (labels.METRICS, labels.SHARES)
    words = {
        *model.FAMILIES,
        *(text for each in model.SAMPLES for text in (each.title, each.about)),
        *(text for table in tables for entry in table.values() for text in entry),
        *labels.REPAIRS.values(),
        *LEFT_OUT.values(),
    }
    assert {
        word for word in words if not isinstance(word, Message) and word not in spanish
    } == set()


def test_every_number_of_the_library_has_its_unit_and_meaning() -> None:
    vectors = {"degree", "betweenness", "closeness", "coreness", "pagerank", "clustering"}
    assert {*labels.METRICS, *labels.SHARES} == set(WORDS) - vectors


def test_both_drawings_mark_what_went_and_what_came() -> None:
    old = examples.g9()
    edits = examples.G9_ADD_DELETE
    kept = [pair for pair in examples.G9_EDGES if pair not in edits.delete]
    new = examples.graph_of_names((*kept, *edits.add))
    found = drawing.both(old, new, rng=Seeded(1))
    assert (found["gone"], found["come"]) == (2, 2)
    for side, pairs in (("before", edits.delete), ("after", edits.add)):
        points = found[side]["points"]
        marked = {
            frozenset((int(points[u][2]), int(points[v][2])))
            for u, v, alone, _weight in found[side]["lines"]
            if alone
        }
        assert marked == {frozenset(pair) for pair in pairs}
    assert [point[:2] for point in found["before"]["points"]] == [
        point[:2] for point in found["after"]["points"]
    ]


def test_of_a_large_graph_the_hubs_are_drawn() -> None:
    graph = power_law(MOST_DRAWN + 100, 2_000, 2.5, Seeded(1))
    found = drawing.one(graph, rng=Seeded(1))
    assert (found["drawn"], found["of"]) == (drawing.HUBS, MOST_DRAWN + 100)
    cut = np.sort(graph.degrees)[-drawing.HUBS]
    names = [int(point[2]) for point in found["before"]["points"]]
    assert graph.degrees[names].min() >= cut


def test_vertices_that_were_made_up_are_drawn_after_the_others() -> None:
    old = Graph.of([(0, 1), (1, 2)])
    found = drawing.both(old, Graph.of([(0, 1), (1, 2), (2, 3)]), rng=Seeded(1))
    assert found["after"]["points"][-1][2] == "+1"
    assert (found["gone"], found["come"]) == (0, 1)


def test_a_release_hides_by_degree_and_writes_its_files(work: Path) -> None:
    result = published(work, "k-degree", k=3)
    first = result["attacks"][0]
    assert first["name"] == "degree"
    assert first["before"]["exposed"] == pytest.approx(6 / 34)
    assert first["after"]["exposed"] == 0
    for name in result["files"].values():
        assert (work / name).stat().st_size > 0
    after = [degree for _rank, degree in result["degrees"]["after"]]
    assert min(after.count(degree) for degree in after) >= 3
    assert {each["name"] for each in result["attacks"]} == set(labels.FIRST)


@pytest.mark.parametrize(
    ("kind", "drawn", "ending"),
    [("k-obfuscation", "uncertain", "csv"), ("sangreea", "groups", "json")],
)
def test_other_kinds_of_releases_are_drawn_in_their_own_way(
    kind: str, drawn: str, ending: str, work: Path
) -> None:
    result = published(work, kind)
    assert result["drawing"]["kind"] == drawn
    assert result["files"]["data"] == f"published.{ending}"
    assert ("key" in result["files"]) == (drawn == "uncertain")
    if drawn == "groups":
        sizes = [point[3] for point in result["drawing"]["after"]["points"]]
        assert sum(sizes) == 34
        assert min(sizes) >= 3


def test_a_private_graph_has_no_key_and_is_not_attacked(work: Path) -> None:
    published(work, "k-degree")
    assert (work / "key.csv").exists()
    result = published(work, "private-graph")
    assert result["drawing"]["kind"] == "new"
    assert result["attacks"] == []
    assert not (work / "key.csv").exists()
    with pytest.raises(InputError) as caught:
        jobs.attack(VOICE, folder=str(work), names=["hubs"], choice=result["choice"])
    assert caught.value.code == "CEL-W075"


def test_more_attacks_find_planted_accounts_in_the_naive_release(work: Path) -> None:
    result = published(work, "random-perturbation", amount=0.3)
    found = jobs.attack(VOICE, folder=str(work), names=labels.MORE, choice=result["choice"], seed=4)
    rates = {each["name"]: each for each in found}
    assert set(rates) == set(labels.MORE)
    assert rates["active"]["before"] > rates["active"]["after"]
    assert rates["links"]["before"] == 0.5  # nothing was changed, so there is nothing to tell
    assert json.loads((work / "attacks.json").read_text("utf-8")) == found


def test_every_stage_that_was_told_has_a_spanish_name(work: Path) -> None:
    published(work, "k-degree")
    plain = {step.stage for step in STAGES if not isinstance(step.stage, Message)}
    assert plain - set(_catalogue("es")[0]) == set()


def test_an_edge_list_is_read_and_then_removed(tmp_path: Path) -> None:
    (tmp_path / "upload.edges").write_text("ana bea\nbea ana\nbea eva\n", "utf-8")
    about = jobs.prepare(
        VOICE, folder=str(tmp_path), brought=Brought(file="upload.edges", shown="friends.edges")
    )
    assert (about["vertices"], about["edges"]) == (3, 2)
    assert not (tmp_path / "upload.edges").exists()


def test_a_file_without_edges_and_a_broken_one_are_refused_by_the_visitors_name(
    tmp_path: Path,
) -> None:
    (tmp_path / "upload.edges").write_text("ana ana\n", "utf-8")
    with pytest.raises(InputError) as caught:
        jobs.prepare(
            VOICE, folder=str(tmp_path), brought=Brought(file="upload.edges", shown="mine.edges")
        )
    assert caught.value.code == "CEL-W074"
    (tmp_path / "upload.graphml").write_text("<graphml", "utf-8")
    with pytest.raises(InputError) as broken:
        jobs.prepare(
            VOICE,
            folder=str(tmp_path),
            brought=Brought(file="upload.graphml", shown="mine.graphml"),
        )
    assert str(tmp_path) not in str(broken.value)


def test_the_command_and_the_python_text_publish_the_same_graph(
    work: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = published(work, "random-switch")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    (elsewhere / "graph.json").write_bytes((work / "graph.json").read_bytes())
    texts = dict(model.code("karate", "karate", result["choice"], seed=3))
    data = (work / result["files"]["data"]).read_text("utf-8")
    (elsewhere / "again.py").write_text(texts["Python"], "utf-8")
    runpy.run_path(str(elsewhere / "again.py"))
    assert (elsewhere / "published.edges").read_text("utf-8") == data
    for name in ("published.edges", "published.edges.cert.json", "report.html"):
        (elsewhere / name).unlink()
    parts = shlex.split(texts["Command line"])
    assert CliRunner().invoke(app, parts[1:]).exit_code == 0
    assert (elsewhere / "published.edges").read_text("utf-8") == data


def test_edge_attributes_of_a_file_are_named_and_left_out_only_by_the_switch(
    tmp_path: Path,
) -> None:
    text = "who,whom,weight,time\nana,bea,3,1\nbea,ana,5,2\nbea,eva,1,3\nana,ana,1,4\n"
    (tmp_path / "upload.csv").write_text(text, "utf-8")
    about = jobs.prepare(
        VOICE, folder=str(tmp_path), brought=Brought(file="upload.csv", shown="calls.csv")
    )
    assert about["edge_attributes"] == ["weight", "time"]
    assert about["drop_edge_attributes"] is False
    choice = model.cards()["relabelling"].first_choice()
    with pytest.raises(InputError, match="edge attributes weight, time") as refused:
        jobs.run(VOICE, folder=str(tmp_path), choice=choice)
    assert refused.value.code == "CEL-G033"
    result = jobs.run(VOICE, folder=str(tmp_path), choice=choice, drop_edge_attributes=True)
    wanted = {
        "edge_attributes": ["weight", "time"],
        "loops": 1,
        "repeated": 1,
        "differing": 1,
    }
    assert result["left_out"] == wanted  # counted in the file that was brought
    certificate = json.loads((tmp_path / "certificate.json").read_text("utf-8"))
    assert certificate["measures"]["left_out"] == wanted
    texts = dict(model.code("calls.csv", None, choice, drop_edge_attributes=True))
    assert "--drop-edge-attributes" in shlex.split(texts["Command line"])
    assert "publish(graph, method, drop_edge_attributes=True)" in texts["Python"]


def test_how_a_file_was_read_is_told_in_both_languages(tmp_path: Path) -> None:
    text = "who,whom,weight,time\n# calls\nana,bea,3,1\nbea,ana,5,2\nbea,eva,1,3\nana,ana,1,4\n"
    (tmp_path / "upload.csv").write_text(text, "utf-8")
    jobs.prepare(VOICE, folder=str(tmp_path), brought=Brought(file="upload.csv", shown="calls.csv"))
    about = json.loads((tmp_path / "graphs.json").read_text("utf-8"))
    assert about["reading"] == {
        "en": "3 vertices, 2 edges from 4 records: 1 loops dropped, 1 repeated edges merged; "
        "merged records with other edge attributes: 1; "
        "columns named by the first line, the two ends of an edge first: who, whom, weight, "
        "time; "
        "edge attributes: weight, time; ignored: comment lines (1)",
        "es": "3 vértices, 2 aristas de 4 registros: 1 bucles omitidos, "
        "1 aristas repetidas fusionadas; "
        "registros fusionados con otros atributos de arista: 1; "
        "columnas que nombra la primera línea, primero los dos extremos de una arista: who, "
        "whom, weight, time; "
        "atributos de aristas: weight, time; ignorado: líneas de comentario (1)",
    }


@pytest.mark.parametrize("variant", ["liu-terzi", "umga-random"])
def test_all_accounts_agree_on_edges_kept_removed_and_added(work: Path, variant: str) -> None:
    result = published(work, "k-degree", k=3, variant=variant)
    key = dict(pl.read_csv(work / "key.csv").rows())
    before = {
        frozenset(key[link[end]] for end in ("source", "target"))
        for link in json.loads((work / "graph.json").read_text("utf-8"))["links"]
    }
    lines = (work / "published.edges").read_text("utf-8").splitlines()
    after = {frozenset(map(int, line.split())) for line in lines}
    wanted = {
        "kept": len(before & after),
        "removed": len(before - after),
        "added": len(after - before),
    }
    assert wanted["added"] > 0
    assert (wanted["removed"] == 0) == (variant == "liu-terzi")
    certificate = json.loads((work / "certificate.json").read_text("utf-8"))
    assert result["utility"]["edges"] == certificate["measures"]["figures"]["edges"] == wanted
    facts = certificate["measures"]["methods"][0]["facts"]
    assert (facts["edges deleted"], facts["edges added"]) == (wanted["removed"], wanted["added"])
    report = (work / "report.html").read_text("utf-8")
    assert f"{wanted['removed']} removed, {wanted['added']} added" in report
    assert (
        f"{wanted['removed']} edges of the original are gone, and {wanted['added']} came" in report
    )
    share = wanted["kept"] / len(before)
    wordings: dict[Language, tuple[str, str]] = {
        "en": ("Edges kept", "{removed} removed, {added} added"),
        "es": ("Aristas conservadas", "{removed} eliminadas, {added} añadidas"),
    }
    for language, wording in wordings.items():
        token = chosen.set(language)
        try:
            title, kept, changes = graphs_result._edges(wanted)
        finally:
            chosen.reset(token)
        assert (title, changes) == (wording[0], wording[1].format(**wanted))
        assert kept.replace(",", ".").replace("\xa0", "").replace(" ", "") == f"{share:.1%}"


def test_a_network_is_brought_and_published_with_directions_and_weights(tmp_path: Path) -> None:
    rows = [f"p{n % 12},q{n * 7 % 12},{n % 5 + 1}" for n in range(60)]
    (tmp_path / "calls.csv").write_text("\n".join(["who,whom,minutes", *rows]) + "\n", "utf-8")
    quiet = VOICE
    jobs.prepare(quiet, folder=str(tmp_path), brought=Brought(file="calls.csv", shown="calls.csv"))
    kept = {"directed": "keep", "weight": "minutes", "bipartite": None}
    choice = {"method": "k-degree", "parameters": {"k": 2}}
    done = jobs.run(quiet, folder=str(tmp_path), choice=choice, seed=1, network=kept)
    assert (tmp_path / "published.csv").read_text().startswith("source,target,weight\n")
    assert done["attacks"][0]["after"]["exposed"] == 0
    texts = dict(model.code("calls.csv", None, choice, network=done["network"]))
    assert "--directed keep --weight minutes" in texts["Command line"]
    assert "directed='keep', weight='minutes'" in texts["Python"]
    found = jobs.attack(quiet, folder=str(tmp_path), names=["hubs"], choice=choice, seed=1)
    assert found[0]["name"] == "hubs"
    other = {"method": "random-switch", "parameters": {"amount": 0.1}}
    with pytest.raises(InputError):
        jobs.run(quiet, folder=str(tmp_path), choice=other, seed=1, network=kept)
