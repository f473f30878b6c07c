"""The directive ``rldp-commands``: every command of ``rldp`` with its options, as ``--help`` has them."""

from __future__ import annotations

import re
from typing import Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from rldp.cli.app import app as application
from rldp.cli.commands import told

COMMON = {"--quiet", "--log-level", "--json", "--help"}
"""What every command has, told once on the page."""
NOTES = re.compile(r"\s*\[(?:default: \(?(?P<default>[^]]+?)\)?)?(?:; )?(?P<required>required)?\]$")


class Commands(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx."""
        group: Any = typer.main.get_command(application)
        return [self.section(name, command) for name, command in group.commands.items()]

    def section(self, name: str, command: Any) -> nodes.section:
        """What ``rldp NAME --help`` says."""
        section = nodes.section(ids=[f"rldp-{name}"], names=[f"rldp {name}"])
        section += nodes.title(text=f"rldp {name}")
        for paragraph in command.help.split("\n\n"):
            section += nodes.paragraph(text=" ".join(paragraph.split()))
        context = command.make_context(name, [], resilient_parsing=True)
        told = [p for p in command.params if not COMMON & set(p.opts)]
        needed = [p for p in told if p.param_type_name == "argument" or p.required]
        usage = nodes.literal_block(text=command.epilog or " ".join(["rldp", name, *map(placed, needed)]))
        usage["language"] = "text"
        section += usage
        terms = nodes.definition_list(classes=["options"])
        for parameter in told:
            terms += term(parameter, context)
        section += terms
        self.state.document.note_implicit_target(section, section)
        return section


def placed(parameter: Any) -> str:
    """An argument or option as it stands in a line that runs."""
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper() + "…" * (parameter.nargs == -1)
    word = parameter.metavar or {"epsilon": "E", "output": "FILE"}.get(parameter.name, "COL")
    return f"{max(parameter.opts, key=len)} {word}"


def term(parameter: Any, context: Any) -> nodes.definition_list_item:
    """An argument or option, and what it does."""
    shown, said = told(parameter, context)
    notes = NOTES.search(said)
    if notes:
        said = said[: notes.start()]
        said += f" By default {notes['default']}." if notes["default"] else ""
    item = nodes.definition_list_item()
    item += nodes.term("", "", nodes.literal(text=shown))
    item += nodes.definition("", nodes.paragraph(text=said))
    return item


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("rldp-commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
