"""The precision of ball arithmetic, which all threads of a process share."""

from flint import ctx

from rldp.judge.balls import precision


def test_whoever_leaves_takes_no_bits_from_those_who_stay_and_the_last_restores_what_was():
    before = ctx.prec
    first, second = precision(300), precision(128)
    first.__enter__()
    second.__enter__()
    assert ctx.prec == 300
    first.__exit__(None, None, None)
    assert ctx.prec == 128
    second.__exit__(None, None, None)
    assert ctx.prec == before


def test_what_asks_for_fewer_bits_inside_gets_no_fewer():
    with precision(300), precision(128):
        assert ctx.prec == 300
