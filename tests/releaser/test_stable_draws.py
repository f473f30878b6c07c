"""Draws that stay: the same person with the same value gets the same output, with exactly the table's law."""

import hmac
import logging
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2

import rldp
from protocol_file.make_vectors import canonical
from rldp.chain import Chain, Stage
from rldp.data.reading import Column, Reading
from rldp.gate.release import requested

KEY = bytes(range(32))
D = 2**52
SECRETS, VALUES, OUTPUTS = ("f", "m"), (10, 20, 30), (10, 20, 30, 40)
SHARES = np.array(
    [
        [[0.5, 0.25, 0.25, 0], [0.125, 0.625, 0.125, 0.125], [0.25, 0.25, 0.25, 0.25]],
        [[0.0625, 0.4375, 0.5, 0], [0.25, 0.25, 0.25, 0.25], [0.01, 0.02, 0.3, 0.67]],
    ]
)


def reading(value="age", edges=None):
    return Reading((Column("sex", SECRETS),), (Column(value, VALUES, edges),))


def protocol(value="age", edges=None, matrix=SHARES):
    return rldp.Protocol(matrix, SECRETS, VALUES, OUTPUTS, reading=reading(value, edges))


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    columns = {"pid": np.arange(n), "sex": rng.choice(SECRETS, n), "age": rng.choice(VALUES, n)}
    return {name: column.tolist() for name, column in columns.items()}


def drawn(table, data, key=KEY, **options):
    return table.release(data["sex"], data["age"], ids=data["pid"], key=key, **options)


def word_of(key, message):
    """The first 52 bits of the code, by another implementation of HMAC and of the encoding."""
    digest = hmac.new(key, canonical(message), "sha256").digest()
    return int(digest.hex()[:13], 16)


def differing(one, other):
    return sum(a != b for a, b in zip(one, other, strict=True))


# The word


def test_words_are_those_of_the_specification():
    data, table = rows(200), protocol()
    digest = bytes.fromhex(table.table_sha256)
    for i, output in enumerate(drawn(table, data)):
        s, u = data["sex"][i], data["age"][i]
        word = word_of(KEY, ["rldp-draw-1", digest, ["age"], 0, [], str(i), s, u])
        assert output == table.output_for(s, u, word)


def test_words_of_a_chain_have_its_stage_and_what_is_out():
    """The order of the stages is not that of the columns."""
    jobs, ages = ("a", "b"), (1, 2, 3)
    rng = np.random.default_rng(3)
    first = Stage("job", jobs, rng.dirichlet(np.ones(2), size=(1, 2, 2)))
    second = Stage("age", ages, rng.dirichlet(np.ones(3), size=(2, 2, 3)))
    of = Reading((Column("sex", SECRETS),), (Column("age", ages), Column("job", jobs)))
    chain = Chain([first, second], SECRETS, of)
    digest = bytes.fromhex(chain.table_sha256)
    people = [("f", (3, "a")), ("m", (1, "b")), ("f", (2, "b")), ("m", (3, "a"))] * 30
    secrets, values = map(list, zip(*people, strict=True))
    found = chain.release(secrets, values, ids=list(range(120)), key=KEY)
    for i, (s, (age, job)) in enumerate(people):
        words = [word_of(KEY, ["rldp-draw-1", digest, ["job"], 0, [], str(i), s, job])]
        out = chain.output_for(s, (age, job), [words[0], 0])[1]
        words.append(word_of(KEY, ["rldp-draw-1", digest, ["age"], 1, [out], str(i), s, age]))
        assert found[i] == chain.output_for(s, (age, job), words)


def test_words_of_a_chain_that_does_not_read_the_secret_leave_it_out():
    same = [
        np.repeat(np.random.default_rng(i).dirichlet(np.ones(2), (2**i, 1, 2)), 2, axis=1) for i in (0, 1)
    ]
    of = Reading((Column("sex", SECRETS),), (Column("age", (1, 2)), Column("job", (1, 2))))
    chain = Chain([Stage("age", (1, 2), same[0]), Stage("job", (1, 2), same[1])], SECRETS, of)
    values, ids = [(1 + i % 2, 1) for i in range(200)], list(range(200))
    one, other = (chain.release([s] * 200, values, ids=ids, key=KEY) for s in SECRETS)
    assert one == other


