"""A sweep that may be killed, split among processes and machines, and ends with the same bytes."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import rldp
from rldp.cli.reproduce import without_tracker_warnings
from rldp.paper import Settings, reproduce, sweep as sweep_module, work
from rldp.paper.plan import EXPERIMENTS, tasks
from rldp.paper.store import Store

SMALL = Settings(instances=2, secrets=2, values=2)
FIGURES = ["distortion-vs-n", "scatter-small"]


def bytes_of(folder):
    """Every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a run that nothing disturbs."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    reproduce(FIGURES, out, settings=SMALL)
    return out


@pytest.fixture(scope="module")
def expected(undisturbed):
    """What a run gives that nothing disturbs."""
    return bytes_of(undisturbed)


@pytest.fixture
def done(monkeypatch):
    """The tasks that were computed, in this process."""
    computed = []
    original = sweep_module.lines

    def counted(task, settings):
        computed.append(task.file)
        return original(task, settings)

    monkeypatch.setattr(sweep_module, "lines", counted)
    return computed


def test_the_folder_holds_what_it_should(expected):
    names = {name for name in expected if not name.startswith("parts")}
    assert names == {
        "manifest.json",
        "scatter-small.csv",
        "clarabel-small.csv",
        "vs-n.csv",
        "scatter-small.png",
        "scatter-small.pdf",
        "distortion-vs-n.png",
        "distortion-vs-n.pdf",
        "data_fig1.csv",
        "data_fig3.csv",
        "claims.csv",
        "claims.md",
    }


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_was(tmp_path, expected, done):
    finished = 7

    def interrupt(completed, total):
        if len(done) > finished:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(FIGURES, tmp_path / "out", settings=SMALL, advance=interrupt)
    before = set(done)
    kept = {path.name for path in (tmp_path / "out" / "parts").iterdir()}
    assert len(kept) in (finished, finished + 1)
    assert kept <= before
    done.clear()
    reproduce(FIGURES, tmp_path / "out", settings=SMALL)
    assert kept.isdisjoint(done)
    assert kept | set(done) == {name.removeprefix("parts/") for name in expected if name.startswith("parts")}
    assert bytes_of(tmp_path / "out") == expected


def test_a_finished_run_computes_nothing_again(tmp_path, undisturbed, expected, done):
    shutil.copytree(undisturbed, tmp_path / "out")
    reproduce(FIGURES, tmp_path / "out", settings=SMALL)
    assert done == []
    assert bytes_of(tmp_path / "out") == expected


def test_a_part_that_was_cut_off_is_computed_again(tmp_path, undisturbed, expected, done):
    shutil.copytree(undisturbed, tmp_path / "out")
    part = tmp_path / "out" / "parts" / "vs-n-03-000000.csv"
    part.write_bytes(part.read_bytes()[:-40])
    killed = part.with_name(f".{part.name}.0123456789abcdef.unfinished")
    killed.write_text("rest of a run that was killed")
    reproduce(FIGURES, tmp_path / "out", settings=SMALL)
    assert done == [part.name]
    assert bytes_of(tmp_path / "out") == expected


@pytest.mark.slow
def test_figures_may_come_one_after_the_other(tmp_path, expected):
    for figure in FIGURES:
        reproduce([figure], tmp_path / "out", settings=SMALL)
    assert bytes_of(tmp_path / "out") == expected


@pytest.mark.slow
def test_two_figures_of_one_experiment_share_its_designs(tmp_path, done):
    reproduce(["leakage-vs-n"], tmp_path / "out", settings=SMALL)
    assert len(done) == 10
    reproduce(["leakage-vs-n", "distortion-vs-n"], tmp_path / "out", settings=SMALL)
    assert len(done) == 10


