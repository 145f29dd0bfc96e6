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
from foresee.searchers import SearchSettings, run_search
import foresee.proxies, foresee.data, foresee.spaces

def search(out):
    settings = SearchSettings.from_json({
        "space": "nasbench201", "space_settings": {"channels": 2, "cells": 1}, "proxies": ["grad_norm", "naswot"],
        "evaluations": 40, "seed": 5, "data": "synthetic", "inputs": [3, 8, 8], "outputs": 4, "batch_size": 8,
        "searcher_settings": {"population": 8, "sample": 3}, "limits": {"params": {"max": 2500}},
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

start = time.monotonic()
assert os.waitstatus_to_exitcode(os.waitpid(child("whole"), 0)[1]) == 0
length = time.monotonic() - start
rng = random.Random(7)
kills = folders = 0
while kills < 20:
    folders += 1
    while True:
        pid = child(f"killed{folders}")
        time.sleep(rng.uniform(0.0, length))
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0, status
            break
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        kills += 1
print(kills, folders)
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
    (tmp_path / "killer.py").write_text(textwrap.dedent(KILLER))
    done = subprocess.run([sys.executable, "killer.py"], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    kills, folders = map(int, done.stdout.split())
    assert kills >= 20
    for folder in range(1, folders + 1):
        assert rows(tmp_path / f"killed{folder}") == rows(tmp_path / "whole")


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
