r"""Which pairs of conditionals a promise is about: for every pair of secrets a set, and a group each.

A privacy constraint sees the conditionals of two secrets. What a promise says of them is a
:class:`~rldp.judge.regions.Region` around two :class:`~rldp.judge.regions.Group`:

- a set around the estimate or another centre, also that of a credible promise: its projection, one region
  for all pairs;
- a set for each pair of secrets: :math:`\{\sum n_s KL(\hat P_s\|P_s)\le x\}` is the region of λ = 0 and
  radius x/n, for :math:`\sum P_s KL(\hat P_s\|P_s)\le x/n`;
- every distribution: groups as of secrets that were never seen, of which every conditional is possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from rldp.judge.regions import Group, Region, region_of
from rldp.protocol_file.format import Claim, CredibleClaim, EverythingClaim, PairsClaim, Promise, SetClaim

__all__ = ["Conditionals", "centre_of", "conditionals_of", "pair_number"]


def pair_number(s1: int, s2: int, secrets: int) -> int:
    """The place of {s1, s2} among (0, 1), (0, 2), …, (1, 2), …, whatever their order."""
    low, high = min(s1, s2), max(s1, s2)
    return low * (2 * secrets - low - 1) // 2 + high - low - 1


@dataclass(frozen=True)
class Conditionals:
    """The conditionals that privacy is promised for.

    Attributes
    ----------
    groups : sequence of Group
        The estimated conditional of every secret; none is seen where every distribution is meant.
    regions : sequence of Region
        One for all pairs of secrets, or one for each in the order of :func:`pair_number`. Empty where the
        estimate alone is meant, or where there are no pairs.
    """

    groups: Sequence[Group]
    regions: Sequence[Region]

    @property
    def are_estimates(self) -> bool:
        """Whether the estimate alone is meant."""
        return not self.regions

    @property
    def have_interior(self) -> bool:
        """Whether all conditionals near the estimate are meant, for every pair; one value has no others."""
        single = len(self.groups[0].conditional) == 1
        return bool(self.regions) and (single or all(region.radius > 0 for region in self.regions))

    def region(self, s1: int, s2: int) -> Region:
        """The region that the conditionals of two secrets lie in."""
        if len(self.regions) == 1:
            return self.regions[0]
        return self.regions[pair_number(s1, s2, len(self.groups))]


def conditionals_of(claim: Claim) -> Conditionals:
    """What a file claims to be private for."""
    match claim.privacy:
        case EverythingClaim():
            never_seen = [Group(arb(0), [arb(0)] * len(row)) for row in claim.counts]
            return Conditionals(never_seen, [Region(0.0, arb(1))])
        case PairsClaim(radii=radii):
            return Conditionals(_groups(claim.counts), [Region(0.0, arb(x) / claim.n) for x in radii])
        case CredibleClaim() | SetClaim() as promise:
            region = region_of(promise, claim.n, len(claim.counts) * len(claim.counts[0]))
            return Conditionals(_groups(centre_of(promise, claim)), [] if region is None else [region])


def centre_of(promise: Promise, claim: Claim) -> list[list[int]]:
    """Integers in proportion to the centre of a promise's set: the counts, unless the file names another."""
    given = promise.centre if isinstance(promise, CredibleClaim | SetClaim) else None
    return claim.counts if given is None else given


def _groups(centre: list[list[int]]) -> list[Group]:
    totals = [sum(row) for row in centre]
    return [
        Group(arb(total) / sum(totals), [arb(count) / max(total, 1) for count in row])
        for total, row in zip(totals, centre, strict=True)
    ]
