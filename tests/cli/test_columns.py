"""Which columns are meant, and how they are read: here, in the file, and wherever it goes."""

import json

import pytest

import rldp
from commands import one_line

ROWS = "f,x,1\nm,y,2\nf,y,3\nm,x,1\nf,x,2\n"


@pytest.fixture
def folder(rldp_command, tmp_path):
    (tmp_path / "data.csv").write_text("sex,race,age\n" + ROWS * 40)
    return tmp_path


def design(*options, secret=("sex",), value="age", output="protocol.json"):
    named = [part for column in secret for part in ("--secret", column)]
    return [
        "design",
        "data.csv",
        *named,
        "--value",
        value,
        "--epsilon",
        "1",
        "-o",
        output,
        "--no-others",
        *options,
    ]


def columns(folder, name="protocol.json"):
    return json.loads((folder / name).read_text())["columns"]


def test_every_secret_that_is_named_is_protected(rldp_command, folder):
    code, out, _ = rldp_command(*design(secret=("sex", "race")))
    assert code == 0
    assert "with the secret 'sex' and 'race' jointly (4 combinations)" in " ".join(out.split())
    assert rldp.load(folder / "protocol.json").secrets == ("f, x", "f, y", "m, x", "m, y")


def test_the_file_names_its_columns_and_others_need_not(rldp_command, folder):
    assert rldp_command(*design(secret=("sex", "race")))[0] == 0
    assert [column["name"] for column in columns(folder)["secret"]] == ["sex", "race"]
    assert columns(folder)["value"] == {"name": "age"}
    for command in (
        ["verify", "protocol.json"],
        ["audit", "protocol.json", "data.csv"],
        ["release", "protocol.json", "data.csv", "-o", "out.csv"],
        [
            "release",
            "protocol.json",
            "data.csv",
            "--secret",
            "sex",
            "--secret",
            "race",
            "-o",
            "out.csv",
            "--force",
        ],
    ):
        code, _, err = rldp_command(*command)
        assert (code, err) == (0, "")
    (folder / "fresh.csv").write_text("sex,race,age\n" + ROWS[:18] * 30)
    assert rldp_command("confirm", "protocol.json", "fresh.csv")[0] in (0, 3)


@pytest.mark.parametrize(
    "command",
    [
        ["release", "protocol.json", "data.csv", "-o", "out.csv"],
        ["audit", "protocol.json", "data.csv"],
        ["confirm", "protocol.json", "data.csv"],
    ],
    ids=lambda command: command[0],
)
def test_columns_that_are_swapped_are_refused(rldp_command, folder, command):
    assert rldp_command(*design("--distortion", "hamming", value="race"))[0] == 0
    code, _, err = rldp_command(*command, "--secret", "race", "--value", "sex")
    assert code == 1
    assert one_line(err) == (
        "secret must be what the protocol is for, 'sex', got 'race'; --as-secret reads another "
        "column as if it were that one"
    )
    assert not (folder / "out.csv").exists()


def test_other_names_are_read_on_purpose(rldp_command, folder):
    assert rldp_command(*design())[0] == 0
    (folder / "new.csv").write_text("gender,years\nf,1\nm,3\n")
    named = ["--as-secret", "gender", "--as-value", "years"]
    code, out, _ = rldp_command("release", "protocol.json", "new.csv", *named, "-o", "out.csv")
    assert code == 0
    assert "2 rows released" in out
    assert (folder / "out.csv").read_text().startswith("years\n")


def test_a_file_without_columns_asks_for_them(rldp_command, folder):
    protocol = rldp.design(rldp.Sample([[30, 9], [8, 33]], ["f", "m"], [1, 2]), 1.0).protocol
    protocol.save(folder / "old.json")
    assert json.loads((folder / "old.json").read_text())["version"] == 1
    (folder / "new.csv").write_text("sex,age\nf,1\nm,2\n")
    code, _, err = rldp_command("release", "old.json", "new.csv", "-o", "out.csv")
    assert code == 1
    assert one_line(err) == (
        "secret must be given as one column, since the protocol does not name its columns, got none"
    )
    named = ["--secret", "sex", "--value", "age"]
    assert rldp_command("release", "old.json", "new.csv", *named, "-o", "out.csv")[0] == 0


# Missing entries


@pytest.fixture
def holes(folder):
    (folder / "data.csv").write_text("sex,race,age\n" + (ROWS + "f,x,\n,y,1\n") * 20)
    return folder


def test_missing_entries_are_refused_with_what_can_be_done(rldp_command, holes):
    code, _, err = rldp_command(*design())
    assert code == 1
    assert "40 of 140 rows cannot be counted; in 40 an entry is missing: --missing skip" in one_line(err)
    assert not (holes / "protocol.json").exists()