def test_more_instances_begin_with_the_same_ones(tmp_path):
    for instances in (1, 3):
        settings = Settings(instances=instances, secrets=2, values=2, lambda_=0.0)
        reproduce(["scatter-small"], tmp_path / str(instances), settings=settings)
    few, more = (
        [line.split(",") for line in (tmp_path / name / "scatter-small.csv").read_text().splitlines()]
        for name in ("1", "3")
    )
    same = [line for line in more if line[3] in ("0", "instance")]
    assert [line[11:] for line in same] == [line[11:] for line in few]


def test_progress_starts_at_what_is_done_and_ends_at_all(tmp_path):
    seen = []
    reproduce(["scatter-small"], tmp_path / "out", settings=SMALL, advance=lambda *now: seen.append(now))
    assert seen[0][0] == 0
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {total for _, total in seen} == {seen[-1][0]}
    again = []
    reproduce(["scatter-small"], tmp_path / "out", settings=SMALL, advance=lambda *now: again.append(now))
    assert again == [seen[-1]]


@pytest.mark.parametrize(("instances", "designs"), [(1, 1), (20, 10), (500, 30)])
def test_the_expensive_comparison_stays_short(instances, designs):
    planned = tasks(EXPERIMENTS["clarabel-small"], Settings(instances=instances))
    assert sum(task.rows for task in planned) == designs


def test_linear_algebra_runs_on_one_thread(monkeypatch):
    """The number of threads changes the last digits of large designs."""
    threads = []

    def watched(counts, *_, **options):
        found = threadpool_info()
        threads.extend(library["num_threads"] for library in found if library["user_api"] == "blas")
        return rldp.design_batch(counts, *_, **options)

    monkeypatch.setattr(work, "design_batch", watched)
    task = next(tasks(EXPERIMENTS["scatter-small"], SMALL))
    with threadpool_limits(limits=2):
        work.lines(task, SMALL)
    assert set(threads) == {1}


def test_chunks_do_not_depend_on_anything_but_the_instances():
    planned = list(tasks(EXPERIMENTS["vs-n"], Settings(instances=250)))
    assert [(task.first, task.count) for task in planned[:3]] == [(0, 100), (100, 100), (200, 50)]
    assert len(planned) == 30
    assert len({task.file for task in planned}) == 30


# Other processes, other machines


@pytest.mark.slow
def test_the_number_of_jobs_does_not_matter(tmp_path, expected):
    reproduce(FIGURES, tmp_path / "out", settings=SMALL, jobs=2)
    assert bytes_of(tmp_path / "out") == expected


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_the_backend_does_not_matter(tmp_path, backend):
    settings = Settings(instances=2, secrets=2, values=2, lambda_=0.0)
    reproduce(["scatter-small"], tmp_path / "one", settings=settings)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        reproduce(["scatter-small"], tmp_path / "other", settings=settings)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "other")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::UserWarning")
def test_a_dask_cluster_gives_the_same_bytes(tmp_path, expected):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        reproduce(FIGURES, tmp_path / "out", settings=SMALL)
    assert bytes_of(tmp_path / "out") == expected


COMMAND = [sys.executable, "-m", "rldp", "reproduce", *FIGURES]
SIZES = ["--instances", "2", "--secrets", "2", "--values", "2"]
OPTIONS = [*SIZES, "--quiet"]  # a slow machine would tell of progress


def started(out, *options):
    return subprocess.Popen(
        [*COMMAND, *OPTIONS, "--out", str(out), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for_parts(process, out, count):
    parts = out / "parts"
    while process.poll() is None and len(list(parts.glob("[!.]*")) if parts.exists() else []) < count:
        time.sleep(0.002)


@pytest.mark.slow
def test_a_run_killed_at_a_random_moment_ends_with_the_same_bytes(tmp_path, expected):
    moments = random.SystemRandom()
    for jobs in ("1", "2"):
        process = started(tmp_path / "out", "--jobs", jobs)
        wait_for_parts(process, tmp_path / "out", moments.randrange(1, 8))
        time.sleep(moments.uniform(0, 0.1))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    process = started(tmp_path / "out", "--jobs", jobs)
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, b"")
    assert bytes_of(tmp_path / "out") == expected


@pytest.mark.slow
def test_an_interruption_is_one_line_and_keeps_what_is_done(tmp_path):
    process = started(tmp_path / "out", "--jobs", "2")
    wait_for_parts(process, tmp_path / "out", 2)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=300)
    assert (process.returncode, output, errors) == (130, b"", b"rldp: interrupted\n")
    assert len(list((tmp_path / "out" / "parts").iterdir())) >= 2
    assert not (tmp_path / "out" / "vs-n.csv").exists()


