"""``rldp audit`` and ``rldp audit-release``: reports, exit codes, one line for a mistake."""

import json

import numpy as np
import pytest

import rldp
from commands import run_command
from releases import STRONG, calls_with_one_seed, nominal_protocol, people, release

SECRETS = ("ill", "well")


def write(path, secrets, **columns):
    rows = zip(secrets, *columns.values(), strict=True)
    header = ",".join(["diagnosis", *columns])
    lines = (",".join([SECRETS[s], *map(str, rest)]) for s, *rest in rows)
    path.write_text("\n".join([header, *lines]) + "\n")


def write_people(path, counts, n, seed):
    secrets, ages = people(counts, n, np.random.default_rng(seed))
    write(path, secrets, age=ages)


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run the command in a folder with a protocol and new data: (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "150")
    rldp.design(rldp.Sample(STRONG, SECRETS), 0.5).protocol.save("protocol.json")
    write_people(tmp_path / "same.csv", STRONG, 300, seed=1)
    write_people(tmp_path / "other.csv", STRONG[::-1], 300, seed=2)

    return lambda *arguments: run_command(monkeypatch, capsys, *arguments)


def audit(data, *options, protocol="protocol.json"):
    return ["audit", protocol, data, "--secret", "diagnosis", "--value", "age", *options]


# --- new data --------------------------------------------------------------------------------------


def test_an_audit_is_reported(command):
    code, out, err = command(*audit("same.csv", "--seed", "0"))
    assert (code, err) == (0, "")
    assert "New data: 300 rows" in out
    assert "P(u | s): the secrets that output" in out
    assert "• No drift" in out
    assert "• Privacy: ε* is " in out
    promised = "Promised: ε = 0.5 for every distribution that a χ² test at level 0.05 does not reject."
    assert f"• {promised}" in out
    sample = rldp.Sample.from_data("same.csv", secret="diagnosis", value="age")
    found = rldp.audit(rldp.load("protocol.json"), sample)
    for number in (found.epsilon, found.leakage, found.objective, found.distortion, found.privacy.divergence):
        assert f"{number:.5g}" in out
    confirmed = rldp.confirm(rldp.load("protocol.json"), sample, seed=0)
    assert "The new data as fresh rows, for the people they come from:" in out
    assert all(f"• {sentence}" in " ".join(out.split()) for sentence in confirmed.sentences)


def test_an_audit_tells_programs_what_fresh_data_confirm(command):
    found = json.loads(command(*audit("same.csv", "--seed", "0", "--json"))[1])["confirmation"]
    sample = rldp.Sample.from_data("same.csv", secret="diagnosis", value="age")
    confirmed = rldp.confirm(rldp.load("protocol.json"), sample, seed=0)
    assert found["epsilon"] == confirmed.epsilon
    assert (found["alpha"], found["confirmed"]) == (0.05, confirmed.confirmed)
    assert found["sentences"] == list(confirmed.sentences)


def test_outside_by_chance_is_marked_as_no_fault(command, tmp_path):
    """Twenty rows miss a cell of the design, so that they lie outside of the sets."""
    rows = ["ill,0\n"] * 6 + ["ill,1\n"] * 4 + ["well,1\n"] * 5 + ["well,2\n"] * 5
    (tmp_path / "few.csv").write_text("diagnosis,age\n" + "".join(rows))
    code, out, _ = command(*audit("few.csv", "--seed", "0"))
    assert code == 0
    assert "• No drift is shown" in out
    assert out.count("∞ (chance)") == 2
    assert "∞ ✗" not in out


def test_drift_is_reported_and_only_strictness_makes_it_a_failure(command):
    code, out, err = command(*audit("other.csv"))
    assert (code, err) == (0, "")
    assert "• Drift: " in out
    code, out, err = command(*audit("other.csv", "--strict"))
    assert code == 3
    assert "• Drift: " in out
    assert err.startswith("rldp: Drift: the new data lie outside the sets for privacy and utility, and ")
    assert err.count("\n") == 1
    assert command(*audit("same.csv", "--strict"))[0] == 0


