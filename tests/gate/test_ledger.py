"""The ledger: no second draw of an input goes unnoticed, and totals are told only where they are proved."""

import dataclasses
import errno
import hashlib
import json
import os
import shutil
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rldp
from rldp.data.atomic import replacing
from rldp.gate import ledger
from rldp.gate.ledger import read_ledger, recording
from rldp.gate.lines import Line, totals

KEY = bytes(range(32))


def designed(epsilon=0.5, privacy="nominal"):
    """Of a table whose minority alone is randomised."""
    rows = people()
    sample = rldp.Sample.from_data(pd.DataFrame(rows), secret="ethnicity", value="insurance")
    return rldp.design(sample, epsilon, privacy=privacy, utility="nominal").protocol


def people(seed=0):
    """800 rows: 80 of a minority, whose values differ from those of the others."""
    shares = {"minority": (8, 32, 28, 12), "majority": (264, 336, 88, 32)}
    rows = [(who, u) for who, counts in shares.items() for u, n in enumerate(counts) for _ in range(n)]
    order = np.random.default_rng(seed).permutation(len(rows))
    return {
        "person": [f"P{i:04d}" for i in range(len(rows))],
        "ethnicity": [rows[i][0] for i in order],
        "insurance": [rows[i][1] for i in order],
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(people()).to_csv("rows.csv", index=False)
    return tmp_path


def released(protocol, output, data="rows.csv", **options):
    done = rldp.release_file(protocol, data, output, ledger="ledger.jsonl", **options)
    assert done.rows == 800
    return pd.read_csv(output)["insurance"].to_numpy() if str(output).endswith("csv") else None


def test_two_releases_without_a_key_show_who_belongs_to_the_minority_and_with_one_nobody_differs(folder):
    """The case for which all this is made."""
    protocol, rows = designed(), pd.DataFrame(people())
    rldp.release_file(protocol, "rows.csv", "a.csv")
    rldp.release_file(protocol, "rows.csv", "b.csv")
    differ = pd.read_csv("a.csv")["insurance"] != pd.read_csv("b.csv")["insurance"]
    assert differ.sum() >= 10  # about 25 are expected; fewer than 10 are less likely than 1e-4
    assert set(rows["ethnicity"][differ]) == {"minority"}
    one = released(protocol, "c.csv", id="person", key=KEY)
    other = released(protocol, "d.csv", id="person", key=KEY)
    assert (one == other).all()
    assert (one != rows["insurance"]).any()
    assert len(read_ledger("ledger.jsonl")) == 2


def test_a_second_draw_of_the_same_input_is_refused_before_it_appears(folder):
    protocol = designed()
    released(protocol, "a.csv")
    content = (folder / "ledger.jsonl").read_bytes()
    with pytest.raises(rldp.DataError) as caught:
        released(protocol, "b.csv")
    when = read_ledger("ledger.jsonl")[0].when
    assert str(caught.value) == (
        f"data must not be drawn twice, but ledger 'ledger.jsonl' has a release of this input, of {when}, "
        "and this one has no key: two draws of a person reveal more than one, and no total is proved. "
        "With a key, each person is drawn once, a design after the first has a proved total, and again=True "
        "releases anyway"
    )
    assert (folder / "ledger.jsonl").read_bytes() == content
    assert not (folder / "b.csv").exists()
    released(protocol, "b.csv", again=True)
    assert [line.again for line in read_ledger("ledger.jsonl")] == [False, True]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"key": None, "id": None}, "this one has no key"),
        ({"key": KEY[::-1]}, "that one has another key"),
        ({"protocol": 0.4}, "it was from another table or for other columns"),
        ({"id": "number"}, "it was from another table or for other columns"),
    ],
    ids=["no key", "another key", "another table", "another identifier"],
)
def test_the_same_key_is_the_same_draw_only_with_the_same_table_and_people(folder, change, reason):
    rows = pd.DataFrame(people())
    rows.assign(number=range(800)).to_csv("rows.csv", index=False)
    released(designed(), "a.csv", id="person", key=KEY)
    released(designed(), "b.csv", id="person", key=KEY, keep=["number"], allow_identifier=True)
    change = {"id": "person", "key": KEY} | change
    protocol = designed(change.pop("protocol", 0.5))
    with pytest.raises(rldp.DataError, match=reason):
        released(protocol, "c.csv", **change)


