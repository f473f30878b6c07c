"""Warnings left out for one caller are left out for nobody else."""

import threading

import pytest

from rldp._common.warnings import silenced, warn
from rldp.errors import GapWarning, RldpWarning, SparseTableWarning


def test_a_silenced_kind_is_not_heard_and_others_are():
    with silenced(GapWarning):
        warn("a gap", GapWarning, stacklevel=1)
        with pytest.warns(SparseTableWarning, match="a table"):
            warn("a table", SparseTableWarning, stacklevel=1)
    with pytest.warns(GapWarning, match="a gap"):
        warn("a gap", GapWarning, stacklevel=1)


def test_another_thread_hears_what_is_silenced_here():
    heard = []

    def told():
        with pytest.warns(GapWarning) as found:
            warn("a gap", GapWarning, stacklevel=1)
        heard.extend(found)

    with silenced(RldpWarning):
        other = threading.Thread(target=told)
        other.start()
        other.join()
    assert len(heard) == 1


def test_a_warning_names_the_line_of_the_caller():
    with pytest.warns(GapWarning) as found:
        warn("a gap", GapWarning, stacklevel=1)
    assert found[0].filename == __file__
