"""The lessons of Learn against plain counts of their tables and the worked examples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest

from celosia import datasets
from celosia.assess.advice import QUESTIONS, AdviceOptions, advise
from celosia.core.errors import InputError
from celosia.core.progress import silent
from celosia.graphs import examples as small_graphs
from celosia.studio.language import Language, chosen, text_of
from celosia.studio.learn import (
    differential_privacy,
    k_anonymity,
    l_diversity,
    local_privacy,
    masking,
    naive,
    synthetic_data,
    t_closeness,
)
from celosia.studio.learn.glossary import terms
from celosia.studio.learn.pages.advise import summary
from celosia.studio.learn.pages.parts import network_svg
from celosia.studio.learn.parts import Facts, Network, Part, Table, Vertex, key
from celosia.studio.learn.techniques import SLUGS, TECHNIQUES, lesson_of, technique_of
from tests.effort import some

SAME_IN_BOTH = {
    *("gastritis", "diabetes", "no", "Isapre", "Fonasa", "rapanui", "mapuche", "atacameño"),
    *("Lautaro Inventado", "Berta Imaginaria", "Tomás Ficticio", "Concepción", "Chillán"),
    *("12 Olmo Street", "3 Laurel Street", "77 Roble Avenue"),
    *("Ana", "Bruno", "Carla", "Diego", "Elsa", "Fabio", "Gala", "Hugo", "Irene"),
}
"""Cells that read alike in English and Spanish: names of people, places and groups, some words."""
TOLD_AS_FIGURES = re.compile(r"[\d\s.,%<>=*\[\]/:+≤≥ε-]*")


@cache
def facts_of(slug: str) -> Facts:
    """What a worker computes for a lesson, once for all tests."""
    return lesson_of(technique_of(slug)).compute(silent)


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    token = chosen.set(language)
    try:
        yield
    finally:
        chosen.reset(token)


def settings(slug: str) -> Iterator[tuple[tuple[int, ...], Facts]]:
    """Every setting that has a release of its own, and what was found for it."""
    found = facts_of(slug)["settings"]
    return ((tuple(map(int, name.split("-"))), found[name]) for name in found)


def all_parts(slug: str) -> list[Part]:
    """Everything that the page of a technique can show."""
    lesson, facts = lesson_of(technique_of(slug)), facts_of(slug)
    parts = list(lesson.example(facts))
    parts += [
        part for story in lesson.stories(facts) for step in story.steps for part in step.parts
    ]
    ranges = [range(len(control.choices)) for control in lesson.controls()]
    for places in product(*ranges):
        parts += lesson.view(facts, places).parts
    return parts


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_lesson_has_something_to_show_for_every_setting(slug: str, language: Language) -> None:
    lesson, facts = lesson_of(technique_of(slug)), facts_of(slug)
    with speaking(language):
        assert lesson.example(facts)
        for story in lesson.stories(facts):
            assert len(story.steps) >= 3
            assert any(step.learnt for step in story.steps)
            assert all(step.title and step.text and step.parts for step in story.steps)
        settings = product(*(range(len(each.choices)) for each in lesson.controls()))
        for places in some(settings, 9):
            view = lesson.view(facts, places)
            assert view.text
            assert view.parts
            assert all(name and value and meaning for name, value, meaning in view.figures)


@pytest.mark.parametrize("slug", SLUGS)
def test_an_address_means_the_same_in_every_language(slug: str) -> None:
    def addresses() -> list[list[str]]:
        controls = lesson_of(technique_of(slug)).controls()
        written = [[each.written(at) for at in range(len(each.choices))] for each in controls]
        for control, values in zip(controls, written, strict=True):
            assert [control.place(value) for value in values] == list(range(len(values)))
            assert control.place("none of them") == control.place(None) == control.first
        return written

    with speaking("es"):
        spanish = addresses()
    with speaking("en"):
        assert addresses() == spanish


def test_a_number_is_written_into_the_address_as_it_is() -> None:
    k, suppress = lesson_of(technique_of("k-anonymity")).controls()
    assert [k.written(place) for place in range(5)] == ["2", "3", "4", "5", "6"]
    assert suppress.written(0) == "0"
    (epsilon,) = lesson_of(technique_of("differential-privacy")).controls()
    assert [epsilon.written(place) for place in (0, 3)] == ["0.1", "1"]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_words_in_the_tables_are_told_in_spanish(slug: str) -> None:
    def words() -> list[str]:
        tables = [part for part in all_parts(slug) if isinstance(part, Table)]
        cells = [cell for part in tables for row in part.rows for cell in row]
        return [*(name for part in tables for name in part.columns), *map(str, cells)]

    with speaking("en"):
        english = words()
    with speaking("es"):
        spanish = words()
    same = {
        one
        for one, other in zip(english, spanish, strict=True)
        if one == other and not TOLD_AS_FIGURES.fullmatch(one)
    }
    assert same - SAME_IN_BOTH == set()


@pytest.mark.parametrize("slug", SLUGS)
def test_rows_that_are_marked_or_faded_are_rows_of_their_table(slug: str) -> None:
    for part in all_parts(slug):
        if isinstance(part, Table):
            rows = set(range(len(part.rows)))
            assert part.marked <= rows
            assert part.faded <= rows
            assert not part.marked & part.faded
            assert part.classes is None or len(part.classes) == len(part.rows)
            assert all(len(row) == len(part.columns) for row in part.rows)


def test_the_techniques_lead_from_one_to_the_next() -> None:
    walked = ["naive"]
    while (following := technique_of(walked[-1]).following) is not None:
        walked.append(following.slug)
    assert tuple(walked) == SLUGS


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_text_has_definition_break_repair_and_sources(slug: str, language: Language) -> None:
    with speaking(language):
        text = text_of(technique_of(slug).text)
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == 4
    assert re.search(r"\d{4}\.", text.rsplit("## ", 1)[1])


def test_a_technique_that_is_none_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="k-anonymity") as caught:
        technique_of("k-anonimity")
    assert caught.value.code == "CEL-W040"


def test_the_timeline_has_years() -> None:
    years = {each.slug: each.years for each in TECHNIQUES}
    assert years["k-anonymity"] == "1998, 2002"
    assert years["local-privacy"] == "1965, 2014, 2017"


def test_a_voter_is_found_by_birth_place_and_sex() -> None:
    facts = facts_of("naive")
    assert [len(left) for left in facts["stages"]] == [2, 2, 1]
    assert facts["learnt"] == ["cancer", "628030"]
    assert facts["prior"] == pytest.approx(1 / 7)


def test_those_alone_are_counted_for_every_choice_of_columns() -> None:
    people, voters = datasets.weak_releases.insured(), datasets.weak_releases.voters()
    for places, found in settings("naive"):
        names = [name for name, kept in zip(naive.SHARED, places, strict=True) if kept]
        if not names:
            continue
        sizes = Counter(people.select(names).rows())
        assert found["unique"] == sum(size == 1 for size in sizes.values())
        assert found["found"] == sum(sizes[row] == 1 for row in voters.select(names).rows())


def test_every_class_of_a_k_anonymous_example_has_k_records() -> None:
    for (k, most), found in settings("k-anonymity"):
        sizes = Counter(each for each in found["classes"] if each >= 0)
        assert min(sizes.values()) >= k_anonymity.KS[k]
        assert found["suppressed"] == found["classes"].count(-1) <= k_anonymity.SUPPRESSED[most]
        assert found["average"] == pytest.approx(len(sizes) / sum(sizes.values()))
        labels = {row for row, each in zip(found["rows"], found["classes"], strict=True)}
        assert len(labels) == len(set(found["classes"]))


def test_five_columns_come_out_as_in_the_worked_example() -> None:
    found = dict(settings("k-anonymity"))
    assert found[0, 0]["levels"] == [1, 3, 0, 1, 1]
    assert found[0, 1]["levels"] == [0, 1, 0, 0, 0]
    assert found[0, 1]["classes"][-1] == -1
    assert facts_of("k-anonymity")["released"]["loss"] == pytest.approx(0.369306, abs=1e-6)


def test_the_attacks_on_k_anonymity_find_flu_back_pain_and_the_whole_table() -> None:
    facts = facts_of("k-anonymity")
    assert facts["homogeneity"] == [[6, 7, 8], "flu", 0.25]
    assert facts["background"] == [[9, 10, 11], "back pain"]
    assert facts["recovered"] == [12, datasets.weak_releases.in_order().rows()]


def test_diversity_is_counted_with_suppressed_records_as_a_class() -> None:
    for (least, kind, _most), found in settings("l-diversity"):
        if not found["possible"]:
            continue
        groups: dict[int, list[str]] = {}
        for row, each in zip(found["rows"], found["classes"], strict=True):
            groups.setdefault(each, []).append(row[-1])
        same = sum(len(values) for values in groups.values() if len(set(values)) == 1)
        assert found["exposed"] == same
        if l_diversity.KINDS[kind] == "distinct":
            kept = [values for each, values in groups.items() if each >= 0]
            assert min(len(set(values)) for values in kept) >= l_diversity.LS[least]


def test_similarity_and_skewness_come_out_as_in_the_worked_examples() -> None:
    facts = facts_of("l-diversity")
    assert [distinct for distinct, _effective in facts["diversity"]] == [3] * 4
    assert all(each == pytest.approx(2**1.5) for _distinct, each in facts["diversity"])
    assert facts["similarity"] == [[0, 1, 2], "stomach disease"]
    assert facts["salaries"] == [3, 4, 5]
    assert facts["skewness"] == ["20-29", pytest.approx(0.01), pytest.approx(0.5)]


def test_distances_are_those_of_the_worked_example() -> None:
    facts = facts_of("t-closeness")
    assert facts["far"]["distances"] == pytest.approx([0.375, 1 / 6, 17 / 72])
    assert facts["near"]["distances"] == pytest.approx([1 / 6, 1 / 6, 1 / 12])


def test_the_classes_of_a_t_close_example_are_within_t() -> None:
    salaries = t_closeness.nine_salaries()["salary"].to_list()
    for (t, _most), found in settings("t-closeness"):
        for each in set(found["classes"]) - {-1}:
            inside = [
                salary
                for salary, group in zip(salaries, found["classes"], strict=True)
                if group == each
            ]
            gaps = [
                sum(salary <= limit for salary in inside) / len(inside)
                - sum(salary <= limit for salary in salaries) / len(salaries)
                for limit in sorted(salaries)[:-1]
            ]
            distance = sum(map(abs, gaps)) / (len(salaries) - 1)
            assert found["distances"][each] == pytest.approx(distance)
            assert distance <= t_closeness.TS[t] + 1e-12


def test_two_releases_give_two_patients_away() -> None:
    facts = facts_of("t-closeness")
    assert sorted(facts["exposed"]) == [6, 7]
    assert facts["one"]["problem"] == "hypertension"
    with speaking("en"):
        steps = lesson_of(technique_of("t-closeness")).stories(facts)[0].steps
    (joined,) = steps[2].parts
    assert isinstance(joined, Table)
    assert joined.rows == (("rapanui", "1965", "female", "05346", "hypertension"),)


def test_an_answer_says_as_little_as_the_bounds_allow() -> None:
    for (place,), found in settings("differential-privacy"):
        epsilon = differential_privacy.EPSILONS[place]
        stay = (1 - exp(-epsilon)) / (1 + exp(-epsilon))
        # Two discrete Laplace draws agree with this chance, by the sum of a geometric series.
        tie = stay**2 * (1 + exp(-2 * epsilon)) / (1 - exp(-2 * epsilon))
        assert found["differencing"] == pytest.approx((1 + tie) / 2, abs=1e-12)
        assert all(len(answers) == differential_privacy.TRIES for answers in found["answers"])
    low = dict(settings("differential-privacy"))[0,]
    assert low["differencing"] == pytest.approx(0.5125, abs=5e-5)
    text = dict(settings("differential-privacy"))[3,]["beliefs"]
    beliefs = {prior: (least, most) for prior, least, most in text}
    assert beliefs[0.5] == pytest.approx((0.1839, 0.8161), abs=5e-5)


def test_many_answers_average_to_the_count_and_a_budget_refuses_them() -> None:
    facts = facts_of("differential-privacy")
    assert facts["counts"] == [5, 4]
    many, average, spent = facts["repeated"][-1]
    # The variance of discrete Laplace noise at one half is 2a / (1 - a)^2 with a = e^-1/2.
    deviation = sqrt(2 * exp(-0.5)) / (1 - exp(-0.5)) / sqrt(many)
    assert abs(average - 5) < 5 * deviation
    assert spent == pytest.approx(500)
    assert [value is None for _question, value in facts["payments"]] == [False, False, True]


def test_reports_of_devices_are_as_noisy_as_they_say_and_estimates_find_the_truth() -> None:
    facts = facts_of("local-privacy")
    assert facts["coins"] == [0.75, 0.25, pytest.approx(log(3))]
    for (place, _many), found in settings("local-privacy"):
        half = exp(local_privacy.EPSILONS[place] / 2)
        assert found["kept"] == pytest.approx(half / (1 + half), abs=1e-9)
        for true, estimated in zip(found["true"], found["estimated"], strict=True):
            assert abs(true - estimated) < 5 * found["error"]
    assert all(np.shape(bits) == (10, 5) for bits in facts["reports"].values())


def test_daily_reports_tell_the_topic_unless_the_first_is_kept() -> None:
    days = facts_of("local-privacy")["days"]
    assert max(range(5), key=lambda bit: days["fresh"][-1][bit]) == local_privacy.OWN
    assert all(
        count in (0, many)
        for many, row in zip((1, 10, 100, 1000), days["kept"], strict=True)
        for count in row
    )


def test_every_degree_of_a_k_degree_example_is_shared_by_k() -> None:
    before = {tuple(edge) for edge in small_graphs.g10().edges.tolist()}
    for (k, way), found in settings("graphs"):
        after = set(found["edges"])
        degrees = Counter(vertex for edge in after for vertex in edge)
        assert [degrees[vertex] for vertex in range(9)] == found["degrees"]
        assert found["smallest"] == min(Counter(found["degrees"]).values())
        assert found["smallest"] >= (1, 2, 3, 4)[k]
        assert way == 1 or before <= after


def test_contacts_and_friends_of_friends_find_people() -> None:
    facts = facts_of("graphs")
    degrees = facts["graph"]["degrees"]
    assert facts["exposed"] == [v for v in range(9) if degrees.count(degrees[v]) == 1]
    assert sorted(facts["numbers"]) == list(range(9))
    assert sorted(facts["friends_found"]) == ["Dan", "Joe"]


def test_averages_of_groups_stay_and_the_nearest_record_is_found_by_hand() -> None:
    people = np.array([row[:2] for row in facts_of("masking")["rows"]], dtype=float)
    scale = people.std(axis=0, ddof=1)
    for (way, strength), found in settings("masking"):
        masked = np.array([row[:2] for row in found["rows"]], dtype=float)
        if masking.WAYS[way] == "groups":
            assert min(Counter(found["classes"]).values()) >= masking.KS[strength]
            for before, after in found["means"]:
                assert before == pytest.approx(after)
            continue
        far = np.linalg.norm((masked[:, None] - people[None]) / scale, axis=2)
        nearest = [
            row for row in range(9) if np.flatnonzero(far[row] == far[row].min()).tolist() == [row]
        ]
        assert found["right"] == nearest


def test_real_people_are_repeated_the_less_the_larger_the_leaves() -> None:
    found = [each for _place, each in settings("synthetic-data")]
    assert [each["repeated"] for each in found] == sorted(
        (each["repeated"] for each in found), reverse=True
    )
    people = datasets.census(synthetic_data.PEOPLE).select(synthetic_data.COLUMNS)
    alone = Counter(people.rows())
    assert found[0]["uniques"] == sum(size == 1 for size in alone.values())
    one = tuple(found[0]["one"])
    assert alone[one] == 1
    assert Counter(people.select(synthetic_data.COLUMNS[:-1]).rows())[one[:-1]] == 1


def test_the_glossary_has_the_words_of_the_house_in_both_languages() -> None:
    with speaking("en"):
        english = terms()
    with speaking("es"):
        spanish = terms()
    words = {term.word for term in english}
    assert words >= {
        *("identifier", "quasi-identifier", "sensitive column", "insensitive column"),
        *("hierarchy", "level", "equivalence class", "model", "node", "suppression", "loss"),
        *("risk", "mechanism", "protocol", "privacy unit", "budget", "ledger", "charge"),
        *("release", "curator", "analyst", "epsilon (ε)", "delta (δ)"),
    }
    assert {(term.word, term.elsewhere) for term in english} == {
        (term.elsewhere, term.word) for term in spanish
    }
    assert all(term.meaning for term in spanish)
    assert [term.word.casefold() for term in spanish] == sorted(
        term.word.casefold() for term in spanish
    )


def test_a_drawing_escapes_names() -> None:
    nasty = Vertex(name="<script>", x=0.0, y=1.0, marked=True)
    drawn = network_svg(Network(vertices=(nasty, nasty), kept=((0, 1),), description='a"<b'))
    assert "<script>" not in drawn
    assert 'a"<b' not in drawn
    assert drawn.count("<circle") == 2


def test_a_setting_has_one_name() -> None:
    assert key((1, 0, 2)) == "1-0-2"


def test_every_advice_is_told_in_the_words_of_the_studio() -> None:
    every = [
        advise(AdviceOptions(**dict(zip(QUESTIONS, answers, strict=True))))  # type: ignore[arg-type]
        for answers in product(*QUESTIONS.values())
    ]
    shown = {each.model: summary(each) for each in every}
    assert len(shown) >= 10
    assert shown["k-anonymity and l-diversity"].startswith("Publish: k-anonymity + l-diversity (k")
    token = chosen.set("es")
    try:
        for each in every:
            assert " and " not in summary(each)
            assert summary(each).partition(": ")[0] not in ("Publish", "Collect", "Query")
    finally:
        chosen.reset(token)