def test_another_input_may_be_released(folder):
    protocol = designed()
    released(protocol, "a.csv")
    pd.DataFrame(people(seed=1)).to_csv("next.csv", index=False)
    released(protocol, "b.csv", data="next.csv")
    assert len(totals(read_ledger("ledger.jsonl"))) == 2


def changed(rows, how):
    """The same people, told otherwise: in a file or a frame."""
    match how:
        case "columns in another order":
            rows[rows.columns[::-1]].to_csv("next.csv", index=False)
        case "a column more":
            rows.assign(job=[i % 3 for i in range(800)]).to_csv("next.csv", index=False)
        case "a value changed":
            rows.assign(insurance=[1, *rows["insurance"][1:]]).to_csv("next.csv", index=False)
        case "another kind of file":
            rows.to_parquet("next.parquet")
            return "next.parquet"
        case "a folder of parts":
            Path("next").mkdir()
            for i in range(3):
                rows[300 * i : 300 * i + 300].to_parquet(f"next/{i}.parquet")
            return "next"
        case "a frame":
            return rows
        case "another frame":
            return pl.DataFrame(rows.to_dict("list"))
    return "next.csv"


@pytest.mark.parametrize(
    "how",
    [
        "columns in another order",
        "a column more",
        "a value changed",
        "another kind of file",
        "a folder of parts",
        "a frame",
        "another frame",
    ],
)
def test_the_same_people_are_known_again_in_another_input(folder, how):
    protocol = designed()
    released(protocol, "a.csv")
    data = changed(pd.DataFrame(people()), how)
    message = "has a release of what seem to be the same people, as a column has the same entries in the same"

    def again():
        if isinstance(data, str):
            released(protocol, "b" if data == "next" else "b.csv", data=data)
        else:
            protocol.release_frame(data, ledger="ledger.jsonl")

    with pytest.raises(rldp.DataError, match=message):
        again()
    assert len(read_ledger("ledger.jsonl")) == 1
    assert {path.name for path in folder.iterdir()} <= {"rows.csv", "a.csv", "ledger.jsonl", str(data)}


