"""The calibration study on the cores of one machine: ``python examples/cluster/sweep_joblib.py``.

``pip install 'robust-ldp[paper]'`` brings joblib. ``rldp reproduce --jobs N`` runs the paper's sweeps so.
"""

from __future__ import annotations

from joblib import Parallel, delayed

from calibration import report, run, study


def main() -> None:
    """Run it."""
    print(report(Parallel(n_jobs=2)(delayed(run)(task) for task in study())))


if __name__ == "__main__":
    main()