def test_the_digest_of_a_table_is_about_labels_and_probabilities_alone(tmp_path):
    sample = rldp.Sample([[30, 10, 5], [5, 25, 25]], ["f", "m"], [10, 20, 30])
    designed = rldp.design(sample, 0.5).protocol
    designed.save(tmp_path / "protocol.json")
    digest = designed.table_sha256
    assert rldp.load(tmp_path / "protocol.json").table_sha256 == digest
    assert designed.alone().table_sha256 == digest
    labels = designed.secrets, designed.values, designed.outputs
    assert rldp.Protocol(designed.matrix, *labels).table_sha256 == digest
    others = [
        rldp.Protocol(designed.matrix, ("f", "x"), *labels[1:]),
        rldp.Protocol(designed.matrix, labels[0], (10, 20, 31), labels[2]),
        rldp.Protocol(designed.matrix, *labels[:2], ("a", "b", "c")),
        rldp.Protocol(designed.matrix[::-1], *labels),
    ]
    assert len({digest, *(other.table_sha256 for other in others)}) == 5


# What stays and what does not


def test_the_same_people_get_the_same_outputs_again():
    data, table = rows(2000), protocol()
    assert drawn(table, data) == drawn(protocol(), data)
    assert differing(drawn(table, data), table.release(data["sex"], data["age"])) > 500
    order = np.random.default_rng(1).permutation(2000).tolist()
    shuffled = {name: [column[i] for i in order] for name, column in data.items()}
    first = drawn(table, data)
    assert drawn(table, shuffled) == [first[i] for i in order]


@pytest.mark.parametrize("changed", ["secret", "value", "id", "key", "table", "column"])
def test_whatever_changes_gives_a_fresh_draw(changed):
    """Of uniform outputs, a quarter stays by chance; with the same word all would."""
    even = np.full((2, 3, 4), 0.25)
    even[0, 0] = [0.25 + 2**-40, 0.25 - 2**-40, 0.25, 0.25]  # so that the secret is read
    n = 4000
    data, table, key = {"pid": list(range(n)), "sex": ["f"] * n, "age": [20] * n}, protocol(matrix=even), KEY
    first = drawn(table, data)
    match changed:
        case "secret":
            data["sex"] = ["m"] * n
        case "value":
            data["age"] = [30] * n
        case "id":
            data["pid"] = [f"x{i}" for i in range(n)]
        case "key":
            key = KEY[::-1]
        case "table":
            even[0, 0] = [0.25 + 2**-41, 0.25 - 2**-41, 0.25, 0.25]
            table = protocol(matrix=even)
        case "column":
            table = protocol("height", matrix=even)
    same = n - differing(first, drawn(table, data, key))
    assert abs(same - n / 4) < 5 * np.sqrt(n * 3 / 16)


def test_numbers_of_one_bin_are_one_value():
    n = 500
    table = protocol(edges=(15.0, 25.0))
    people = {"pid": list(range(n)), "sex": ["f"] * n}
    first = drawn(table, {**people, "age": [16.5] * n})
    assert drawn(table, {**people, "age": [24] * n}) == first
    assert differing(drawn(table, {**people, "age": [25] * n}), first) > 100


def test_a_table_that_does_not_read_the_secret_gives_the_same_with_and_without_it():
    data = rows(500)
    table = protocol(matrix=np.stack([SHARES[0], SHARES[0]]))
    first = drawn(table, data)
    assert table.release(None, data["age"], ids=data["pid"], key=KEY) == first
    assert drawn(table, data | {"sex": ["f"] * 500}) == first
    frame = pd.DataFrame(data)[["pid", "age"]]
    found = table.release_frame(frame, id="pid", key=KEY)
    assert found["age"].tolist() == first


# The law


def chi_square(outputs, data):
    """p-value of Pearson's statistic against the table, over people."""
    statistic = degrees = 0
    codes = np.searchsorted(OUTPUTS, outputs)
    sex, age = np.searchsorted(SECRETS, data["sex"]), np.searchsorted(VALUES, data["age"])
    for s, u in np.ndindex(2, 3):
        found = np.bincount(codes[(sex == s) & (age == u)], minlength=4)
        expected = found.sum() * SHARES[s, u]
        assert not found[expected == 0].any()
        there = expected > 0
        statistic += ((found - expected)[there] ** 2 / expected[there]).sum()
        degrees += there.sum() - 1
    return chi2.sf(statistic, degrees)