@pytest.mark.parametrize("filters", ["", "error", "ignore::DeprecationWarning,default"])
def test_semaphores_that_an_interruption_leaves_behind_are_removed_without_a_word(filters):
    held = (
        "import os; from joblib.externals.loky.backend.context import get_context;"
        "lock = get_context().Lock(); print(lock._semlock.name, flush=True); os._exit(130)"
    )
    environment = {**os.environ, "PYTHONWARNINGS": without_tracker_warnings(filters)}
    left = subprocess.run([sys.executable, "-c", held], capture_output=True, timeout=300, env=environment)
    assert (left.returncode, left.stderr) == (130, b"")
    assert not Path("/dev/shm", "sem." + left.stdout.decode().strip().removeprefix("/")).exists()


# What a folder is refused for


@pytest.fixture
def made(tmp_path):
    out = tmp_path / "out"
    reproduce(["scatter-small"], out, settings=Settings(instances=1, secrets=2, values=2, lambda_=0.0))
    return out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 1}, "made with seed = 0 instead of 1$"),
        ({"epsilon": 0.7}, "made with epsilon = 0.5 instead of 0.7$"),
        ({"instances": None}, "made with instances = 1 instead of the paper's$"),
        (
            {"lambda_": 1.0, "alpha": 0.1},
            "made with alpha = 0.05 instead of 0.1 and lambda_ = 0.0 instead of 1.0$",
        ),
    ],
)
def test_a_folder_from_other_options_is_left_alone(made, options, message):
    before = bytes_of(made)
    settings = Settings(**{"instances": 1, "secrets": 2, "values": 2, "lambda_": 0.0, **options})
    with pytest.raises(rldp.InvalidArgument, match=message):
        reproduce(["all"], made, settings=settings)
    assert bytes_of(made) == before


def test_a_folder_from_another_version_is_left_alone(made):
    manifest = json.loads((made / "manifest.json").read_text())
    (made / "manifest.json").write_text(json.dumps(manifest | {"rldp": "0.0.1"}))
    before = bytes_of(made)
    with pytest.raises(rldp.InvalidArgument, match=r"made with rldp = '0\.0\.1' instead of"):
        reproduce(["all"], made, settings=Settings(instances=1, secrets=2, values=2, lambda_=0.0))
    assert bytes_of(made) == before


@pytest.mark.parametrize("content", ["", "[]", "{", "\xff"])
def test_a_folder_with_a_strange_manifest_is_left_alone(tmp_path, content):
    (tmp_path / "manifest.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(rldp.InvalidArgument, match=r"^out must be "):
        Store.open(tmp_path, SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("name", ["thesis.tex", "parts/vs-n-00-000000.csv"])
def test_a_folder_with_other_files_is_left_alone(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(rldp.InvalidArgument, match="out must be a new or empty folder, or one that"):
        Store.open(tmp_path, SMALL)
    assert bytes_of(tmp_path) == {name: b"mine"}


def test_an_empty_folder_will_do_and_hidden_files_stay(tmp_path):
    (tmp_path / ".hidden").write_text("mine")
    Store.open(tmp_path, SMALL)
    assert (tmp_path / ".hidden").read_text() == "mine"


def test_a_full_disk_is_one_sentence(tmp_path, monkeypatch):
    store = Store.open(tmp_path, SMALL)

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(rldp.FileError, match=r"can be written, but .* is not: No space left on device"):
        store.save("claims.md", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "parts"]
    assert list((tmp_path / "parts").iterdir()) == []
