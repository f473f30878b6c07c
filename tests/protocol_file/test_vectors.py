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
        name for name, content, accepted in contents() if accepted and not fits(json.loads(content.decode()))
    ]
    assert odd == []


@pytest.mark.parametrize(
    "draws", VECTORS["draws"], ids=lambda draws: f"{draws['file']} {draws['secret']} {draws['value']}"
)
def test_every_word_gives_the_output_that_the_vectors_say(draws, tmp_path):
    protocol = loaded(draws["file"], tmp_path)
    secret, value = protocol.secrets[draws["secret"]], protocol.values[draws["value"]]
    found = [protocol.output_for(secret, value, word) for word in draws["words"]]
    assert found == [protocol.outputs[place] for place in draws["outputs"]]


def test_every_output_that_can_be_drawn_in_a_row_of_the_vectors_is_drawn():
    """Words at both ends of every interval, so that no client passes that gets one of them wrong."""
    for draws in VECTORS["draws"]:
        row = json.loads(VECTORS["files"][draws["file"]])["numerators"][draws["secret"]][draws["value"]]
        assert set(draws["outputs"]) == {y for y, numerator in enumerate(row) if numerator}
        assert len(draws["words"]) > 4


@pytest.mark.parametrize("entry", VECTORS["entries"], ids=str)
def test_entries_are_read_as_the_vectors_say(entry, tmp_path):
    """One by one and as columns; what is refused is not shown."""
    file, secret, value, places = entry
    protocol = loaded(file, tmp_path)
    secret, value = (tuple(each) if isinstance(each, list) else each for each in (secret, value))
    if places is None:
        with pytest.raises(rldp.DataError) as caught:
            protocol.output_for(secret, value, 0)
        assert "another entry" in str(caught.value)
        with pytest.raises(rldp.DataError, match="1 of 1 rows cannot be released"):
            protocol.release([secret], [value])
        return
    row = protocol.matrix[places[0], places[1]]
    assert protocol.output_for(secret, value, 0) == protocol.outputs[int(row.argmax())]
    if row.max() == 1:
        assert protocol.release([secret], [value]) == [protocol.outputs[int(row.argmax())]]
