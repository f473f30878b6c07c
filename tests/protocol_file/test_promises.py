"""Files that promise more than sets: version 2, each kind of promise there and back, each refusal."""

import json
import math
from pathlib import Path

import pytest

import rldp
from promised import credible_claim, credible_file, everything_file, pairs_file
from rldp.protocol_file.format import CredibleClaim, EverythingClaim, PairsClaim, parsed, text_of

OLD = Path(__file__).parent / "files" / "version-1.json"
COUNTS = [[9, 3, 2], [1, 4, 7], [2, 2, 6]]
G = "guarantee"

CENTRE = [[2**50, 2**50, 0], [2**50, 2**49, 2**48], [2**48, 0, 0]]
ALONE = {"kind": "nominal", "centre": CENTRE}
ADAPTIVE = credible_claim(0.1, prior="adaptive") | {"centre": CENTRE}
CLAIM = credible_claim(0.1, alpha=0.07, prior=0.25, lambda_=2 / 3, seed=2**128 - 1)
FILES = {
    "credible privacy": lambda: credible_file(COUNTS, 0.7, privacy=CLAIM),
    "credible utility": lambda: credible_file(COUNTS, 0.7, utility=CLAIM),
    "adaptive": lambda: third(credible_file(COUNTS, 0.7, privacy=ADAPTIVE)),
    "a centre alone": lambda: third(with_utility(everything_file(COUNTS, 0.7), ALONE)),
    "both": lambda: credible_file(COUNTS, math.inf, privacy=credible_claim(0.0), utility=CLAIM),
    "pairs": lambda: pairs_file(COUNTS, 0.7),
    "pairs by A1": lambda: pairs_file(COUNTS, 0.0, alpha=1e-9, method="A1"),
    "pairs of one secret": lambda: pairs_file(COUNTS[:1], 0.7),
    "all": lambda: everything_file(COUNTS, 0.7),
}


def third(document):
    return document | {"version": 3}


def with_utility(document, claim):
    return document | {G: document[G] | {"utility": claim}}


def text(document):
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


@pytest.mark.parametrize("name", FILES)
def test_every_promise_comes_back_byte_for_byte(name, tmp_path):
    document = FILES[name]()
    content = text(document)
    assert document["version"] == (3 if name in ("adaptive", "a centre alone") else 2)
    assert text_of(parsed(content.encode())) == content
    path = tmp_path / "protocol.json"
    path.write_text(content, encoding="utf-8")
    again = rldp.load(path)
    assert again.to_json() == content
    again.save(path)
    assert path.read_text(encoding="utf-8") == content


def test_each_kind_is_read_as_what_it_is():
    read = {
        name: parsed(text(FILES[name]()).encode()).guarantee for name in ("credible privacy", "pairs", "all")
    }
    assert read["credible privacy"].privacy == CredibleClaim(0.07, 0.25, 2 / 3, 0.1, 2**128 - 1)
    pairs = read["pairs"].privacy
    assert type(pairs) is PairsClaim
    assert pairs.alpha == 0.05
    assert pairs.methods == ("A2", "A2", "A2")
    assert read["all"].privacy == EverythingClaim()


def test_the_library_knows_them_again(tmp_path):
    found = {}
    for name in FILES:
        (tmp_path / "protocol.json").write_text(text(FILES[name]()), encoding="utf-8")
        found[name] = rldp.load(tmp_path / "protocol.json").guarantee
    assert found["credible utility"].utility == rldp.Credible(
        0.07, prior=0.25, lambda_=2 / 3, seed=2**128 - 1, radius=0.1
    )
    assert type(found["pairs"].privacy) is rldp.Pairs
    assert [radius.method for radius in found["pairs"].privacy.radii] == ["A2"] * 3
    assert found["pairs of one secret"].privacy.radii == ()
    assert found["all"].privacy == rldp.AllDistributions()
    centre = tuple(map(tuple, CENTRE))
    assert found["adaptive"].privacy == rldp.Credible(0.05, radius=0.1, centre=centre)
    assert found["a centre alone"].utility == rldp.Nominal(centre=centre)


@pytest.mark.parametrize("promise", [rldp.Credible(), rldp.Pairs()], ids=str)
def test_a_promise_that_no_design_has_filled_in_is_not_written(promise):
    designed = rldp.design(rldp.Sample(COUNTS), 0.7).protocol
    claim = rldp.Guarantee(**{**vars(designed.guarantee), "privacy": promise})
    with pytest.raises(rldp.InvalidArgument, match="before a design has found"):
        rldp.Protocol(designed.matrix, guarantee=claim).to_json()


# What is refused


def changed(name, change):
    document = FILES[name]()
    change(document)
    return text(document).encode()


def refused(content, message):
    with pytest.raises(rldp.ProtocolFileError) as caught:
        parsed(content)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_the_first_version_has_no_words_for_them(name):
    content = changed(name, lambda document: document.update(version=1))
    needed = FILES[name]()["version"]
    refused(content, f"its version must be {needed} for what it claims, got 1")


def of(kind, /, **fields):
    """A change of the privacy claim of a file of one kind."""
    return kind, lambda d: d[G]["privacy"].update(fields)


