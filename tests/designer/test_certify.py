"""What is kept of two designs for the same problem: a protocol with its own proof, a bound with its own."""

import numpy as np

from rldp.designer.certify import CertifiedBatch, better
from rldp.designer.status import Route

OF_THE_PROTOCOL = ("matrix", "objective", "eta", "eta_utility", "route")
OF_THE_BOUND = ("lower_bound", "z", "members", "distribution", "constant")


def marked(mark, objective, lower_bound):
    """A batch of two whose every number is its mark."""

    def filled(*shape):
        return np.full((2, *shape), float(mark))

    return CertifiedBatch(
        matrix=filled(2, 2, 2),
        objective=np.array(objective),
        lower_bound=np.array(lower_bound),
        eta=filled(2, 2, 2),
        eta_utility=filled(1),
        z=filled(2, 2),
        members=filled(2, 2, 2, 2),
        distribution=filled(2, 2),
        known=filled(2, 2, 2),
        constant=np.full(2, bool(mark)),
        route=np.full(2, (Route.PAIRS, Route.WINDOWS)[mark], dtype=object),
        steps=np.full(2, mark),
        reason=np.full(2, str(mark), dtype=object),
    )


def test_a_protocol_keeps_its_own_proof_and_a_bound_its_own_witnesses():
    """Of each problem, one design has the better protocol and the other the better bound."""
    one = marked(0, objective=[2.0, 1.0], lower_bound=[0.5, 0.1])
    other = marked(1, objective=[1.5, 1.5], lower_bound=[0.4, 0.2])
    for found in (better(one, other), better(other, one)):
        assert found.objective.tolist() == [1.5, 1.0]
        assert found.lower_bound.tolist() == [0.5, 0.2]
        for place, (of_protocol, of_bound) in enumerate(((other, one), (one, other))):
            for names, source in ((OF_THE_PROTOCOL, of_protocol), (OF_THE_BOUND, of_bound)):
                for name in names:
                    assert np.array_equal(getattr(found, name)[place], getattr(source, name)[place]), name


def test_what_replaces_some_designs_goes_to_their_places():
    one, other = marked(0, [1.0, 2.0], [0.0, 0.0]), marked(1, [3.0, 4.0], [0.0, 0.0])
    assert one.replaced(np.array([1, 0]), other).objective.tolist() == [4.0, 3.0]
    assert one.replaced(np.array([1]), other.subset(np.array([0]))).objective.tolist() == [1.0, 3.0]


def test_what_is_not_proved_closes_no_gap():
    """An infinite objective says that nothing is proved; no gap is as small as that."""
    assert marked(0, [np.inf, 1.0], [0.5, 1.0]).closes(1e-6).tolist() == [False, True]
