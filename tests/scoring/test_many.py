"""Scoring many: the numbers of a plain search, each once, by any engine, and kept through a kill."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from torch import nn

from foresee.data import Synthetic
from foresee.errors import InputError, UnknownNameError
from foresee.runs.events import Event
from foresee.scoring import Job, ScoreMatrix, Scorer, ScoringSettings, keys
from foresee.scoring.cache import Cache
from foresee.scoring.many import scored
from foresee.spaces import get, own
from foresee.task import Task

TASK = Task((3, 8, 8), 4)
SMALL = {"channels": 2, "cells": 1}
SPACE = get("nasbench201", **SMALL)
TEXTS = [str(SPACE.sample(random.Random(number))) for number in range(8)]
LOOK = {"task": TASK, "data": "synthetic", "space_settings": SMALL, "batch_size": 4}
PROXIES = ["naswot", "grad_norm", "synflow", "params", "macs", "random"]


@pytest.fixture
def jobs(monkeypatch):
    """Counts what is really scored."""
    done = []
    plain = Scorer.__call__
    monkeypatch.setattr(Scorer, "__call__", lambda self, job: done.append(job) or plain(self, job))
    return done


def values(found):
    return {name: matrix.values.tolist() for name, matrix in found.items()}


def test_scores_are_those_of_a_search():
    found = scored("nasbench201", TEXTS[:3], PROXIES, seeds=(0, 7), **LOOK)
    for column, seed in enumerate((0, 7)):
        settings = ScoringSettings(
            proxies=tuple(PROXIES), seed=seed, data="synthetic", inputs=TASK.inputs, outputs=TASK.outputs, batch_size=4
        )
        scorer = Scorer("nasbench201", settings, space_settings=SMALL)
        for row, one in enumerate(scorer(Job(tuple(TEXTS[:3]), tuple(PROXIES), seed))):
            for score in one.scores:
                assert found[score.proxy].values[row, column] == score.value, score.proxy
    assert found["naswot"].values.shape == (3, 2)
    assert (found["naswot"].statuses == "ok").all()
    assert (found["naswot"].seconds > 0).all()


def test_a_score_does_not_depend_on_company_or_order():
    together = values(scored("nasbench201", TEXTS, PROXIES, **LOOK))
    alone = {name: values(scored("nasbench201", TEXTS[::-1], name, **LOOK))[name][::-1] for name in PROXIES}
    assert together == alone


def test_processes_and_serial_are_equal():
    serial = scored("nasbench201", TEXTS, PROXIES, seeds=(0, 1), **LOOK)
    parallel = scored("nasbench201", TEXTS, PROXIES, seeds=(0, 1), engine="processes", workers=2, **LOOK)
    assert values(serial) == values(parallel)


def test_a_second_run_scores_nothing_and_a_second_proxy_only_itself(tmp_path, jobs):
    cache = tmp_path / "scores.sqlite"
    first = scored("nasbench201", TEXTS, ["naswot"], seeds=(0, 1), cache=cache, **LOOK)
    assert len(jobs) == 16
    assert first["naswot"].cached == 0
    again = scored("nasbench201", TEXTS, ["naswot"], seeds=(0, 1), cache=cache, **LOOK)
    assert len(jobs) == 16
    assert again["naswot"].cached == 16
    assert values(again) == values(first)
    more = scored("nasbench201", TEXTS, ["naswot", "grad_norm"], seeds=(0, 1, 2), cache=cache, **LOOK)
    new = jobs[16:]
    assert {job.proxies for job in new if job.seed < 2} == {("grad_norm",)}
    assert {job.proxies for job in new if job.seed == 2} == {("naswot", "grad_norm")}
    assert (more["naswot"].values[:, :2] == first["naswot"].values).all()
    assert len(new) == 24


@pytest.mark.parametrize(
    "change",
    [
        {"seeds": (5,)},
        {"batch_size": 6},
        {"data": "digits"},
        {"task": Task((3, 8, 8), 10)},
        {"space_settings": {"channels": 4, "cells": 1}},
        {"proxy_settings": {"naswot": {"initialise": "he"}}},
        {"threads": 2},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_decides_a_score_is_in_its_key(tmp_path, jobs, change):
    if change.get("data") == "digits":
        change = {**change, "task": Task((3, 8, 8), 10)}
    scored("nasbench201", TEXTS[:1], ["naswot"], cache=tmp_path / "s", **LOOK)
    before = len(jobs)
    scored("nasbench201", TEXTS[:1], ["naswot"], cache=tmp_path / "s", **{**LOOK, **change})
    assert len(jobs) == before + 1


def test_what_looks_at_no_data_is_shared_between_data_sets(tmp_path, jobs):
    baselines = ["params", "macs", "random"]
    task = {**LOOK, "task": Task((3, 8, 8), 10)}
    scored("nasbench201", TEXTS[:2], baselines, cache=tmp_path / "s", **task)
    found = scored("nasbench201", TEXTS[:2], baselines, cache=tmp_path / "s", **{**task, "data": "digits"})
    assert len(jobs) == 2
    assert found["random"].cached == 2


def test_a_changed_formula_is_scored_again(tmp_path, jobs, monkeypatch):
    cache = tmp_path / "s"
    scored("nasbench201", TEXTS[:1], ["naswot", "grad_norm"], cache=cache, **LOOK)
    plain = keys.function_code
    changed = {"naswot"}
    monkeypatch.setattr(keys, "function_code", lambda f: plain(f) + ("changed" if f.__name__ in changed else ""))
    scored("nasbench201", TEXTS[:1], ["naswot", "grad_norm"], cache=cache, **LOOK)
    assert [job.proxies for job in jobs] == [("naswot", "grad_norm"), ("naswot",)]


def test_another_torch_or_reader_of_data_is_scored_again(tmp_path, jobs, monkeypatch):
    def go():
        scored("nasbench201", TEXTS[:1], ["params", "naswot"], cache=tmp_path / "s", **LOOK)
        return jobs[-1].proxies

    go()
    plain, known = keys.code, keys.installed
    monkeypatch.setattr(keys, "installed", lambda package: "0" if package == "torch" else known(package))
    assert go() == ("naswot",)  # what is counted does not ask torch
    monkeypatch.setattr(keys, "code", lambda module: plain(module) + ("changed" if ".data." in module else ""))
    assert (len(jobs), go(), len(jobs)) == (2, ("naswot",), 3)


def test_failures_have_statuses_and_reasons_and_accidents_are_tried_again(tmp_path, jobs):
    texts = [TEXTS[0], "no architecture", TEXTS[1]]
    cache = tmp_path / "s"
    found = scored("nasbench201", texts, ["params", "naswot"], cache=cache, **LOOK)
    for matrix in found.values():
        assert matrix.statuses[:, 0].tolist() == ["ok", "failed", "ok"]
        assert np.isnan(matrix.values[1, 0])
        assert matrix.failed.tolist() == [False, True, False]
        [(reason, count)] = matrix.reasons.items()
        assert count == 1
        assert "no architecture" in reason
    scored("nasbench201", texts, ["params", "naswot"], cache=cache, **LOOK)
    assert [job.texts for job in jobs[3:]] == [("no architecture",)]


def test_one_failed_repeat_is_a_failed_architecture():
    matrix = ScoreMatrix(
        "p", "lower", np.array([[1.0, 3.0], [2.0, np.nan]]), np.array([["ok", "ok"], ["ok", "nan"]]), np.ones((2, 2))
    )
    assert matrix.merits[0].tolist() == [-1.0, -3.0]
    assert matrix.merit[0] == -2.0
    assert matrix.failed.tolist() == [False, True]


def test_parts_come_with_the_values():
    look = {key: value for key, value in LOOK.items() if key != "batch_size"}
    found = scored("nasbench201", TEXTS[:2], ["dextr"], **look)["dextr"]
    assert set(found.parts) == {"curvature", "independence"}
    assert found.parts["curvature"].shape == (2, 1)


def test_texts_may_come_twice(jobs):
    found = scored("nasbench201", [TEXTS[0], TEXTS[1], TEXTS[0]], ["naswot"], **LOOK)["naswot"]
    assert len(jobs) == 2
    assert found.values[0] == found.values[2] != found.values[1]


def test_events_count_jobs(tmp_path):
    events = []
    scored("nasbench201", TEXTS[:2], ["params"], cache=tmp_path / "s", observers=[events.append], **LOOK)
    assert [(one.kind, one.done, one.total) for one in events] == [
        ("started", 0, 2), ("scored", 1, 2), ("scored", 2, 2), ("finished", 2, 2),
    ]  # fmt: skip
    events.clear()
    scored("nasbench201", TEXTS[:3], ["params"], cache=tmp_path / "s", observers=[events.append], **LOOK)
    assert next((one.kind, one.done, one.total) for one in events) == ("resumed", 2, 3)


def test_an_open_cache_and_data_and_a_space_handed_over(jobs):
    def net(pick):
        width = pick("width", [2, 4, 8])
        return nn.Sequential(nn.Flatten(), nn.Linear(192, width), nn.ReLU(), nn.Linear(width, 4))

    space = own(net)
    texts = [str(space.sample(random.Random(number))) for number in range(6)]
    with Cache() as cache:
        for _ in range(2):
            found = scored(space, texts, ["naswot", "params"], data=Synthetic(TASK), cache=cache, batch_size=4)
    assert len(jobs) == len(set(texts))
    assert found["params"].values[0, 0] in {192 * w + w + 4 * w + 4 for w in (2, 4, 8)}


def test_mistakes_are_named_before_anything_is_scored(jobs):
    with pytest.raises(UnknownNameError, match="dextr"):
        scored("nasbench201", TEXTS, ["dexter"], **LOOK)
    with pytest.raises(UnknownNameError, match="setting"):
        scored("nasbench201", TEXTS, ["naswot"], proxy_settings={"naswot": {"colour": 1}}, **LOOK)
    with pytest.raises(UnknownNameError, match="nasbench201"):
        scored("nasbench202", TEXTS, ["naswot"], **LOOK)
    with pytest.raises(UnknownNameError, match="engine"):
        scored("nasbench201", TEXTS, ["naswot"], engine="threads", **LOOK)
    with pytest.raises(InputError, match="no seed"):
        scored("nasbench201", TEXTS, ["naswot"], seeds=(), **LOOK)
    assert jobs == []


KILLED = """
import os, signal, sys
from foresee.scoring.many import scored
from foresee.task import Task