def test_another_column_of_the_same_frame_is_a_second_release(folder):
    """Whatever a column is read as; another secret with other values has nothing in common with them."""
    rows = pd.DataFrame(people()).assign(
        job=[i * i % 3 for i in range(800)], ill=[i // 7 % 2 for i in range(800)]
    )

    def protocol(secret, value):
        sample = rldp.Sample.from_data(rows, secret=secret, value=value)
        return rldp.design(sample, 0.5, privacy="nominal", utility="nominal", distortion="hamming").protocol

    protocol("ethnicity", "insurance").release_frame(rows, ledger="ledger.jsonl")
    for secret, value in (
        ("ethnicity", "job"),
        ("ill", "insurance"),
        ("insurance", "job"),
        ("ill", "ethnicity"),
        (["ethnicity", "ill"], "job"),
    ):
        with pytest.raises(rldp.DataError, match="the same people, as a column has the same entries"):
            protocol(secret, value).release_frame(rows, ledger="ledger.jsonl")
    protocol("ethnicity", "job").release_frame(rows, ledger="ledger.jsonl", again=True)
    protocol("ill", "job").release_frame(rows, ledger="ledger.jsonl", again=True)
    (total,) = totals(read_ledger("ledger.jsonl"))
    assert (total.releases, total.draws, total.epsilon) == ((1, 2, 3), 3, None)


def test_numbers_that_are_stored_as_texts_are_the_same(folder):
    """The labels of a protocol have the types of its sample."""
    numbers = pd.DataFrame(people()).assign(insurance=lambda rows: rows["insurance"] + 0.0, ill=[0, 1] * 400)

    def release(rows):
        sample = rldp.Sample.from_data(rows, secret="ill", value="insurance")
        found = rldp.design(sample, 0.5, privacy="nominal", utility="nominal", distortion="hamming")
        found.protocol.release_frame(rows, ledger="ledger.jsonl")

    release(numbers)
    with pytest.raises(rldp.DataError, match="has a release of this input"):
        release(numbers.astype({"insurance": int, "ill": str}).astype({"insurance": str}))


def test_files_of_a_folder_are_the_same_in_any_order(folder):
    rows = pd.DataFrame(people())
    for name, order in (("one", (0, 1)), ("other", (1, 0))):
        Path(name).mkdir()
        for i, part in enumerate(order):
            rows[400 * part :][:400].to_parquet(f"{name}/{i}.parquet")
    released(designed(), "a", data="one")
    with pytest.raises(rldp.DataError, match="has a release of this input"):
        released(designed(), "b", data="other")


def test_people_with_several_secrets_are_known_again_by_their_identifiers(folder):
    rows = pd.DataFrame(people()).assign(ill=[0, 1] * 400)
    sample = rldp.Sample.from_data(rows, secret=["ethnicity", "ill"], value="insurance")
    protocol = rldp.design(sample, 0.5, privacy="nominal", utility="nominal").protocol
    keyed = {"ledger": "ledger.jsonl", "id": "person", "key": KEY}
    for again in (rows, rows[::-1]):
        protocol.release_frame(again, **keyed)
    with pytest.raises(rldp.DataError, match=r"the same people, by their identifiers, of .* another key"):
        protocol.release_frame(rows[::-1], **keyed | {"key": KEY[::-1]})


def test_the_same_people_with_another_secret_are_not_the_same_draw(folder):
    rows, keyed = pd.DataFrame(people()), {"ledger": "ledger.jsonl", "id": "person", "key": KEY}
    designed().release_frame(rows, **keyed)
    rows.loc[0, "ethnicity"] = "minority" if rows.loc[0, "ethnicity"] == "majority" else "majority"
    with pytest.raises(rldp.DataError, match="the people or their secrets are not all the same: two"):
        designed().release_frame(rows[::-1], **keyed)


def test_people_with_identifiers_are_known_again_in_any_order(folder):
    """With the same key nobody is drawn again, whoever comes first."""
    protocol, rows = designed(), pd.DataFrame(people())
    keyed = {"ledger": "ledger.jsonl", "id": "person", "key": KEY}
    protocol.release_frame(rows, **keyed)
    turned = rows[::-1].assign(insurance=[1, *rows["insurance"][::-1][1:]])
    protocol.release_frame(turned, **keyed)
    (total,) = totals(read_ledger("ledger.jsonl"))
    assert (total.draws, total.reason) == (1, "one draw of everybody whose secret and value stay")
    with pytest.raises(rldp.DataError, match=r"the same people, by their identifiers, of .* another key"):
        protocol.release_frame(turned, **keyed | {"key": KEY[::-1]})


def test_a_line_tells_the_release_and_nothing_about_a_person(folder):
    protocol = designed()
    protocol.save("protocol.json")
    released("protocol.json", "a.csv", id="person", key=KEY)
    text = (folder / "ledger.jsonl").read_text()
    (line,) = read_ledger("ledger.jsonl")

    def digest(name):
        return hashlib.sha256((folder / name).read_bytes()).hexdigest()

    assert (line.input, line.output, line.protocol) == tuple(
        map(digest, ("rows.csv", "a.csv", "protocol.json"))
    )
    assert (line.epsilon, line.privacy, line.table) == (0.5, "nominal", protocol.table_sha256)
    assert (line.read, line.released, line.rows) == (
        ("ethnicity", "insurance", "person"),
        ("insurance",),
        800,
    )
    assert line.key == "ae07113a24faa677"
    assert set(json.loads(text)) == {field.name for field in dataclasses.fields(Line)} | {"format", "version"}
    assert "P0" not in text
    assert KEY.hex() not in text


@pytest.mark.parametrize("kind", ["parquet", "folder", "compressed"])
def test_every_kind_of_file_is_known_again(folder, kind):
    protocol, rows = designed(), pd.DataFrame(people())
    match kind:
        case "parquet":
            rows.to_parquet("rows.parquet")
            data, outputs = "rows.parquet", ("a.parquet", "b.parquet")
        case "folder":
            (folder / "rows").mkdir()
            for i in range(2):
                pq.write_table(pa.table(rows[400 * i : 400 * i + 400]), folder / "rows" / f"{i}.parquet")
            data, outputs = "rows", ("a", "b")
        case "compressed":
            rows.to_csv("rows.csv.gz", index=False)
            data, outputs = "rows.csv.gz", ("a.csv.gz", "b.csv.gz")
    released(protocol, folder / outputs[0], data=data)
    with pytest.raises(rldp.DataError, match="this one has no key"):
        released(protocol, folder / outputs[1], data=data)
    assert not (folder / outputs[1]).exists()


def test_frames_in_memory_are_known_again_whatever_their_kind(folder):
    protocol, rows = designed(), people()
    protocol.release_frame(pd.DataFrame(rows), ledger="ledger.jsonl")
    for frame in (pl.DataFrame(rows), pa.table(rows), pd.DataFrame(rows).astype({"insurance": "Int64"})):
        with pytest.raises(rldp.DataError, match="has a release of this input"):
            protocol.release_frame(frame, ledger="ledger.jsonl")
    rows["insurance"][5] = (rows["insurance"][5] + 1) % 4
    with pytest.raises(rldp.DataError, match="what seem to be the same people"):
        protocol.release_frame(pl.DataFrame(rows), ledger="ledger.jsonl")
    assert len(protocol.release_frame(pl.DataFrame(people(seed=1)), ledger="ledger.jsonl")) == 800
    for frame in (pl.LazyFrame(rows), pa.table(rows).to_reader()):
        with pytest.raises(rldp.InvalidArgument, match="ledger must be for files and for frames of pandas"):
            protocol.release_frame(frame, ledger="ledger.jsonl")
    assert len(read_ledger("ledger.jsonl")) == 2


def test_a_frame_is_the_same_input_with_a_key_and_without_one(folder):
    protocol, frame = designed(), pd.DataFrame(people())
    keyed = {"ledger": "ledger.jsonl", "id": "person", "key": KEY}
    protocol.release_frame(frame, **keyed)
    protocol.release_frame(frame, **keyed)
    others = frame.assign(person=frame["person"].to_numpy()[::-1])
    for given, options in ((frame, {"ledger": "ledger.jsonl"}), (others, keyed)):
        with pytest.raises(rldp.DataError, match="must not be drawn twice"):
            protocol.release_frame(given, **options)


def test_a_table_without_rows_is_not_recorded(folder):
    """There is nothing to know it by."""
    (folder / "none.csv").write_text("person,ethnicity,insurance\n")
    with pytest.raises(rldp.DataError, match="data must hold at least one row to be in a ledger, got none"):
        rldp.release_file(designed(), "none.csv", "a.csv", ledger="ledger.jsonl")
    assert not (folder / "a.csv").exists()
    assert not (folder / "ledger.jsonl").exists()


def test_dask_has_no_ledger():
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_pandas(pd.DataFrame(people()), npartitions=2)
    with pytest.raises(rldp.InvalidArgument, match="ledger must be for files and for frames in memory"):
        rldp.dask.release(designed(), frame, ledger="ledger.jsonl")


# The file


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nothing\n", "line 1 is damaged or something else"),
        (b"\n", "line 1 is damaged or something else"),
        (b'{"format": "other", "version": 1}\n', "line 1 is damaged or something else"),
        (b'{"format": "rldp-ledger", "version": 2}\n', "line 1 is of another version"),
        (b'{"format": "rldp-ledger", "version": 1}\n', "line 1 is damaged"),
        (b'{"format": "rldp-ledger"', "must end with a whole line, but its last line is cut off"),
        (b"\xff\n", "line 1 is damaged or something else"),
    ],
)
def test_a_damaged_ledger_is_refused_before_any_row_is_read(folder, content, message):
    (folder / "ledger.jsonl").write_bytes(content)
    with pytest.raises(rldp.FileError, match=message):
        released(designed(), "a.csv", again=True)
    assert not (folder / "a.csv").exists()
    assert (folder / "ledger.jsonl").read_bytes() == content


