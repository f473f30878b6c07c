"""What the library calls its arguments is what the command calls its options."""

import pytest

from rldp.cli.spelling import _OPTIONS, as_options


@pytest.mark.parametrize(
    ("sentence", "typed"),
    [
        ("it is hidden; show_labels=True shows it", "it is hidden; --show-labels shows it"),
        ("missing='skip' leaves rows out", "--missing skip leaves rows out"),
        ("delimiter=',' reads it, or delimiter=… does", "--delimiter , reads it, or --delimiter… does"),
        ("choose another name with released=", "choose another name with --released-name"),
        ("bin_width must be positive, got 0", "--bin-width must be positive, got 0"),
        ("bins={'age': 8}", "--bins{'age': 8}"),
        ("rldp audit-release data.csv --released=id", "rldp audit-release data.csv --released=id"),
        ("column 'a_b' has no column_name here", "column 'a_b' has no column_name here"),
    ],
)
def test_arguments_become_options(sentence, typed):
    assert as_options(sentence) == typed


def test_every_option_is_one_of_a_command():
    import typer.main

    from rldp.cli.app import app

    group = typer.main.get_command(app)
    options = {opt for command in group.commands.values() for param in command.params for opt in param.opts}
    assert set(_OPTIONS.values()) <= options
