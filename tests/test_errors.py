"""A library that is missing: one sentence, with the pip line that installs it."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import rldp
from commands import python
from rldp._common.process import needs

ROOT = Path(__file__).parents[1]

ALONE = {
    "rldp.Sample.from_data('data.csv', secret='s', value='u')": (
        "reading files needs pyarrow; pip install pyarrow installs it"
    ),
    "rldp.Sample.from_data(object(), secret='s', value='u')": (
        "reading data frames needs narwhals; pip install narwhals installs it"
    ),
    "release_file(BARE, 'data.csv', 'out.csv', secret='s', value='u')": (
        "reading files needs pyarrow; pip install pyarrow installs it"
    ),
    "release_file(PROTOCOL, 'data.csv', 'out.csv', secret='s', value='u')": (
        "verifying needs python-flint; pip install python-flint installs it"
    ),
    "rldp.verify(PROTOCOL)": "verifying needs python-flint; pip install python-flint installs it",
    "rldp.design_batch([[[3, 1], [1, 3]]], 1.0, device='cupy')": (
        "device='cupy' needs CuPy; pip install 'robust-ldp[cupy]' installs it"
    ),
    "rldp.design_batch([[[3, 1], [1, 3]]], 1.0, device='cuda:1')": (
        "device='cuda:1' needs PyTorch; pip install 'robust-ldp[cuda]' installs it"
    ),
    "reproduce(['alpha'], 'out')": (
        "reproducing the paper needs joblib; pip install 'robust-ldp[paper]' installs it"
    ),
    "import_module('rldp.paper.plots')": (
        "drawing figures needs matplotlib; pip install 'robust-ldp[plots]' installs it"
    ),
    "rldp.report(PROTOCOL, 'page.html')": (
        "a report needs Jinja2; pip install 'robust-ldp[report]' installs it"
    ),
    "import_module('rldp.paper.reference')": (
        "the reference solver needs CVXPY; pip install 'robust-ldp[paper]' installs it"
    ),
}
"""What each call says where no library is installed that only some calls need."""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """The message of each call, in a new interpreter; and the files that are there in the end."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / "data.csv").write_text("s,u\na,1\n")
    code = f"""
        import json, os
        from importlib import import_module
        from pathlib import Path

        import rldp
        from rldp.paper import reproduce
        from rldp import release_file

        os.chdir({str(folder)!r})
        PROTOCOL = rldp.design(rldp.Sample([[3, 1], [1, 3]]), 1.0).protocol
        BARE = rldp.Protocol(PROTOCOL.matrix)  # claims nothing: there is nothing to verify
        said = {{}}
        for call in {list(ALONE)!r}:
            try:
                eval(call)
            except rldp.MissingDependency as error:
                said[call] = str(error)
        Path("said.json").write_text(json.dumps(said))
    """
    python(
        code,
        without=["narwhals", "pyarrow", "flint", "cupy", "torch", "joblib", "matplotlib", "cvxpy", "jinja2"],
    )
    return json.loads((folder / "said.json").read_text()), {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("call", ALONE)
def test_a_missing_library_is_answered_with_the_line_that_installs_it(said, call):
    assert said[0].get(call) == ALONE[call]


def test_what_lacks_a_library_writes_nothing(said):
    assert said[1] == {"data.csv", "said.json"}


def test_a_library_that_is_there_but_broken_is_not_called_missing():
    message = r"^reading needs pyarrow, which cannot be imported: no symbol x in y$"
    with pytest.raises(rldp.MissingDependency, match=message), needs("reading", "pyarrow"):
        raise ImportError("no symbol x\nin y")


def test_other_errors_of_the_block_are_left_alone():
    with pytest.raises(KeyError), needs("reading", "pyarrow"):
        raise KeyError("x")


def test_every_extra_that_is_named_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")]
    named = {
        extra
        for page in pages
        for names in re.findall(r"robust-ldp\[([\w,-]+)\]", page.read_text(encoding="utf-8"))
        for extra in names.split(",")
    }
    assert {"paper", "plots"} <= named <= extras
