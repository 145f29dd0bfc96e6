"""Settings that are damaged, of wrong types or extreme are refused in one line, or there is a run.

TOML files and `--set`, with whatever can stand in them, handed to `foresee search`.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from foresee.runs.toml import dumps
from foresee.searchers import SearchSettings
from hostile import damage
from hostile.commands import foresee

SECONDS = 240.0
CALLS_PER_CASE = 6


def case(rng: random.Random, folder: Path) -> None:
    """Some files of settings, one after the other."""
    for number in range(CALLS_PER_CASE):
        written = f"settings{number}.toml"
        (folder / written).write_bytes(_file(rng))
        argv = ["search", "--settings", written, "--out", f"out{number}", "--engine", "serial", "--quiet"]
        argv += ["--evaluations", "2"] if rng.random() < 0.9 else []
        for _ in range(rng.choice([0, 0, 1, 2])):
            argv += ["--set", _pair(rng)]
        foresee(argv, folder, patience=10).check()


def _file(rng: random.Random) -> bytes:
    """A valid file, one with wrong values, or a damaged one."""
    plain = _valid(rng)
    for _ in range(rng.choice([0, 1, 1, 2, 4])):
        key = rng.choice([*SearchSettings.kinds(), damage.word(rng)])
        plain[key] = damage.value(rng)
    try:
        text = dumps(plain)
    except Exception:  # not everything can be written as TOML; the valid part can be damaged
        text = dumps(_valid(rng))
    draw = rng.random()
    if draw < 0.3:
        text = damage.text(rng, text)
    if draw < 0.1:
        text += f"\nx = {'[' * 5000}{']' * 5000}\n"
    written = text.encode("utf-8", "surrogatepass")
    return damage.content(rng, written) if draw > 0.85 else written


def _valid(rng: random.Random) -> dict[str, Any]:
    return {
        "space": rng.choice(["mlp", "nasbench201", "nats_size"]),
        "proxies": rng.sample(["params", "macs", "l2_norm", "grad-norm"], rng.randint(1, 2)),
        "searcher": rng.choice(["evolution", "random"]),
        "data": "synthetic",
        "inputs": [3, 8, 8],
        "outputs": 4,
        "batch_size": 4,
        "limits": rng.choice([{}, {"params": {"max": 10**9}}, {"macs": {"min": 1}}]),
        "evaluations": 2,
    }


def _pair(rng: random.Random) -> str:
    name = rng.choice(["space", "mlp", "evolution", "random", "params", "grad-norm", "grad_norm", damage.word(rng)])
    key = rng.choice(["hidden", "channels", "cells", "population", "sample", "initialise", damage.word(rng)])
    pair = f"{name}.{key}={rng.choice([*damage.NUMBERS, damage.word(rng), '[1,2]', '{}', 'true', 'null', '[' * 3000])}"
    return pair.replace("\0", "").encode("utf-8", "replace").decode()
