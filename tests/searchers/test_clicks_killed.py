"""A click log from its file to the trained network, killed at any moment: the end is that of one that was never touched."""

from __future__ import annotations

import hashlib
import json

import pytest
from tests import clicks
from tests.killing import run_script

from foresee.runs import Store

SCRIPT = """
import os
import foresee.cli.commands.search
from foresee.cli.app import app
from tests.killing import at_random, whole

COMMAND = ["search", "nasrec-small", "--data", "clicks.csv", "--schema", "schema.toml", "--warmup", "1%", "--proxy", "sigeo",
           "--searcher", "batch_evolution", "--evaluations", "10", "--finalists", "2", "--train-best", "2", "--recipe", "ctr",
           "--set", "recipe.batch=64", "--set", "batch_evolution.population=6", "--set", "batch_evolution.sample=3",
           "--set", "batch_evolution.children=4", "--set", "space.blocks=2", "--set", "space.dense_widths=[16,32]",
           "--set", "space.sparse_widths=[16]", "--engine", "serial", "--resume", "--quiet"]

def search(out):
    os.environ["FORESEE_PREPARED"] = f"prepared-{out}"
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    app([*COMMAND, "--out", out], standalone_mode=False)

print(at_random(search, whole(search, "whole"), kills=6, seed=3, parts=(1, 1 / 4)))
"""


def end(folder):
    """All that counts of a run and of its trainings; seconds are another matter."""
    with Store.open(folder / "run.sqlite") as store:
        candidates = [(c.id, c.architecture, c.merit, c.status) for c in store.record().candidates]
        state, record = store.get("searcher_state"), store.record()
    trained = json.loads((folder / "trained.json").read_text(encoding="utf-8"))
    for one in trained["foremost"]:
        one.pop("seconds")
    weights = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.name in ("best.safetensors", "supernet.safetensors", "values.npy")
    }
    best = json.loads((folder / "best.json").read_text(encoding="utf-8"))
    return candidates, state, record.status, record.foremost, best, trained, weights


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_the_same_network(tmp_path):
    """Preparation, warm-up, search, finals, trainings: SIGKILL falls in any of them."""
    clicks.write_schema(tmp_path / "schema.toml")
    clicks.write_log(tmp_path / "clicks.csv", 1000)
    folders = int(run_script(SCRIPT, tmp_path))
    whole = end(tmp_path / "whole")
    assert len(whole[-1]) == 6  # the supernet, two networks, what encodes in the run and beside each
    for folder in range(1, folders + 1):
        assert end(tmp_path / f"killed{folder}") == whole
