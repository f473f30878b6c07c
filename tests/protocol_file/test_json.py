"""The protocol file: everything comes back, and it is there whole or not at all."""

import errno
import json
import math
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import rldp
from rldp.protocol_file import reader

SAMPLE = rldp.Sample([[9, 3, 2], [1, 4, 7]], secrets=["f", "m"], values=[1, 2, 4])


@pytest.fixture(scope="module")
def protocol():
    return rldp.design(SAMPLE, 0.7).protocol


def same(one, other):
    """Equality in every field and type, down to the last bit."""
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, tuple):
        assert [(type(x), x) for x in one] == [(type(x), x) for x in other]
    elif isinstance(one, rldp.Protocol | rldp.Guarantee | rldp.Certificate | rldp.Sample):
        assert type(one) is type(other)
        for name in vars(one):
            same(getattr(one, name), getattr(other, name))
    else:
        assert one == other


def written(protocol, path):
    protocol.save(path)
    return rldp.load(path)


# The way there and back


@pytest.mark.parametrize("epsilon", [0, 0.1, 3, math.inf])
@pytest.mark.parametrize(
    ("privacy", "utility"),
    [
        (rldp.ChiSquare(), rldp.ChiSquare(0.01)),
        (rldp.Nominal(), rldp.GTest()),
        (rldp.CressieRead(), rldp.Nominal()),
        (rldp.PowerDivergence(2, radius=0.3), rldp.PowerDivergence(0.5, alpha=1 / 3)),
    ],
    ids=["chi2", "nominal privacy", "nominal utility", "radius"],
)
@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
def test_every_field_comes_back(tmp_path, epsilon, privacy, utility):
    made = rldp.design(SAMPLE, epsilon, privacy=privacy, utility=utility, outputs=[1, 2.5]).protocol
    same(made, written(made, tmp_path / "protocol.json"))


