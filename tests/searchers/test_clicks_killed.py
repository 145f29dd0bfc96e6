"""A click log from its file to the trained network, killed at any moment: the end is that of one that was never touched."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import textwrap

import pytest
from tests import clicks

from foresee.runs import Store

#: forks the command line again and again; this process has imported torch and never used it
KILLER = """
import os, random, signal, sys, time
import foresee.cli.commands.search, foresee.data.clicks.clicks, foresee.recommenders, foresee.report, foresee.searchers
import foresee.searchers.foremost, foresee.searchers.presets, foresee.spaces.nasrec, foresee.supernets.warm
from foresee.cli.app import app

COMMAND = ["search", "nasrec-small", "--data", "clicks.csv", "--schema", "schema.toml", "--warmup", "1%", "--proxy", "sigeo",
           "--searcher", "batch_evolution", "--evaluations", "16", "--finalists", "2", "--train-best", "2", "--recipe", "ctr",
           "--train-folds", "2", "--set", "recipe.batch=64",
           "--set", "batch_evolution.population=6", "--set", "batch_evolution.sample=3",
           "--set", "batch_evolution.children=4", "--set", "space.blocks=2", "--set", "space.dense_widths=[16,32]",
           "--set", "space.sparse_widths=[16]", "--engine", "serial", "--resume", "--quiet"]

def child(out):
    pid = os.fork()
    if pid == 0:
        os.environ["FORESEE_PREPARED"] = f"prepared-{out}"
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        try:
            app([*COMMAND, "--out", out], standalone_mode=False)
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
    return pid

start = time.monotonic()
assert os.waitstatus_to_exitcode(os.waitpid(child("whole"), 0)[1]) == 0
length = time.monotonic() - start
rng = random.Random(3)
kills = folders = 0
while kills < KILLS:
    folders += 1
    while True:
        pid = child(f"killed{folders}")
        time.sleep(rng.uniform(0.0, rng.choice([length, length / 8])))
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0, status
            break
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        kills += 1
print(kills, folders)
"""


def end(folder):
    """All that counts of a run and of its trainings; seconds are another matter."""
    with Store.open(folder / "run.sqlite") as store:
        candidates = [(c.id, c.architecture, c.merit, c.status) for c in store.record().candidates]
        state, record = store.get("searcher_state"), store.record()
    trained = json.loads((folder / "trained.json").read_text(encoding="utf-8"))
    assert "4 trainings" in trained.pop("chosen")  # which says their seconds too
    for one in trained["foremost"]:
        one.pop("seconds", None)
        one["compared"].pop("seconds")
    weights = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.name in ("best.safetensors", "supernet.safetensors", "values.npy")
    }
    best = json.loads((folder / "best.json").read_text(encoding="utf-8"))
    return candidates, state, record.status, record.foremost, best, trained, weights


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_the_same_network(tmp_path):
    """Preparation, warm-up, search, finals, comparison, training: SIGKILL falls in any of them."""
    clicks.write_schema(tmp_path / "schema.toml")
    clicks.write_log(tmp_path / "clicks.csv", 2000)
    (tmp_path / "killer.py").write_text(textwrap.dedent(KILLER).replace("KILLS", "8"), encoding="utf-8")
    done = subprocess.run([sys.executable, "killer.py"], cwd=tmp_path, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    kills, folders = map(int, done.stdout.split())
    assert kills >= 8
    whole = end(tmp_path / "whole")
    assert len(whole[-1]) == 4  # the supernet, the winner, what encodes in the run and beside it
    for folder in range(1, folders + 1):
        assert end(tmp_path / f"killed{folder}") == whole
