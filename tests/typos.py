"""Misspelt names that a type checker must refuse: ``make check`` reports an ignore that nothing needs.

Nothing here runs. The last lines say what else it must find: kinds of columns and frames that come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rldp

if TYPE_CHECKING:
    from typing import assert_type

    import numpy as np
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from rldp._common.checks import Label

    def misspelt(sample: rldp.Sample, design: rldp.Design, released: list[int]) -> None:
        protocol = design.protocol
        rldp.design(sample, 1.0, distortion="sqared")  # type: ignore[arg-type]
        rldp.design(sample, 1.0, distortion={"age": "sqared"})  # type: ignore[dict-item]
        rldp.design(sample, 1.0, privacy="credibel")  # type: ignore[arg-type]
        rldp.design(sample, 1.0, utility="pairs")  # type: ignore[arg-type]
        rldp.frontier(sample, [1.0], privacy=["credibel"])  # type: ignore[list-item]
        rldp.compare(sample, 1.0, privacy="credibel")  # type: ignore[arg-type]
        rldp.plan(sample, 1.0, [10], privacy="credibel")  # type: ignore[arg-type]
        rldp.Credible(prior="adaptiv")  # type: ignore[arg-type]
        rldp.Sample.from_data("a.csv", secret="s", value="u", missing="skp")  # type: ignore[arg-type]
        rldp.Sample.from_data("a.csv", secret="s", value="u", bins="aut")  # type: ignore[arg-type]
        rldp.estimate(released, protocol, method="posteriorr")  # type: ignore[arg-type]
        rldp.estimate(released, protocol, interval="beting")  # type: ignore[arg-type]
        rldp.estimate(released, protocol).to_frame("panda")  # type: ignore[call-overload]
        rldp.release_file(protocol, "a.csv", "b.csv", keeep=["a"])  # type: ignore[call-arg]
        protocol.release_frame(released, relased="x")  # type: ignore[call-arg]
        rldp.ReleaseOptions(unknwn="a")  # type: ignore[call-arg]

    def kinds(protocol: rldp.Protocol, frame: pl.LazyFrame, array: NDArray[np.int8]) -> None:
        assert_type(protocol.release(["f"], [1]), list[Label])
        assert_type(protocol.release(values=(1,)), tuple[Label, ...])
        assert_type(protocol.release(array, array), NDArray[Any])
        assert_type(protocol.release([], pl.Series()), pl.Series)
        assert_type(protocol.release_frame(frame, keep=["a"]), pl.LazyFrame)
        assert_type(rldp.estimate([1], protocol).to_frame(), pa.Table)
        assert_type(rldp.estimate([1], protocol).to_frame("polars"), pl.DataFrame)