LABELS = {
    "integers": [-1, 0, 10**30],
    "floats": [0.1, 1.0, -1e300],
    "booleans": [True, False, "maybe"],
    "text": ['say "hi"', "back\\slash", "line\nbreak\t\0"],
    "not ASCII": ["größe", "日本", "🙂\u2028"],
    "like JSON": ["null", "1", ""],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_of_every_kind_come_back(tmp_path, labels):
    sample = rldp.Sample(np.eye(3, dtype=int) * 5 + 1, labels, labels)
    made = rldp.design(sample, math.inf, distortion="hamming", outputs=[*labels, "other"]).protocol
    same(made, written(made, tmp_path / "protocol.json"))


def test_a_protocol_without_guarantee_comes_back(tmp_path):
    made = rldp.Protocol([[[0.25, 0.75], [1, 0]]], ["all"])
    same(made, written(made, tmp_path / "protocol.json"))


@pytest.mark.parametrize("privacy", ["chi2", "g", "pairs", "credible", "all", "nominal"])
def test_loaded_pickled_and_original_protocols_are_equal(tmp_path, privacy):
    made = rldp.design(rldp.Sample([[30, 10], [5, 25]]), 1.0, privacy=privacy).protocol
    made.save(tmp_path / "p.json")
    for other in (
        rldp.load(tmp_path / "p.json"),
        rldp.Protocol.load(tmp_path / "p.json"),
        rldp.Protocol.from_json(made.to_json()),
        pickle.loads(pickle.dumps(made)),
    ):
        assert other == made
        assert hash(other) == hash(made)


@pytest.mark.parametrize(
    "other",
    [
        {"epsilon": 1.1},
        {"privacy": "nominal"},
        {"utility": "nominal"},
        {"sample": rldp.Sample([[30, 10], [5, 26]])},
        {"sample": rldp.Sample([[30, 10], [5, 25]], values=["a", "b"]), "distortion": "hamming"},
    ],
)
def test_protocols_that_would_be_other_files_differ(other):
    asked = {"sample": rldp.Sample([[30, 10], [5, 25]]), "epsilon": 1.0}
    assert rldp.design(**asked).protocol != rldp.design(**asked | other).protocol


def test_a_protocol_that_claims_nothing_is_not_the_one_that_does(protocol):
    names = protocol.secrets, protocol.values, protocol.outputs
    assert rldp.Protocol(protocol.matrix, *names) != protocol


def test_text_that_is_no_protocol_is_refused():
    with pytest.raises(
        rldp.ProtocolFileError, match="text must be that of a protocol file, but it holds other JSON"
    ):
        rldp.Protocol.from_json("[]")
    with pytest.raises(rldp.InvalidArgumentType, match="text must be the text of a protocol file, got bytes"):
        rldp.Protocol.from_json(b"[]")


def test_what_comes_back_is_read_only_too(tmp_path, protocol):
    found = written(protocol, tmp_path / "protocol.json")
    with pytest.raises(ValueError, match="read-only"):
        found.matrix[0, 0, 0] = 1


def test_the_same_protocol_gives_the_same_bytes(tmp_path, protocol):
    one, again, loaded = (tmp_path / name for name in ("one", "again", "loaded"))
    protocol.save(one)
    rldp.design(SAMPLE, 0.7).protocol.save(again)
    rldp.load(one).save(loaded)
    assert one.read_bytes() == again.read_bytes() == loaded.read_bytes()


def test_the_file_is_plain_json_that_ends_with_a_newline(tmp_path, protocol):
    protocol.save(tmp_path / "protocol.json")
    text = (tmp_path / "protocol.json").read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert (document["format"], document["version"]) == ("rldp-protocol", 1)
    assert text.endswith("}\n")


def test_no_level_at_all_is_written_as_a_word(tmp_path):
    rldp.design(SAMPLE, math.inf).protocol.save(tmp_path / "protocol.json")
    assert json.loads((tmp_path / "protocol.json").read_text())["guarantee"]["epsilon"] == "infinity"


def test_a_path_may_be_a_string_and_relative(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    same(protocol, written(protocol, "größe [1].json"))


def test_saving_replaces_what_was_there(tmp_path, protocol):
    path = tmp_path / "protocol.json"
    path.write_text("old")
    same(protocol, written(protocol, path))
    assert list(tmp_path.iterdir()) == [path]


# What cannot be read


@pytest.fixture
def changed(tmp_path, protocol):
    """Write a protocol file with a change, and give its path."""

    def write(change):
        path = tmp_path / "protocol.json"
        protocol.save(path)
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))
        return path

    return write


def refused(path, message):
    with pytest.raises(rldp.ProtocolFileError) as caught:
        rldp.load(path)
    assert isinstance(caught.value, rldp.RldpError)
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert message in text
    assert str(path) in text
    assert "\n" not in text


@pytest.mark.parametrize("version", [0, 4, "1", None, [1], True, 1.0])
def test_a_file_of_another_version_is_refused(changed, version):
    refused(
        changed(lambda document: document.update(version=version)),
        f"but its version must be 1, 2 or 3, got {version!r}",
    )


def test_a_version_that_is_too_new_for_the_claim_is_refused(changed):
    refused(
        changed(lambda document: document.update(version=2)),
        "but its version must be 1 for what it claims, got 2",
    )


@pytest.mark.parametrize("content", ["{}", "[]", "1", "null", '"rldp-protocol"', '{"format": "other"}'])
def test_other_json_is_refused(tmp_path, content):
    path = tmp_path / "protocol.json"
    path.write_text(content)
    refused(path, "must be a protocol file, but it holds other JSON")


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"format": NaN}'],
    ids=["empty", "text", "open", "bytes", "deep", "NaN"],
)
def test_what_is_not_json_is_refused(tmp_path, content):
    path = tmp_path / "protocol.json"
    path.write_bytes(content)
    refused(path, "must be a protocol file, but it cannot be read: ")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"k\xd6y", "it is not UTF-8 text"),
        (b"id,health\n7,ill\n", "it is not JSON (line 1, column 1)"),
        (b"[" * 100_000, "it is nested too deeply"),
    ],
    ids=["a key", "a table", "deep"],
)
def test_what_is_taken_for_a_protocol_by_mistake_is_not_shown(tmp_path, content, reason):
    path = tmp_path / "protocol.json"
    path.write_bytes(content)
    with pytest.raises(rldp.ProtocolFileError) as caught:
        rldp.load(path)
    assert str(caught.value) == f"{path} must be a protocol file, but it cannot be read: {reason}"


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.99])
def test_a_file_cut_short_is_refused(tmp_path, protocol, share):
    path = tmp_path / "protocol.json"
    protocol.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    refused(path, "must be a protocol file, but it cannot be read: ")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "protocol.json"
    with path.open("wb") as file:
        file.truncate(reader.MOST_BYTES + 1)  # takes no room on the disk
    monkeypatch.setattr(reader, "_PART", None)  # nothing is read
    refused(path, "protocol.json' has more than 500 MB")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file")
