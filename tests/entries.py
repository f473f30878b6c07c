"""A watch over the messages of the whole suite: none shows an entry of the data that was read."""

import re

from rldp import RldpError
from rldp.data.labels import Alphabet

_SHORT = 3  # characters: shorter entries also stand in plain words and numbers
_NO_ENTRY = re.compile(r"\d+|True|False|\(missing\)")  # what any message may say
_NAMES = "has no column"  # what follows are names of columns, as far as anybody can tell


class Watch:
    """The entries that a test reads, and the messages that it meets."""

    def __init__(self, monkeypatch):
        self.entries, self.messages = set(), []
        made = RldpError.__init__

        def raised(error, *arguments):
            self.messages.extend(text for text in arguments if isinstance(text, str))
            made(error, *arguments)

        monkeypatch.setattr(RldpError, "__init__", raised)
        for name in ("of_objects", "of_texts"):
            monkeypatch.setattr(Alphabet, name, self._reading(getattr(Alphabet, name)))
        inferred = Alphabet.inferred.__func__
        monkeypatch.setattr(
            Alphabet,
            "inferred",
            classmethod(lambda cls, name, entries: inferred(cls, name, self._read(entries))),
        )

    def _read(self, entries):
        read = list(entries)
        self.entries.update(str(entry) for entry in read if isinstance(entry, str | int | float))
        return read

    def _reading(self, function):
        return lambda alphabet, items: function(alphabet, self._read(items))

    def shown(self):
        """Entries, each with a message in which it stands as a word."""
        long = {entry for entry in self.entries if len(entry) > _SHORT and not _NO_ENTRY.fullmatch(entry)}
        return {
            entry: message
            for message in self.messages
            if _NAMES not in message
            for entry in long
            if entry in message and re.search(rf"(?<![\w.]){re.escape(entry)}(?!\w|\.\w)", message)
        }
