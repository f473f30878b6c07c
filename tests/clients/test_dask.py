"""Dask frames: released partition by partition, in order; drawn anew whenever they are computed."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import rldp
from commands import python
from rldp.data.reading import Column, Reading

frames = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")

COLUMNS = {"secret": "sex", "value": "age"}
LABELS = ["f", "m"], [10, 20, 30]
IDS = np.arange(100)
DATA = pd.DataFrame(
    {"id": IDS, "sex": np.where(IDS % 2, "m", "f"), "age": 10 * (IDS % 3 + 1)},
    index=pd.Index(IDS + 1000, name="row"),
)


def swap(outputs=(10, 20, 30), **options):
    """A protocol without chance: secret i shifts the values by i."""
    matrix = np.stack([np.roll(np.eye(3), i, axis=1) for i in range(2)])
    return rldp.Protocol(matrix, *LABELS, outputs, **options)


def parts(data=DATA, count=4):
    return frames.from_pandas(data, npartitions=count)


def computed(frame):
    return frame.compute(scheduler="synchronous")


def test_partitions_order_and_index_stay_and_the_rest_is_as_asked_for():
    released = rldp.dask.release(swap(), parts(), **COLUMNS, keep=["id"], allow_identifier=True)
    assert released.npartitions == 4
    assert list(released.columns) == ["id", "age"]
    expected = DATA[["id"]].assign(age=10 * ((IDS % 3 + IDS % 2) % 3 + 1))
    pd.testing.assert_frame_equal(computed(released), expected)


@pytest.mark.parametrize("outputs", [("a", "b", "c"), (0.5, 1.5, 2.5), (True, False, "x")], ids=repr)
def test_the_types_that_are_announced_are_those_that_come(outputs):
    released = rldp.dask.release(swap(outputs), parts(), **COLUMNS)
    assert released.dtypes.to_dict() == computed(released).dtypes.to_dict()


def test_several_secrets_bins_and_missing_entries_are_read_as_the_protocol_says():
    sex, region = Column("sex", ("f", "m")), Column("region", (1, 2))
    reading = Reading((sex, region), (Column("age", (5, 15), edges=(10.0,)),), "skip")
    matrix = np.stack([np.roll(np.eye(2), i, axis=1) for i in range(4)])
    protocol = rldp.Protocol(matrix, reading.secrets, (5, 15), (5, 15), reading=reading)
    people = pd.DataFrame(
        {
            "sex": list("ffmmf"),
            "region": [1, 2, 1, None, 2],
            "age": [3.5, 3.5, 99.0, 1.0, 2.0],
            "id": range(5),
        }
    )
    released = computed(rldp.dask.release(protocol, parts(people, 2), keep=["id"]))
    assert released.to_dict("list") == {"id": [0, 1, 2, 4], "age": [5, 15, 15, 15]}


@pytest.mark.parametrize(
    ("column", "entry", "sentence"),
    [
        ("sex", "SECRET", "column 'sex' of a part of the data must hold known labels, but row 8 has another"),
        ("sex", None, "column 'sex' of a part of the data must hold no nulls, but row 8 has no value"),
        ("age", 11, "column 'age' of a part of the data must hold known labels, but row 8 has another"),
    ],
)
def test_rows_that_cannot_be_released_fail_in_one_sentence_without_their_entry(
    tmp_path, column, entry, sentence
):
    data = DATA.copy()
    data.loc[1057, column] = entry
    released = rldp.dask.release(swap(), parts(data), **COLUMNS)
    with pytest.raises(rldp.DataError, match=sentence) as caught:
        computed(released)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"value": "height"}, "has no column 'height'"),
        ({"keep": ["age"], "allow_original": True}, "must not be called 'age' like a kept column"),
        ({"keep": "id"}, "keep must be a list of names of columns"),
        ({"frame": DATA}, "frame must be a Dask data frame, got DataFrame of pandas"),
        ({"protocol": 3}, "protocol must be an rldp.Protocol or the path of a file, got 3"),
        ({"protocol": "nowhere.json"}, "nowhere.json"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_anything_is_computed(options, sentence):
    given = {"frame": parts(), "protocol": swap(), **COLUMNS, **options}
    with pytest.raises(rldp.RldpError, match=sentence):
        rldp.dask.release(given.pop("protocol"), given.pop("frame"), **given)


def test_a_file_that_was_tampered_with_is_refused(tmp_path):
    proved = rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]], *LABELS), 0.5).protocol
    identity = np.broadcast_to(np.eye(3), (2, 3, 3))
    tampered = rldp.Protocol(identity, *LABELS, proved.outputs, guarantee=proved.guarantee)
    path = tmp_path / "protocol.json"
    proved.save(path)
    assert len(rldp.dask.release(path, parts(), **COLUMNS, allow_drift=True)) == 100
    tampered.save(path)
    for protocol in (path, tampered):
        with pytest.raises(rldp.NotProved, match="must prove what it claims, but privacy is not proved"):
            rldp.dask.release(protocol, parts(), **COLUMNS)
    assert len(rldp.dask.release(path, parts(), **COLUMNS, unproved=True)) == 100


def test_outputs_have_the_probabilities_of_the_protocol():
    """χ² with secure randomness, wrong with probability 1e-6."""
    rng = np.random.default_rng(0)
    protocol = rldp.Protocol(rng.dirichlet(np.full(4, 3.0), size=(2, 3)), *LABELS)
    cells = rng.integers(0, 6, 60_000)
    data = pd.DataFrame({"sex": np.array(LABELS[0])[cells // 3], "age": np.array(LABELS[1])[cells % 3]})
    drawn = computed(rldp.dask.release(protocol, parts(data, 8), **COLUMNS))["age"].to_numpy()
    counts = np.bincount(cells * 4 + drawn, minlength=24).reshape(6, 4)
    expected = counts.sum(axis=1, keepdims=True) * protocol.matrix.reshape(6, 4)
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, df=18)


def test_partitions_draw_independently_and_a_second_computation_draws_again():
    """Equal draws have probability 2^-100."""
    coin = rldp.Protocol(np.full((2, 3, 2), 0.5), *LABELS)
    alike = pd.DataFrame({"sex": ["f"] * 400, "age": [10] * 400})
    released = rldp.dask.release(coin, parts(alike), **COLUMNS)
    first, second = (computed(released)["age"].to_numpy() for _ in range(2))
    assert len({first[i : i + 100].tobytes() for i in range(0, 400, 100)}) == 4
    assert (first != second).any()


def test_frames_of_clusters_are_sent_to_their_clients():
    with pytest.raises(
        rldp.InvalidArgumentType, match=r"got DataFrame of dask; rldp\.dask\.release takes it"
    ):
        swap().release_frame(parts(), **COLUMNS)


@pytest.mark.parametrize(
    ("name", "library"),
    [("dask", "Dask"), ("spark", "PySpark"), ("sklearn", "scikit-learn 1.7 or later")],
)
def test_a_client_whose_library_is_missing_says_how_to_install_it(name, library):
    found = python(
        f"""
        import rldp
        try:
            rldp.{name}
        except rldp.MissingDependency as error:
            print(error)
        """,
        without=["dask", "pyspark", "sklearn"],
    )
    assert " ".join(found) == f"rldp.{name} needs {library}; pip install 'robust-ldp[{name}]' installs it"


def test_the_order_of_earlier_versions_still_works():
    with pytest.warns(DeprecationWarning, match=r"use release\(protocol, frame\)"):
        released = rldp.dask.release(parts(), swap(), **COLUMNS)
    assert len(computed(released)) == 100
