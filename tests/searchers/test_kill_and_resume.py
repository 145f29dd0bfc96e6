"""Kill -9 at random moments, resume, and compare with a run that was never stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from foresee.runs import Store, read

NETS = """
from torch import nn

def make_net(pick):
    width = pick("width", list(range(2, 12)))
    depth = pick("depth", [1, 2, 3, 4])
    norm = pick("norm", [True, False])
    layers = [nn.Conv2d(3, width, 3, padding=1)]
    for _ in range(depth):
        layers += [nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)] + ([nn.BatchNorm2d(width)] if norm else [])
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 4))
"""

# Forking from a process that has imported torch but never used it makes a kill cost milliseconds, so many can be tried.
KILLER = """
import os, random, signal, sys, time
from nets import make_net
import foresee as fs
from foresee.searchers import SearchSettings, run_search
import foresee.proxies, foresee.data, foresee.spaces

def search(out):
    settings = SearchSettings.from_json({
        "space": "nets:make_net", "proxies": ["grad_norm", "naswot"], "evaluations": 40, "seed": 5, "data": "synthetic",
        "inputs": [3, 8, 8], "outputs": 4, "batch_size": 8, "searcher_settings": {"population": 8, "sample": 3},
        "limits": {"params": {"max": 3000}},
    })
    run_search(settings, out=out, resume=True)

def child(out):
    pid = os.fork()
    if pid == 0:
        try:
            search(out)
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
    return pid

whole, killed = sys.argv[1:3]
assert os.waitstatus_to_exitcode(os.waitpid(child(whole), 0)[1]) == 0
rng = random.Random(int(sys.argv[3]))
kills = 0
pid = child(killed)
while True:
    time.sleep(rng.uniform(0.0, 0.25))
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        assert os.waitstatus_to_exitcode(status) == 0, status
        break
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    kills += 1
    if kills > 400:
        sys.exit("never finished")
    pid = child(killed)
print(kills)
"""


def rows(folder):
    with Store.open(folder / "run.sqlite") as store:
        record, state = store.record(), store.get("searcher_state")
    candidates = [
        (
            *(c.id, c.architecture, c.identity, c.parent, c.status, c.reason, c.merit, dict(c.counts), c.attempts),
            *((s.proxy, s.value, s.status, s.reason, s.direction, s.seed) for s in c.scores.values()),
        )
        for c in record.candidates
    ]
    return candidates, state, record.status, json.loads((folder / "best.json").read_text())


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_as_if_never_stopped(tmp_path):
    (tmp_path / "nets.py").write_text(NETS)
    (tmp_path / "killer.py").write_text(textwrap.dedent(KILLER))
    kills, attempt = 0, 0
    while kills < 20 and attempt < 12:
        attempt += 1
        killed = tmp_path / f"killed{attempt}"
        done = subprocess.run(
            [sys.executable, "killer.py", str(tmp_path / "whole"), str(killed), str(attempt)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        kills += int(done.stdout)
        assert rows(killed) == rows(tmp_path / "whole")
    assert kills >= 20


@pytest.mark.slow
def test_killed_with_workers_it_resumes_in_another_engine(tmp_path):
    (tmp_path / "nets.py").write_text(NETS)
    command = [sys.executable, "-m", "foresee", "search", "nets:make_net", "--proxy", "naswot", "--evaluations", "30"]
    command += ["--data", "synthetic", "--input", "3x16x16", "--outputs", "4", "--batch-size", "16", "--resume"]
    whole = subprocess.run(
        [*command, "--engine", "serial", "--out", "whole"], cwd=tmp_path, capture_output=True, text=True
    )
    assert whole.returncode == 0, whole.stderr
    victim = subprocess.Popen(
        [*command, "--engine", "processes", "--workers", "2", "--out", "r"], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and victim.poll() is None:
        time.sleep(0.02)
        if (tmp_path / "r" / "run.sqlite").exists() and len(read(tmp_path / "r").scored) >= 5:
            break
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    done = subprocess.run([*command, "--engine", "serial", "--out", "r"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "r") == rows(tmp_path / "whole")
