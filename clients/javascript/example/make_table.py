"""Design the example's protocol on an invented public sample, and write its table: python make_table.py"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import rldp
from rldp.protocol_file.export import table_of
from rldp.protocol_file.json import read

AGES = ["18–29", "30–44", "45–59", "60–74", "75+"]
sample = rldp.Sample([[60, 110, 180, 230, 170], [430, 440, 400, 360, 330]], ["yes", "no"], AGES)
steps = np.arange(len(AGES))
designed = rldp.design(sample, 0.2, distortion=np.subtract.outer(steps, steps) ** 2.0)
with TemporaryDirectory() as folder:
    designed.protocol.save(f"{folder}/protocol.json")
    table = table_of(read(f"{folder}/protocol.json"))
Path(__file__).with_name("table.json").write_text(table, encoding="utf-8")
