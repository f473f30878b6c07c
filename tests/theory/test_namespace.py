"""NumPy's functions without their detours do what NumPy's own do."""

import numpy as np
import pytest

from rldp.theory.namespace import namespace

PARTS = [np.arange(6.0).reshape(2, 3), -np.arange(6.0).reshape(2, 3)]


@pytest.mark.parametrize("axis", [-3, -2, -1, 0, 1, 2])
def test_stacking_along_any_axis_is_numpys(axis):
    np.testing.assert_array_equal(namespace(PARTS[0]).stack(PARTS, axis=axis), np.stack(PARTS, axis=axis))


@pytest.mark.parametrize("axis", [-4, 3])
def test_there_is_no_axis_beyond_the_last(axis):
    with pytest.raises(IndexError):
        namespace(PARTS[0]).stack(PARTS, axis=axis)