def without(kind, field):
    return kind, lambda d: d[G]["privacy"].pop(field)


CREDIBLE, PAIRS, ALL = "credible privacy", "pairs", "all"
P = "guarantee.privacy."
WRONG = {
    f"{P}alpha must be at least 1e-05, got 9.99e-06": of(CREDIBLE, alpha=9.99e-6),
    f"{P}alpha must be a number between 0 and 1, got 1": of(CREDIBLE, alpha=1),
    f"{P}alpha must be a number between 0 and 1, got 0.0": of(CREDIBLE, alpha=0.0),
    f"{P}alpha must be a number, got '0.05'": of(CREDIBLE, alpha="0.05"),
    f"{P}prior must be a positive number, got 0": of(CREDIBLE, prior=0),
    f"{P}prior must be a positive number, got -0.5": of(CREDIBLE, prior=-0.5),
    f"{P}prior must be a number that a float can hold, got 1": of(CREDIBLE, prior=10**400),
    f"{P}prior must be a positive number or \"adaptive\", got 'jeffreys'": of(CREDIBLE, prior="jeffreys"),
    f"{P}centre must be integers that sum to 2^52, got": of(CREDIBLE, centre=[[1, 0, 0]] * 3),
    f"{P}centre must be a list of 3, got": of(CREDIBLE, centre=CENTRE[:2]),
    f"{P}centre[0][1] must be an integer from 0 to {2**52}, got 0.5": of(CREDIBLE, centre=[[1, 0.5, 0]] * 3),
    f"{P}lambda must be at most 100, got 101": of(CREDIBLE, **{"lambda": 101}),
    f"{P}lambda must be 0 or at least 1e-06, got 9.99e-07": of(CREDIBLE, **{"lambda": 9.99e-7}),
    f"{P}radius must be a number that is not negative, got -1": of(CREDIBLE, radius=-1),
    f"{P}radius must be a number, got None": of(CREDIBLE, radius=None),
    f"{P}seed must be an integer from 0 to {2**128 - 1}, got -1": of(CREDIBLE, seed=-1),
    f"{P}seed must be an integer from 0 to {2**128 - 1}, got {2**128}": of(CREDIBLE, seed=2**128),
    f"{P}seed must be an integer from 0 to {2**128 - 1}, got 1.0": of(CREDIBLE, seed=1.0),
    f"{P}seed must be an integer from 0 to {2**128 - 1}, got True": of(CREDIBLE, seed=True),
    f"{P}prior is missing": without(CREDIBLE, "prior"),
    f"{P}radius is missing": without(CREDIBLE, "radius"),
    f"{P}seed is missing": without(CREDIBLE, "seed"),
    f"{P}'draws' is not a key of this format": of(CREDIBLE, draws=7),
    f"{P}radii must be a list of 3, got [1.0, 2.0]": of(PAIRS, radii=[1.0, 2.0]),
    f"{P}radii must be a list of 3, got 9.0": of(PAIRS, radii=9.0),
    f"{P}radii[1] must be a number that is not negative, got -2": of(PAIRS, radii=[1, -2, 3]),
    f"{P}radii[2] must be a number, got None": of(PAIRS, radii=[1, 2, None]),
    f"{P}methods must be a list of 3, got ['A1']": of(PAIRS, methods=["A1"]),
    f"{P}methods[0] must be one of A1, A2, got 'A3'": of(PAIRS, methods=["A3", "A1", "A2"]),
    f"{P}methods[1] must be one of A1, A2, got ['A1']": of(PAIRS, methods=["A1", ["A1"], "A2"]),
    f"{P}alpha must be at least 1e-300, got 1e-301": of(PAIRS, alpha=1e-301),
    f"{P}alpha is missing": without(PAIRS, "alpha"),
    f"{P}'lambda' is not a key of this format": of(PAIRS, **{"lambda": 0}),
    f"{P}'alpha' is not a key of this format": of(ALL, alpha=0.05),
    f'{P}kind must be "nominal", "power-divergence", "credible" or, for privacy': of(ALL, kind="everything"),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_promise_that_does_not_fit_is_refused(message):
    refused(changed(*WRONG[message]), message)


@pytest.mark.parametrize("kind", ["pairs", "all"])
def test_promises_about_secrets_cannot_stand_for_utility(kind):
    def change(document):
        document[G]["utility"] = document[G]["privacy"]

    refused(
        changed(kind, change),
        'guarantee.utility.kind must be "nominal", "power-divergence", "credible" or, for privacy, "pairs" '
        f'or "all", got {kind!r}',
    )


# Files of the first version


def test_an_old_file_is_read_proved_and_written_again_byte_for_byte(tmp_path):
    content = OLD.read_bytes()
    assert text_of(parsed(content)).encode() == content
    rldp.load(OLD).save(tmp_path / "again.json")
    own = content.replace(b"rldp 0.2.0.dev0", f"rldp {rldp.__version__}".encode())
    assert (tmp_path / "again.json").read_bytes() == own
    verdict = rldp.verify(OLD)
    assert verdict.ok
    assert verdict.promise == "ε = 0.7 for every distribution that a χ² test at level 0.05 does not reject"
