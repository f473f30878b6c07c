"""Draw the picture of the README, a column before and after its release: ``python tools/picture.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import rldp
from rldp.reporter import plots

PICTURE = Path(__file__).parents[1] / "docs" / "figures" / "before-after.png"
EPSILON = 0.5
SAMPLE = rldp.Sample(
    [[8, 20, 45, 80, 110, 90], [420, 400, 330, 250, 160, 87]],
    secrets=["ill", "well"],
    values=[30, 40, 50, 60, 70, 80],
)


def main() -> None:
    """Design a protocol for the sample and draw the shares of each age, true and released."""
    designed = rldp.design(SAMPLE, EPSILON, utility="nominal")
    true = SAMPLE.distribution / SAMPLE.distribution.sum(axis=1, keepdims=True)
    released = np.einsum("su,suy->sy", true, designed.protocol.matrix)
    error = designed.objective**0.5
    figure, axes = plots.new_figure(
        panels=(1, 2),
        size=(plots.WIDTH, 2.7),
        share_y=True,
        caption=f"An invented sample of {plots.number(SAMPLE.n)} people. It is proved that no released age "
        f"is more than {np.exp(EPSILON):.3g} times as common in one group as in the other (ε = {EPSILON:g}), "
        "for every distribution that the sample does not rule out.",
    )
    titles = (
        f"Before: the true age\nup to {_ratio(true):.0f} times as common in one group",
        f"After: the released age, about ±{error:.0f} years\n"
        f"up to {_ratio(released):.1f} times as common in one group",
    )
    with plots.styled():
        for axis, title, shares in zip(axes, titles, (true, released), strict=True):
            for side, secret, row, look in zip(
                (-2, 2), SAMPLE.secrets, shares, plots.LOOKS[:2], strict=False
            ):
                places = np.asarray(SAMPLE.values, dtype=float) + side
                axis.bar(places, 100 * row, width=4, color=look.colour, label=str(secret))
            axis.set_title(title)
            axis.set_xticks(SAMPLE.values)
            axis.set_xlabel("age")
            axis.grid(visible=False, axis="x")
        axes[0].set_ylabel("per cent of the group")
        axes[1].legend(loc="upper right")
    plots.save(figure, PICTURE)


def _ratio(shares: np.ndarray) -> float:
    return float((shares.max(axis=0) / shares.min(axis=0)).max())


if __name__ == "__main__":
    main()
