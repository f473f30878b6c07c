"""The watch over the messages of the suite sees an entry that is shown."""

import pytest

from entries import Watch
from rldp.data.labels import Alphabet
from rldp.errors import DataError


@pytest.mark.parametrize(
    ("message", "seen"),
    [
        ("row 3 has 462.15, which is no label", True),
        ("row 3 holds 'Smith'", True),
        ("row 3 holds 'Smithson', and 1462.15", False),
        ("data has no column 'sex'; it has 'Smith'", False),
    ],
)
def test_a_message_that_shows_an_entry_is_seen(monkeypatch, message, seen):
    with monkeypatch.context() as patched:
        watch = Watch(patched)
        Alphabet.inferred("column", ["Smith", 462.15])
        with pytest.raises(DataError):
            raise DataError(message)
    assert bool(watch.shown()) == seen


def test_what_is_looked_up_is_watched(monkeypatch):
    with monkeypatch.context() as patched:
        watch = Watch(patched)
        Alphabet(["known"]).of_texts(["Jones"])
        Alphabet(["known"]).of_objects(["Smith"])
    assert watch.entries == {"Jones", "Smith"}
