"""Several releases of one source, and an attacker who joins all of them."""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.visits import SCHEMA as VISITS
from tests.engines.visits import Publisher, check_series, visits

from celosia import KAnonymity, tables
from celosia.core.errors import Cancelled, EngineError, InputError, PrivacyError, PrivacyWarning
from celosia.core.progress import Step
from celosia.engines import DuckDBTables, Groups
from celosia.tables import DistinctDiversity, Hierarchy, Schema
from celosia.tables.history import ReleaseHistory
from celosia.tables.history.series import SplitGroups
from celosia.tables.release import PublishedTable

PATHS = [(f"{a}{b}", f"{a}?", "*") for a in "012" for b in "01"]
LABEL = {path[0]: path for path in PATHS}
TREE = Hierarchy.from_paths(PATHS)
QUASI = ["x", "y"]


def schema(**more: Any) -> Schema:
    return Schema.of(quasi_identifiers=dict.fromkeys(QUASI, TREE), sensitive=["illness"], **more)


BY_ID = schema(identifiers=["id"])
BY_PERSON = schema(person="id")


def table(people: dict[int, tuple[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            (f"id{number}", x, y, "flu" if number % 3 else "gout")
            for number, (x, y) in people.items()
        ],
        schema=["id", "x", "y", "illness"],
        orient="row",
    )


def publish(frame: pl.DataFrame, roles: Schema, history: Path, **how: Any) -> tables.TableRelease:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return tables.publish(
            frame, roles, how.pop("models", KAnonymity(2)), history=history, **how
        )


class Attacker:
    """Knows everybody's cells, sees every release, and follows each row from one to the next."""

    def __init__(self) -> None:
        self.seen: dict[str, list[object]] = defaultdict(list)
        self.releases = 0

    def watch(self, frame: pl.DataFrame, release: tables.TableRelease) -> None:
        assert release.source_rows is not None
        labels = dict(
            zip(release.source_rows.tolist(), release.data.select(*QUASI).rows(), strict=True)
        )
        for row, person in enumerate(frame["id"]):
            label: object = labels.get(row)
            everywhere = label == ("*", "*") and release.solution.levels != (2, 2)
            history = self.seen[person]
            history += [None] * (self.releases - len(history))
            history.append(None if everywhere else label)
        self.releases += 1

    def candidates(self) -> Counter[tuple[object, ...]]:
        """For each history how many people have it; of those who were ever shown."""
        padded = (
            (*history, *[None] * (self.releases - len(history))) for history in self.seen.values()
        )
        return Counter(history for history in padded if any(history))


cells = st.tuples(st.sampled_from([p[0] for p in PATHS]), st.sampled_from([p[0] for p in PATHS]))
populations = st.lists(
    st.dictionaries(st.integers(0, 15), cells, min_size=4, max_size=16), min_size=2, max_size=3
)


@settings(max_examples=60)
@given(populations, st.sampled_from([0.0, 0.3, 1.0]), st.booleans())
def test_no_join_of_releases_leaves_fewer_candidates_than_promised(
    sources: list[dict[int, tuple[str, str]]], suppression: float, drop: bool
) -> None:
    home: dict[int, tuple[str, str]] = {}
    attacker = Attacker()
    with tempfile.TemporaryDirectory() as folder:
        for people in sources:
            # A person's cells stay the same; people come and go.
            now = {number: home.setdefault(number, place) for number, place in people.items()}
            frame = table(now)
            try:
                release = publish(
                    frame,
                    BY_ID,
                    Path(folder) / "x.history",
                    suppression=suppression,
                    drop_suppressed=drop,
                )
            except PrivacyError:
                continue
            attacker.watch(frame, release)
            crowds = attacker.candidates()
            joint = release.solution.joint
            assert joint is not None
            assert min(crowds.values()) >= 2
            assert joint.smallest == min(crowds.values())
            assert joint.average_risk == pytest.approx(len(crowds) / sum(crowds.values()))


def kept_at(
    people: dict[int, tuple[str, str]], node: tuple[int, int], before: Mapping[int, object], k: int
) -> set[int]:
    """Who is shown at a node, by the definitions: classes of k, joint classes of k or none."""
    label = {n: (LABEL[x][node[0]], LABEL[y][node[1]]) for n, (x, y) in people.items()}
    crowd = Counter(before.values())
    shown = set(people)
    sizes = Counter(label.values())
    joint = Counter((label[n], before.get(n)) for n in people)
    required = {p: k if p is None or crowd[p] >= k else 1 for p in {*before.values(), None}}
    bad = {c for c, size in sizes.items() if size < k}
    bad |= {c for (c, p), size in joint.items() if size < required[p]}
    shown = {n for n in people if label[n] not in bad}
    while True:
        few = set()
        for p, size in crowd.items():
            here = {n for n in shown if before.get(n) == p}
            if here and 0 < size - len(here) < (required[p] if required[p] > 1 else 0):
                few |= {label[n] for n in here}
        if not few:
            return shown
        shown = {n for n in shown if label[n] not in few}


def loss(people: dict[int, tuple[str, str]], node: tuple[int, int], shown: set[int]) -> float:
    total = 1.0
    for column in (0, 1):
        wide = Counter(path[node[column]] for path in PATHS)
        covered = [
            wide[LABEL[cell[column]][node[column]]] if n in shown else len(PATHS)
            for n, cell in people.items()
        ]
        share = (sum(covered) - len(people)) / (len(people) * (len(PATHS) - 1))
        total *= (1 + share) ** 0.5
    return total - 1


@settings(max_examples=60)
@given(populations, st.sampled_from([0.0, 0.3, 1.0]))
def test_the_release_that_keeps_joint_classes_is_the_best_one(
    sources: list[dict[int, tuple[str, str]]], suppression: float
) -> None:
    first, second = sources[:2]
    second = {n: first.get(n, place) for n, place in second.items()}
    with tempfile.TemporaryDirectory() as folder:
        history = Path(folder) / "x.history"
        frame = table(first)
        try:
            release = publish(frame, BY_ID, history, suppression=1.0, levels={"x": 1, "y": 1})
        except PrivacyError:
            return
        attacker = Attacker()
        attacker.watch(frame, release)
        before = {
            int(person[2:]): tuple(history)
            for person, history in attacker.seen.items()
            if any(history)
        }
        solutions = {}
        for node in product(range(3), range(3)):
            shown = kept_at(second, node, before, 2)
            if shown and len(second) - len(shown) <= suppression * len(second):
                solutions[node] = loss(second, node, shown)
        if not solutions:
            with pytest.raises(PrivacyError):
                publish(table(second), BY_ID, history, suppression=suppression)
            return
        found = publish(table(second), BY_ID, history, suppression=suppression)
        assert found.solution.loss == pytest.approx(min(solutions.values()), abs=1e-9)


PEOPLE = {n: PATHS[n % 6][:1] + PATHS[n // 6 % 6][:1] for n in range(72)}


def test_complementary_releases_are_refused_with_their_combined_risk(tmp_path: Path) -> None:
    frame, history = table(PEOPLE), tmp_path / "x.history"
    publish(frame, BY_ID, history, models=KAnonymity(6), levels={"x": 0, "y": 2})
    with pytest.raises(PrivacyError) as refused:
        publish(frame, BY_ID, history, models=KAnonymity(6), levels={"x": 2, "y": 0})
    facts = refused.value.details
    assert refused.value.code == "CEL-P123"
    assert (facts["smallest"], facts["below"], facts["average_risk"]) == (2, 72, 0.5)
    with ReleaseHistory.open(history) as book:
        assert len(book.entries()) == 1
    again = publish(frame, BY_ID, history, models=KAnonymity(6))
    assert again.solution.joint is not None
    assert again.solution.joint.smallest >= 6


def test_a_risk_that_is_accepted_in_writing_is_kept(tmp_path: Path) -> None:
    frame, history = table(PEOPLE), tmp_path / "x.history"
    publish(frame, BY_ID, history, models=KAnonymity(6), levels={"x": 0, "y": 2})
    how: dict[str, Any] = {"models": KAnonymity(6), "levels": {"x": 2, "y": 0}}
    with pytest.warns(PrivacyWarning, match="72 people or records"):
        accepted = tables.publish(
            frame,
            BY_ID,
            KAnonymity(6),
            levels={"x": 2, "y": 0},
            history=history,
            accept_joint="the board said so",
        )
    joint = accepted.solution.joint
    assert joint is not None
    assert (joint.smallest, joint.below, joint.accepted) == (2, 72, "the board said so")
    accepted.save(tmp_path / "safe.csv")
    loaded = tables.TableRelease.load(tmp_path / "safe.csv")
    assert loaded.solution.joint == joint
    # What is below already is no reason to refuse the same once more.
    assert publish(frame, BY_ID, history, **how).solution.joint is not None
    for reason in ("", " "):
        with pytest.raises(InputError):
            publish(frame, BY_ID, history, accept_joint=reason)
    with pytest.raises(InputError):
        tables.publish(frame, BY_ID, KAnonymity(2), accept_joint="no history")


def test_people_with_several_records_are_counted_once_in_joint_classes(tmp_path: Path) -> None:
    rows = [(f"id{n % 12}", x, y, "flu") for n, (x, y) in PEOPLE.items()]
    frame = pl.DataFrame(rows, schema=["id", "x", "y", "illness"], orient="row")
    history = tmp_path / "x.history"
    publish(frame, BY_PERSON, history, models=KAnonymity(2), levels={"x": 0, "y": 2})
    with pytest.raises(PrivacyError):
        publish(frame, BY_PERSON, history, models=KAnonymity(2), levels={"x": 2, "y": 0})
    release = publish(frame, BY_PERSON, history, models=[KAnonymity(2)])
    people = defaultdict(set)
    assert release.source_rows is not None
    for label, row in zip(release.data.select(*QUASI).rows(), release.source_rows, strict=True):
        person, x, _, _ = rows[int(row)]
        if label != ("*", "*") or release.solution.levels == (2, 2):
            people[x, label].add(person)
    assert release.solution.joint is not None
    assert release.solution.joint.smallest == min(map(len, people.values())) >= 2


@pytest.mark.parametrize(
    ("change", "roles", "code"),
    [
        (lambda frame: frame, BY_PERSON, "CEL-P122"),
        (lambda frame: frame.rename({"id": "name"}), schema(identifiers=["name"]), "CEL-P122"),
    ],
)
def test_another_source_is_refused(tmp_path: Path, change: Any, roles: Schema, code: str) -> None:
    frame, history = table(PEOPLE), tmp_path / "x.history"
    publish(frame, BY_ID, history)
    with pytest.raises(InputError) as refused:
        publish(change(frame), roles, history)
    assert refused.value.code == code


def test_a_source_that_nobody_is_known_of_is_warned_about(tmp_path: Path) -> None:
    frame, history = table(PEOPLE), tmp_path / "x.history"
    publish(frame, BY_ID, history)
    with pytest.warns(PrivacyWarning, match="no record of this table was in any of them"):
        tables.publish(
            frame.with_columns(id=pl.col("id") + "?"), BY_ID, KAnonymity(2), history=history
        )


def test_records_without_identifiers_are_known_by_their_cells(tmp_path: Path) -> None:
    frame, history = table(PEOPLE).drop("id"), tmp_path / "x.history"
    roles = schema()
    publish(frame, roles, history, models=[KAnonymity(6), DistinctDiversity(2)])
    joint = publish(frame[::-1], roles, history, models=KAnonymity(6)).solution.joint
    assert joint is not None
    assert (joint.earlier, joint.known) == (1, 72)


@pytest.fixture(params=["file", "engine"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Publisher:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    visits().write_parquet(source)

    def run(**how: Any) -> PublishedTable:
        if request.param == "file":
            return tables.publish_file(source, target, VISITS, KAnonymity(5), chunk_rows=50, **how)
        with DuckDBTables() as engine:
            return tables.publish_on(engine, source, target, VISITS, KAnonymity(5), **how)

    return run


def test_files_and_engines_are_published_in_the_same_series(
    elsewhere: Publisher, tmp_path: Path
) -> None:
    check_series(elsewhere, tmp_path)


def test_a_release_that_is_refused_or_fails_is_not_in_the_history(tmp_path: Path) -> None:
    source, target = tmp_path / "raw.parquet", tmp_path / "safe.csv"
    table(PEOPLE).write_parquet(source)
    history = tmp_path / "x.history"
    tables.publish_file(source, target, BY_ID, KAnonymity(6), history=history)

    def cancel(step: Step) -> None:
        if "recoding" in getattr(step.stage, "key", ""):
            raise Cancelled

    with pytest.raises(Cancelled):
        tables.publish_file(source, target, BY_ID, KAnonymity(6), history=history, progress=cancel)
    with ReleaseHistory.open(history) as book:
        assert len(book.entries()) == 1


def test_rows_that_were_not_counted_are_not_taken_for_others() -> None:
    groups = Groups(pl.DataFrame({"x": ["a", "b"]}), np.array([2, 1]))
    hashes = np.array([7, 5], dtype=np.uint64)
    before = np.array([0, 0, -1])
    split = SplitGroups.of(groups, hashes, np.array([7, 5, 7], dtype=np.uint64), before)
    assert split.groups.values["x"].to_list() == ["a", "a", "b"]
    assert (split.before.tolist(), split.of_record.tolist()) == ([-1, 0, 0], [1, 2, 0])
    for strange in ([7, 5, 6], [7, 5, 5], [7, 5]):
        with pytest.raises(EngineError):
            SplitGroups.of(
                groups, hashes, np.array(strange, dtype=np.uint64), before[: len(strange)]
            )
