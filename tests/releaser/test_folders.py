"""Folders of Parquet files: released as a whole, several at a time, or not at all."""

import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rldp
from rldp.data.atomic import clear_abandoned
from rldp.releaser import folders

SECRETS, VALUES = ("f", "m"), (10, 20, 30)
COLUMNS = {"secret": "sex", "value": "age"}


def swap(secrets=SECRETS, values=VALUES, outputs=None):
    """A protocol without chance: secret i shifts the values by i."""
    matrix = np.stack([np.roll(np.eye(len(values)), i, axis=1) for i in range(len(secrets))])
    return rldp.Protocol(matrix, secrets, values, values if outputs is None else outputs)


def write(path, ids, **changed):
    ids = np.asarray(ids)
    rows = {"id": ids, "sex": np.array(SECRETS)[ids % 2], "age": np.array(VALUES)[ids % 3], **changed}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(rows), path)


def released(ids):
    ids = np.asarray(ids)
    return np.array(VALUES)[(ids % 3 + ids % 2) % 3].tolist()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Six files in three partitions."""
    monkeypatch.chdir(tmp_path)
    for i in range(6):
        write(
            tmp_path / "rows" / f"region={'NSW'[i // 2]}" / f"of {i}.parquet", range(100 * i, 100 * i + 100)
        )
    return tmp_path


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def contents(folder):
    """Of the files, in order."""
    return [pq.ParquetFile(folder / name).read().to_pydict() for name in names(folder)]


@pytest.mark.parametrize("jobs", [None, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_folder_becomes_a_folder_of_the_same_partitions_in_order(folder, jobs):
    options = {**COLUMNS, "keep": ["region", "id"], "allow_identifier": True, "jobs": jobs}
    assert rldp.release_file(swap(), "rows", "out", **options) == 600
    assert names(folder / "out") == [
        "region=N/part-00000.parquet",
        "region=N/part-00001.parquet",
        "region=S/part-00002.parquet",
        "region=S/part-00003.parquet",
        "region=W/part-00004.parquet",
        "region=W/part-00005.parquet",
    ]
    for i, found in enumerate(contents(folder / "out")):
        ids = list(range(100 * i, 100 * i + 100))
        assert found == {"id": ids, "age": released(ids)}
    assert listed(folder) == ["out", "rows"]
    assert pq.read_table(folder / "out").column_names == ["id", "age", "region"]


def test_a_folder_without_partitions(tmp_path):
    for i in range(3):
        write(tmp_path / "rows" / f"{i}.parquet", [i])
    steps = []
    rldp.release_file(swap(), tmp_path / "rows", tmp_path / "out", **COLUMNS, callback=steps.append)
    assert contents(tmp_path / "out") == [{"age": released([i])} for i in range(3)]
    assert [(step.rows, step.share) for step in steps] == [(1, 1 / 3), (2, 2 / 3), (3, 1.0)]


def test_a_seed_is_reproducible_however_many_files_at_a_time(folder):
    coin = rldp.Protocol(np.full((2, 3, 2), 0.5), SECRETS, VALUES)
    for name, jobs in (("a", 1), ("b", 2)):
        rldp.release_file(coin, "rows", name, **COLUMNS, keep=["region"], seed=3, jobs=jobs)
    assert contents(folder / "a") == contents(folder / "b")


@pytest.mark.slow
def test_files_at_a_time_draw_independently(folder):
    """Were words shared, two files of the same rows would be released alike; that has probability 2^-100."""
    coin = rldp.Protocol(np.full((2, 3, 2), 0.5), SECRETS, VALUES)
    rldp.release_file(coin, "rows", "out", **COLUMNS, keep=["region"], jobs=2)
    drawn = [tuple(found["age"]) for found in contents(folder / "out")]
    assert len(set(drawn)) == 6


# What is refused, and leaves nothing


def refused(folder, sentence, error=rldp.InvalidArgument, data="rows", output="out", **options):
    before = listed(folder)
    with pytest.raises(error, match=sentence):
        rldp.release_file(swap(), data, output, **{**COLUMNS, "keep": ["region"], **options})
    assert listed(folder) == before


def test_partitions_are_kept_only_if_that_is_asked_for(folder):
    refused(folder, "keep must name 'region', because the names of the output folders show it", keep=[])
    assert rldp.release_file(swap(), "rows", "one.parquet", **COLUMNS) == 600


def test_partitions_of_the_secret_are_refused(tmp_path):
    for sex in SECRETS:
        write(tmp_path / "rows" / f"sex={sex}" / "a.parquet", [1])
    sentence = (
        "secret and value must be columns of the files, got 'sex', which is in the names of their "
        "folders only"
    )
    refused(
        tmp_path, sentence, data=tmp_path / "rows", output=tmp_path / "out", keep=["sex"], allow_original=True
    )


@pytest.mark.parametrize("other", ["2024/a.parquet", "region=N/day=1/a.parquet", "a.parquet", "=N/a.parquet"])
def test_folders_of_other_names_are_refused(folder, other):
    write(folder / "rows" / other, [1])
    refused(
        folder, "data must have folders that are called column=value, with the same columns for all files"
    )


def test_what_exists_is_not_replaced(folder):
    (folder / "out").mkdir()
    refused(folder, "output must be a new folder, got '.*', which exists")


@pytest.mark.parametrize("output", ["rows/out", "rows/region=N/out"])
def test_a_folder_among_the_data_is_refused(folder, output):
    refused(folder, "output must not lie among the files of the data", output=output)


def test_a_released_column_may_not_be_called_like_a_partition(folder):
    refused(folder, "must not be called 'region' like a kept column", released="region")


@pytest.mark.parametrize("jobs", [0, 1.5, True, 10**6])
def test_how_many_at_a_time_must_be_a_number(folder, jobs):
    refused(folder, "jobs", error=rldp.RldpError, jobs=jobs)


@pytest.mark.parametrize(
    ("jobs", "entry", "sentence"),
    [
        (1, "x", "S/of 2.parquet must hold known labels, but row 2 has another entry; 1 of 503"),
        (2, "x", "S/of 2.parquet must hold known labels, but row 2 has another entry; 1 of 503"),
        (1, None, "S/of 2.parquet must hold no nulls, but row 2 has no value; 1 of 503"),
    ],
)
def test_a_bad_row_in_one_file_leaves_nothing_at_all(folder, jobs, entry, sentence):
    write(folder / "rows/region=S/of 2.parquet", [1, 2, 3], sex=["f", entry, "m"])
    refused(folder, sentence, error=rldp.DataError, jobs=jobs)


def test_a_file_that_is_damaged_inside_leaves_nothing_at_all(folder):
    path = folder / "rows/region=W/of 5.parquet"
    content = bytearray(path.read_bytes())
    content[4:40] = bytes(36)
    path.write_bytes(content)
    options = {"keep": ["region", "id"], "allow_identifier": True}
    refused(folder, "of 5.parquet must be a CSV or Parquet table", error=rldp.DataFileError, **options)


def test_files_of_another_type_are_refused(folder):
    write(folder / "rows/region=S/of 2.parquet", [1, 2, 3], age=["10", "20", "30"])
    refused(folder, "must hold Parquet files of one schema", error=rldp.DataError)


def test_a_failure_stops_the_files_that_are_not_done_and_leaves_nothing(folder, monkeypatch):
    """As an interruption does. The second file has many parts to go, more than a busy machine lets it."""
    parts = []

    def release(request, table, file, make_writer, words, callback):
        if table.source.path.parent.name == "region=N":
            raise KeyboardInterrupt
        for part in range(60_000):
            parts.append(part)
            time.sleep(0.001)
            callback(part)

    monkeypatch.setattr(folders, "release_table", release)
    with pytest.raises(KeyboardInterrupt):
        rldp.release_file(swap(), "rows", "out", **COLUMNS, keep=["region"], jobs=6)
    assert 59_999 not in parts
    assert listed(folder) == ["rows"]


def test_a_callback_that_fails_leaves_nothing(folder):
    def fail(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rldp.release_file(swap(), "rows", "out", **COLUMNS, keep=["region"], jobs=2, callback=fail)
    assert listed(folder) == ["rows"]


# Kills


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_release_that_is_killed_half_way_leaves_no_target_and_the_next_one_is_whole(folder, jobs):
    ids = range(100_000)
    for i in range(6):
        write(folder / "rows" / f"region={'NSW'[i // 2]}" / f"of {i}.parquet", ids)
    swap().save(folder / "protocol.json")
    script = f"""
        import sys
        from pathlib import Path
        import rldp

        def wait(step):
            if any(path.stat().st_size for path in Path().glob(".out.*/region=N/*.parquet")):
                print("half way", flush=True)
                sys.stdin.read()

        rldp.release_file("protocol.json", "rows", "out", secret="sex", value="age", keep=["region"],
                          unproved=True, jobs={jobs}, callback=wait)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert started.stdout.readline() == b"half way\n"
    started.send_signal(signal.SIGKILL)
    started.communicate()
    assert not (folder / "out").exists()
    (left,) = folder.glob(".out.*.unfinished")
    deadline = time.monotonic() + 300
    while left.exists():  # until the system has taken its lock away
        assert time.monotonic() < deadline
        clear_abandoned(folder, "out", folders=True)
        time.sleep(0.01)
    assert rldp.release_file(swap(), "rows", "out", **COLUMNS, keep=["region"]) == 6 * 100_000
    for name in names(folder / "out"):
        assert (pq.read_table(folder / "out" / name)["age"].to_numpy() == released(ids)).all()
    assert listed(folder) == ["out", "protocol.json", "rows"]


def test_a_folder_that_somebody_is_writing_is_not_cleared_away(folder):
    from rldp.data.atomic import growing_folder

    with growing_folder(folder, "out") as scratch:
        clear_abandoned(folder, "out", folders=True)
        assert scratch.is_dir()
    assert not scratch.exists()


def test_what_a_killed_process_left_is_cleared_away_by_the_next(folder):
    left = folder / ".out.0123456789abcdef.unfinished"
    (left / "region=N").mkdir(parents=True)
    (left / "region=N" / "part-00000.parquet").write_bytes(b"PAR1")
    mine = folder / ".out.mine.unfinished"
    mine.mkdir()
    (folder / ".out.0123456789abcdee.unfinished").write_bytes(b"of a file")
    rldp.release_file(swap(), "rows", "out", **COLUMNS, keep=["region"])
    assert listed(folder) == [".out.0123456789abcdee.unfinished", ".out.mine.unfinished", "out", "rows"]
