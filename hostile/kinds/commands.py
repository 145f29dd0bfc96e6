"""Whatever is typed, a command ends with 0, 1, 2 or 130, never with a traceback, and a refusal is one line.

Options and arguments of every command, found by themselves, get valid, extreme and wrong values, typos and missing files.
What takes long is stopped by Ctrl-C, and has to stop.
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

from foresee.cli.app import app
from foresee.registry import import_all
from foresee.runs import write_whole
from hostile import damage, tables
from hostile.canary import Canary
from hostile.commands import foresee
from hostile.runs import small_run

import_all("foresee.cli.commands")

SECONDS = 240.0
CALLS_PER_CASE = 8

#: words that mean something somewhere, and paths of the folder that a case is in
_VALID = (
    "nasbench201", "mlp", "nats_size", "darts", "params", "grad_norm", "grad-norm", "naswot", "foresee", "dextr:reference",
    "evolution", "random", "serial", "processes", "synthetic", "digits", "cpu", "3x8x8", "4", "2", "1", "0", "8", "600k",
    "5ms", "test_acc_cifar10", "run", "table.csv", "table.npz", "notes.txt", "missing.csv", "folder", "out",
    "out/deeper/still", "settings.toml", "space.channels=2", "evolution.population=4", "list", "dextr-table-1",
    "link.html", "0.9", "mlp(38)", "table:params", "nets:make", "notes.txt/x",
)  # fmt: skip
#: what keeps a call small, so that many are tried
_SMALL: dict[str, list[str]] = {
    "search": ["mlp", "--evaluations", "2", "--proxy", "params", "--data", "synthetic", "--engine", "serial"],
    "score": ["mlp", "--proxy", "params", "--data", "synthetic"],
    "rank": ["mlp", "--sample", "3", "--proxy", "params", "--data", "synthetic"],
    "bench": [
        "--table",
        "table.csv",
        "--target",
        "test_acc",
        "--proxy",
        "params",
        "--sample",
        "5",
        "--data",
        "synthetic",
    ],
    "calibrate": ["--table", "table.csv", "--target", "test_acc", "--proxy", "params", "--untrained", "params"],
    "latency": ["mlp", "--samples", "1", "--input", "3x8x8"],
    "report": ["run"],
    "table info": ["table.csv"],
    "table convert": ["table.csv", "converted.npz"],
}


def case(rng: random.Random, folder: Path) -> None:
    """Some calls, one after the other, in one folder."""
    canary = Canary(folder)
    _furnish(folder)
    for _ in range(CALLS_PER_CASE):
        foresee(drawn(rng), folder, patience=8).check()
        canary.check("by the command line")


def _furnish(folder: Path) -> None:
    """Files to name: a run, tables, something that is none."""
    small_run(folder / "run")
    tables.write_csv(folder / "table.csv")
    write_whole(folder / "notes.txt", "just some words\n")
    write_whole(folder / "settings.toml", 'space = "mlp"\nevaluations = 2\nproxies = ["params"]\ndata = "synthetic"\n')
    (folder / "folder").mkdir()
    (folder / "link.html").symlink_to("notes.txt")


@cache
def _commands() -> dict[str, list[Any]]:
    """Every command with its parameters, as the command line knows them."""
    from typer.main import get_command

    found: dict[str, list[Any]] = {}
    waiting: list[tuple[str, Any]] = [("", get_command(app))]
    while waiting:
        name, one = waiting.pop()
        if hasattr(one, "commands"):
            waiting += [(f"{name} {key}".strip(), inner) for key, inner in sorted(one.commands.items())]
        found[name] = list(one.params)
    return found


def drawn(rng: random.Random) -> list[str]:
    """One command line."""
    name = rng.choice(sorted(_commands()))
    argv, parameters = name.split(), _commands()[name]
    base = _SMALL.get(name, [])
    if rng.random() < 0.8:
        argv += base
    options = [one for one in parameters if one.param_type_name == "option" and "--help" not in one.opts]
    for one in rng.sample(options, min(len(options), rng.choice([0, 1, 1, 2, 3]))):
        argv += _option(rng, one)
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        argv.append(_value(rng))
    if rng.random() < 0.15:
        place = rng.randrange(len(argv) + 1)
        argv[place : place + 1] = [damage.text(rng, argv[place], 1)] if place < len(argv) else [damage.word(rng)]
    return [_harmless(one) for one in argv]


def _option(rng: random.Random, option: Any) -> list[str]:
    name = rng.choice([*option.opts, *option.secondary_opts])
    if rng.random() < 0.05:
        name = damage.text(rng, name, 1)
    if option.is_flag:
        return [name]
    if option.opts == ["--set"]:
        known = rng.choice(["space", "mlp", "evolution", "params", "dextr", "x"])
        return [name, f"{known}.{rng.choice(['hidden', 'population', 'x', damage.word(rng)])}={_value(rng)}"]
    return [name, _value(rng)] if rng.random() < 0.97 else [name]


def _value(rng: random.Random) -> str:
    draw = rng.random()
    if draw < 0.45:
        return rng.choice(_VALID)
    if draw < 0.7:
        return rng.choice(damage.NUMBERS)
    return damage.word(rng) if draw < 0.9 else damage.text(rng, rng.choice(_VALID))


def _harmless(text: str) -> str:
    """As a word that the system can hand over, and never a path out of the case's folder."""
    text = text.replace("\0", "").encode("utf-8", "replace").decode()
    return text.replace("..", ".").replace("~", "-").lstrip("/") if "/" in text or "~" in text else text
