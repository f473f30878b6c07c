"""The quantitative and comparative statements of the paper, paraphrased, with their criteria."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from rldp.paper import privacy_judges as privacy, utility_judges as utility
from rldp.paper.claims import Claim, Finding
from rldp.paper.words import SCATTERS

__all__ = ["CLAIMS"]

_FIRST, _SECOND = "Section V, first experiment", "Section V, second experiment"


def _of_each_scatter(place: str, text: str, judge: Callable[..., Finding]) -> Iterator[Claim]:
    """Return a claim about each of the two scatter plots."""
    for table in SCATTERS:
        yield Claim(place, f"{text} ({table}).", (table,), partial(judge, table=table))


CLAIMS = (
    Claim(
        "Abstract; Section II",
        "Robust privacy holds for every distribution in the set.",
        (),
        privacy.private_over_the_set,
    ),
    Claim("Introduction", "The protocols are provably optimal.", (), utility.proved_optimal),
    *_of_each_scatter(_FIRST, "Without robust privacy almost all instances have ε* ≫ ε", privacy.leaks),
    Claim(
        "Introduction (i); Discussion",
        "Without robust privacy, privacy is much worse than designed for.",
        ("vs-n",),
        privacy.leaks_over_n,
    ),
    *_of_each_scatter(
        f"Introduction (ii); {_FIRST}", "Robust privacy costs significant utility", utility.costs
    ),
    Claim(
        "Introduction (ii)",
        "Robust privacy costs significant utility, whatever n.",
        ("vs-n",),
        utility.cost_over_n,
    ),
    *_of_each_scatter(
        f"Introduction (iii); {_FIRST}",
        "Under robust privacy, robust utility makes little difference: NURP ≈ RURP",
        utility.similar,
    ),
    *_of_each_scatter(
        _FIRST,
        "Robust privacy costs considerably more utility than robust utility gains",
        utility.cost_against_benefit,
    ),
    Claim(
        _SECOND,
        "Robust utility has relatively little impact.",
        ("vs-n",),
        utility.little_impact_over_n,
    ),
    Claim(_SECOND, "For small n RURP is very conservative: ε* ≪ ε.", ("vs-n",), privacy.conservative),
    Claim(
        _FIRST,
        "Robust privacy does not always give ε* ≤ ε, as P* ∈ F only with probability 1 − α.",
        SCATTERS,
        privacy.not_always_private,
    ),
    Claim(_SECOND, "The share with ε* ≤ ε is at least 1 − α.", ("vs-n",), privacy.share_against_level),
    Claim(
        _FIRST,
        "The test gives a confidence set of level 1 − α only as n → ∞.",
        ("vs-n",),
        privacy.coverage,
    ),
    Claim(
        _FIRST,
        "At small n NURP has more outliers than expected, which the χ² approximation explains.",
        ("scatter-small",),
        privacy.more_outliers,
    ),
    Claim(
        _FIRST,
        "Some large ε* of NURP at small n are artefacts of the small sample.",
        SCATTERS,
        privacy.small_sample_artefacts,
    ),
    Claim(_FIRST, "Both scatter plots have outliers, especially in ε*.", SCATTERS, privacy.many_outliers),
    Claim(
        "Section V, third experiment (in comments)",
        "As α_p grows, robustness has less impact.",
        ("alpha",),
        utility.less_impact_at_larger_alpha,
    ),
    Claim("Discussion", "The program grows exponentially in |S| and |U|.", (), utility.growth),
)
"""All claims, in the order of the paper."""
