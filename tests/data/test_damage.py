"""Damaged files: an answer or one sentence, which holds no entry; and nothing is left behind.

``RLDP_DAMAGED_FILES=10000`` tries that many; a few hundred by default.
"""

import datetime
import decimal
import gzip
import io
import json
import os
import random
import traceback

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rldp
from rldp import release_file

FILES = int(os.environ.get("RLDP_DAMAGED_FILES", "300"))
SHARES = 10  # in which they are tried, side by side
LONGEST = 400
MARKS = ("qz", "918273")  # in every entry
SECRETS = ["qz-ill-qz", "qz-well-qz", "qz gone qz"]
VALUES = ["qz1qz", "qz2qz", "qz;3qz", "qz|4qz"]
PROTOCOL = rldp.Protocol([[[0.25] * 4] * 4] * 3, SECRETS, VALUES, VALUES)
HEADER = ["secret", "value", "name", "number"]


def rows_of(rng):
    """Rows, with numbers or without: above numbers, a name shows that it is one."""
    width = rng.choice([3, 4])
    return [
        [
            rng.choice(SECRETS),
            rng.choice(VALUES),
            f"qz {rng.choice('äbcdé')}, {i} qz",
            f"918273{i}",
        ][:width]
        for i in range(rng.randint(1, 40))
    ]


# CSV


def csv_text(rng, rows, mark=None):
    mark = mark or rng.choice(",,,;\t|")
    end = rng.choice(["\n", "\r\n"])

    def cell(text):
        needs = any(c in text for c in (mark, '"', "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if needs else text

    return "".join(mark.join(map(cell, row)) + end for row in rows)


def truncated(rng, content):
    return content[: rng.randrange(len(content) + 1)]


def beheaded(rng, content):
    return content[rng.randrange(len(content) + 1) :]


def without_header(rng, content):
    return content.split(b"\n", 1)[-1]


def noise(rng, content):
    where, length = rng.randrange(len(content) + 1), rng.choice([1, 2, 10, 1000])
    return content[:where] + rng.randbytes(length) + content[where + rng.choice([0, length]) :]


def stray(rng, content):
    for _ in range(rng.randint(1, 5)):
        where = rng.randrange(len(content) + 1)
        content = (
            content[:where]
            + rng.choice([b'"', b"\0", b"\r", b"\n", b",", b";", b"\xef\xbb\xbf"])
            + content[where:]
        )
    return content


def cut_out(rng, content):
    """Not across the end of the first line: a name joined to an entry is a name, to whoever reads it."""
    first = content.find(b"\n") + 1
    start = rng.randrange(first, len(content) + 1)
    return content[:start] + content[start + rng.randint(1, 30) :]


def swollen(rng, content):
    where = rng.randrange(len(content) + 1)
    return content[:where] + b"qz" * rng.choice([5_000, 600_000]) + content[where:]


def missing(rng, content):
    lines = content.split(b"\n")
    lines.insert(
        rng.randint(1, len(lines)), rng.choice([b",,,", b"NA,NA,NA,NA", b"qz", b"", b"qz,qz,qz,qz,qz"])
    )
    return b"\n".join(lines)


def recoded(rng, content):
    return content.decode(errors="ignore").encode(
        rng.choice(["utf-16", "utf-16-le", "latin-1", "utf-8-sig"]), "replace"
    )


DAMAGES = [truncated, beheaded, without_header, noise, stray, cut_out, swollen, missing, recoded]


def damaged_csv(rng, path):
    rows = rows_of(rng)
    if rng.random() < 0.05:
        content = json.dumps([dict(zip(HEADER, row, strict=False)) for row in rows]).encode()
    elif rng.random() < 0.05:
        content = rng.randbytes(rng.randint(1, 5000))
    else:
        content = csv_text(rng, [HEADER[: len(rows[0])], *rows]).encode()
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        content = rng.choice(DAMAGES)(rng, content)
    if path.suffix == ".gz":
        content = gzip.compress(content, 1)
        if rng.random() < 0.5:
            content = rng.choice([truncated, noise, cut_out])(rng, content)
    path.write_bytes(content)


# Parquet

ODD = [
    [b"qz", b"\xff"],
    [["qz"]],
    [{"part": "qz"}],
    [datetime.date(9182, 7, 3)],
    [decimal.Decimal("918273.5")],
    [918273, None],
    [918273.5, float("nan")],
    [True, None],
    ["qz" * 600_000],
    [None],
]


def damaged_parquet(rng, path):
    rows = rows_of(rng)
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    if rng.random() < 0.4:
        odd = rng.choice(ODD)
        columns[rng.randrange(len(columns))] = pa.array([odd[i % len(odd)] for i in range(len(rows))])
    if columns[0].type == pa.string() and rng.random() < 0.2:
        columns[0] = columns[0].dictionary_encode()
    names = rng.choice([HEADER] * 5 + [["secret", "value", "name", "name"], ["a", "b", "c", "d"]])
    file = io.BytesIO()
    pq.write_table(
        pa.table(columns, names=names[: len(columns)]),
        file,
        compression=rng.choice(["snappy", "none", "zstd", "gzip"]),
    )
    content = file.getvalue()
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        content = rng.choice([truncated, beheaded, noise, stray, cut_out])(rng, content)
    path.write_bytes(content)


# Each of them


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize(
    ("kind", "damage"),
    [("data.csv", damaged_csv), ("data.csv.gz", damaged_csv), ("data.parquet", damaged_parquet)],
    ids=["csv", "gzip", "parquet"],
)
def test_a_damaged_file_is_answered_or_refused_in_a_sentence_without_its_entries(
    tmp_path, kind, damage, share
):
    path = tmp_path / kind
    for seed in range(share, FILES // 3, SHARES):
        rng = random.Random(f"{kind} {seed}")
        damage(rng, path)
        columns = rng.choice([("secret", "value")] * 4 + [("#1", "#2"), ("sex", "age"), ("secret", "Value")])
        keep = rng.choice([[], ["name"], ["name", "number"], ["#4"], ["nombre"]])
        sampled(path, columns, rng.random() < 0.5)
        released(path, columns, keep, tmp_path / rng.choice(["out.csv", "out.parquet", "out.csv.gz"]))


def sampled(path, columns, known):
    alphabets = {"secrets": SECRETS, "values": VALUES} if known else {}
    try:
        rldp.Sample.from_data(path, secret=columns[0], value=columns[1], **alphabets)
    except rldp.RldpError as error:
        require_harmless(error, path)
    assert sorted(path.parent.iterdir()) == [path]


def released(path, columns, keep, target):
    try:
        release_file(PROTOCOL, path, target, secret=columns[0], value=columns[1], keep=keep)
    except rldp.RldpError as error:
        require_harmless(error, path)
        assert sorted(path.parent.iterdir()) == [path]
    else:
        assert sorted(path.parent.iterdir()) == sorted([path, target])
        target.unlink()


def require_harmless(error, path):
    message = str(error).replace(str(path), path.name)
    assert message.isprintable(), message
    assert len(message) <= LONGEST, message
    told = "".join(traceback.TracebackException.from_exception(error).format_exception_only()) + message
    chain = error
    while chain.__cause__ is not None or (chain.__context__ is not None and not chain.__suppress_context__):
        chain = chain.__cause__ or chain.__context__
        told += str(chain)
    assert not any(mark in told for mark in MARKS), told


def test_the_marks_are_found_where_a_message_shows_them(tmp_path):
    """The comparison above can fail."""
    with pytest.raises(AssertionError):
        require_harmless(rldp.DataError("row 3 has 'qz-ill'"), tmp_path)