def test_a_file_without_an_end_is_refused(monkeypatch):
    monkeypatch.setattr(reader, "MOST_BYTES", 3 * 2**20)
    refused("/dev/zero", "path must be a protocol file, but '/dev/zero' has more than")


def test_a_protocol_that_no_reader_would_take_is_not_written(tmp_path, protocol, monkeypatch):
    monkeypatch.setattr(reader, "MOST_BYTES", 100)
    with pytest.raises(rldp.ProtocolFileError, match="protocol must fit a file, but it has more than"):
        protocol.save(tmp_path / "protocol.json")
    assert not list(tmp_path.iterdir())


def test_a_missing_file_is_refused(tmp_path):
    refused(tmp_path / "none.json", "path must be a protocol file, but ")


def test_a_folder_is_refused(tmp_path):
    refused(tmp_path, "must be a protocol file, but it cannot be read: ")


@pytest.mark.parametrize(
    "name", ["secrets", "values", "outputs", "numerators", "denominator", "generator", "guarantee"]
)
def test_every_part_must_be_there(changed, name):
    refused(changed(lambda document: document.pop(name)), f"but {name} is missing")


@pytest.mark.parametrize(
    "name",
    ["epsilon", "n", "counts", "privacy", "utility", "distortion", "objective", "lower_bound", "certificate"],
)
def test_every_part_of_the_guarantee_must_be_there(changed, name):
    path = changed(lambda document: document["guarantee"].pop(name))
    refused(path, f"but guarantee.{name} is missing")


def first_row(document, row):
    document["numerators"][0][0] = row


