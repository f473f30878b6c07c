"""How many modules a newcomer has to enter to follow a design."""

from commands import python

WALK = """
    import os, pkgutil, sys, tempfile, threading
    from importlib import import_module
    from pathlib import Path

    import rldp
    from rldp import Sample, design, verify

    ROOT = Path(rldp.__file__).parent
    ROOMS = ("data", "designer", "judge", "protocol_file", "theory", "releaser", "gate", "measures")
    for room in ROOMS:  # what a module does when it is imported is no station
        for module in pkgutil.walk_packages([str(ROOT / room)], f"rldp.{room}."):
            import_module(module.name)
    entered = set()

    def enter(frame, event, _):
        if event == "call":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(ROOT):
                entered.add(path.relative_to(ROOT).as_posix())

    with tempfile.TemporaryDirectory() as folder:
        data, file = Path(folder, "data.csv"), Path(folder, "protocol.json")
        rows = [f"{s},{u}" for s in "ab" for u in "123" for _ in range(10 + 5 * (s == "a") + 5 * int(u))]
        data.write_text("\\n".join(["s,u", *rows]))
        threading.setprofile(enter)
        sys.setprofile(enter)
        designed = design(Sample.from_data(data, secret="s", value="u"), 0.5)
        designed.protocol.save(file)
        verdict = verify(file)
        sys.setprofile(None)
        threading.setprofile(None)
    assert designed.problem == "RURP" and verdict.ok
    print(*sorted(entered))
"""


def test_a_design_from_a_csv_file_to_its_verdict_enters_no_more_modules_than_contributing_says():
    entered = python(WALK)
    assert 30 < len(entered) <= 45, entered