@pytest.mark.parametrize("key", [field.name for field in dataclasses.fields(Line)])
def test_a_line_in_which_something_is_missing_or_of_another_kind_is_damaged(tmp_path, key):
    path = tmp_path / "ledger.jsonl"
    with recording(path, line()):
        pass
    document = json.loads(path.read_text())
    for changed in (
        {k: v for k, v in document.items() if k != key},
        document | {key: {}},
        document | {"x": 1},
    ):
        path.write_text(json.dumps(changed) + "\n")
        with pytest.raises(rldp.FileError, match="line 1 is damaged"):
            read_ledger(path)


def test_what_did_not_appear_is_not_in_the_ledger(folder):
    output = replacing(folder / "none" / "a.csv", name="output")
    refused = pytest.raises(rldp.FileError, match="output must be writable")
    with refused, recording(folder / "ledger.jsonl", line()), output:
        pass
    assert (folder / "ledger.jsonl").read_bytes() == b""


@pytest.mark.parametrize("output", ["a.csv", "a"])
def test_an_interruption_after_a_release_appeared_leaves_its_line(folder, monkeypatch, output):
    if output == "a":
        Path("rows").mkdir()
        pd.DataFrame(people()).to_parquet("rows/part.parquet")
    name = "replace" if output.endswith("csv") else "rename"
    move = getattr(os, name)

    def interrupted(*paths):
        move(*paths)
        if Path(output).exists():
            raise KeyboardInterrupt

    data = "rows" if output == "a" else "rows.csv"
    monkeypatch.setattr(os, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        rldp.release_file(designed(), data, output, ledger="ledger.jsonl")
    assert Path(output).exists()
    assert len(read_ledger("ledger.jsonl")) == 1


def test_an_output_does_not_take_the_place_of_its_ledger(folder):
    Path("link.jsonl").symlink_to("a.csv")
    for ledger_path in ("a.csv", "link.jsonl"):
        with pytest.raises(rldp.InvalidArgument, match="output must be another file than the ledger"):
            rldp.release_file(designed(), "rows.csv", "a.csv", ledger=ledger_path)
        assert not Path("a.csv").exists()


def test_a_full_disk_leaves_the_ledger_as_it_was(folder, monkeypatch):
    with recording(folder / "ledger.jsonl", line()):
        pass
    before, write = Path("ledger.jsonl").read_bytes(), os.write
    left = [100]

    def full(handle, content):
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= write(handle, content[: left[0]])
        return 100

    monkeypatch.setattr(os, "write", full)
    refused = pytest.raises(rldp.FileError, match=r"ledger must be writable, but .* No space left")
    with refused, recording(folder / "ledger.jsonl", line(input="j")):
        pytest.fail("the release would have appeared")
    assert Path("ledger.jsonl").read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="permissions and file locks of POSIX")
