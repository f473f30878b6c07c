"""Small samples, and small problems whose best protocol can be found by hand."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import chi2

import rldp

ORDERS = (0.0, 2 / 3, 1.0, 2.0)

SAMPLES = {
    "fifteen draws": np.array([[5, 1, 2], [1, 3, 3]]),
    "fifteen draws, two cells never seen": np.array([[5, 0, 2], [0, 4, 4]]),
    "a value never seen": np.array([[30, 0, 10, 5], [5, 0, 25, 25]]),
    "three secrets, zeros": np.array([[40, 0, 20, 1, 0], [1, 30, 0, 0, 9], [7, 7, 7, 7, 21]]),
    "fifteen thousand draws": np.array([[5000, 20, 2000], [100, 3000, 4880]]),
    "fifteen thousand draws, three secrets, zeros": np.array(
        [[3000, 0, 800, 1200, 1], [400, 2600, 0, 1000, 999], [1, 1, 4998, 0, 0]]
    ),
}
UNSEEN_SECRET = np.array([[12, 3, 5], [0, 0, 0], [4, 9, 7]])


def hamming(values: int) -> np.ndarray:
    return 1.0 - np.eye(values)


def absolute(values: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(values), np.arange(values))).astype(float)


def squared(values: int) -> np.ndarray:
    return absolute(values) ** 2


DISTORTIONS = {"hamming": hamming, "absolute": absolute, "squared": squared}


def wilson_upper(share: float, radius: float) -> float:
    """Largest q with (share − q)² / (q (1 − q)) ≤ radius: the upper end of Wilson's score interval."""
    half = math.sqrt(radius * share * (1 - share) + radius**2 / 4)
    return (share + radius / 2 + half) / (1 + radius)


@dataclass(frozen=True)
class KnownProblem:
    """A design problem, its optimal value, and why it is that."""

    name: str
    counts: np.ndarray
    epsilon: float
    distortion: str
    optimum: float
    why: str
    privacy: rldp.UncertaintySet = field(default_factory=rldp.Nominal)
    utility: rldp.UncertaintySet = field(default_factory=rldp.Nominal)


def identical_conditionals(epsilon: float) -> KnownProblem:
    return KnownProblem(
        f"identical conditionals, ε = {epsilon}",
        np.array([[10, 20, 30], [20, 40, 60]]),
        epsilon,
        "squared",
        0.0,
        "The value says nothing about the secret, so publishing it is private at every ε.",
    )


def mirrored_coins(epsilon: float) -> KnownProblem:
    e = math.exp(epsilon)
    return KnownProblem(
        f"mirrored coins, ε = {epsilon}",
        np.array([[30, 10], [10, 30]]),
        epsilon,
        "hamming",
        max(0.0, 3 / 4 - e / (1 + e)),
        "With m = P(Y=1|s) the cost is ½|m_1 − ¼| + ½|m_2 − ¾|, and privacy allows m_2 − m_1 up to "
        "(e^ε − 1)/(e^ε + 1), at m_2 = 1 − m_1 = e^ε/(1 + e^ε).",
    )


def lopsided_coins() -> KnownProblem:
    return KnownProblem(
        "lopsided coins, e^ε = 2",
        np.array([[120, 40], [10, 30]]),
        math.log(2),
        "hamming",
        0.05,
        "Cost 0.8|m_1 − ¼| + 0.2|m_2 − ¾|: the rare secret gives way. With m_1 = ¼ privacy allows "
        "m_2 ≤ min(2·¼, 1 − ¾/2) = ½, at a cost of 0.2·¼.",
    )


def randomised_response(epsilon: float, secrets: int) -> KnownProblem:
    e = math.exp(epsilon)
    return KnownProblem(
        f"randomised response, {secrets} secrets, ε = {epsilon}",
        10 * np.eye(secrets, dtype=int),
        epsilon,
        "hamming",
        (secrets - 1) / (e + secrets - 1),
        "The value is the secret. P(y|s) ≥ e^−ε P(y|y) for all s, so each column of the k×k table sums to "
        "at least (1 + (k − 1)e^−ε) P(y|y), and all of it to k: the diagonal holds at most "
        "k e^ε/(e^ε + k − 1).",
    )


def one_value(utility: rldp.UncertaintySet) -> KnownProblem:
    return KnownProblem(
        f"one value, {type(utility).__name__}",
        np.array([[30], [12]]),
        0.5,
        "squared",
        0.0,
        "Every protocol on one value publishes nothing.",
        privacy=rldp.ChiSquare(),
        utility=utility,
    )


def one_secret() -> KnownProblem:
    return KnownProblem(
        "one secret",
        np.array([[30, 12, 7]]),
        0.5,
        "squared",
        0.0,
        "There is nobody to be told apart from.",
        privacy=rldp.ChiSquare(),
        utility=rldp.ChiSquare(),
    )


def silence() -> KnownProblem:
    return KnownProblem(
        "ε = 0 over a set, nominal utility",
        np.array([[30, 10, 5], [5, 25, 25]]),
        0.0,
        "absolute",
        (35 * 1 + 30 * 1) / 100,
        "Only a constant output is private; the median, 1, costs least.",
        privacy=rldp.ChiSquare(),
    )


def cautious_silence() -> KnownProblem:
    radius = float(chi2.ppf(0.95, 3)) / 100
    return KnownProblem(
        "ε = 0 over a set, robust utility",
        np.array([[60, 10], [20, 10]]),
        0.0,
        "hamming",
        wilson_upper(0.2, radius),
        "Only a constant output is private; the likelier value is also the likelier one at worst, and the "
        "other one's largest share is the upper end of Wilson's interval.",
        privacy=rldp.ChiSquare(),
        utility=rldp.ChiSquare(),
    )


def evenly_cautious_silence() -> KnownProblem:
    return KnownProblem(
        "ε = 0 over a set, robust utility, mixed output",
        np.array([[16, 12], [10, 14]]),
        0.0,
        "hamming",
        0.5,
        "The set holds a distribution with even values, under which every constant output costs ½; a "
        "fair coin costs ½ under every distribution, a single output more at worst.",
        privacy=rldp.ChiSquare(),
        utility=rldp.ChiSquare(),
    )


KNOWN_PROBLEMS = [
    *(identical_conditionals(epsilon) for epsilon in (0.01, 0.5, 3.0)),
    *(mirrored_coins(epsilon) for epsilon in (0.1, 0.5, 1.0, 2.0)),
    lopsided_coins(),
    *(randomised_response(epsilon, secrets) for epsilon in (0.5, 2.0) for secrets in (2, 3, 4)),
    one_value(rldp.Nominal()),
    one_value(rldp.ChiSquare()),
    one_secret(),
    silence(),
    cautious_silence(),
    evenly_cautious_silence(),
]

# Nominal privacy at ε = 0 asks for equal output distributions: there is no protocol strictly inside.
KNOWN_PROBLEMS_WITHOUT_INTERIOR = [identical_conditionals(0.0), mirrored_coins(0.0)]