def observe(event):
    print(event.kind, event.done, flush=True)

if __name__ == "__main__":
    engine, *texts = sys.argv[1:]
    scored("nasbench201", texts, ["naswot", "random"], seeds=range(12), task=Task((3, 8, 8), 4), data="synthetic",
           space_settings={"channels": 2, "cells": 1}, batch_size=4, cache="scores.sqlite", engine=engine, workers=2,
           observers=[observe])
"""


@pytest.mark.slow
def test_killed_it_goes_on_where_it_was_in_another_engine(tmp_path, jobs):
    (tmp_path / "killed.py").write_text(textwrap.dedent(KILLED))
    victim = subprocess.Popen(
        [sys.executable, "killed.py", "processes", *TEXTS], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    done = 0
    for line in victim.stdout:
        done = int(line.split()[1])
        if done >= 5:
            break
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    time.sleep(0.3)  # its workers see that it is gone
    look = {**LOOK, "seeds": range(12)}
    victim.stdout.close()
    resumed = scored("nasbench201", TEXTS, ["naswot", "random"], cache=tmp_path / "scores.sqlite", **look)
    kept = 96 - len(jobs)
    assert 5 <= done <= kept < 96  # what was announced was kept
    assert values(resumed) == values(scored("nasbench201", TEXTS, ["naswot", "random"], **look))


def test_stacked_scores_are_those_of_one_by_one_and_are_counted():
    texts = [
        "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|none~1|nor_conv_1x1~2|",
        "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|",
        "|skip_connect~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|none~0|skip_connect~1|none~2|",
    ]
    how = {"space_settings": {"channels": 4, "cells": 1}, "data": "synthetic", "inputs": (3, 8, 8), "outputs": 4}
    events: list[Event] = []
    found = scored("nasbench201", texts, ["meco"], stacked=True, observers=[events.append], **how)["meco"]
    alone = scored("nasbench201", texts, ["meco"], **how)["meco"]
    assert (found.stacked, alone.stacked) == (3, 0)
    np.testing.assert_allclose(found.values, alone.values)
    assert events[0].details["ways"] == "meco: many architectures at once"
