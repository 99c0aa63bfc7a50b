"""Files of Google's RAPPOR are read and decoded as our own counts are."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from celosia.collect.rappor.google import decode_google_rappor
from celosia.collect.rappor.rappor import Rappor
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.sketches.hashing import digests

PROTOCOL = Rappor(bits=32, hashes=2, cohorts=8, f=0.25, p=0.25, q=0.75)
WORDS = [f"word {each}" for each in range(12)]
COUNTS = [4000, 2500, 1500] + [0] * 9


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three files, of counts that our own server has made."""
    folder = tmp_path_factory.mktemp("google")
    values = [word for word, count in zip(WORDS, COUNTS, strict=True) for _ in range(count)]
    server = PROTOCOL.server().absorb(PROTOCOL.client(rng=Seeded(3)).privatise(values))
    state = server._state()
    ones, reports = state["ones"], state["reports"]
    (folder / "params.csv").write_text("k,h,m,p,q,f\n32,2,8,0.25,0.75,0.25\n")
    with (folder / "counts.csv").open("w", newline="") as file:
        csv.writer(file).writerows(np.column_stack([reports, ones]).tolist())
    cohorts = np.arange(16) // 2
    places = (PROTOCOL.family.every_column(digests(WORDS)) + (cohorts * 32)[:, None]).T + 1
    with (folder / "map.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [[w, *row] for w, row in zip(WORDS, places.tolist(), strict=True)]
        )
    return folder


def test_counts_of_files_decode_as_those_of_a_server(files: Path) -> None:
    found = decode_google_rappor(*(files / f"{each}.csv" for each in ("params", "counts", "map")))
    assert set(found.candidates) == set(WORDS[:3])
    for word, count in zip(WORDS[:3], COUNTS, strict=False):
        error = found.estimates.errors[WORDS.index(word)]
        assert found.estimates[word] == pytest.approx(count, abs=5 * error)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("params", "k,h,m,p,q\n32,2,8,0.25,0.75\n"),
        ("params", "k,h,m,p,q,f\n32,2,x,0.25,0.75,0.25\n"),
        ("counts", "1,2,3\n"),
        ("counts", ("1" + ",2" * 32 + "\n") * 8),
        ("counts", ("x" + ",2" * 32 + "\n") * 8),
        ("map", "word,1,2,3\n"),
        ("map", "word" + ",1" * 16 + "\n"),
    ],
)
def test_files_of_another_form_are_refused(
    files: Path, tmp_path: Path, name: str, text: str
) -> None:
    given = {each: files / f"{each}.csv" for each in ("params", "counts", "map")}
    given[name] = tmp_path / "odd.csv"
    given[name].write_text(text)
    with pytest.raises(InputError) as caught:
        decode_google_rappor(*given.values())
    assert caught.value.code == "CEL-R097"