def test_rows_with_missing_entries_are_left_out_wherever_the_protocol_goes(rldp_command, holes):
    code, out, _ = rldp_command(*design("--missing", "skip"))
    assert code == 0
    assert "40 rows left out for missing entries" in " ".join(out.split())
    release = ["release", "protocol.json", "data.csv", "--keep", "race", "-o", "out.csv"]
    code, _, err = rldp_command(*release)
    assert code == 1
    assert "the ε of being left out is inf among these rows" in err
    code, out, _ = rldp_command(*release, "--allow-absence")
    assert code == 0
    assert "100 rows released" in out
    assert "40 left out for missing entries (being left out has ε = inf among them all)" in " ".join(
        out.split()
    )
    kept = [line.split(",")[0] for line in (holes / "out.csv").read_text().splitlines()[1:]]
    assert kept == ["x", "y", "y", "x", "x"] * 20


def test_missing_entries_are_a_category_wherever_the_protocol_goes(rldp_command, holes):
    assert rldp_command(*design("--missing", "category", "--distortion", "hamming"))[0] == 0
    protocol = rldp.load(holes / "protocol.json")
    assert (protocol.secrets, protocol.values) == (("f", "m", "(missing)"), (1, 2, 3, "(missing)"))
    code, out, _ = rldp_command("release", "protocol.json", "data.csv", "-o", "out.csv")
    assert code == 0
    assert "140 rows released" in out


# Labels


def test_labels_that_the_sample_lacks_can_be_named(rldp_command, folder):
    listed = ["--secrets", "f,m,d", "--values", '1,2,3,"4"']
    assert rldp_command(*design(*listed))[0] == 0
    protocol = rldp.load(folder / "protocol.json")
    assert (protocol.secrets, protocol.values) == (("f", "m", "d"), (1, 2, 3, 4))


def test_unknown_values_are_mapped_on_purpose_only(rldp_command, folder):
    assert rldp_command(*design())[0] == 0
    (folder / "new.csv").write_text("sex,age\nf,1\nm,9\n")
    release = ["release", "protocol.json", "new.csv", "-o", "out.csv", "--force"]
    assert rldp_command(*release)[0] == 1
    code, out, _ = rldp_command(*release, "--unknown", "value=3")
    assert code == 0
    assert "2 rows released" in out
    for wrong in ("value=4", "4", "drop"):
        code, _, err = rldp_command(*release, "--unknown", wrong)
        assert code == 1
        assert one_line(err).startswith(
            "--unknown must be refuse or value=LABEL, with a value of the protocol"
        )
    (folder / "new.csv").write_text("sex,age\nf,\nm,1\n")
    assert rldp_command(*release, "--unknown", "value=3")[0] == 1


def test_codes_stay_text(rldp_command, folder):
    (folder / "data.csv").write_text("sex,age\n" + "f,007\nm,7\nf,1E2\nm,100\n" * 30)
    assert rldp_command(*design("--distortion", "hamming"))[0] == 0
    assert rldp.load(folder / "protocol.json").values == ("007", "100", "1E2", "7")
    assert rldp_command(*design("--number", "age"))[0] == 0
    assert rldp.load(folder / "protocol.json").values == (7.0, 100.0)


# Numbers, orders, distortions


@pytest.fixture
def numbers(folder):
    rows = "".join(f"{'fm'[i % 2]},{(37 * i) % 101 / 2}\n" for i in range(400))
    (folder / "data.csv").write_text("sex,age\n" + rows)
    return folder


@pytest.mark.parametrize(("options", "bins"), [(["--bins", "5"], 5), (["--bin-width", "10"], 6)])
def test_numbers_are_cut_into_bins_and_so_are_those_of_new_files(rldp_command, numbers, options, bins):
    code, out, _ = rldp_command(*design(*options))
    assert code == 0
    assert "in bins, with the distances inside a bin taken from the sample" in " ".join(out.split())
    protocol = rldp.load(numbers / "protocol.json")
    assert len(protocol.values) == bins == len(columns(numbers)["value"]["edges"]) + 1
    (numbers / "new.csv").write_text("sex,age\nf,-1e9\nm,3.14159\n")
    assert rldp_command("release", "protocol.json", "new.csv", "-o", "out.csv")[0] == 0
    assert set(map(float, (numbers / "out.csv").read_text().split()[1:])) <= set(protocol.outputs)
    assert rldp_command("audit", "protocol.json", "data.csv")[0] == 0


