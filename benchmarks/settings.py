"""What each number that steers the engine is worth: the stress set with one of them changed at a time.

    python benchmarks/settings.py                     every change, on all cores
    python benchmarks/settings.py lag spread          only these
    python benchmarks/settings.py --designs 2400      on a tenth of the stress set

A change is what comes closest to having no such number at all. The table gives, for each, the designs that
missed their gap, the worst gap, and steps and time relative to the settings as they are. A number whose
change shows in none of them does not earn its place.
"""

from __future__ import annotations

import argparse
import os
import time
from multiprocessing import get_context

import stress
from rldp.designer import interior, routes

CHANGES: dict[str, tuple[str, ...]] = {
    "negligible": ("0",),
    "small_objective": ("1e9",),
    "least_allowed": ("0",),
    "start_mu": ("0.1", "2"),
    "start_margin": ("0.05", "1"),
    "start_slack": ("0.25", "0.75"),
    "start_unseen": ("0.5",),
    "start_spread": ("0.001", "1"),
    "worth_proving": ("1e9",),
    "price_of_sums": ("0",),
    "spare_slack": ("0",),
    "lag": ("0", "0.1"),
    "careful_lag": ("0.02", "0.5"),
    "patience": ("4", "16"),
    "idle_strike": ("0.5",),
    "lost_strike": ("0",),
    "better": ("1",),
    "shortest_step": ("0",),
    "boundary": ("0.9", "0.999"),
    "sigma_kept": ("0.1",),
    "shorter": ("0.5",),
    "most_shortenings": ("10",),
    "first_reach": ("0", "1"),
    "centring": ("0", "1"),
    "least_centring": ("0",),
    "most_centring": ("1",),
    "spread": ("0",),
    "far": ("0", "1"),
    "near": ("0",),
    "corrections": ("0", "2"),
    "large": ("1000000",),
    "guide_accuracy": ("10",),
    "accuracy": ("1000",),
    "ease": ("0", "1e9"),
    "refinements": ("3",),
    "jitter": ("0", "1e-9"),
    "schur_jitter": ("0",),
    "few_secrets": ("0",),
    "folding_budget": ("0",),
    "rare": ("0",),
    "repairs": ("4",),
    "more_trace": ("2",),
    "least_trace": ("1e-13",),
    "reserve": ("1",),
    "game_gap": ("1",),
}
FALLBACKS = tuple(f"without {attempt}" for attempt in ("single output", "unconstrained", "pairs", "windows"))


def measured(job: tuple[str, int]) -> tuple[str, stress.Tally, float]:
    """The stress set with one change, and the processor time it took."""
    name, each = job
    if name.startswith("without "):
        dropped, all_ways = routes.Route(name.removeprefix("without ")), routes.when_open
        interior.when_open = lambda *a: tuple(way for way in all_ways(*a) if way.route is not dropped)
    elif name:
        stress.change(name)
    started = time.process_time()
    return name, stress.run(each), time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="settings to change; all by default")
    parser.add_argument("--designs", type=int, default=24_000)
    arguments = parser.parse_args()
    each = max(1, arguments.designs // 240)
    wanted = arguments.names or list(CHANGES)
    jobs = ["", *(f"{name}={value}" for name in wanted for value in CHANGES[name])]
    jobs += [] if arguments.names else FALLBACKS
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with get_context("spawn").Pool(maxtasksperchild=1) as pool:
        found = pool.imap(measured, [(job, each) for job in jobs])
        _, plain, seconds = next(found)
        print(f"as it is: {plain.missed} of {plain.designs} missed, the worst by {plain.worst:.1e}")
        print("| change | missed | worst | steps | time |\n|---|---|---|---|---|")
        for name, tally, spent in found:
            print(
                f"| {name} | {tally.missed} | {tally.worst:.1e} | {tally.steps / plain.steps:.3f} "
                f"| {spent / seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