G = "guarantee"
WRONG = {
    "denominator must be 2^52 = 4503599627370496, got 100": lambda d: d.update(denominator=100),
    "numerators must be a list of 1, got [[[": lambda d: d.update(secrets=["f"]),
    "values must hold distinct labels, got 1 more than once": lambda d: d.update(values=[1, 1, 2]),
    "values must hold distinct labels, got True more than once": lambda d: d.update(values=[1, True, 2]),
    "secrets must hold strings, numbers or booleans, got None": lambda d: d.update(secrets=["f", None]),
    "outputs must be a list of labels, got 'abc'": lambda d: d.update(outputs="abc"),
    "outputs must hold at least one label, got none": lambda d: d.update(outputs=[]),
    "numerators must be a list of 2, got None": lambda d: d.update(numerators=None),
    "numerators must be a list of 2, got 7": lambda d: d.update(numerators=7),
    "its rows do not sum to the denominator 2^52": lambda d: first_row(d, [0, 0, 2**52 - 1]),
    "numerators[0][0][0] must be an integer from 0 to": lambda d: first_row(d, [-1, 0, 2**52 + 1]),
    "numerators[0][0] must be a list of 3, got [0, 45": lambda d: first_row(d, [0, 2**52]),
    "numerators[0][0][1] must be an integer from 0 to": lambda d: first_row(d, [0, 10**30, 0]),
    "4503599627370496, got 'a'": lambda d: first_row(d, ["a", 0, 0]),
    "4503599627370496, got True": lambda d: first_row(d, [True, 0, 0]),
    "4503599627370496, got 1.0": lambda d: first_row(d, [1.0, 0, 0]),
    "'more' is not a key of this format": lambda d: d.update(more=1),
    "guarantee.'more' is not a key of this format": lambda d: d[G].update(more=1),
    "guarantee must be an object, got []": lambda d: d.update(guarantee=[]),
    "generator must be the name and version of what wrote the file, got 1": lambda d: d.update(generator=1),
    "guarantee.epsilon must be a number, got 'much'": lambda d: d[G].update(epsilon="much"),
    "guarantee.epsilon must be a number, got True": lambda d: d[G].update(epsilon=True),
    "guarantee.epsilon must be a number that is not negative, got -1": lambda d: d[G].update(epsilon=-1),
    "guarantee.epsilon must be a number that a float can hold, got 1": lambda d: d[G].update(epsilon=10**400),
    "guarantee.n must be the sum of the counts, positive and below 2^53, got 5": lambda d: d[G].update(n=5),
    "guarantee.counts[0] must be a list of 3, got [1, 2]": lambda d: d[G].update(counts=[[1, 2], [3, 4]]),
    "guarantee.counts[0][0] must be an integer from 0": lambda d: d[G]["counts"][0].__setitem__(0, -1),
    'guarantee.privacy.kind must be "nominal", "power-divergence", "credible" or, for pri': lambda d: d[
        G
    ].update(privacy={"kind": "ball"}),
    "guarantee.privacy.lambda must be a number that is not negative, got -1": lambda d: d[G][
        "privacy"
    ].update({"lambda": -1}),
    "guarantee.privacy.lambda must be at most 100, got 101": lambda d: d[G]["privacy"].update(
        {"lambda": 101}
    ),
    "guarantee.utility.alpha must be a number between 0 and 1, got 0": lambda d: d[G]["utility"].update(
        alpha=0
    ),
    "guarantee.utility.alpha must be at least 1e-300, got 1e-301": lambda d: d[G]["utility"].update(
        alpha=1e-301
    ),
    "guarantee.utility.'alpha' is not a key of this format": lambda d: d[G]["utility"].update(radius=1),
    "guarantee.utility must be an object, got 'nominal'": lambda d: d[G].update(utility="nominal"),
    "guarantee.distortion[0] must be a list of 3, got [1]": lambda d: d[G].update(
        distortion=[[1], [2, 3], [4]]
    ),
    "guarantee.distortion[2][2] must be a number that is not negative": lambda d: d[G]["distortion"][
        2
    ].__setitem__(2, -1),
    "guarantee.objective must be a number, got None": lambda d: d[G].update(objective=None),
    "guarantee.certificate.eta is missing": lambda d: d[G]["certificate"].pop("eta"),
    "guarantee.certificate.eta must be a list of 3": lambda d: d[G]["certificate"]["eta"].pop(),
    "guarantee.certificate.multipliers[1][0] must be a number that": lambda d: d[G]["certificate"][
        "multipliers"
    ][1].__setitem__(0, -1e-9),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_file_that_does_not_fit_together_is_refused(changed, message):
    refused(changed(WRONG[message]), message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"version":1', '"version":1,"version":1', "an object holds a key twice"),
        ('"epsilon":0.7', '"epsilon":1e999', "guarantee.epsilon must be a number that a float can hold"),
        ('"epsilon":0.7', '"epsilon":Infinity', "Infinity is not a valid JSON number"),
        ('"epsilon":0.7', '"epsilon":-NaN', "it cannot be read"),
        ('"epsilon":0.7', f'"epsilon":{"9" * 5000}', "it cannot be read: "),
    ],
)
def test_text_that_is_almost_a_protocol_is_refused(tmp_path, protocol, old, new, message):
    path = tmp_path / "protocol.json"
    text = protocol.to_json()
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    refused(path, message)


def test_rows_whose_sum_only_wraps_around_to_the_denominator_are_refused(tmp_path):
    document = json.loads(rldp.Protocol([[[1.0, 0.0]]]).to_json())
    document["outputs"], document["numerators"] = list(range(4097)), [[[2**52] * 4097]]
    path = tmp_path / "protocol.json"
    path.write_text(json.dumps(document))
    refused(path, "its rows do not sum to the denominator 2^52")


