"""Releases of traces: what they tell, that they come back, and that seeds repeat them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.traces.small_city import small_city

from celosia.core.errors import InputError
from celosia.core.messages import speaking
from celosia.core.randomness import Seeded, System
from celosia.traces import (
    Generalisation,
    Glove,
    PlanarLaplace,
    PublishOptions,
    SwapLocations,
    TraceMethod,
    TraceMicroaggregation,
    TraceRelease,
    method_from_text,
    methods,
    publish,
    traces_from,
)
from celosia.traces.keys import with_key, write_key
from celosia.traces.samples import samples_from

METHODS = [
    Generalisation(k=4, suppression=0.2),
    Glove(k=3),
    PlanarLaplace(times=4, within=200),
    SwapLocations(k=2, metres=5000, seconds=7200),
    TraceMicroaggregation(k=3),
]
QUICK = PublishOptions(assess=False)


@pytest.mark.parametrize("method", METHODS, ids=lambda each: each.method_name)
def test_a_release_comes_back_as_it_was(method: TraceMethod, tmp_path: Path) -> None:  # check 46
    release = publish(small_city().traces, method, options=QUICK, rng=Seeded(1))
    path = release.save(tmp_path / "safe.csv")
    again = TraceRelease.load(path)
    assert again.data.equals(release.data)
    assert again.guarantee == release.guarantee
    assert again.certificate() == release.certificate()
    promised = release.guarantee
    assert promised.unit == "person"
    assert promised.neighbours is None
    assert promised.assumes
    assert promised.leaves_open


@pytest.mark.parametrize("method", METHODS, ids=lambda each: each.method_name)
def test_the_same_seed_gives_the_same_bytes(
    method: TraceMethod, tmp_path: Path
) -> None:  # check 45
    texts = []
    for name in ("one.csv", "two.csv"):
        release = publish(small_city().traces, method, options=QUICK, rng=Seeded(8))
        assert release.guarantee.simulation
        texts.append(release.save(tmp_path / name).read_bytes())
    assert texts[0] == texts[1]
    real = publish(small_city().traces, method, options=QUICK)
    assert not real.guarantee.simulation
    assert repr(System()) == "System()"


@pytest.mark.parametrize("method", METHODS, ids=lambda each: each.method_name)
def test_no_original_coordinate_and_no_name_is_published(
    method: TraceMethod, tmp_path: Path
) -> None:  # check 19
    made = small_city()
    release = publish(made.traces, method, rng=Seeded(1))
    text = release.save(tmp_path / "safe.csv").read_text()
    told = text + (tmp_path / "safe.csv.cert.json").read_text()
    release.report(tmp_path / "report.html")
    told += (tmp_path / "report.html").read_text()
    cells = set(told.replace(",", " ").replace('"', " ").split())
    raw = made.frame
    for column in ("lat", "lon"):
        texts = {str(value) for value in raw[column].to_list() if len(str(value).split(".")[1]) > 4}
        assert len(texts) > 1000
        assert not texts & cells
    assert not set(raw["user"].to_list()) & cells


def test_a_report_has_maps_attacks_and_both_languages(tmp_path: Path) -> None:
    release = publish(small_city().traces, Glove(k=3), rng=Seeded(1))
    page = release.document().html()
    assert page.count("<svg") >= 1
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "What attackers find" in page
    with speaking("es"):
        spanish = release.document().html()
    assert "Qué encuentran los atacantes" in spanish
    assert "k-anonimato de trazas enteras" in spanish


def test_the_key_brings_back_the_owners(tmp_path: Path) -> None:
    traces = small_city().traces
    release = publish(traces, Glove(k=3), options=QUICK, rng=Seeded(1))
    assert release.samples is not None
    with write_key(release.samples, traces, tmp_path / "key.csv"):
        release.save(tmp_path / "safe.csv")
    assert (tmp_path / "key.csv").stat().st_mode & 0o077 == 0
    frame = TraceRelease.load(tmp_path / "safe.csv").data
    found = with_key(samples_from(frame, traces.plane), tmp_path / "key.csv", traces)
    assert (found.owner == release.samples.owner).all()
    pl.DataFrame({"trace": [0], "person": ["nobody"]}).write_csv(tmp_path / "bad.csv")
    with pytest.raises(InputError, match="not the key"):
        with_key(samples_from(frame, traces.plane), tmp_path / "bad.csv", traces)


def test_every_method_is_found_by_its_name() -> None:
    assert list(methods()) == sorted(methods())
    for method in METHODS:
        assert methods()[method.method_name] is type(method)
    assert method_from_text("glove:k=7") == Glove(k=7)


def test_exactly_one_method_is_asked_for() -> None:
    with pytest.raises(InputError, match="exactly one method"):
        publish(small_city().traces, [Glove(k=3), Glove(k=4)])


def test_sensitive_places_and_ends_are_left_out() -> None:
    from dataclasses import replace

    made = small_city()
    home = made.traces.plane.degrees(made.homes[0, 0], made.homes[0, 1])
    place = (float(home[0]), float(home[1]), 300.0)
    known = replace(made.traces.declaration, sensitive=(place,), trip_gap=600.0)
    traces = traces_from(made.frame, known)
    release = publish(
        traces, PlanarLaplace(times=4, within=200), options=PublishOptions(trim=300, assess=False)
    )
    assert release.left_out["sensitive_points"] >= 10
    assert release.left_out["trimmed_points"] > 0
    assert any("promise nothing formal" in each for each in release.guarantee.leaves_open)
    assert str(place[2]) not in str(release.provenance.parameters["declaration"])


def test_nothing_left_after_cleaning_is_an_error() -> None:
    with pytest.raises(InputError, match="no point is left"):
        publish(small_city().traces, Glove(k=3), options=PublishOptions(trim=90_000))


def test_a_table_in_memory_is_published_by_its_declaration() -> None:
    made = small_city()
    release = publish(
        made.frame, Glove(k=3), declaration=made.traces.declaration, options=QUICK, rng=Seeded(1)
    )
    same = publish(made.traces, Glove(k=3), options=QUICK, rng=Seeded(1))
    assert release.data.equals(same.data)
    with pytest.raises(InputError, match="no region"):
        publish(made.frame, Glove(k=3))
