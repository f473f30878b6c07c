"""The shared vectors: the library reads, refuses and draws what every client must."""

import json
from importlib.resources import files

import jsonschema
import pytest

import rldp
from protocol_file import make_vectors

TEXT = files("rldp.protocol_file").joinpath("vectors.json").read_text(encoding="utf-8")
VECTORS = json.loads(TEXT)
SCHEMA = json.loads(files("rldp.protocol_file").joinpath("protocol.schema.json").read_text(encoding="utf-8"))


def contents():
    """Name, bytes and verdict of every file."""
    for name, text in VECTORS["files"].items():
        yield name, text.encode(), True
    for name, file, start, end, new, accepted in VECTORS["changes"]:
        old = VECTORS["files"][file]
        yield f"{file}: {name}", (old[:start] + new + old[end:]).encode(), accepted
    for name, digits, accepted in VECTORS["bytes"]:
        yield name, bytes.fromhex(digits), accepted


def loaded(name, tmp_path):
    path = tmp_path / "protocol.json"
    path.write_text(VECTORS["files"][name], encoding="utf-8")
    return rldp.load(path)


def values_of(protocol):
    """What rows that are released have: earlier outputs in place of their values."""
    reading = protocol.reading_of_rows
    return protocol.values if reading is None else reading.values


def test_the_vectors_are_what_their_maker_makes():
    assert make_vectors.text() == TEXT


def test_every_file_is_read_or_refused_as_the_vectors_say(tmp_path):
    wrong = [
        name
        for name, content, accepted in contents()
        if make_vectors.accepted(content, tmp_path) is not accepted
    ]
    assert wrong == []


def test_there_are_many_files_of_both_kinds():
    verdicts = [accepted for _, _, accepted in contents()]
    assert verdicts.count(True) >= 200
    assert verdicts.count(False) >= 800
    assert all(text.isascii() for text in VECTORS["files"].values())


def test_no_file_that_is_accepted_breaks_the_schema():
    """A second opinion, by another library; the schema says less than the reader."""
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid
    odd = [
        name
        for name, content, accepted in contents()
        if accepted and not fits(tree := json.loads(content.decode())) and tree["format"] != "rldp-chain"
    ]
    assert odd == []


@pytest.mark.parametrize(
    "draws", VECTORS["draws"], ids=lambda draws: f"{draws['file']} {draws['secret']} {draws['value']}"
)
def test_every_word_gives_the_output_that_the_vectors_say(draws, tmp_path):
    protocol = loaded(draws["file"], tmp_path)
    secret, value = protocol.secrets[draws["secret"]], values_of(protocol)[draws["value"]]
    found = [protocol.output_for(secret, value, word) for word in draws["words"]]
    assert found == [protocol.outputs[place] for place in draws["outputs"]]


def test_every_output_that_can_be_drawn_in_a_row_of_the_vectors_is_drawn():
    """Words at both ends of every interval, so that no client passes that gets one of them wrong."""
    for draws in VECTORS["draws"]:
        protocol = rldp.Protocol.from_json(VECTORS["files"][draws["file"]])
        if "later" in draws["file"]:  # whose matrix is of rows before the earlier release
            job = protocol.stages[-1].table[draws["value"] // 2, draws["secret"], draws["value"] % 2]
            assert {y % 2 for y in draws["outputs"]} == set(job.nonzero()[0])
            continue
        row = protocol.matrix[draws["secret"], draws["value"]]
        likely = {y for y, probability in enumerate(row) if probability > 2.0**-40 or protocol.words == 1}
        assert likely & set(row.nonzero()[0]) <= set(draws["outputs"]) <= set(row.nonzero()[0])
        assert len(draws["words"]) > 4


def test_people_get_the_outputs_of_the_vectors_from_a_key(tmp_path):
    for draw in VECTORS["once"]:
        protocol = loaded(draw["file"], tmp_path)
        secret, value = (tuple(x) if isinstance(x, list) else x for x in (draw["secret"], draw["value"]))
        secrets = None if secret is None else [secret]
        found = protocol.release(secrets, [value], ids=[draw["id"]], key=bytes.fromhex(draw["key"]))
        assert found == [protocol.outputs[draw["output"]]]
        assert found == [protocol.output_for(secret, value, draw["word"])]


def test_no_two_messages_of_the_vectors_share_a_word_but_those_of_one_person():
    once = VECTORS["once"]
    assert (
        len({str(draw["word"]) for draw in once}) == len(once) - 4
    )  # three ways to write 7, two of ë, one secret
    assert len({draw["output"] for draw in once}) > 20


@pytest.mark.parametrize("entry", VECTORS["entries"], ids=str)
def test_entries_are_read_as_the_vectors_say(entry, tmp_path):
    """One by one and as columns; what is refused is not shown."""
    file, secret, value, places = entry
    protocol = loaded(file, tmp_path)
    secret, value = (tuple(each) if isinstance(each, list) else each for each in (secret, value))
    chained = "chain" in file
    word = [2**51] * protocol.words if protocol.words > 1 else chained * 2**51
    if places is None:
        with pytest.raises(rldp.DataError) as caught:
            protocol.output_for(secret, value, word)
        assert "another entry" in str(caught.value)
        with pytest.raises(rldp.DataError, match="1 of 1 rows cannot be released"):
            protocol.release([secret], [value])
        return
    found = protocol.output_for(secret, value, word)
    if chained:
        assert found == protocol.output_for(protocol.secrets[places[0]], values_of(protocol)[places[1]], word)
        return
    row = protocol.matrix[places[0], places[1]]
    assert found == protocol.outputs[int(row.argmax())]
    if row.max() == 1:
        assert protocol.release([secret], [value]) == [protocol.outputs[int(row.argmax())]]
