"""Small searches of every searcher, and how one of them ended: what kills and faults are compared by."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from foresee.runs import Store
from foresee.searchers import searchers

_SPACES: dict[str, list[str]] = {
    "nasbench201": ["--set", "space.channels=2", "--set", "space.cells=1"],
    "nats_size": [],
    "mlp": [],
}
#: settings that make searchers small which train by default for days
_TRAINED = {"epochs": 2, "batches": 2, "batch": 4}
_SMALL: dict[str, dict[str, int]] = {
    **dict.fromkeys(("darts_1st", "darts_2nd", "snas", "gdas"), _TRAINED),
    "pc_darts": {**_TRAINED, "partial": 2, "warmup": 1},
    "enas": {**_TRAINED, "controller_steps": 2, "draws": 5},
    "setn": {**_TRAINED, "draws": 5},
    "rsps": {**_TRAINED, "draws": 5, "again": 0},
}
_PROXIES = ("grad_norm", "naswot", "synflow", "params", "l2_norm", "snip")


def drawn(rng: random.Random, *, most: int = 40) -> list[str]:
    """The command line of a small search, without its engine and folder: any searcher, a space, proxies, a limit perhaps."""
    space = rng.choice(sorted(_SPACES))
    searcher = rng.choice(searchers.names())
    argv = ["search", space, *_SPACES[space], "--searcher", searcher]
    for key, value in _SMALL.get(searcher, {}).items():
        argv += ["--set", f"{searcher}.{key}={value}"]
    for proxy in rng.sample(_PROXIES, rng.randint(1, 2)):
        argv += ["--proxy", proxy]
    argv += ["--evaluations", str(rng.randint(8, most)), "--seed", str(rng.randrange(1000)), "--data", "synthetic"]
    argv += ["--input", "3x8x8", "--outputs", "4", "--batch-size", str(rng.choice([4, 8])), "--quiet"]
    if rng.random() < 0.5:
        argv += ["--max-params", "40k"]
    return argv


def ending(folder: Path) -> dict[str, Any]:
    """All of a finished run that does not tell the time: equal where two runs came to the same end."""
    with Store.open(folder / "run.sqlite") as store:
        record, state = store.record(), store.get("searcher_state")
    candidates = [
        (
            *(one.id, one.architecture, one.identity, one.parent, one.status, one.reason, one.merit, dict(one.counts)),
            dict(one.objectives),
            [
                (s.proxy, s.value, s.status, s.reason, s.direction, s.seed, s.repeats, s.spread, dict(s.parts))
                for s in one.scores.values()
            ],
        )
        for one in record.candidates
    ]
    steps = [(one.number, one.kind, one.outcome) for one in record.steps]
    return {
        "status": record.status,
        "candidates": candidates,
        "steps": steps,
        "state": state,
        "best": json.loads((folder / "best.json").read_text()),
        "settings": (folder / "settings.toml").read_text(),
        "report": (folder / "report.html").exists(),
    }


def compare(found: Path, whole: Path) -> None:
    """Two runs of the same settings came to the same end."""
    mine, theirs = ending(found), ending(whole)
    for part, value in theirs.items():
        if part == "candidates":
            for one, other in zip(mine[part], value, strict=False):
                assert repr(one) == repr(other), f"a candidate differs from the undisturbed run\n{one}\n{other}"
        assert repr(mine[part]) == repr(value), (
            f"{part}: differs from the undisturbed run\n{mine[part]!r:.1000}\n{value!r:.1000}"
        )
