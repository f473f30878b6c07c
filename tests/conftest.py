import os

# Two test processes share two cores: linear algebra on tiny matrices gains nothing from more threads.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from hypothesis import settings  # noqa: E402

settings.register_profile("rldp", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("rldp")
