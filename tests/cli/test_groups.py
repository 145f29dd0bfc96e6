"""Options that commands share: declared once, told apart by who takes them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from foresee.cli.groups import Group, LookOptions, ScoringOptions, grouped
from foresee.errors import InputError
from foresee.scoring import ScoringSettings


@dataclass
class Oven(Group):
    heat: Annotated[int, typer.Option(help="degrees")] = 200
    fan_: Annotated[bool, typer.Option("--fan", help="blow")] = False


def command(seen):
    app = typer.Typer()

    @app.command()
    @grouped
    def bake(oven: Oven, what: Annotated[str, typer.Argument()], times: int = 1) -> None:
        """Bake WHAT."""
        seen.append((oven, what, times))

    return app


def test_a_group_is_one_value_for_the_command_and_plain_options_for_people():
    seen = []
    runner, app = CliRunner(), command(seen)
    assert runner.invoke(app, ["bread", "--heat", "230", "--fan", "--times", "2"]).exit_code == 0
    assert runner.invoke(app, ["bread"]).exit_code == 0
    assert seen == [(Oven(230, True), "bread", 2), (Oven(), "bread", 1)]
    shown = runner.invoke(app, ["--help"]).output
    assert "--heat" in shown
    assert "degrees" in shown
    assert "Bake WHAT" in shown
    assert runner.invoke(app, ["bread", "--heat", "hot"]).exit_code == 2


def test_every_scoring_setting_can_be_said():
    said = {one.name for one in fields(ScoringOptions)} - {"set_"}
    names = {"proxy": "proxies", "input_": "inputs"}
    assert {names.get(name, name) for name in said} | {"proxy_settings"} == set(ScoringSettings.kinds())


def test_what_was_not_said_is_left_to_the_defaults():
    assert ScoringOptions().said() == {}
    options = ScoringOptions(data="synthetic", proxy=["grad-norm"], input_="3x8x8")
    assert options.said() == {"data": "synthetic", "proxies": ["grad-norm"], "inputs": [3, 8, 8]}
    assert options.settings(seed=4) == ScoringSettings(
        proxies=("grad_norm",), data="synthetic", inputs=(3, 8, 8), seed=4
    )
    assert LookOptions(seed=0).said() == {"seed": 0}
    with pytest.raises(InputError, match="batch_size = 0"):
        ScoringOptions(batch_size=0).settings()