def test_claims_may_be_numpys_numbers(tmp_path, protocol):
    claim = protocol.guarantee
    numbers = {
        "epsilon": np.float32(0.5),
        "objective": np.float64(claim.objective),
        "lower_bound": np.int64(0),
    }
    made = rldp.Protocol(protocol.matrix, guarantee=rldp.Guarantee(**{**vars(claim), **numbers}))
    assert written(made, tmp_path / "protocol.json").guarantee.epsilon == 0.5


@pytest.mark.parametrize("path", [None, 5, ["protocol.json"], b"protocol.json"])
def test_a_path_is_wanted(protocol, path):
    for call in (protocol.save, rldp.load):
        with pytest.raises(rldp.InvalidArgumentType, match=r"^path must be a path, got "):
            call(path)


def test_a_path_has_no_null_character(protocol):
    for call in (protocol.save, rldp.load):
        with pytest.raises(
            rldp.InvalidArgument, match=r"^path must not hold a null character, got 'a\\x00b'$"
        ):
            call("a\0b")


# What cannot be written


def unwritable(protocol, path, reason):
    with pytest.raises(rldp.ProtocolFileError) as caught:
        protocol.save(path)
    assert str(caught.value) == f"path must be writable, but {str(path)!r} is not: {reason}"


def test_a_folder_that_does_not_exist_is_not_made(tmp_path, protocol):
    unwritable(protocol, tmp_path / "no" / "protocol.json", "No such file or directory")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder(tmp_path, protocol):
    (tmp_path / "file").write_text("mine")
    unwritable(protocol, tmp_path / "file" / "protocol.json", "Not a directory")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_is_not_replaced(tmp_path, protocol):
    (tmp_path / "folder").mkdir()
    unwritable(protocol, tmp_path / "folder", "it is a folder")
    assert list(tmp_path.rglob("*")) == [tmp_path / "folder"]


def test_a_name_can_be_too_long(tmp_path, protocol):
    unwritable(protocol, tmp_path / ("x" * 300), "File name too long")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_can_be_closed_to_us(tmp_path, protocol, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    unwritable(protocol, tmp_path / "protocol.json", "Permission denied")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(params=["write", "fsync", "replace"])
def full_disk(request, monkeypatch):
    """No space is left at one of the steps of writing."""

    def fails(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    if request.param != "write":
        monkeypatch.setattr(os, request.param, fails)
        return
    opened = os.fdopen

    def fdopen(*args, **options):
        file = opened(*args, **options)
        file.write = fails
        return file

    monkeypatch.setattr(os, "fdopen", fdopen)


def test_a_full_disk_leaves_nothing_behind(tmp_path, protocol, full_disk):
    unwritable(protocol, tmp_path / "protocol.json", "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_what_was_there(tmp_path, protocol, full_disk):
    path = tmp_path / "protocol.json"
    path.write_text("old")
    unwritable(protocol, path, "No space left on device")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interruption_leaves_nothing_behind(tmp_path, protocol, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        protocol.save(tmp_path / "protocol.json")
    assert list(tmp_path.iterdir()) == []


def test_probabilities_off_the_grid_are_rounded_when_the_protocol_is_made(tmp_path):
    made = rldp.Protocol([[[1 / 3, 2 / 3], [0.1, 0.9]]])
    assert (made.numerators.sum(axis=2) == made.denominator).all()
    assert (made.numerators / made.denominator == made.matrix).all()
    assert abs(made.matrix - [[[1 / 3, 2 / 3], [0.1, 0.9]]]).max() <= 2**-52
    same(made, written(made, tmp_path / "protocol.json"))


def test_numbers_that_json_does_not_know_are_not_written(tmp_path, protocol):
    claim = protocol.guarantee
    broken = rldp.Guarantee(**{**vars(claim), "lower_bound": math.nan})
    with pytest.raises(rldp.InvalidArgument, match=r"^protocol must hold finite numbers to be saved"):
        rldp.Protocol(protocol.matrix, guarantee=broken).save(tmp_path / "protocol.json")
    assert list(tmp_path.iterdir()) == []
