"""No message shows an entry of the data, whatever goes wrong with it.

Every entry below holds a mark. A message that holds one would show somebody's data.
"""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rldp

MARKS = ("qz", "918273")
ROWS = {
    "s": ["qzA", "qzB"] * 20,
    "u": ["qz1", "qz2", "qz3", "qz4"] * 10,
    "wage": [f"918273.{i:017d}" for i in range(40)],
    "pay": [918273 + i / 100 for i in range(40)],
    "gap": [None, "qz1"] * 20,
    "day": ["9182-73-01"] * 40,
    "mixed": ["918273", "qz1"] * 20,
}
FRAME = pd.DataFrame(ROWS)
PROTOCOL = rldp.Protocol([[[0.5, 0.5]] * 2] * 2, ["qzA", "qzX"], ["qz1", "qzY"], ["qz1", "qzY"])
NUMBERS = rldp.Protocol([[[0.5, 0.5]] * 2] * 2, ["qzA", "qzB"], ["918273", 918273], [1, 2])
ODD = rldp.Protocol([[[0.5, 0.5]] * 2] * 2, ["qzA", "qzB"], ["qz1", "qz2"], ["918273", 918273])


def sample(**options):
    return rldp.Sample.from_data(FRAME, **({"secret": "s", "value": "u"} | options))


def csv(folder, frame=FRAME):
    frame.to_csv(folder / "data.csv", index=False)
    return folder / "data.csv"


def broken(u, y):
    raise ValueError(f"{u} is no number")


CASES = {
    "text under a squared distortion": lambda _: rldp.design(sample(), 1.0),
    "numbers of many digits": lambda folder: rldp.design(
        rldp.Sample.from_data(csv(folder), secret="s", value="wage"), 1.0
    ),
    "missing entries": lambda _: sample(value="gap"),
    "labels that are not given": lambda _: sample(values=["a", "b"]),
    "secrets that are not given": lambda _: sample(secrets=["a"]),
    "text in bins": lambda _: sample(bins=2),
    "entries that are no numbers": lambda folder: rldp.Sample.from_data(
        csv(folder), secret="s", value="mixed", number=["mixed"]
    ),
    "a function that raises": lambda _: rldp.design(sample(), 1.0, distortion=broken),
    "a function of text": lambda _: rldp.design(sample(), 1.0, distortion=lambda u, y: u),
    "a negative distortion": lambda _: rldp.design(sample(), 1.0, distortion=lambda u, y: -1.0),
    "a distortion of another shape": lambda _: rldp.design(sample(), 1.0, distortion=np.zeros((2, 2))),
    "a release of other labels": lambda _: PROTOCOL.release(FRAME["s"], FRAME["u"]),
    "a release of lists": lambda _: PROTOCOL.release(ROWS["s"], ROWS["u"]),
    "a release of a frame": lambda _: PROTOCOL.release_frame(FRAME, secret="s", value="u"),
    "a release of Polars": lambda _: PROTOCOL.release_frame(pl.DataFrame(ROWS), secret="s", value="u"),
    "a release of Arrow": lambda _: PROTOCOL.release_frame(pa.table(ROWS), secret="s", value="u"),
    "a release of a file": lambda folder: rldp.release_file(
        PROTOCOL, csv(folder), folder / "out.csv", secret="s", value="u", unproved=True
    ),
    "labels that a file cannot tell apart": lambda folder: rldp.release_file(
        NUMBERS, csv(folder), folder / "out.csv", secret="s", value="mixed", unproved=True
    ),
    "outputs that a file cannot tell apart": lambda folder: rldp.release_file(
        ODD, csv(folder, FRAME[FRAME.u < "qz3"]), folder / "out.csv", secret="s", value="u", unproved=True
    ),
    "outputs of several types": lambda _: ODD.release(pl.Series(["qzA"]), pl.Series(["qz1"])),
    "one row": lambda _: PROTOCOL.output_for("qzB", "qz1", 0),
    "new data of other labels": lambda _: PROTOCOL.count(FRAME, secret="s", value="u"),
    "an audit of other labels": lambda _: rldp.audit(PROTOCOL, sample()),
    "a confirmation with other labels": lambda _: rldp.confirm(PROTOCOL, sample()),
    "an estimate of other outputs": lambda _: rldp.estimate(FRAME["u"], PROTOCOL),
    "a mean of text": lambda _: rldp.estimate(["qz1", "qzY"], PROTOCOL, of="mean"),
    "released rows of another protocol": lambda _: rldp.Released.from_data(FRAME, PROTOCOL, released="u"),
    "too many labels": lambda folder: rldp.Sample.from_data(
        pd.DataFrame({"s": ["qzA"] * 1500, "u": [f"qz{i}" for i in range(1500)]}), secret="s", value="u"
    ),
    "a ragged file": lambda folder: ragged(folder),
}


def ragged(folder):
    (folder / "data.csv").write_text("s,u\nqzA,qz1\nqzA,qz1,qz2\n")
    return rldp.Sample.from_data(folder / "data.csv", secret="s", value="u")


@pytest.mark.parametrize("call", CASES.values(), ids=CASES)
def test_a_message_shows_no_entry(tmp_path, call):
    with pytest.raises(rldp.RldpError) as caught:
        call(tmp_path)
    message = str(caught.value).replace(str(tmp_path), "")
    assert not any(mark in message for mark in MARKS), message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["text under a squared distortion", "numbers of many digits"])
def test_what_helps_is_named(tmp_path, name):
    with pytest.raises(rldp.RldpError) as caught:
        CASES[name](tmp_path)
    helps = "bins= cuts them into bins" if "digits" in name else "use 'hamming'"
    assert helps in str(caught.value)


def test_the_marks_are_in_every_entry():
    text = io.StringIO()
    FRAME.to_csv(text, index=False, header=False)
    cells = [cell for line in text.getvalue().splitlines() for cell in line.split(",")]
    assert all(not cell or any(mark in cell.replace("9182-73", "918273") for mark in MARKS) for cell in cells)
