"""Thresholds over persons, microaggregation of users, semantic generalisation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.logs.generated import SEEDS, search_log

from celosia import datasets
from celosia.core.errors import CelosiaError, InputError
from celosia.core.randomness import Seeded
from celosia.logs import (
    Lexicon,
    Log,
    LogDeclaration,
    SemanticGeneralisation,
    UserMicroaggregation,
    UserThreshold,
    log_of,
    publish,
)
from celosia.logs.normalisation import normalise_text
from celosia.logs.records.identifiers import holds_identifier

DECLARATION = LogDeclaration(person="user", text="query")
LEXICON = [
    "1\tentity\t",
    "2\tillness|disease\t1",
    "3\tcancer\t2",
    "4\tleukemia|leucemia\t3",
    "5\tdiabetes\t2",
    "6\tplace\t1",
    "7\tcity|ciudad\t6",
    "8\tport\t6 1",
    "9\tBarcelona\t7 8",
    "10\tCancer\t6",
]


def log_from(rows: list[tuple[str, str]]) -> Log:
    return log_of(pl.DataFrame(rows, schema=["user", "query"], orient="row"), DECLARATION)


def test_a_query_of_one_person_never_passes_however_often_it_is_asked() -> None:
    """Check 22, second half; W8."""
    log = log_from([("ann", "porphyria")] * 10_000 + [(f"p{n}", "weather") for n in range(5)])
    with pytest.warns(UserWarning, match="one person has 100%"):
        made = publish(log, UserThreshold(k=2), rng=Seeded(1))
    assert set(made.data["query"]) == {"weather"}
    assert made.methods[-1].facts["kept_by_a_record_threshold_only"] == 1


def test_queries_are_counted_in_their_normal_form() -> None:
    rows = [("a", "Cheap  FLIGHTS!"), ("b", "cheap flights"), ("c", "the cheap flights")]
    assert publish(log_from(rows), UserThreshold(k=3), rng=Seeded(1)).data.height == 3


def test_a_query_with_an_identifier_goes_whatever_its_support() -> None:
    rows = [(f"p{n}", "ann@example.org") for n in range(60)]
    rows += [(f"p{n}", "weather") for n in range(60)]
    made = publish(log_from(rows), UserThreshold(k=5), rng=Seeded(1))
    assert set(made.data["query"]) == {"weather"}
    kept = publish(log_from(rows), UserThreshold(k=5, identifiers="keep"), rng=Seeded(1))
    assert set(kept.data["query"]) == {"weather", "ann@example.org"}
    assert any("identifier" in gap for gap in kept.guarantee.leaves_open)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cheap flights 2026", False),
        ("windows 11 error 0x80070057", True),  # in doubt it goes
        ("600 12345678", True),
        ("dni 12345678z", True),
        ("4111 1111 1111 1111", True),
        ("iphone 15", False),
    ],
)
def test_identifiers_in_queries(text: str, expected: bool) -> None:
    assert holds_identifier(pl.Series([text])).tolist() == [expected]


def test_a_period_is_counted_by_itself() -> None:
    frame = pl.DataFrame(
        {
            "user": ["a", "b", "c", "d"],
            "query": ["x"] * 4,
            "when": ["2026-09-01T10:00:00Z"] * 3 + ["2026-09-02T10:00:00Z"],
        }
    )
    log = log_of(frame, LogDeclaration(person="user", text="query", time="when"))
    assert publish(log, UserThreshold(k=2, period="day"), rng=Seeded(1)).data.height == 3
    assert publish(log, UserThreshold(k=2), rng=Seeded(1)).data.height == 4


@pytest.mark.parametrize(
    ("rows", "k", "code"),
    [
        ([("a", "x"), ("b", "y")], 3, "CEL-U040"),
        ([("a", "x"), ("b", "y")], 2, "CEL-U041"),
        ([("a", "x"), ("a", "y")], 2, "CEL-U013"),
        ([("", "x"), ("", "y")], 2, "CEL-U012"),
    ],
)
def test_logs_that_cannot_be_published_are_refused(
    rows: list[tuple[str, str]], k: int, code: str
) -> None:
    with pytest.raises(CelosiaError) as caught:
        publish(log_from(rows), UserThreshold(k=k))
    assert caught.value.code == code


def test_the_row_of_five_persons_on_six_generated_logs() -> None:
    """Check 22: within 10 % of 2,327 queries, 75.9 % of records and 1,000 wrongly kept."""
    rows = []
    for seed in SEEDS:
        log = search_log(seed)
        codes, texts = log.queries
        persons = np.bincount(
            np.array(sorted(set((codes * 10_000 + log.people.astype(np.int64)).tolist())))
            // 10_000,
            minlength=len(texts),
        )
        records = np.bincount(codes)
        is_kept = persons >= 5
        wrong = (records >= 5) & ~is_kept
        rows.append((is_kept.sum(), records[is_kept].sum() / log.records, wrong.sum()))
    queries, share, wrong_mean = np.mean(rows, axis=0)
    assert abs(queries / 2_327 - 1) < 0.1
    assert abs(share / 0.759 - 1) < 0.1
    assert abs(wrong_mean / 1_000 - 1) < 0.1


def test_groups_of_users_share_one_log_of_queries_that_several_asked() -> None:
    log = datasets.searches(200, seed=3).log()
    release = publish(log, UserMicroaggregation(k=5), rng=Seeded(1))
    assert release.data.columns == ["group", "persons", "query"]
    assert min(release.data["persons"].to_list()) >= 5
    codes, texts = log.queries
    held: dict[str, set[int]] = {}
    for code, person in zip(codes.tolist(), log.people.tolist(), strict=True):
        held.setdefault(texts[code], set()).add(person)
    assert all(len(held[query]) >= 2 for query in release.data["query"])
    assert all(attack.exposed == 0 for attack in release.account.attacks)


def test_similar_persons_come_into_the_same_group() -> None:
    rows = [(f"sick{n}", query) for n in range(4) for query in ("flu symptoms", "flu vaccine")]
    rows += [(f"away{n}", query) for n in range(4) for query in ("beach hotel", "hotel pool")]
    release = publish(log_from(rows), UserMicroaggregation(k=4), rng=Seeded(1))
    groups = release.data.group_by("group").agg(pl.col("query").sort())["query"].to_list()
    assert sorted(groups) == [["beach hotel", "hotel pool"], ["flu symptoms", "flu vaccine"]]


def test_a_lexicon_maps_queries_to_one_chosen_path() -> None:
    """Check 30, on a lexicon of our own."""
    lexicon = Lexicon.parse(LEXICON)

    def chain(text: str) -> list[str]:
        return [lexicon.label(node) for node in lexicon.chain(lexicon.find(text))]

    assert chain("Leukemia") == ["leukemia", "cancer", "illness", "entity"]
    assert chain("the city of barcelona") == ["entity"]  # what the two have in common
    assert chain("Barcelona") == ["Barcelona", "port", "entity"]  # the shortest way to the root
    assert chain("leukemia diabetes")[0] == "illness"
    assert chain("ciudades")[0] == "city"
    assert chain("unheard of") == []
    assert lexicon.several_parents == 2
    assert lexicon.is_ambiguous("cancer")
    assert chain("cancer")[0] == "cancer"
    # IC = 1 - ln(nodes below, itself included) / ln(all nodes); 10 nodes, 4 under illness.
    illness = lexicon.find("illness")
    assert illness is not None
    assert lexicon.information(illness) == pytest.approx(1 - np.log(4) / np.log(10))


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], "CEL-U050"),
        (["1"], "CEL-U050"),
        (["1\ta\t9"], "CEL-U050"),
        (["1\ta\t", "1\tb\t"], "CEL-U050"),
        (["1\ta\t", "2\tb\t3", "3\tc\t2"], "CEL-U051"),
    ],
)
def test_a_broken_lexicon_is_refused(lines: list[str], code: str) -> None:
    with pytest.raises(InputError) as caught:
        Lexicon.parse(lines)
    assert caught.value.code == code


def test_a_published_concept_stands_for_k_persons(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.tsv"
    path.write_text("\n".join(LEXICON), "utf-8")
    rows = [(f"l{n}", "leukemia") for n in range(3)] + [("d", "diabetes"), ("e", "diabetes")]
    rows += [(f"u{n}", "zzz") for n in range(2)]
    release = publish(log_from(rows), SemanticGeneralisation(lexicon=str(path), k=3), rng=Seeded(1))
    # Two persons with diabetes are too few: they climb to the root and are still too few there.
    assert release.data["query"].to_list() == ["leukemia"] * 3
    facts = release.methods[-1].facts
    assert facts["queries_not_in_the_lexicon"] == 1
    both = [*rows, ("f", "cancer"), ("g", "illness")]
    wider = publish(log_from(both), SemanticGeneralisation(lexicon=str(path), k=3), rng=Seeded(1))
    assert sorted(wider.data["query"]) == ["illness"] * 4 + ["leukemia"] * 3


def test_normal_forms() -> None:
    assert normalise_text("  \uff26\uff2c\uff35  vaccine, ", "words") == "flu vaccine"
    assert normalise_text("c++ & c#", "words") == "c++ c#"
    assert normalise_text("the who", "words") == "the who"  # all stop words: they stay
    assert normalise_text("b a", "sorted-words") == "b"
    assert normalise_text("B a", "case") == "b a"
    assert normalise_text("B a", "none") == "B a"
