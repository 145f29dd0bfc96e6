"""What is answered before anything heavy is loaded: help with the defaults, and the version."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import foresee as fs
from foresee.benchmarks import calibration_table
from foresee.cli.app import app
from foresee.registry import import_all
from foresee.scoring.settings import ScoringSettings
from foresee.searchers import SearchSettings

#: options that mean nothing where they are not given, so that no default can be shown
NOTHING = {"space_", "table", "target", "searchers", "set_", "settings", "architectures"}
#: tells which libraries were loaded by the time the command was done
LOADED = """
import sys
sys.argv = ["foresee", *{arguments!r}]
from foresee.cli.entry import guarded
code = guarded()
heavy = sorted({{"torch", "numpy", "sklearn", "matplotlib", "scipy"}} & set(sys.modules))
print(code, *heavy, file=sys.stderr)
"""


def commands():
    """Every command with its options, as they are asked for on the command line."""
    import_all("foresee.cli.commands")
    group = typer.main.get_command(app)
    for name, command in group.commands.items():
        for inner, one in getattr(command, "commands", {"": command}).items():
            yield f"{name} {inner}".strip(), one


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["search", "--help"], ["table", "info", "--help"], []]
)
def test_help_and_version_load_no_torch(arguments):
    environment = {**os.environ, "PYTHONPATH": str(Path(fs.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments=arguments)], env=environment, capture_output=True, text=True
    )
    code, *heavy = done.stderr.splitlines()[-1].split()
    assert (code, heavy) == ("0" if arguments else "2", []), done.stderr
    if arguments == ["--version"]:
        assert done.stdout == f"foresee {fs.__version__}\n"


def test_every_option_shows_what_is_taken_without_it():
    silent = [
        f"{name} {option.opts[0]}"
        for name, command in commands()
        for option in command.params
        if option.param_type_name == "option" and option.name not in {"help", *NOTHING}
        and not option.is_flag and option.default is None and not isinstance(option.show_default, str)
    ]  # fmt: skip
    assert silent == []


def test_the_defaults_that_are_shown_are_those_of_the_settings():
    shown = {
        (name, option.name): option.show_default
        for name, command in commands()
        for option in command.params
        if option.param_type_name == "option"
    }
    usual = SearchSettings(space="mlp")
    for field in ("searcher", "memory_batch"):
        assert shown["search", field] == str(getattr(usual, field))
    assert str(usual.evaluations) in shown["search", "evaluations"]  # a searcher may propose fewer by itself
    for field in ("data", "repeats", "seed", "threads", "device"):
        assert shown["search", field] == str(getattr(ScoringSettings(), field))
    assert shown["search", "proxy"] == shown["bench", "proxy"] == ", ".join(ScoringSettings().proxies)
    assert shown["calibrate", "proxy"] == ", ".join(calibration_table.PROXIES)
    assert shown["calibrate", "untrained"] == calibration_table.UNTRAINED