def test_a_ledger_is_for_its_owner_and_is_followed_where_it_is_replaced(folder, monkeypatch):
    path, lock, sync = folder / "ledger.jsonl", ledger.fcntl.flock, os.fsync
    synced = []

    def noted(handle):
        synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))
        sync(handle)

    def replaced(handle, how):
        if Path("other").exists():
            os.replace("other", path)
        lock(handle, how)

    monkeypatch.setattr(os, "fsync", noted)
    with recording(path, line()):
        assert synced == [False, True]  # the line, then the name of a new ledger, before the release appears
    assert path.stat().st_mode & 0o777 == 0o600
    shutil.copy(path, "other")
    monkeypatch.setattr(ledger.fcntl, "flock", replaced)
    with recording(path, line(input="j")):
        pass
    assert [each.input for each in read_ledger(path)] == ["i", "j"]


def test_of_two_releases_at_a_time_one_sees_the_other(tmp_path, monkeypatch):
    """Between what is read of the ledger and what is written, another process would have time enough."""
    path, text = tmp_path / "ledger.jsonl", ledger._text

    def slowly(each):
        time.sleep(0.2)
        return text(each)

    def attempt(_):
        try:
            with recording(path, line()):
                return True
        except rldp.DataError:
            return False

    monkeypatch.setattr(ledger, "_text", slowly)
    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(attempt, range(3))) == 1


# Totals


def line(**changed):
    fields = {
        "when": "2026-01-01T00:00:00Z",
        "input": "i",
        "output": None,
        "protocol": "p",
        "table": "t",
        "epsilon": 0.5,
        "promise": "ε = 0.5",
        "privacy": "credible",
        "alpha": 0.05,
        "secret": ("sex",),
        "secrets": "s",
        "columns": ("age",),
        "read": ("sex", "age"),
        "unknown": "refuse",
        "released": ("age",),
        "kept": (),
        "rows": 5,
        "skipped": 0,
        "known": (),
        "key": None,
        "secret_rows": None,
        "read_rows": (),
        "people": None,
        "people_with_secrets": None,
        "drawn": ("t",),
        "drawn_rows": ("o",),
        "after": (),
        "after_rows": (),
        "again": False,
    }
    return Line(**(fields | changed))


def after(*tables, **changed):
    """What differs in a release after others, whose outputs it takes as they were."""
    return {"drawn": ("u",), "after": tables, "after_rows": ("o",) * len(tables)} | changed


