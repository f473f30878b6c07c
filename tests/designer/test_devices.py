"""The engine in the arrays of another library: the same protocols, certified as always."""

import array_api_strict
import numpy as np
import pytest

import rldp
from rldp.designer import api
from rldp.designer.request import CPU, Device, device_named, device_of, in_memory
from strategies import jeffreys_counts

pytestmark = [pytest.mark.numerical, pytest.mark.filterwarnings("ignore::rldp.errors.PriceWarning")]

COUNTS = jeffreys_counts(np.random.default_rng(4), 3, (2, 3), 300)


class Strict(Device):
    """A library that does nothing but what the standard says."""

    @property
    def xp(self):
        return array_api_strict


@pytest.fixture
def strict_device(monkeypatch):
    """Every name of a device means the strict library, which holds only two problems at once."""
    monkeypatch.setattr(api, "device_named", lambda name: Strict("strict", bytes=45_000))


@pytest.mark.parametrize(
    ("privacy", "utility"),
    [
        (rldp.ChiSquare(), rldp.CressieRead()),
        (rldp.GTest(), rldp.Nominal()),
        (rldp.Nominal(), rldp.Nominal()),
        (rldp.Nominal(), rldp.CressieRead()),
    ],
    ids=["RURP", "NURP", "NUNP", "RUNP"],
)
@pytest.mark.parametrize("windows", [False, True], ids=["pairs", "windows"])
def test_another_library_gives_the_same_protocols(privacy, utility, windows, strict_device):
    options = {"privacy": privacy, "utility": utility, "windows": windows}
    wanted = rldp.design_batch(COUNTS, 0.7, **options)
    found = rldp.design_batch(COUNTS, 0.7, **options, device="strict")
    np.testing.assert_allclose(found.objective, wanted.objective, atol=2e-6)
    assert (found.lower_bound <= wanted.objective).all()
    if not windows:  # the lower bound of windows rests on multipliers that are not unique
        np.testing.assert_allclose(found.lower_bound, wanted.lower_bound, atol=2e-6)
    for matrix, counts in zip(found.matrices, COUNTS, strict=True):
        leak = rldp.worst_case_leakage(rldp.Protocol(matrix), rldp.Sample(counts), privacy)[1]
        assert leak <= 0.7 + 1e-12


@pytest.mark.parametrize("known", [0.0, 0.5])
@pytest.mark.parametrize("windows", [False, True], ids=["pairs", "windows"])
@pytest.mark.parametrize("privacy", ["chi2", "nominal"])
def test_another_library_keeps_the_level_of_readers_who_know_the_value(
    privacy, windows, known, strict_device
):
    options = {"privacy": privacy, "utility": "nominal", "windows": windows, "epsilon_known": known}
    wanted = rldp.design_batch(COUNTS, 0.7, **options)
    found = rldp.design_batch(COUNTS, 0.7, **options, device="strict")
    np.testing.assert_allclose(found.objective, wanted.objective, atol=2e-6)
    assert all(rldp.known_leakage(rldp.Protocol(matrix)) <= known for matrix in found.matrices)


@pytest.mark.parametrize("windows", [False, True], ids=["pairs", "windows"])
@pytest.mark.parametrize("privacy", ["chi2", "nominal"])
def test_another_library_keeps_the_levels_of_pairs(privacy, windows, strict_device):
    levels = np.array([[0.0, 0.9], [0.4, 0.0]])
    options = {"privacy": privacy, "utility": "nominal", "windows": windows}
    wanted = rldp.design_batch(COUNTS, levels, **options)
    found = rldp.design_batch(COUNTS, levels, **options, device="strict")
    np.testing.assert_allclose(found.objective, wanted.objective, atol=2e-6)
    for matrix, counts in zip(found.matrices, COUNTS, strict=True):
        sample = rldp.Sample(counts)
        leaks = rldp.pair_leakage(rldp.Protocol(matrix), sample.distribution)
        assert (leaks[[0, 1], [1, 0]] <= levels[[0, 1], [1, 0]] + 1e-12).all()


@pytest.mark.parametrize("windows", [False, True], ids=["pairs", "windows"])
def test_no_array_takes_the_default_type_of_its_library(windows, strict_device, monkeypatch):
    """PyTorch's default is single precision, and belongs to the whole process: it is the user's to set."""

    def explicit(make):
        def checked(*arguments, **options):
            assert "dtype" in options, f"{make.__name__} without a type"
            return make(*arguments, **options)

        return checked

    for name in ("zeros", "ones", "empty", "full", "eye", "linspace"):
        monkeypatch.setattr(array_api_strict, name, explicit(getattr(array_api_strict, name)))
    rldp.design_batch(COUNTS, 0.7, privacy=rldp.GTest(), windows=windows, device="strict")
    rldp.design_batch(COUNTS, 0.7, privacy=rldp.Nominal(), windows=windows, device="strict")
    for known in (0.0, 0.5):
        rldp.design_batch(COUNTS, 0.7, windows=windows, epsilon_known=known, device="strict")


def test_the_device_is_that_of_the_counts():
    assert device_of(COUNTS) == device_of(COUNTS.tolist()) == device_named(None) == device_named("cpu") == CPU


def test_what_is_in_memory_stays_there():
    assert in_memory(COUNTS) is COUNTS


def test_devices_have_names():
    message = r"^device must be a name such as 'cuda' or 'cupy', got 3$"
    with pytest.raises(rldp.InvalidArgumentType, match=message):
        rldp.design_batch(COUNTS, 0.7, device=3)
