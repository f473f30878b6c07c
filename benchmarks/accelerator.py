"""The engine on an accelerator: ``python benchmarks/accelerator.py cuda`` (a device of PyTorch) or ``cupy``.

Prints, for batches of small designs and for large designs, over Pearson's set and credible, the time by the
clock after a warm-up of the same kind (kernels are compiled when they are first needed), the largest proved
gap, and whether every protocol is private by the certified leakage of a sample of them.
"""

import sys
import time

import numpy as np

import rldp


def draws(count, shape, n, seed=0):
    rng = np.random.default_rng(seed)
    truths = rng.dirichlet(np.full(shape[0] * shape[1], 0.5), size=count)
    return np.stack([rng.multinomial(n, truth) for truth in truths]).reshape(count, *shape)


def measured(title, counts, gap, device, **sets):
    start = time.perf_counter()
    batch = rldp.design_batch(counts, 0.5, gap=gap, device=device, **sets)
    seconds = time.perf_counter() - start
    gaps = (batch.objective - batch.lower_bound) / np.maximum(1, batch.objective)
    leaks = [
        rldp.worst_case_leakage(rldp.Protocol(batch.matrices[i]), rldp.Sample(counts[i]), rldp.ChiSquare())[1]
        for i in range(0, len(counts), max(1, len(counts) // 20))
        if counts[i].size < 100 and not sets
    ]
    private = "all private" if all(leak <= 0.5 for leak in leaks) else "LEAKS"
    print(
        f"{title}: {seconds:.2f} s on {device}, largest gap {gaps.max():.1e}, "
        f"{len(leaks)} checked: {private}",
        flush=True,
    )


if __name__ == "__main__":
    device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
    small, large = draws(10_000, (3, 5), 750), draws(1, (10, 100), 50_000)
    measured("warm-up: 10 000 RURP 3×5", small, 1e-6, device)
    for _ in range(3):
        measured("10 000 RURP 3×5", small, 1e-6, device)
    measured("warm-up: RURP 10×20", draws(1, (10, 20), 5_000), 1e-3, device)
    measured("RURP 10×50", draws(1, (10, 50), 20_000), 1e-4, device)
    measured("RURP 10×100", large, 1e-3, device)
    credible = {"privacy": rldp.Credible(), "utility": rldp.Nominal()}
    some = draws(2000, (3, 5), 750)
    measured("warm-up: 2000 credible 3×5", some, 1e-6, device, **credible)
    for _ in range(2):
        measured("2000 credible 3×5", some, 1e-6, device, **credible)
    measured("2000 NURP 3×5", some, 1e-6, device, utility=rldp.Nominal())
    measured("credible 10×100", large, 1e-3, device, **credible)
    measured("NURP 2×418", draws(1, (2, 418), 40_000), 1e-4, device, utility=rldp.Nominal())
