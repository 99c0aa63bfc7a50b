"""Publishing logs and sets: releases, guarantees, certificates, and what they never tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.logs.generated import SEEDS, search_log

from celosia import datasets
from celosia.core.errors import CelosiaError
from celosia.core.messages import speaking
from celosia.core.randomness import Seeded
from celosia.logs import (
    Coherence,
    Disassociation,
    Fields,
    KmAnonymity,
    LocalGeneralisation,
    LogDeclaration,
    LogRelease,
    RhoUncertainty,
    SetRelease,
    UserThreshold,
    attacks,
    log_of,
    method_from,
    methods,
    publish,
    publish_sets,
    transactions_of,
)
from celosia.logs.method import SetMethod

MARKERS = ("zebrafish", "quokka", "203.0.113.99")


@pytest.fixture(scope="module")
def made() -> datasets.Baskets:
    return datasets.baskets(400, 40, 5, 30, seed=2)


SET_METHODS = [
    KmAnonymity(k=5, m=2),
    LocalGeneralisation(k=5),
    Coherence(k=5, p=2),
    RhoUncertainty(p=2),
    Disassociation(k=5, m=2),
    KmAnonymity(k=5, m=2, search="local"),
    RhoUncertainty(p=1, search="top-down"),
    Disassociation(k=5, m=2, max_cluster=12, joint=4),
]


@pytest.mark.parametrize("method", SET_METHODS, ids=lambda each: each.method_name)
def test_published_sets_are_checked_saved_and_opened_equal(
    made: datasets.Baskets, method: SetMethod[object], tmp_path: Path
) -> None:
    """Check 46."""
    release = publish_sets(
        made.transactions,
        method,
        hierarchy=made.hierarchy,
        sensitive=made.sensitive,
        rng=Seeded(1),
    )
    ending = "json" if isinstance(method, Disassociation) else "txt"
    path = release.save(tmp_path / f"safe.{ending}")
    opened = SetRelease.load(path)
    assert opened.certificate()["measures"]["methods"] == release.measures()["methods"]
    assert opened.guarantee == release.guarantee
    assert opened.data.count == release.data.count
    if not isinstance(method, Disassociation):
        assert release.account.violations in (0, None)
        pairs = zip(opened.data.sets(), release.data.sets(), strict=True)  # type: ignore[union-attr]
        assert all(set(one) == set(other) for one, other in pairs)
    assert release.guarantee.simulation
    assert release.guarantee.neighbours is None
    assert release.guarantee.assumes
    assert release.guarantee.leaves_open
    assert release.document().html()
    with speaking("es"):
        assert "comprob" in release.document().html() or release.account.violations is None


def test_the_same_seed_gives_the_same_bytes(made: datasets.Baskets, tmp_path: Path) -> None:
    """Check 45."""
    paths = []
    for name in ("a.txt", "b.txt"):
        release = publish_sets(
            made.transactions, KmAnonymity(k=5), hierarchy=made.hierarchy, rng=Seeded(4)
        )
        paths.append(release.save(tmp_path / name))
    assert paths[0].read_bytes() == paths[1].read_bytes()
    real = publish_sets(made.transactions, KmAnonymity(k=5), hierarchy=made.hierarchy)
    assert not real.guarantee.simulation
    assert real.provenance.seed is None


def marked_log() -> LogRelease:
    rows = 60
    frame = pl.DataFrame(
        {
            "user": [f"zebrafish{n % 20}" for n in range(rows)],
            "query": ["weather"] * (rows - 1) + ["quokka"],
            "ip": ["203.0.113.99"] * rows,
        }
    )
    log = log_of(frame, LogDeclaration(person="user", text="query", ip="ip"))
    return publish(log, UserThreshold(k=5), rng=Seeded(1))


def test_a_log_is_saved_and_opened_equal_and_tells_no_value(tmp_path: Path) -> None:
    """Checks 39 and 46 for logs."""
    release = marked_log()
    path = release.save(tmp_path / "safe.csv")
    assert LogRelease.load(path).data.equals(release.data)
    shown = release.document().html() + str(release.certificate()) + repr(release)
    shown += path.read_text("utf-8") + path.with_name("safe.csv.cert.json").read_text("utf-8")
    assert not [mark for mark in MARKERS if mark in shown]


def test_no_error_tells_a_value_of_the_log() -> None:
    frame = pl.DataFrame({"user": ["zebrafish", "quokka"], "query": ["zebrafish", "quokka"]})
    log = log_of(frame, LogDeclaration(person="user", text="query"))
    for method in (UserThreshold(k=2), UserThreshold(k=9)):
        with pytest.raises(CelosiaError) as caught:
            publish(log, method)
        assert not [mark for mark in MARKERS if mark in str(caught.value)]


def test_methods_that_do_not_go_together_are_refused(made: datasets.Baskets) -> None:
    log = datasets.searches(60, seed=1).log()
    wrong = (
        [KmAnonymity(k=2)],
        [UserThreshold(k=2), UserThreshold(k=3)],
        [method_from("user-microaggregation", {"k": 3}), UserThreshold(k=2)],
    )
    for chosen in wrong:
        with pytest.raises(CelosiaError) as caught:
            publish(log, chosen)  # type: ignore[arg-type]
        assert caught.value.code == "CEL-U023"
    with pytest.raises(CelosiaError) as caught:
        publish_sets(made.transactions, UserThreshold(k=2))  # type: ignore[arg-type]
    assert caught.value.code == "CEL-U023"


@pytest.mark.parametrize("name", methods())
def test_every_method_comes_back_from_its_description(name: str) -> None:
    given = {} if name in {"rho-uncertainty", "fields"} else {"k": 5}
    if name == "semantic-generalisation":
        given = {"lexicon": "x.tsv"}  # type: ignore[dict-item]
    method = method_from(name, given)
    described = method.as_dict()
    again = method_from(described.pop("method"), described)
    assert again == method


def test_known_items_single_out_persons_as_published() -> None:
    """Check 31: means over six logs, within 0.03."""
    found = []
    for seed in SEEDS:
        sets = transactions_of(search_log(seed))
        found.append(
            [
                attacks.known_items(sets, items=items, rng=Seeded(seed)).share_exposed
                for items in (1, 2, 3, 4)
            ]
        )
    for mean, published in zip(np.mean(found, axis=0), (0.12, 0.48, 0.73, 0.87), strict=True):
        assert abs(mean - published) < 0.03


def test_linked_pseudonyms_are_found_and_shorter_periods_help() -> None:
    log = datasets.searches(300, seed=5).log()
    shares = [
        publish(log, [Fields(person="pseudonym", period=period)], rng=Seeded(1))
        .account.attacks[3]
        .share_exposed
        for period in ("whole", "day")
    ]
    assert shares[0] > 0.4
    assert shares[1] < shares[0] / 2


def test_a_large_share_of_one_person_is_told() -> None:
    frame = pl.DataFrame({"user": ["a"] * 9 + ["b"], "query": ["x"] * 10})
    log = log_of(frame, LogDeclaration(person="user", text="query"))
    with pytest.warns(UserWarning, match="one person has"):
        publish(log, UserThreshold(k=2), rng=Seeded(1))