@pytest.mark.slow
def test_the_best_number_of_bins_is_found(rldp_command, numbers):
    code, _, err = rldp_command(*design("--bins", "auto", "--privacy", "credible"))
    assert code == 0
    assert "bins promise the smallest distortion of 4, 8, 16, 32" in err
    assert len(rldp.load(numbers / "protocol.json").values) in (4, 8, 16, 32)


@pytest.mark.slow
def test_a_table_that_is_too_fine_is_told_what_a_coarser_one_would_promise(rldp_command, numbers):
    code, _, err = rldp_command(*design("--gap", "0.01", "--windows"))
    assert code == 0
    assert "101 values are many for 400 rows: with --bins" in err


def test_who_names_the_values_is_not_told_of_bins(rldp_command, numbers):
    listed = ",".join(str(i / 2) for i in range(101))
    for options in (["--values", listed], ["--number", "age"]):
        code, _, err = rldp_command(*design("--gap", "0.1", "--windows", *options))
        assert code == 0
        assert "--bins" not in err.replace("or --bins for numbers takes less", "")
        assert (numbers / "protocol.json").exists()
        (numbers / "protocol.json").unlink()


def test_an_order_counts_ranks(rldp_command, folder):
    (folder / "data.csv").write_text("sex,age\n" + "f,5-17\nm,40-64\nf,18-39\nm,18-39\n" * 30)
    assert rldp_command(*design("--order", "age=5-17,18-39,40-64"))[0] == 0
    protocol = rldp.load(folder / "protocol.json")
    assert protocol.values == ("5-17", "18-39", "40-64")
    assert protocol.guarantee.distortion.tolist() == [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    for wrong in ("age", "age=5-17,5-17", "age="):
        code, _, err = rldp_command(*design("--order", wrong))
        assert code == 1
        assert one_line(err).startswith("--order must ")


def test_a_table_of_distortions_comes_from_a_file(rldp_command, folder):
    (folder / "d.csv").write_text(",low,high\n3,2,0\n1,0,2.5\n2,1,1\n")
    assert rldp_command(*design("--distortion", "d.csv"))[0] == 0
    protocol = rldp.load(folder / "protocol.json")
    assert protocol.outputs == ("low", "high")
    assert protocol.guarantee.distortion.tolist() == [[0, 2.5], [1, 1], [2, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a\n1,0\n2,1\n", "must have a row for each of the 3 values, once, got others"),
        (",a\n1,0\n2,1\n2,1\n", "must have a row for each of the 3 values, once, got others"),
        (",a\n1,0\n2,x\n3,1\n", "must hold numbers after the first row and column, got something else"),
        (",a\n1,0,5\n2,1\n3,1\n", "got rows that do not fit"),
        ("", "got rows that do not fit"),
        ("x" * 200_000, "got rows that do not fit"),
        (",a,a\n1,0,1\n2,1,1\n3,1,1\n", "--distortion must hold distinct labels, got one more than once"),
    ],
)
def test_a_table_of_distortions_that_is_none(rldp_command, folder, text, message):
    (folder / "d.csv").write_text(text)
    code, _, err = rldp_command(*design("--distortion", "d.csv"))
    assert code == 1
    assert message in one_line(err)


@pytest.mark.parametrize("name", ["folder", "latin.csv"])
def test_a_file_of_distortions_that_cannot_be_read_is_told_from_a_mistake(rldp_command, folder, name):
    (folder / "folder").mkdir()
    (folder / "latin.csv").write_bytes(b",\xe4\n")
    code, _, err = rldp_command(*design("--distortion", name))
    assert code == 4
    assert one_line(err).startswith(f"--distortion must be a file that can be read, but '{name}' cannot: ")


def test_outputs_come_from_a_list_or_a_file(rldp_command, folder):
    (folder / "outputs.txt").write_text("1\n3\n")
    for given in ("1,3", "outputs.txt"):
        assert rldp_command(*design("--outputs", given))[0] == 0
        assert rldp.load(folder / "protocol.json").outputs == (1, 3)


def test_new_data_are_not_offered_what_only_a_design_can_do(rldp_command, folder):
    assert rldp_command(*design())[0] == 0
    (folder / "new.csv").write_text("sex,age\nf,\nm,1\n")
    code, _, err = rldp_command("audit", "protocol.json", "new.csv")
    assert code == 1
    assert one_line(err).endswith("must hold no nulls, but row 1 has no value; 1 of 2 rows cannot be counted")


@pytest.mark.parametrize(
    "twice", [["--epsilon=2"], ["-o", "other.json"], ["--epsilon", "2"], ["-oother.json"]]
)
def test_what_is_taken_once_is_not_given_twice(rldp_command, folder, twice):
    code, _, err = rldp_command(*design(*twice))
    assert code == 2
    assert "must be given once, " in err
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv"]
