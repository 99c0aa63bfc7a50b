"""What the pages of masking and synthesis compute: controls, recipes, texts, jobs, comparisons."""

from __future__ import annotations

import json
import runpy
import shlex
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from celosia.cli.app import app
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Parameter, parameters
from celosia.core.progress import Step
from celosia.studio import comparison
from celosia.studio.language import _catalogue, chosen
from celosia.studio.mask import figures, jobs, model, stream
from celosia.studio.parameters import changed, help_text, parsed, shown
from celosia.studio.synthesise import jobs as synthesis_jobs
from celosia.studio.synthesise import model as synthesis
from celosia.studio.synthesise import pages
from celosia.studio.toml import inline
from celosia.studio.uploads import Brought
from celosia.studio.visitors import Work
from celosia.studio.worker import JobEvent, JobProgress
from celosia.tables.masking import Recipe, methods

STAGES: list[Step] = []


def text(said: JobEvent) -> None:
    if said.kind == "step":
        STAGES.append(said.value)


VOICE = JobProgress(text)
CENSUS = [
    {"name": "age", "numeric": True, "role": "quasi-identifier", "distinct": 60, "empty": 0},
    {"name": "sex", "numeric": False, "role": "quasi-identifier", "distinct": 2, "empty": 0},
    {"name": "id", "numeric": True, "role": "identifier", "distinct": 99, "empty": 0},
]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample of incomes, prepared."""
    folder = tmp_path_factory.mktemp("mask")
    jobs.prepare(VOICE, folder=str(folder), brought=Brought(sample="incomes"))
    return folder


@pytest.fixture(scope="module")
def masked(work: Path) -> dict[str, Any]:
    """What became of it by the recipe that is offered."""
    mine = chosen_of(work)
    return jobs.run(VOICE, folder=str(work), columns=mine["columns"], steps=mine["steps"], seed=5)


def chosen_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "mask.json").read_text("utf-8"))
    return found


def test_every_method_is_on_one_card_and_in_one_family() -> None:
    listed = [
        *(kind for kinds in model.FAMILIES.values() for kind in kinds),
        *synthesis.PLAIN,
        *synthesis.PRIVATE,
    ]
    assert sorted(listed) == sorted(methods()) == sorted(model.cards())


def test_every_parameter_has_a_control_or_is_asked_for_elsewhere() -> None:
    for kind, method in methods().items():
        asked = {each.name for each in model.cards()[kind].controls}
        declared = {"domains", "bounds", "edges"} if method.neighbours else set()
        assert asked == {each.name for each in parameters(method)} - declared


def test_every_word_of_a_method_has_a_spanish_one() -> None:
    spanish = _catalogue("es")[0]
    words = {
        *model.FAMILIES,
        *pages.FAMILIES,
        *(text for each in model.SAMPLES for text in (each.title, each.about)),
    }
    assert {
        word for word in words if not isinstance(word, Message) and word not in spanish
    } == set()


def test_every_method_and_parameter_is_described_in_both_languages() -> None:
    for card in model.cards().values():
        said = {card.title, card.summary}
        token = chosen.set("es")
        try:
            assert not said & {card.title, card.summary}
        finally:
            chosen.reset(token)
        for each in card.controls:
            english = help_text(card.kind, each)
            token = chosen.set("es")
            try:
                assert help_text(card.kind, each) not in ("", english), (card.kind, each.name)
            finally:
                chosen.reset(token)


def test_a_stage_that_a_job_told_has_a_spanish_name(masked: dict[str, Any]) -> None:
    assert masked["seed"] == 5
    spanish = _catalogue("es")[0]
    assert STAGES
    plain = {step.stage for step in STAGES if not isinstance(step.stage, Message)}
    assert plain - set(spanish) == set()


@pytest.mark.parametrize(
    ("kind", "given_text", "value"),
    [
        ("whole", "7", 7),
        ("number", "0,25", 0.25),
        ("number", 3.0, 3),
        ("values", "a, b ,", ["a", "b"]),
        ("toml", "[1, 2]", [1, 2]),
        ("columns", ["age"], ["age"]),
        ("text", "*", "*"),
        ("whole", "", None),
        ("flag", False, False),
    ],
)
def test_what_is_put_in_becomes_a_parameter(kind: Any, given_text: Any, value: Any) -> None:
    assert parsed("mdav", Parameter(name="x", kind=kind), given_text) == value


@pytest.mark.parametrize(
    ("kind", "text"), [("whole", "2.5"), ("number", "nan"), ("number", "much"), ("toml", "[1,")]
)
def test_what_is_no_value_is_refused_without_being_repeated(kind: Any, text: str) -> None:
    with pytest.raises(InputError, match="must be") as caught:
        parsed("mdav", Parameter(name="x", kind=kind), text)
    assert caught.value.code == "CEL-I060"
    assert text not in str(caught.value)


def test_a_number_outside_its_range_is_refused() -> None:
    control = Parameter(name="k", kind="whole", least=2, most=10)
    for wrong in (1, 11):
        with pytest.raises(InputError, match="from 2 to 10"):
            parsed("mdav", control, wrong)
    assert parsed("mdav", control, 2) == 2


def test_a_default_is_left_out_of_the_parameters() -> None:
    control = next(each for each in model.cards()["mdav"].controls if each.name == "k")
    assert changed("mdav", {"k": 5, "integer": True}, control, 3) == {"integer": True}
    assert changed("mdav", {}, control, 4) == {"k": 4}
    assert shown(control, {}) == 3


@given(
    st.recursive(
        st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_plain_values_come_back_from_toml(value: Any) -> None:
    assert tomllib.loads(f"value = {inline(value)}")["value"] == value


def test_a_step_starts_with_the_columns_that_it_can_work_on() -> None:
    assert model.new_step("noise", CENSUS)["columns"] == ["age"]
    assert model.new_step("pram", CENSUS)["columns"] == ["sex"]
    assert model.new_step("local-suppression", CENSUS)["columns"] == ["age", "sex"]


@pytest.mark.parametrize("kind", [kind for kinds in model.FAMILIES.values() for kind in kinds])
def test_every_method_can_be_run_as_it_is_offered(kind: str) -> None:
    step = model.new_step(kind, CENSUS)
    model.check(CENSUS, [step])
    numbers = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": numbers.integers(18, 90, 60),
            "sex": numbers.choice(["f", "m"], 60),
            "id": range(60),
        }
    )
    recipe = Recipe.from_table(model.recipe_table(CENSUS, [step]))
    from celosia.core.randomness import Seeded

    first = recipe.steps[0]
    made = first.method.apply(frame, first.columns, rng=Seeded(1)).frame
    assert made.columns == frame.columns


def test_a_recipe_file_is_read_back_as_the_same_recipe(tmp_path: Path) -> None:
    columns = [*CENSUS, {"name": 'odd "name"', "numeric": False, "role": "sensitive"}]
    steps = [model.new_step("mdav", CENSUS), model.new_step("pram", CENSUS)]
    table = model.recipe_table(columns, steps)
    (tmp_path / "recipe.toml").write_text(model.recipe_text(table), "utf-8")
    assert Recipe.load(tmp_path / "recipe.toml") == Recipe.from_table(table)


def test_a_step_without_columns_or_with_a_file_is_refused() -> None:
    step = model.new_step("mdav", CENSUS)
    with pytest.raises(InputError) as caught:
        model.check(CENSUS, [step | {"columns": []}])
    assert caught.value.code == "CEL-W071"
    named = {
        "method": "recoding",
        "columns": ["age"],
        "parameters": {"hierarchy": {"file": "/etc/passwd"}},
    }
    with pytest.raises(InputError) as refused:
        model.check(CENSUS, [named])
    assert refused.value.code == "CEL-W072"


def test_masking_writes_every_file_and_shows_the_same_people(
    work: Path, masked: dict[str, Any]
) -> None:
    names = {each.name for each in work.iterdir()}
    assert {
        "masked.csv",
        "masked-certificate.json",
        "masked-report.html",
        "recipe.toml",
        "result.json",
    } <= names
    assert masked["risk"]["smallest"] >= 5
    before, after = (pl.read_parquet(work / f"{name}.parquet") for name in ("before", "after"))
    # Groups of five near records: each masked income is near its own, and not equal to it.
    gap = (before["income"] - after["income"]).abs().mean()
    mixed = (before["income"] - after["income"].shuffle(seed=1)).abs().mean()
    assert masked["aligned"]
    assert gap is not None
    assert mixed is not None
    assert 0 < gap < mixed / 3  # type: ignore[operator]
    assert (before["income"] != after["income"]).any()


def test_figures_have_a_name_a_value_and_a_meaning_in_both_languages(
    masked: dict[str, Any],
) -> None:
    english = figures.risk_figures(masked) + figures.loss_figures(masked)
    token = chosen.set("es")
    try:
        spanish = figures.risk_figures(masked) + figures.loss_figures(masked)
    finally:
        chosen.reset(token)
    assert len(english) == len(spanish) >= 9
    for one, two in zip(english, spanish, strict=True):
        assert all(one)
        assert one[2] != two[2]


def test_the_map_has_points_that_can_be_applied(work: Path) -> None:
    found = jobs.map_variants(VOICE, folder=str(work), columns=["income", "tax"], seed=1)
    points = {point["name"]: point for point in found["points"]}
    assert points["none"]["risk"] == 1
    assert points["none"]["method"] is None
    chosen_point = points["mdav k=10"]
    step = {
        "method": chosen_point["method"],
        "columns": ["income", "tax"],
        "parameters": chosen_point["parameters"],
    }
    model.check(chosen_of(work)["columns"], [step])
    assert step["parameters"] == {"k": 10}


def test_the_command_and_the_python_text_do_the_same(
    work: Path, masked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert masked["seed"] == 5
    for name in ("data.parquet", "recipe.toml"):
        (tmp_path / name).write_bytes((work / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    texts = dict(model.code("incomes", "incomes", seed=5))
    parts = shlex.split(texts["Command line"])
    assert CliRunner().invoke(app, parts[1:]).exit_code == 0
    assert (tmp_path / "masked.csv").read_text("utf-8") == (work / "masked.csv").read_text("utf-8")
    (tmp_path / "masked.csv").unlink()
    (tmp_path / "again.py").write_text(texts["Python"], "utf-8")
    runpy.run_path(str(tmp_path / "again.py"))
    assert (tmp_path / "masked.csv").read_text("utf-8") == (work / "masked.csv").read_text("utf-8")


def test_a_private_method_needs_declarations() -> None:
    choice = {"method": "marginals", "columns": ["age"], "parameters": {"epsilon": 1}}
    with pytest.raises(InputError) as caught:
        synthesis.method_parameters(choice, {})
    assert caught.value.code == "CEL-W073"
    told_of = synthesis.method_parameters(choice, {"age": {"bounds": [0, 100]}})
    assert told_of["bounds"] == {"age": [0, 100]}


def test_a_private_sample_is_made_and_measured(work: Path) -> None:
    columns = chosen_of(work)["columns"]
    declared = synthesis_jobs.declare(VOICE, folder=str(work), columns=columns)
    choice = synthesis.first_choice("safe-pub", columns)
    choice["parameters"] |= {"epsilon": 5, "delta": 0.01, "choice": 0.2, "bins": 2}
    result = synthesis_jobs.run(
        VOICE, folder=str(work), columns=columns, choice=choice, declared=declared, seed=2
    )
    assert result["private"]
    assert (result["epsilon"], result["delta"]) == (5, 0.01)
    assert figures.privacy_figures(result)


@pytest.mark.parametrize("kind", ["copula", "marginals"])
def test_a_synthetic_table_is_made_and_measured(
    kind: str, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = chosen_of(work)["columns"]
    declared = synthesis_jobs.declare(VOICE, folder=str(work), columns=columns)
    choice = synthesis.first_choice(kind, columns)
    result = synthesis_jobs.run(
        VOICE,
        folder=str(work),
        columns=columns,
        choice=choice,
        declared=declared,
        holdout=kind == "copula",
        seed=2,
    )
    assert result["private"] == (kind == "marginals")
    assert (result["account"]["risk"]["membership"] is not None) == (kind == "copula")
    assert 0 <= result["nearest"]["copies"] < 0.05
    assert len(figures.privacy_figures(result)) >= 3
    monkeypatch.chdir(tmp_path)
    for name in ("data.parquet", "members.parquet", "outsiders.parquet"):
        if (work / name).exists():
            (tmp_path / name).write_bytes((work / name).read_bytes())
    texts = dict(
        synthesis.code(
            "incomes", "incomes", columns, choice, declared, holdout=kind == "copula", seed=2
        )
    )
    made = (work / "synthetic.csv").read_text("utf-8")
    (tmp_path / "again.py").write_text(texts["Python"], "utf-8")
    runpy.run_path(str(tmp_path / "again.py"))
    assert (tmp_path / "synthetic.csv").read_text("utf-8") == made
    for name in ("synthetic.csv", "synthetic.csv.cert.json", "report.html"):
        (tmp_path / name).unlink()
    parts = shlex.split(texts["Command line"])
    assert CliRunner().invoke(app, parts[1:]).exit_code == 0
    assert (tmp_path / "synthetic.csv").read_text("utf-8") == made


def test_distributions_are_shares_over_the_same_bins() -> None:
    found = comparison.distribution(pl.Series([1.5, 2.5, 9.0]), pl.Series([1.5, None, 9.0]))
    assert sum(found["before"]) == pytest.approx(1)
    assert sum(found["after"]) == pytest.approx(1)
    assert len(found["labels"]) == len(found["before"]) == len(found["after"]) == comparison.BINS
    letters = [chr(97 + place) for place in range(20)]
    many = comparison.distribution(pl.Series(letters), pl.Series(letters))
    assert many["labels"][-1] == comparison.REST
    assert sum(many["before"]) == pytest.approx(1)


def test_correlations_are_those_of_numpy() -> None:
    numbers = np.random.default_rng(3).normal(size=(50, 3))
    before = pl.DataFrame(numbers, schema=["a", "b", "c"])
    after = before.with_columns(pl.col("c").reverse())
    found = comparison.correlations(before, after)
    assert found is not None
    for first, second, one, two in found["pairs"]:
        for frame, value in ((before, one), (after, two)):
            expected = np.corrcoef(frame.to_numpy().T)[first, second]
            assert value == pytest.approx(expected)


def test_copies_are_at_distance_nought_and_strangers_are_not() -> None:
    numbers = np.random.default_rng(4).normal(size=(200, 2))
    real = pl.DataFrame(numbers, schema=["a", "b"])
    copies = comparison.nearest_distances(real, real, ["a", "b"])
    far = comparison.nearest_distances(real, real.select(pl.all() + 50.0), ["a", "b"])
    assert copies is not None
    assert far is not None
    assert copies["copies"] == 1
    assert far["copies"] == 0
    assert far["median_made"] > 10 * far["median_real"]


COLUMNS = [
    {"name": "who", "numeric": False, "role": "identifier"},
    {"name": "town", "numeric": False, "role": "quasi-identifier"},
    {"name": "ill", "numeric": False, "role": "sensitive"},
]


@pytest.fixture
def streaming(tmp_path: Path) -> Path:
    pl.DataFrame(
        {"who": [f"p{n}" for n in range(30)], "town": ["a", "b"] * 15, "ill": ["yes", "no"] * 15}
    ).write_parquet(tmp_path / "data.parquet")
    return tmp_path


def arrive(folder: Path, text: str, **asked: Any) -> dict[str, Any]:
    steps = stream.stream_steps(COLUMNS)
    return jobs.stream_records(
        VOICE, folder=str(folder), columns=COLUMNS, steps=steps, text=text, seed=4, **asked
    )


def test_a_stream_goes_on_where_it_stopped(streaming: Path) -> None:
    first = arrive(streaming, stream.arriving(streaming, 0))
    again = arrive(streaming, stream.arriving(streaming, first["records"]))
    assert (first["records"], again["records"], again["resumed"]) == (20, 30, 20)
    assert again["heads"] == ["town", "ill"]
    assert len(again["rows"]) == stream.MOST_SHOWN
    assert len((streaming / stream.OUTPUT).read_text("utf-8").splitlines()) == 31
    assert again["loss"]["record"] > 0
    assert (streaming / stream.CERTIFICATE).exists()
    assert Work.at(str(streaming)).load("stream")["found"]["released"] == 30
    stream.begin_anew(streaming)
    assert arrive(streaming, stream.arriving(streaming, 0))["records"] == 20


def test_a_person_of_a_stream_has_a_limit(streaming: Path) -> None:
    text = "who,town,ill\np1,a,yes\np1,b,no\np2,a,no\n"
    found = arrive(streaming, text, person="who", most=1)
    assert (found["released"], found["withheld"]) == (2, 1)
    again = arrive(streaming, text, person="who", most=1)
    assert (again["records"], again["released"]) == (6, 2)
    assert again["loss"]["person"] == pytest.approx(again["loss"]["record"])
    assert stream.command(person="who", most=1, seed=None).endswith("--person who --most 1")


def test_a_stream_is_masked_record_by_record_or_refused(streaming: Path) -> None:
    whole = [{"method": "rank-swap", "columns": ["town"], "parameters": {"percent": 5}}]
    text = stream.arriving(streaming, 0)
    with pytest.raises(InputError) as refused:
        stream.mask_arrived(streaming, COLUMNS, whole, text)
    assert refused.value.code == "CEL-V207"
    with pytest.raises(InputError) as long:
        stream.mask_arrived(streaming, COLUMNS, whole, "x" * (stream.MOST_TEXT + 1))
    assert long.value.code == "CEL-W110"
