"""`celosia collect estimate` without candidates: what protocols find by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Run

from celosia.collect.registry import load_protocol, protocol_from
from celosia.core.randomness import Seeded

FILES = {
    "pem": 'method = "pem"\nepsilon = 5\nalphabet = "abcdefgh"\nlength = 4\n',
    "treehist": 'method = "pem"\nepsilon = 6\nalphabet = "abc"\nlength = 3\nvariant = "treehist"\n',
    "sfp": 'method = "sfp"\nepsilon = 8\nhashes = 64\nfragment_hashes = 64\nlength = 4\n'
    'alphabet = "abcdefgh "\n',
    "rappor": 'method = "rappor"\nf = 0\np = 0.1\nq = 0.9\nbits = 16\ncohorts = 4\n',
    "rappor-words": 'method = "rappor-words"\nalphabet = "abc"\nlength = 3\ngram = 1\n'
    '[words]\nmethod = "rappor"\nf = 0\np = 0.1\nq = 0.9\nbits = 32\n'
    '[grams]\nmethod = "rappor"\nf = 0\np = 0.1\nq = 0.9\nbits = 32\nkey = "grams"\n',
    "one-bit-mean": 'method = "one-bit-mean"\nepsilon = 4\nupper = 10\n',
    "cardinality": 'method = "cardinality"\nepsilon = 4\nbuckets = 32\n',
}
WORDS = ["cab"] * 3000 + ["bab"] * 2000
NUMBERS = [2.5] * 3000 + [5] * 2000


@pytest.fixture
def collected(run: Run, tmp_path: Path) -> Any:
    """Makes reports, and counts them in the folder `state`; returns a server with the same."""

    def collect(name: str) -> Any:
        (tmp_path / "p.toml").write_text(FILES[name])
        rows = [f"{word},{number}" for word, number in zip(WORDS, NUMBERS, strict=True)]
        (tmp_path / "today.csv").write_text("\n".join(["word,hours", *rows]) + "\n")
        column = "hours" if name == "one-bit-mean" else "word"
        made = ("collect", "privatise", "p.toml", "today.csv", "--column", column, "-o", "r.clr")
        assert run(*made, "--seed", 5).code == 0
        assert run("collect", "absorb", "p.toml", "r.clr", "--folder", "state").code == 0
        protocol = load_protocol(tmp_path / "p.toml")
        client = protocol.client(rng=Seeded(5))
        return protocol.server().absorb(
            client.privatise(NUMBERS if name == "one-bit-mean" else WORDS)
        )

    return collect


ESTIMATE = ("collect", "estimate", "p.toml", "--folder", "state")


@pytest.mark.parametrize("name", ["pem", "treehist", "sfp", "rappor-words"])
def test_common_words_are_found_in_a_folder(
    name: str, run: Run, tmp_path: Path, collected: Any
) -> None:
    server = collected(name)
    told = run(*ESTIMATE, "--significance", 0.001, "--json", "-o", "found.csv").data()
    assert told == server.find(significance=0.001).as_dict()
    assert told["values"] == ["cab", "bab"]
    lines = (tmp_path / "found.csv").read_text().splitlines()
    assert [each.split(",")[0] for each in lines] == ["value", "cab", "bab"]
    shown = run(*ESTIMATE, "--significance", 0.001)
    assert (
        shown.out.splitlines()[-1]
        == f"2 estimates from 5,000 reports ({server.protocol.method_name})"
    )
    run(*ESTIMATE, "--post", "clip").complains("CEL-R106")
    run(*ESTIMATE, "--significance", 2).complains("CEL-I060")


@pytest.mark.parametrize(("name", "figure"), [("one-bit-mean", "mean"), ("cardinality", "count")])
def test_a_mean_and_a_cardinality_are_told_without_candidates(
    name: str, figure: str, run: Run, tmp_path: Path, collected: Any
) -> None:
    expected = collected(name).summary().as_dict(0.9)
    told = run(*ESTIMATE, "--confidence", 0.9, "--json", "-o", "found.csv").data()
    assert told == expected
    assert abs(told[figure] - {"mean": 3.5, "count": 2}[figure]) < 5 * told["error"]
    names, figures = ((tmp_path / "found.csv").read_text().splitlines())[:2]
    assert dict(zip(names.split(","), map(float, figures.split(",")), strict=True)) == expected
    shown = run(*ESTIMATE)
    assert shown.code == 0
    assert figure in shown.out
    assert "5,000 reports" in shown.out.splitlines()[-1]
    run(*ESTIMATE, "--significance", 0.1).complains("CEL-R106")
    refused = {"mean": "CEL-R041", "count": "CEL-R061"}[figure]
    run(*ESTIMATE, "--candidate", "cab").complains(refused)


def test_rappor_decodes_a_long_list(run: Run, tmp_path: Path, collected: Any) -> None:
    server = collected("rappor")
    listed = ["cab", "bab", *(f"nobody {each}" for each in range(100))]
    (tmp_path / "list.txt").write_text("\n".join(listed) + "\n")
    asked = (*ESTIMATE, "--candidates", "list.txt")
    run(*asked).complains("CEL-R033")
    run(*asked, "--significance", 0.01).complains("CEL-R106")
    told = run(*asked, "--decode", "--significance", 0.01, "--json").data()
    assert told == server.find(listed, significance=0.01).as_dict()
    assert told["values"] == ["cab", "bab"]
    run(*ESTIMATE).complains("CEL-R104")
    run(*ESTIMATE, "--decode").complains("CEL-R104")


def test_what_is_recommended_for_unknown_words_can_be_collected_with(run: Run) -> None:
    command = ("--users", "1e6", "--epsilon", 8, "--unknown-dictionary")
    told = run("collect", "choose", *command, "--json").data()
    made = [protocol_from(each["parameters"]) for each in told["ranked"]]
    assert {each.method_name for each in made} == {"pem", "sfp"}
    assert all(each.server().finds for each in made)


def test_files_of_googles_rappor_are_decoded(run: Run, tmp_path: Path) -> None:
    (tmp_path / "params.csv").write_text("k,h,m,p,q,f\n8,1,1,0.25,0.75,0\n")
    (tmp_path / "counts.csv").write_text("1000,250,250,250,750,250,250,250,250\n")
    (tmp_path / "map.csv").write_text("smile,4\ncry,5\n")
    command = ("collect", "rappor", "params.csv", "counts.csv", "map.csv")
    told = run(*command, "--json").data()
    assert dict(zip(told["values"], told["found"], strict=True)) == {"smile": True, "cry": False}
    assert told["counts"][0] == pytest.approx(1000)
    run(*command, "-o", "found.csv")
    assert (tmp_path / "found.csv").read_text().splitlines()[1].startswith("smile,")
    run("collect", "rappor", "map.csv", "counts.csv", "params.csv").complains("CEL-R097")
