"""Values made of arrays: copies that differ in a field."""

from dataclasses import dataclass
from functools import cached_property

from rldp.designer.engine.algebra.arrays import updated


@dataclass(frozen=True)
class Square:
    side: float

    @cached_property
    def area(self):
        return self.side**2


def test_a_copy_with_another_field_does_not_keep_what_was_computed_from_the_old_one():
    square = Square(2.0)
    assert square.area == 4
    assert updated(square, side=3.0).area == 9
    assert square.side == 2
