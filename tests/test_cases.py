import pytest

from cases import spread

NAMES = ["a.py::x[0]", "a.py::x[1]", "a.py::y", "a.py::x[2-[]", "a.py::x[3]", "b.py::x[0]"]


@pytest.mark.parametrize(
    ("most", "kept"), [(1, {0, 2, 5}), (2, {0, 2, 4, 5}), (3, {0, 1, 2, 4, 5}), (4, set(range(6)))]
)
def test_no_test_is_left_out_and_none_has_more_cases_than_asked_for(most, kept):
    assert spread(NAMES, most) == kept


def test_more_cases_than_there_are_is_all_of_them():
    assert spread(NAMES, 100) == set(range(len(NAMES)))