@pytest.mark.parametrize(
    ("lines", "epsilon", "reason"),
    [
        ([{}], 0.5, "one draw"),
        ([{"epsilon": None}], None, "proves no finite ε"),
        ([{"key": "k"}, {"key": "k"}], 0.5, "one draw"),
        ([after("t", key="k", secret_rows="r")] * 2, 0.5, "one draw"),
        ([after("t", key="k", secret_rows="r", after_rows=(x,)) for x in "ab"], None, "no total"),
        ([{"key": "k"}, {"key": "l"}], None, "designs for all distributions would add to 1"),
        ([{"key": "k"}, {"key": "k", "table": "x"}], None, "would add to 1"),
        ([{"key": "k"}, {"key": "k", "columns": ("job",)}], None, "would add to 1"),
        ([{}, {}], None, "would add to 1"),
        ([{}, after("t", epsilon=0.7)], 0.7, "designed after the others"),
        ([{}, after("t", epsilon=None)], None, "proves no finite ε"),
        ([{}, {}, after("t")], None, "no total"),
        ([{}, {}, after("t", "t", epsilon=0.7)], 0.7, "designed after the others"),
        ([{}, {"drawn": ("b",)}, after("t")], None, "no total"),
        ([{"drawn": ("b",)}, after("t")], None, "no total"),
        ([{"drawn": (), "drawn_rows": ()}, after("t")], None, "no total"),
        ([{"protocol": "t"}, after("p")], None, "no total"),
        ([{"secret_rows": "r"}, after("t", secret_rows="r", epsilon=0.7)], 0.7, "designed after the others"),
        ([{"secret_rows": "r"}, after("t", secret_rows="r", after_rows=("x",))], None, "no total"),
        ([{"secret_rows": "r"}, after("t", secret_rows="q")], None, "no total"),
        ([{}, after("t", secret=("race",))], None, "no total"),
        ([{}, after("t", secrets="x")], None, "no total"),
        ([{"privacy": "all"}, {"privacy": "all", "epsilon": 0.25}], 0.75, "every distribution"),
        ([{"privacy": "all"}, {}], None, "no total"),
        ([{"privacy": "all"}, {"privacy": "all", "secret": ("race",)}], None, "no total"),
        ([{"privacy": "all"}, {"privacy": "all", "secrets": "x"}], None, "no total"),
        ([{"privacy": "all"}, {"privacy": "all", "epsilon": None}], None, "proves no finite ε"),
    ],
)
def test_a_total_is_told_where_it_is_proved_and_nowhere_else(lines, epsilon, reason):
    (total,) = totals([line(**each) for each in lines])
    assert total.epsilon == epsilon
    assert reason in total.reason
    assert total.releases == tuple(range(1, len(lines) + 1))


def test_a_total_says_what_it_does_not_cover():
    """In a total that follows a promise to some readers only, and beside columns that were kept."""
    readers = {"known": ("region",)}
    (found,) = totals([line(**readers), line(**after("t", kept=("job",)), **readers)])
    beside = "kept beside the released columns"
    assert found.reason.endswith(
        f"is the total, to readers who know 'region'; it does not cover 'job', {beside}"
    )
    (found,) = totals([line(key="k"), line(key="k", kept=("job", "x"))])
    assert found.reason == f"one draw; it does not cover 'job' and 'x', {beside}"


def test_inputs_are_added_up_apart():
    found = totals(
        [line(), line(input="j"), line(key="k"), line(input="j", key="k"), line(input="j", key="k")]
    )
    assert [(each.input, each.releases, each.draws) for each in found] == [
        ("i", (1, 3), 2),
        ("j", (2, 4, 5), 2),
    ]


def test_a_release_after_the_others_may_be_recorded_and_one_after_some_of_them_may_not(tmp_path):
    path = tmp_path / "ledger.jsonl"
    third = {"drawn": ("v",), "after": ("t", "u"), "after_rows": ("o", "o")}
    with recording(path, line()):
        pass
    unproved = pytest.raises(rldp.DataError, match="nothing is proved of this one")
    with unproved, recording(path, line(**after("t"), epsilon=None)):
        pass
    for each in (after("t"), third):
        with recording(path, line(**each)):
            pass
    refused = pytest.raises(rldp.DataError, match="not designed after all earlier draws")
    with refused, recording(path, line(**third)):
        pass
    assert totals(read_ledger(path))[0].epsilon == 0.5


