"""A few cases of each test, for runs that are repeated under many kernels, libraries and interpreters."""

from collections import defaultdict


def spread(names, most):
    """Which of the tests named run: at most ``most`` cases of each, the first and the last among them.

    Cases of a test have the same name up to the first bracket. With one case of each, it is the first.
    """
    places = defaultdict(list)
    for place, name in enumerate(names):
        places[name.partition("[")[0]].append(place)
    return {cases[i * (len(cases) - 1) // max(most - 1, 1)] for cases in places.values() for i in range(most)}
