"""Releases of graphs in files: loaded back as they were, with a certificate that names nobody."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.graphs.test_run import MARK, SCHEMA, network

from celosia import Seeded
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.release import certificate_path
from celosia.graphs import (
    GeneralisedGraph,
    Graph,
    GraphRelease,
    KDegree,
    KObfuscation,
    RandomSparsification,
    SaNGreeA,
    UncertainGraph,
    publish,
)
from celosia.tables.masking import Microaggregation, Recipe

RECIPE = Recipe.of(SCHEMA, [(Microaggregation(k=10), ["age"])])


@pytest.mark.parametrize("ending", ["edges", "csv", "tsv", "graphml", "gml", "net", "json"])
@pytest.mark.parametrize("packed", ["", ".gz"], ids=["plain", "packed"])
def test_a_plain_graph_is_loaded_with_the_vertices_that_have_no_edge(
    ending: str, packed: str, tmp_path: Path
) -> None:
    made = publish(network(), RandomSparsification(probability=0.7), rng=Seeded(1), assess=False)
    assert isinstance(made.data, Graph)
    assert (made.data.degrees == 0).sum() > 5
    loaded = GraphRelease.load(made.save(tmp_path / f"safe.{ending}{packed}"))
    assert isinstance(loaded.data, Graph)
    assert loaded.data.same_edges(made.data)
    assert loaded.data.labels is None
    assert loaded.guarantee == made.guarantee
    assert loaded.methods == made.methods
    assert loaded.key is None
    text = certificate_path(tmp_path / f"safe.{ending}{packed}").read_text("utf-8")
    assert MARK not in text


@pytest.mark.parametrize("ending", ["graphml", "gml", "json"])
def test_masked_attributes_and_kept_names_are_loaded_back(ending: str, tmp_path: Path) -> None:
    masked = publish(network(), KDegree(k=3), attributes=RECIPE, rng=Seeded(1), assess=False)
    loaded = GraphRelease.load(masked.save(tmp_path / f"masked.{ending}"))
    assert isinstance(masked.data, Graph)
    assert isinstance(loaded.data, Graph)
    assert loaded.data.same_edges(masked.data)
    assert loaded.data.attributes is not None
    assert masked.data.attributes is not None
    assert loaded.data.attributes.equals(masked.data.attributes)
    with pytest.warns(PrivacyWarning):
        named = publish(network(), KDegree(k=3), keep_names=True, rng=Seeded(1))
    again = GraphRelease.load(named.save(tmp_path / f"named.{ending}"))
    assert isinstance(named.data, Graph)
    assert isinstance(again.data, Graph)
    assert again.data.same_edges(named.data)
    assert again.data.labels is not None
    assert named.data.labels is not None
    assert again.data.labels.to_list() == named.data.labels.to_list()
    assert again.warnings == named.warnings


def test_an_edge_list_that_would_lose_attributes_is_refused(tmp_path: Path) -> None:
    masked = publish(network(), KDegree(k=3), attributes=RECIPE, rng=Seeded(1), assess=False)
    with pytest.raises(InputError) as error:
        masked.save(tmp_path / "safe.edges")
    assert error.value.code == "CEL-G014"
    assert [*tmp_path.iterdir()] == []


def test_an_edge_list_keeps_the_names_of_isolated_vertices(tmp_path: Path) -> None:
    with pytest.warns(PrivacyWarning):
        named = publish(
            network(),
            RandomSparsification(probability=0.7),
            keep_names=True,
            rng=Seeded(1),
            assess=False,
        )
    loaded = GraphRelease.load(named.save(tmp_path / "safe.edges"))
    assert isinstance(named.data, Graph)
    assert isinstance(loaded.data, Graph)
    assert loaded.data.order == named.data.order == network().order


def test_an_uncertain_graph_is_loaded_back(tmp_path: Path) -> None:
    made = publish(network(), KObfuscation(k=2, tolerance=0.3), rng=Seeded(1))
    loaded = GraphRelease.load(made.save(tmp_path / "safe.csv"))
    assert isinstance(made.data, UncertainGraph)
    assert isinstance(loaded.data, UncertainGraph)
    assert np.array_equal(loaded.data.pairs, made.data.pairs)
    assert np.array_equal(loaded.data.steps, made.data.steps)
    assert loaded.data.order == made.data.order
    assert loaded.figures == made.figures


def test_super_vertices_are_loaded_back(tmp_path: Path) -> None:
    made = publish(network(), SaNGreeA(k=4), rng=Seeded(1))
    loaded = GraphRelease.load(made.save(tmp_path / "safe.json"))
    assert isinstance(made.data, GeneralisedGraph)
    assert isinstance(loaded.data, GeneralisedGraph)
    for name in ("sizes", "internal", "super_edges", "between"):
        assert np.array_equal(getattr(loaded.data, name), getattr(made.data, name))
    assert MARK not in (tmp_path / "safe.json").read_text("utf-8")


def test_each_sort_of_graph_has_its_endings(tmp_path: Path) -> None:
    plain = publish(network(), KDegree(k=2), rng=Seeded(1), assess=False)
    chances = publish(network(), KObfuscation(k=2, tolerance=0.3), rng=Seeded(1), assess=False)
    groups = publish(network(), SaNGreeA(k=4), rng=Seeded(1), assess=False)
    for release, name, code in (
        (plain, "safe.xyz", "CEL-G002"),
        (chances, "safe.edges", "CEL-G024"),
        (chances, "safe.json", "CEL-G024"),
        (groups, "safe.csv", "CEL-G024"),
        (groups, "safe.graphml.gz", "CEL-G024"),
    ):
        with pytest.raises(InputError) as error:
            release.save(tmp_path / name)
        assert error.value.code == code, name
    assert [*tmp_path.iterdir()] == []


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = publish(network(), KDegree(k=2), rng=Seeded(1), assess=False).save(
        tmp_path / "safe.edges"
    )
    path.write_text(path.read_text() + "0 59\n")
    with pytest.raises(InputError) as error:
        GraphRelease.load(path)
    assert error.value.code == "CEL-I022"


def test_the_report_draws_a_small_graph_and_names_nobody(tmp_path: Path) -> None:
    release = publish(network(), KDegree(k=3), rng=Seeded(1))
    page = release.report(tmp_path / "report.html").read_text("utf-8")
    for words in ("k-degree anonymity, k = 3", "Who can be found", "<svg", "What the graph kept"):
        assert words in page
    assert MARK not in page
    assert "drawn" not in json.dumps(release.certificate())
    bare = publish(network(), KDegree(k=3), rng=Seeded(1), assess=False)
    assert "The original and the release" not in bare.document().html()