def test_a_broken_promise_fails_a_strict_audit(command, monkeypatch):
    honest = rldp.load("protocol.json")
    identity = np.broadcast_to(np.eye(len(honest.outputs)), honest.matrix.shape)
    labels = honest.secrets, honest.values, honest.outputs
    rldp.Protocol(identity, *labels, guarantee=honest.guarantee).save("protocol.json")
    code, out, err = command(*audit("same.csv"))
    assert (code, err) == (0, "")
    assert "• The protocol breaks its own promise" in out
    code, _, err = command(*audit("same.csv", "--strict"))
    assert code == 3
    assert err.endswith("the new data leak more than was promised; the protocol breaks its own promise\n")


def test_the_level_is_an_option(command):
    assert command(*audit("same.csv", "--strict", "--alpha", "0.9999999"))[0] == 3
    assert command(*audit("same.csv", "--alpha", "1"))[::2] == (
        1,
        "rldp: alpha must lie strictly between 0 and 1, got 1.0\n",
    )


def test_machines_get_json(command):
    code, out, err = command(*audit("other.csv", "--json"))
    assert (code, err) == (0, "")
    document = json.loads(out)
    found = rldp.audit(
        rldp.load("protocol.json"), rldp.Sample.from_data("other.csv", secret="diagnosis", value="age")
    )
    assert (document["leakage"], document["distortion"]) == (found.leakage, found.distortion)
    assert (document["drifted"], document["private"]) == (True, found.private)
    assert document["privacy"]["inside"] is False
    assert document["worst"]["distribution"] == found.worst.distribution.tolist()
    assert document["sample"]["secrets"] == list(SECRETS)
    assert document["sentences"] == list(found.sentences)
    assert document["promise"] == rldp.load("protocol.json").guarantee.promise
    assert document["alpha"] == 0.01


def test_infinity_is_a_word_in_json_and_a_sign_in_tables(command, tmp_path):
    (tmp_path / "one.csv").write_text("diagnosis,age\nill,0\n")
    assert json.loads(command(*audit("one.csv", "--json"))[1])["privacy"]["divergence"] == "infinity"
    code, out, err = command(*audit("one.csv"))
    assert (code, err) == (0, "")
    assert "∞ (chance)" in out
    assert "1 secret does not occur in the new data" in out


def test_a_protocol_without_a_guarantee_is_audited_in_part(command):
    rldp.Protocol(rldp.load("protocol.json").matrix, SECRETS).save("bare.json")
    code, out, err = command(*audit("same.csv", protocol="bare.json"))
    assert (code, err) == (0, "")
    assert "• The protocol carries no guarantee: " in out
    assert "• D* is not known: name a distortion." in out
    _, out, _ = command(*audit("same.csv", "--distortion", "absolute", protocol="bare.json"))
    assert "D* is not known" not in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "diagnosis,age\nill,0\nsick,1\n",
            "column 'diagnosis' of new.csv must hold known labels, but row 2 has another entry; 1",
        ),
        (
            "diagnosis,age\nill,0\nwell,7\nill,7\n",
            "column 'age' of new.csv must hold known labels, but row 2 has another entry; 2 of 3 rows",
        ),
        (
            "diagnosis,age\nill,0\nwell,\n",
            "column 'age' of new.csv must hold no nulls, but row 2 has no value",
        ),
        ("diagnosis,size\nill,0\n", "new.csv has no column 'age'; it has 'diagnosis', 'size'"),
        ("diagnosis,age\n", "new.csv must hold at least one row, got none"),
    ],
)
def test_data_that_do_not_fit_are_one_line(command, tmp_path, text, message):
    (tmp_path / "new.csv").write_text(text)
    code, out, err = command(*audit("new.csv"))
    assert (code, out) == (1, "")
    assert err.startswith(f"rldp: {message}")
    assert err.count("\n") == 1


