"""Run a command once under each OpenBLAS kernel that this processor can run, beside the one it chooses.

The last bits of a matrix product depend on the kernel, and the kernel on the processor; no test may
depend on either. Kernels that are not run are named: the one that everything else runs under anyway, those
the processor has no instructions for, those OpenBLAS was built without, and all of them where BLAS is
another library.

Usage: python tools/kernels.py COMMAND [ARGUMENT ...]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

KERNELS = ("Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")

# Prints the kernels that are in use, after work that touches what they are made of. A kernel that is
# asked for without the instructions it needs ends the process here.
PROBE = """
import numpy as np, scipy.linalg
from threadpoolctl import threadpool_info
a = np.random.default_rng(0).normal(size=(300, 300))
np.linalg.inv(a @ a.T + np.eye(300)), np.matvec(a, a[0]), scipy.linalg.cholesky(a @ a.T + np.eye(300))
blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
print(*sorted({library.get("architecture") or library["internal_api"] for library in blas}) or ["nothing"])
"""


def under(kernel: str) -> dict[str, str]:
    """The environment that asks for a kernel; '' for the processor's own."""
    plain = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    return plain | {"OPENBLAS_CORETYPE": kernel} if kernel else plain


def used(kernel: str) -> str:
    """What runs when a kernel is asked for: its own name, if it can be had."""
    found = subprocess.run(
        [sys.executable, "-c", PROBE], env=under(kernel), capture_output=True, text=True, check=False
    )
    return found.stdout.strip() if found.returncode == 0 else "nothing"


def main(command: list[str]) -> int:
    """Run the command; the number of kernels it failed under."""
    failed, own = [], used("")
    for kernel in KERNELS:
        if kernel == own:
            print(f"kernel {kernel}: left out, for this processor chooses it by itself", flush=True)
            continue
        if (other := used(kernel)) != kernel:
            print(f"kernel {kernel}: left out, for {other} runs in its place", flush=True)
            continue
        print(f"kernel {kernel}: {' '.join(command)}", flush=True)
        begin = time.monotonic()
        if subprocess.run(command, env=under(kernel), check=False).returncode:
            failed.append(kernel)
        print(f"kernel {kernel}: {time.monotonic() - begin:.0f} s", flush=True)
    if failed:
        print(f"failed under {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        raise SystemExit(__doc__)
    raise SystemExit(main(sys.argv[1:]))