@pytest.fixture(scope="module")
def linked():
    """Rows of three columns, a protocol for age, and one for job after it."""
    rng = np.random.default_rng(0)
    sex = rng.integers(2, size=3000)
    age = (rng.random(3000) < 0.3 + 0.3 * sex).astype(int)
    job = (rng.random(3000) < 0.4 + 0.2 * age).astype(int)
    rows = pd.DataFrame({"pid": range(3000), "sex": np.array(["f", "m"])[sex], "age": age, "job": job})

    def design(*columns, epsilon, after=()):
        sample = rldp.Sample.from_data(rows, secret="sex", value=list(columns), after=after)
        return rldp.design(sample, epsilon, privacy="credible", utility="nominal", after=after).protocol

    first = design("age", epsilon=0.3)
    return rows, first, design("age", "job", epsilon=0.6, after=[first]), design("job", epsilon=0.3)


def test_a_release_after_the_first_one_takes_its_outputs_and_is_recorded_with_its_total(folder, linked):
    rows, first, second, other = linked
    recorded = {"ledger": "ledger.jsonl"}
    out = first.release_frame(rows, **recorded)["age"]
    second.release_frame(rows.assign(out=out), as_earlier="out", **recorded)
    (total,) = totals(read_ledger("ledger.jsonl"))
    assert (total.epsilon, total.draws) == (0.6, 2)
    with pytest.raises(rldp.DataError, match="this one has no key"):
        other.release_frame(rows, **recorded)


@pytest.mark.parametrize("how", ["another draw", "true values", "another table", "another secret"])
def test_a_protocol_that_claims_to_follow_a_release_must_follow_it(folder, linked, how):
    """The digest of the earlier file is a claim; the table in the file and the rows' outputs are none."""
    rows, first, second, _ = linked
    given = rows
    if how == "another table":
        first.release_frame(rows, ledger="ledger.jsonl")
        (line,) = read_ledger("ledger.jsonl")
        document = json.loads(second.to_json())
        document["stages"][0]["earlier"]["sha256"] = line.protocol
        table = np.array(document["stages"][0]["numerators"])
        document["stages"][0]["numerators"] = table[:, ::-1].tolist()
        content = [list(second.secrets), [0, 1], [0, 1], table[:, ::-1].tolist()]
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        document["stages"][0]["earlier"]["digest"] = hashlib.sha256(text.encode()).hexdigest()
        second = rldp.Protocol.from_json(json.dumps(document, separators=(",", ":")))
        out = first.release_frame(rows)["age"]
    elif how == "another secret":
        given = rows.assign(smokes=np.where(rows["pid"] % 3 == 0, "f", "m"))
        out = first.release_frame(given, as_secret="smokes", ledger="ledger.jsonl", allow_drift=True)["age"]
    else:
        first.release_frame(rows, ledger="ledger.jsonl")
        out = rows["age"] if how == "true values" else first.release_frame(rows)["age"]
    with pytest.raises(rldp.DataError, match="not designed after all earlier draws, or takes other outputs"):
        second.release_frame(
            given.assign(out=out), as_earlier="out", ledger="ledger.jsonl", allow_drift=True, unproved=True
        )


def test_a_design_after_the_first_release_is_recorded_with_its_total(folder, linked):
    rows, first, second, other = linked
    rows = rows.copy()
    drawn_once = {"id": "pid", "key": KEY, "ledger": "ledger.jsonl"}
    out = first.release_frame(rows, id="pid", key=KEY)["age"]
    rows.assign(out=out).to_csv("rows.csv", index=False)
    rldp.release_file(first, "rows.csv", "first.csv", **drawn_once)
    assert (pd.read_csv("first.csv")["age"] == out).all()
    rldp.release_file(second, "rows.csv", "second.csv", as_earlier="out", **drawn_once)
    (total,) = totals(read_ledger("ledger.jsonl"))
    assert (total.epsilon, total.draws) == (0.6, 2)
    again = second.release_frame(pd.read_csv("rows.csv"), id="pid", key=KEY, as_earlier="out")
    assert again.equals(pd.read_csv("second.csv"))
    with pytest.raises(rldp.DataError, match="another table or for other columns"):
        rldp.release_file(other, "rows.csv", "third.csv", **drawn_once)
