import os
import signal

# Two test processes share two cores: linear algebra on tiny matrices gains nothing from more threads.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Where the tests run in the background, programs they start would never hear Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

from hypothesis import settings  # noqa: E402

settings.register_profile("rldp", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("rldp")
