"""Protocols by name, and protocol files that say the same on all sides."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.discovery.heavy_hitters import PrefixTree
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.registry import (
    PROTOCOLS,
    load_protocol,
    parameters_of,
    protocol_class,
    protocol_from,
    protocol_text,
    save_protocol,
)
from celosia.core.errors import InputError
from celosia.core.messages import read_family
from celosia.core.methods import help_of, parameters
from celosia.core.notation import method_from_text

EMOJI = {"method": "hcms", "epsilon": 4, "key": "emoji", "hashes": 64, "width": 32}

NESTED = {
    "words": {"method": "rappor", "bits": 32, "f": "1/3"},
    "grams": {"method": "rappor", "bits": 16, "key": "grams"},
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_is_found_under_its_own_name(name: str) -> None:
    assert protocol_class(name).method_name == name


@pytest.mark.parametrize("epsilon", [4, 4.0, "4", Fraction(4), "8/2", "4.0"])
def test_one_number_is_one_protocol_however_it_is_written(epsilon: Any) -> None:
    plain = HadamardCountMean(epsilon=4.0, key="emoji", hashes=64, width=32)
    assert protocol_from(EMOJI | {"epsilon": epsilon}).fingerprint == plain.fingerprint


@given(
    epsilon=st.one_of(
        st.fractions(Fraction(1, 100), 50, max_denominator=10**6),
        st.floats(0.01, 50),
        st.integers(1, 50),
    ),
    key=st.text(st.characters(codec="utf-8"), min_size=1, max_size=12),
)
def test_a_file_that_is_written_and_read_is_the_same(epsilon: Any, key: str) -> None:
    import tomllib

    made = HadamardCountMean(epsilon=epsilon, key=key, hashes=8, width=8)
    text = protocol_text(made)
    again = protocol_from(tomllib.loads(text))
    assert again.fingerprint == made.fingerprint
    assert protocol_text(again) == text


def test_domains_of_texts_and_numbers_are_kept(tmp_path: Path) -> None:
    for domain in [("car", 'the "bus"', "bicis\u007f ñ"), (1, 2, 3), ("1/10", "4", "0.5")]:
        made = KaryResponse(epsilon=1, domain=domain)
        save_protocol(made, tmp_path / "p.toml", overwrite=True)
        again = load_protocol(tmp_path / "p.toml")
        assert isinstance(again, KaryResponse)
        assert again.domain == domain
        assert again.fingerprint == made.fingerprint
        assert protocol_from(parameters_of(made)).fingerprint == made.fingerprint


def test_a_file_is_as_a_person_would_write_it() -> None:
    made = HadamardCountMean(epsilon=0.5, key="emoji", hashes=64, width=32)
    assert protocol_text(made).splitlines()[1:-1] == [
        'method = "hcms"',
        "epsilon = 0.5",
        'key = "emoji"',
        "hashes = 64",
        "width = 32",
    ]


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        ({"method": "hcns"}, "CEL-I061", "hcms"),
        ({"method": 7}, "CEL-I061", "method"),
        ({"hashs": 4}, "CEL-I062", "did you mean 'hashes'"),
        ({"epsilon": "four"}, "CEL-I060", "epsilon"),
        ({"epsilon": "1/0"}, "CEL-I060", "epsilon"),
        ({"epsilon": "1e999999999"}, "CEL-I060", "epsilon"),
        ({"epsilon": [1]}, "CEL-I060", "epsilon"),
        ({"hashes": {"a": 1}}, "CEL-I060", "hashes"),
        ({"hashes": "64"}, "CEL-I060", "hashes"),
        ({"fingerprint": "00" * 8}, "CEL-R073", "fingerprint"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(change: dict[str, Any], code: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        protocol_from(EMOJI | change)
    assert (caught.value.code, word in caught.value.what) == (code, True)


def test_a_parameter_that_is_missing_is_named() -> None:
    with pytest.raises(InputError) as caught:
        protocol_from({"method": "hcms"})
    assert (caught.value.code, "'epsilon'" in caught.value.what) == ("CEL-I063", True)


def test_a_protocol_within_a_protocol_is_a_table(tmp_path: Path) -> None:
    words = protocol_from({"method": "rappor-words", "key": "sites"} | NESTED)
    tree = PrefixTree(epsilon=1, bits=8, oracle=LocalHashing(epsilon=1, pool=64))
    for made in (words, tree):
        save_protocol(made, tmp_path / "p.toml", overwrite=True)
        again = load_protocol(tmp_path / "p.toml")
        assert again.fingerprint == made.fingerprint
        assert again.parameters() == made.parameters()


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"method": "rappor-words"}, "CEL-I063"),
        ({"method": "rappor-words", "words": "rappor", "grams": "rappor"}, "CEL-I060"),
        ({"method": "rappor-words"} | NESTED | {"words": {"bits": 32}}, "CEL-I061"),
        (
            {"method": "rappor-words"} | NESTED | {"words": {"method": "cms", "epsilon": 1}},
            "CEL-I061",
        ),
        (
            {"method": "rappor-words"} | NESTED | {"words": {"method": "rappor-words"} | NESTED},
            "CEL-I061",
        ),
        ({"method": "grr", "epsilon": 1, "domain": [{"method": "rappor"}, 2]}, "CEL-R050"),
        ({"method": "hcms", "epsilon": 1, "hashes": {"method": "rappor"}}, "CEL-I060"),
        ({"method": "pem", "epsilon": 1, "bits": 8, "oracle": "cardinality"}, "CEL-R057"),
        (
            {
                "method": "pem",
                "epsilon": 1,
                "bits": 8,
                "oracle": {"method": "one-bit-mean", "epsilon": 1},
            },
            "CEL-I061",
        ),
    ],
    ids=str,
)
def test_a_table_that_is_no_fitting_protocol_is_refused(
    parameters: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        protocol_from(parameters)
    assert caught.value.code == code


@pytest.mark.parametrize("content", [None, b"epsilon = ", b"\xff\xfe", b"[" * 5000])
def test_a_file_that_cannot_be_read_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_protocol(path)
    assert caught.value.code == "CEL-R071"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_is_written_down_and_its_reports_are_of_the_width_it_says(
    name: str,
) -> None:
    """Files of reports are read by this width."""
    usual = {"epsilon": 2, "domain": ["a", "b", "c"], "length": 4} | NESTED
    usual |= {"alphabet": "abcdefghij"} if name == "pem" else {}
    wanted = {each.name for each in fields(protocol_class(name)) if each.init}
    made = protocol_from({"method": name} | {key: usual[key] for key in usual.keys() & wanted})
    assert protocol_from(parameters_of(made)).fingerprint == made.fingerprint
    value: Any = {"dbitflip": [1], "one-bit-mean": [0.5]}.get(name, ["a"])
    assert made.client().privatise(value).packed.shape == (1, -(-made.report_bits // 8))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_parameter_says_what_it_is(name: str) -> None:
    assert {"title", "summary"} <= read_family("methods")[name].keys()
    for each in parameters(protocol_class(name)):
        assert help_of(name, each.name), each.name


@pytest.mark.parametrize(
    ("text", "fingerprint"),
    [
        ("cms:4", "9ab227c132960d4b"),
        ("hcms:epsilon='1/3'", "614a02f1457de2b7"),
        ("sfp:8", "4d4e249c55e7df1d"),
        ("rappor", "abaea981ccddf978"),
        ("dbitflip:1", "e7798643cbf5f2ca"),
        ("one-bit-mean:1,upper=24.5", "e42e7f009966219b"),
        ("grr:1,domain=['a', 'b', 'c']", "3bea73e90e495d45"),
        ("olh:2,pool=64", "3df315ca31fd8c4b"),
        ("pem:1,bits=8", "80122e37e5c31bd9"),
        ("pem:1,alphabet=abc,length=4,variant=treehist", "7f50bbb1a31ee3f2"),
        ("cardinality:4,buckets=32", "8daa159963d950ec"),
    ],
)
def test_fingerprints_of_collections_under_way_never_change(text: str, fingerprint: str) -> None:
    made = method_from_text(PROTOCOLS, text, what="protocol")
    assert made.fingerprint.hex() == fingerprint
    assert protocol_from(made.as_dict()).fingerprint.hex() == fingerprint