@pytest.mark.parametrize("n", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_over_people_outputs_have_exactly_the_law_of_the_table(n):
    """With this key; a wrong alarm was possible once, at one in a thousand."""
    data = rows(n)
    assert chi_square(np.array(drawn(protocol(), data)), data) > 1e-3


def test_draws_of_one_person_for_two_columns_are_independent():
    """A word that two columns shared would make their outputs equal."""
    n = 40_000
    data = {"pid": list(range(n)), "sex": ["m"] * n, "age": [20] * n}
    one, other = (np.searchsorted(OUTPUTS, drawn(protocol(name), data)) for name in ("age", "height"))
    joint = np.bincount(4 * one + other, minlength=16)
    assert chi2.sf(((joint - n / 16) ** 2 / (n / 16)).sum(), 15) > 1e-3


# Every client


def in_frames(data):
    table = pa.table(data)
    texts = table.set_column(0, "pid", table["pid"].cast(pa.string()))
    batches = texts.to_batches(max_chunksize=70)
    yield "pandas", pd.DataFrame(data), lambda found: found["age"].tolist()
    yield "polars", pl.DataFrame(texts), lambda found: found["age"].to_list()
    yield "lazy", pl.LazyFrame(data), lambda found: found.collect()["age"].to_list()
    yield "arrow", table, lambda found: found["age"].to_pylist()
    yield (
        "reader",
        pa.RecordBatchReader.from_batches(texts.schema, batches),
        lambda found: found.read_all()["age"].to_pylist(),
    )


def test_frames_files_and_folders_give_the_same_outputs(tmp_path):
    data, table = rows(300), protocol()
    wanted = drawn(table, data)
    for name, frame, read in in_frames(data):
        assert read(table.release_frame(frame, id="pid", key=KEY)) == wanted, name
    (tmp_path / "release.key").write_bytes(KEY)
    (tmp_path / "release.key").chmod(0o600)
    folder = tmp_path / "rows"
    folder.mkdir()
    for i in range(3):
        part = {name: column[100 * i : 100 * i + 100] for name, column in data.items()}
        pq.write_table(pa.table(part), folder / f"{i}.parquet")
    pq.write_table(pa.table(data), tmp_path / "rows.parquet")
    pd.DataFrame(data).to_csv(tmp_path / "rows.csv", index=False)
    for name, jobs in (("rows.csv", None), ("rows.parquet", None), ("rows", 2)):
        output = tmp_path / ("out" if name == "rows" else f"{name}.out.parquet")
        done = rldp.release_file(
            table, tmp_path / name, output, id="pid", key=tmp_path / "release.key", jobs=jobs
        )
        assert done.rows == 300
        assert done.key == "ae07113a24faa677"
        assert pq.read_table(output)["age"].to_pylist() == wanted


def test_rows_that_are_left_out_need_no_identifier_and_shift_nobody():
    of = Reading((Column("sex", SECRETS),), (Column("age", VALUES),), missing="skip")
    table = rldp.Protocol(SHARES, SECRETS, VALUES, OUTPUTS, reading=of)
    data = rows(100)
    wanted = drawn(protocol(), data)
    frame = pd.DataFrame(data).astype({"age": "Int64", "pid": "Int64"})
    frame.loc[[0, 50], "age"] = pd.NA
    frame.loc[[0, 50], "pid"] = [pd.NA, 7]
    found = table.release_frame(frame, id="pid", key=KEY)
    assert found["age"].tolist() == [output for i, output in enumerate(wanted) if i not in (0, 50)]


# What is refused


@pytest.mark.parametrize(
    ("pid", "message"),
    [
        ([1, 2, None], "column 'pid' of data must hold no nulls, but row 3 has no value; 1 of 3 rows cannot"),
        (["a", "b", "a "], "column 'pid' must identify people, each in one row, but row 3 has the entry of"),
        (
            [0.5, 1.5, 2.5],
            "must hold texts or whole numbers that identify people, but row 1 has another entry",
        ),
    ],
)
def test_frames_whose_identifiers_cannot_be_used_are_refused(pid, message):
    data = {"pid": pid, "sex": ["f", "m", "f"], "age": [10, 20, 30]}
    with pytest.raises(rldp.DataError, match=message):
        protocol().release_frame(pl.DataFrame(data), id="pid", key=KEY)
    with pytest.raises(rldp.DataError):
        drawn(protocol(), data)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_person_in_two_files_of_a_folder_is_found_and_nothing_appears(tmp_path, jobs):
    (tmp_path / "rows").mkdir()
    for i in range(2):
        part = {"pid": [3 * i, 3 * i + 1, 4], "sex": ["f", "m", "f"], "age": [10, 20, 30]}
        pq.write_table(pa.table(part), tmp_path / "rows" / f"{i}.parquet")
    with pytest.raises(rldp.DataError) as caught:
        rldp.release_file(protocol(), tmp_path / "rows", tmp_path / "out", id="pid", key=KEY, jobs=jobs)
    assert str(caught.value) == (
        "column 'pid' must identify people, each in one row, but row 5 has the entry of an earlier row; "
        "2 of 6 rows do"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_a_person_in_two_parts_of_a_stream_is_found():
    data = rows(200)
    data["pid"][199] = 3
    batches = pa.table(data).to_batches(max_chunksize=50)
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    with pytest.raises(rldp.DataError, match="row 200 has the entry of an earlier row; 1 of 200 rows do"):
        protocol().release_frame(reader, id="pid", key=KEY).read_all()


def test_faults_of_entries_and_of_identifiers_are_counted_together(tmp_path):
    (tmp_path / "rows.csv").write_text("pid,sex,age\n1,f,10\n,m,20\n3,f,99\n,m,98\n5,f,30\n")
    with pytest.raises(
        rldp.DataError, match="must hold no nulls, but row 2 has no value; 3 of 5 rows cannot"
    ):
        rldp.release_file(protocol(), tmp_path / "rows.csv", tmp_path / "out.csv", id="pid", key=KEY)


def test_what_does_not_go_with_a_key_is_refused():
    data, table = rows(3), protocol()
    with pytest.raises(rldp.InvalidArgument, match="seed must not be given with a key"):
        drawn(table, data, seed=1)
    with pytest.raises(rldp.InvalidArgument, match="seed must not be given with a key"):
        table.release_frame(pd.DataFrame(data), id="pid", key=KEY, seed=1)
    with pytest.raises(rldp.InvalidArgument, match="ids and key must be given together"):
        table.release(data["sex"], data["age"], ids=data["pid"])
    with pytest.raises(rldp.InvalidArgument, match="ids and values must have the same length, got 2 and 3"):
        table.release(data["sex"], data["age"], ids=[1, 2], key=KEY)
    with pytest.raises(rldp.InvalidArgument, match="id must name the column that identifies people"):
        rldp.ReleaseOptions(key=KEY)
    with pytest.raises(
        rldp.InvalidArgument, match="id must be another column than those of secret and value"
    ):
        table.release_frame(pd.DataFrame(data), id="age", key=KEY)
    nameless = rldp.Protocol(SHARES, SECRETS, VALUES, OUTPUTS)
    with pytest.raises(
        rldp.InvalidArgument, match="key must come with a protocol that names its value columns"
    ):
        drawn(nameless, data)
    frame = pd.DataFrame(data)
    with pytest.raises(rldp.DataError, match="no column 'person'"):
        table.release_frame(frame, id="person", key=KEY)


def test_an_identifier_that_is_kept_still_needs_a_word_of_consent():
    frame, table = pd.DataFrame(rows(3)), protocol()
    with pytest.raises(rldp.InvalidArgument, match="keep must not name 'pid', which identifies people"):
        table.release_frame(frame, id="pid", key=KEY, keep=["pid"])
    with pytest.warns(rldp.KeptColumnsWarning):
        kept = table.release_frame(frame, id="pid", key=KEY, keep=["pid"], allow_identifier=True)
    assert list(kept.columns) == ["pid", "age"]
    assert kept["age"].tolist() == drawn(table, rows(3))


# The key stays where it is needed


def test_the_key_is_in_the_work_of_other_processes_and_nowhere_else(caplog):
    caplog.set_level(logging.DEBUG, logger="rldp")
    secret = b"thirty-two bytes that are secret"
    table = protocol()
    options = rldp.ReleaseOptions(id="pid", key=secret)
    request, admitted = requested(table, options)
    assert request.options.key is None
    assert pickle.dumps(request).count(secret) == 1
    drawn(table, rows(5), key=secret)
    for thing in (options, request, request.stable, request.options, table, admitted, vars(request)):
        assert "secret" not in repr(thing).replace("secret=", "").replace("secrets", "").replace(
            "'secret'", ""
        )
    assert "thirty" not in caplog.text
    assert secret not in pickle.dumps(table)
    again = pickle.loads(pickle.dumps(request))
    words = request.stable.words([b"s1:1"]), again.stable.words([b"s1:1"])
    zero = np.zeros(1, dtype=np.int32)
    one, other = (each.of_stage(0, zero, zero, []) for each in words)
    assert one == other