def test_new_data_that_look_like_numbers_are_audited_as_the_text_they_were_designed_as(command, tmp_path):
    """Designed on 1, 2 and x; today's people are all 1 or 2. What can be released can be audited."""
    (tmp_path / "design.csv").write_text(
        "diagnosis,age\n" + "ill,1\nwell,2\nill,x\nwell,1\nill,2\nwell,x\n" * 9
    )
    (tmp_path / "today.csv").write_text("diagnosis,age\n" + "ill,1\nwell,2\nwell,1\n" * 9)
    columns = ["--secret", "diagnosis", "--value", "age"]
    options = ["--epsilon", "0.5", "--distortion", "hamming", "-o", "text.json"]
    assert command("design", "design.csv", *columns, *options)[0] == 0
    assert rldp.load("text.json").values == ("1", "2", "x")
    assert command("release", "text.json", "today.csv", *columns, "-o", "out.csv", "--allow-drift")[0] == 0
    code, out, err = command(*audit("today.csv", protocol="text.json"))
    assert (code, err) == (0, "")
    assert "New data: 27 rows" in out


def test_a_missing_protocol_is_one_line(command):
    code, out, err = command(*audit("same.csv", protocol="none.json"))
    assert (code, out) == (4, "")
    assert err == "rldp: path must be a protocol file, but 'none.json' is missing\n"


# --- released rows ---------------------------------------------------------------------------------


@pytest.fixture
def released(tmp_path):
    """Writes a release of 20 000 rows, honest or with one seed for all chunks."""

    def make(*, one_seed=False):
        rng = np.random.default_rng(3)
        secrets, values = people(STRONG, 20_000, rng)
        uniforms = calls_with_one_seed(20_000, [1000] * 20, seed=4) if one_seed else rng.random(20_000)
        outputs = release(nominal_protocol(STRONG, 0.5), secrets, values, uniforms)
        write(tmp_path / "released.csv", secrets, age=values, shown=outputs)

    return make


def audit_release(*options):
    return ["audit-release", "released.csv", "--secret", "diagnosis", "--released", "shown", *options]


def test_an_honest_release_is_reported(command, released):
    released()
    code, out, err = command(*audit_release("--epsilon", "0.5", "--strict"))
    assert (code, err) == (0, "")
    assert "nothing contradicts the claim" in out
    assert "• The ε of this release is at least 0.4" in out


def test_a_release_that_leaks_more_than_claimed_is_reported(command, released):
    released()
    code, out, err = command(*audit_release("--epsilon", "0.2"))
    assert (code, err) == (0, "")
    assert "the claim is contradicted" in out
    code, _, err = command(*audit_release("--epsilon", "0.2", "--strict"))
    assert (code, err) == (3, "rldp: the released rows contradict what is claimed of them\n")


def test_a_seed_used_again_is_reported(command, released):
    released(one_seed=True)
    code, out, _ = command(*audit_release("--value", "age", "--strict"))
    assert code == 3
    assert "every 1000 rows" in out
    document = json.loads(command(*audit_release("--json"))[1])
    assert (document["repeats"], document["ok"], document["values_known"]) == (1000, None, False)
    assert document["alpha"] == 0.01
    assert "confidence" not in document


def test_several_columns_are_tested_together(command, released):
    """Age and output together tell more than the output."""
    released()
    together = json.loads(command(*audit_release("--released", "age", "--json", "--seed", "1"))[1])
    alone = json.loads(command(*audit_release("--json"))[1])
    assert together["epsilon"] > alone["epsilon"] + 0.5
    assert all(len(output) == 2 for output in together["outputs"])
    assert together["seed"] == 1
    assert any("would not be noticed with these rows" in sentence for sentence in alone["sentences"])


def test_columns_that_are_not_there_are_one_line(command, released):
    released()
    code, out, err = command("audit-release", "released.csv", "--secret", "name", "--released", "shown")
    assert (code, out) == (1, "")
    assert err == "rldp: released.csv has no column 'name'; it has 'diagnosis', 'age', 'shown'\n"


def test_a_missing_output_can_be_an_output_of_its_own(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"ill,{shown}" for shown in [1, 2] * 50] + ["well,"] * 100
    (tmp_path / "released.csv").write_text("\n".join(["diagnosis,shown", *rows]) + "\n")
    code, _, err = command(*audit_release())
    assert (code, err) == (
        1,
        "rldp: released must hold no nulls, but row 101 has no value; 100 of 200 rows cannot be counted\n",
    )
    code, out, _ = command(*audit_release("--missing", "category", "--json"))
    assert (code, json.loads(out)["output"]) == (0, "(missing)")
