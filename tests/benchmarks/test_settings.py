"""What the settings say of themselves is what the script that changes them can know."""

import ast
import re
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest

import settings
import stress
from rldp.designer.engine import settings as engine
from rldp.designer.engine.settings import Settings
from rldp.designer.status import Route

FIELDS = {field.name for field in fields(Settings)}


def sentences():
    """What is said of each field, in the order of the fields."""
    tree = ast.parse(Path(engine.__file__).read_text(encoding="utf-8"))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


def test_every_field_says_what_it_does():
    assert set(sentences()) == FIELDS


def test_only_settings_that_exist_are_changed():
    assert set(settings.CHANGES) <= FIELDS


def test_a_setting_that_is_said_to_be_measured_on_the_stress_set_is_changed_by_the_script():
    measured = {name for name, text in sentences().items() if re.search(r"Measured: stress\b", text)}
    assert measured
    assert measured <= set(settings.CHANGES)


@pytest.mark.parametrize("name", settings.CHANGES)
def test_every_change_changes_something(name):
    usual = getattr(Settings(), name)
    for value in settings.CHANGES[name]:
        other = getattr(stress.changed(f"{name}={value}"), name)
        assert type(other) is type(usual)
        assert other != usual


def test_only_routes_that_exist_are_left_out():
    for name in settings.FALLBACKS:
        assert name.removeprefix("without ") in set(Route)
