"""The calibration study on a Dask cluster: ``python examples/cluster/sweep_dask.py [tcp://scheduler:8786]``.

``pip install 'robust-ldp[dask]'``, here and on the workers. Without an address, a cluster of two processes is
started on this machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

from distributed import Client, LocalCluster

from calibration import report, run, study


def main() -> None:
    """Run it; a cluster elsewhere gets the module with the tasks first."""
    if len(sys.argv) > 1:
        with Client(sys.argv[1]) as client:
            client.upload_file(str(Path(__file__).with_name("calibration.py")))
            print(report(client.gather(client.map(run, study()))))
        return
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        print(report(client.gather(client.map(run, study()))))


if __name__ == "__main__":
    main()
