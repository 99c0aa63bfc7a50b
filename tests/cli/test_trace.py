"""`celosia trace`: the commands run as a user would type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import Result, Run

from celosia.datasets import city, city_declaration


def call(run: Run, words: str) -> Result:
    return run(*words.split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    city(80, 4, seed=1).frame.write_csv("pings.csv")
    Path("trace.toml").write_text(city_declaration())
    return tmp_path


def test_publish_attack_and_read_the_report(run: Run, folder: Path) -> None:  # check 48
    made = call(
        run,
        "trace publish pings.csv --declare trace.toml --glove 5 -o safe.csv --key key.csv "
        "--report r.html --seed 1",
    )
    assert made.code == 0
    assert "k-anonymity of whole traces, k = 5" in made.out
    assert "simulation" in made.err.lower()
    assert "Keep key.csv secret" in made.err
    assert "<svg" in Path("r.html").read_text()
    verified = call(run, "trace verify safe.csv --key key.csv -k 5")
    assert "by code that shares nothing" in verified.out
    call(run, "trace verify safe.csv --key key.csv -k 80").complains("CEL-J016", 1)
    call(run, "trace verify pings.csv --key key.csv -k 5").complains("CEL-J013")
    call(run, "trace verify safe.csv --key pings.csv -k 5").complains("CEL-F022")
    attacked = call(
        run, "trace attack pings.csv safe.csv --declare trace.toml --key key.csv --json"
    )
    assert attacked.code == 0
    shares = {each["name"]: each["share"] for each in json.loads(attacked.out)["data"]}
    assert len(shares) == 4
    assert max(shares.values()) < 0.3


def test_planar_noise_by_its_level(run: Run, folder: Path) -> None:  # check 48
    made = call(
        run, "trace publish pings.csv --declare trace.toml --planar-laplace 4x@200m -o safe.csv"
    )
    assert made.code == 0
    assert "level 4 within 200 m" in made.out
    assert "simulation" not in made.err
    wrong = call(run, "trace publish pings.csv -d trace.toml --planar-laplace 0.1 -o other.csv")
    wrong.complains("CEL-J024")


def test_noise_is_kept_by_a_key_file(run: Run, folder: Path) -> None:
    words = "trace publish pings.csv -d trace.toml --planar-laplace 4x@200m --no-assess"
    for name in ("may.csv", "june.csv"):
        made = call(run, f"{words} --repeat sticky --noise-key noise.key -o {name}")
        assert made.code == 0, made.err
    assert Path("noise.key").stat().st_mode & 0o077 == 0
    places = [
        {line.split(",", 2)[2] for line in Path(name).read_text().splitlines()}
        for name in ("may.csv", "june.csv")
    ]
    assert places[0] == places[1]
    assert call(run, f"{words} --repeat predictive --draws 3 -o june.csv --overwrite").code == 0
    call(run, f"{words} --repeat predictive -o new.csv").complains("CEL-J022")
    wrong = "trace publish pings.csv -d trace.toml --glove 5 --draws 3"
    call(run, wrong).complains("CEL-J024")


def test_info_tells_no_places(run: Run, folder: Path) -> None:
    told = call(run, "trace info pings.csv --declare trace.toml --json --seed 1")
    assert told.code == 0
    data = json.loads(told.out)["data"]
    assert data["people"] == 80
    assert len(data["unicity"]) == 5
    shown = call(run, "trace info pings.csv --declare trace.toml")
    assert "single out" in shown.out
    assert "40." not in shown.out.replace("40.0%", "")


def test_a_draft_is_a_declaration(run: Run, folder: Path) -> None:
    assert call(run, "trace init pings.csv -o draft.toml --zone Europe/Madrid").code == 0
    text = Path("draft.toml").read_text()
    assert "is_measured = true" in text
    assert call(run, "trace info pings.csv -d draft.toml").code == 0
    declared = run("trace", "init", "pings.csv", "--region", "[39.8, -3.3, 40.2, -2.7]")
    assert "is_measured" not in declared.out
    assert "[39.8, -3.3, 40.2, -2.7]" in declared.out


def test_methods_are_listed(run: Run) -> None:
    listed = json.loads(run("trace", "methods", "--json").out)["data"]
    assert {"glove", "planar-laplace", "generalisation"} <= {each["method"] for each in listed}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("trace publish pings.csv -d trace.toml -o a.csv", "CEL-J023"),
        ("trace publish pings.csv -d trace.toml --glove 5 --method glove:k=3", "CEL-J023"),
        ("trace attack pings.csv pings.csv -d trace.toml", "CEL-J013"),
        ("trace publish pings.csv -d none.toml --glove 5", "CEL-J001"),
        ("trace publish pings.csv -d trace.toml --method glowe:k=5", "CEL-I061"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_code(
    run: Run, folder: Path, words: str, code: str
) -> None:
    call(run, words).complains(code)


def test_a_crowd_that_is_not_there_cannot_be_promised(run: Run, folder: Path) -> None:
    call(run, "trace publish pings.csv -d trace.toml --glove 500").complains("CEL-J020", 1)


def test_the_sample_city_has_its_declaration(run: Run, tmp_path: Path) -> None:
    words = f"datasets get city --rows 2000 -o {tmp_path}/p.csv --schema {tmp_path}/t.toml"
    assert call(run, words).code == 0
    assert call(run, f"trace info {tmp_path}/p.csv -d {tmp_path}/t.toml").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("grid pings.csv -d trace.toml -e 1 --size 3", "grid of 3 by 3"),
        ("grid pings.csv -d trace.toml -e 1 --kind adaptive --people 80", "adaptive grid"),
        ("visits pings.csv -d trace.toml -e 1 --grid 2 --per-person 5", "persons in each area"),
        ("flows pings.csv -d trace.toml -e 1 --grid 2", "moved from area to area"),
        ("synthetic pings.csv -d trace.toml -e 1 --trips 20 --size 4", "synthetic trips"),
        (
            "synthetic pings.csv -d trace.toml -e 1 --trips 9 --no-refine --private-length",
            "synthetic trips",
        ),
    ],
)
def test_private_releases(run: Run, folder: Path, words: str, told: str) -> None:  # check 48
    shown = call(run, f"trace release {words} --seed 1 -o out.csv --report out.html")
    assert shown.code == 0, shown.err
    assert told in shown.out
    assert Path("out.csv.cert.json").is_file()
    made = call(run, f"trace release {words} --json").data()
    assert made["guarantee"]["unit"] == "person"
    assert made["guarantee"]["neighbours"] == "add or remove one person"


def test_positions_go_through_the_collect_door(run: Run, folder: Path) -> None:
    words = "trace cells pings.csv -d trace.toml -e 5 --size 2 --protocol cells.toml -o cells.csv "
    words += "--candidates names.txt"
    assert call(run, words).code == 0
    assert len(Path("cells.csv").read_text().splitlines()) == 81
    assert Path("cells.csv").stat().st_mode & 0o077 == 0
    steps = [
        "collect privatise cells.toml cells.csv --column cell -o reports.clr --seed 1",
        "collect absorb cells.toml reports.clr --folder state",
    ]
    for step in steps:
        done = call(run, step)
        assert done.code == 0, done.err
    found = call(run, "collect estimate cells.toml --folder state --candidates names.txt --json")
    assert found.code == 0, found.err
    assert "39.81" in found.out
    moves = words.replace("cells.csv", "moves.csv").replace("cells.toml", "moves.toml")
    assert call(run, moves.replace("names", "other") + " --moves --max-steps 4").code == 0
    assert Path("moves.csv").read_text().splitlines()[0] == "move"
    for step in [
        "collect privatise moves.toml moves.csv --column move -o moves.clr --seed 1",
        "collect absorb moves.toml moves.clr --folder moving",
    ]:
        assert call(run, step).code == 0
    drawn = call(
        run, "trace trips moves.toml --folder moving -d trace.toml --trips 20 --seed 2 -o new.csv"
    )
    assert drawn.code == 0, drawn.err
    assert "20 synthetic trips from 80 reports" in drawn.out
    assert Path("new.csv.cert.json").is_file()
    other = call(run, "trace trips cells.toml --folder state -d trace.toml -o other.csv")
    other.complains("CEL-J037")
    assert not Path("other.csv").exists()
    call(run, words).complains("CEL-I004")


def test_a_release_of_a_measured_region_is_refused(run: Run, folder: Path) -> None:
    call(run, "trace init pings.csv -o draft.toml")
    call(run, "trace release grid pings.csv -d draft.toml -e 1").complains("CEL-J030", 1)
    wrong = call(run, "trace release visits pings.csv -d trace.toml -e 1 --trips 5")
    wrong.complains("CEL-J036")


def test_utility_is_measured(run: Run, folder: Path) -> None:
    call(run, "trace publish pings.csv -d trace.toml --planar-laplace 4x@200m -o safe.csv")
    found = call(run, "trace assess pings.csv safe.csv -d trace.toml --json").data()
    assert 0 <= found["flow_overlap"] <= 1
    shown = call(run, "trace assess pings.csv safe.csv -d trace.toml --report use.html")
    assert "moves between cells" in shown.out
