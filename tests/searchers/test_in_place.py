"""Networks that work in place: one engine or another, whole or resumed, the results are equal."""

from __future__ import annotations

import pytest
import torch
from tests.searchers.test_search import essence, go
from torch import nn

PROXIES = ["grad_norm", "naswot", "synflow", "zico", "dextr", "jacov", "snip"]


class Greedy(nn.Module):
    """Changes what it is given, before anything else."""

    def __init__(self, way):
        super().__init__()
        self.way = way

    def forward(self, inputs):
        if self.way == "scale":
            return inputs.mul_(1.5).add_(0.25)
        if self.way == "cut":
            return nn.functional.relu(inputs, inplace=True)
        inputs[:, :, 0] = 0.0
        return inputs


def greedy_net(pick):
    way = pick("way", ["scale", "cut", "write"])
    width = pick("width", [2, 3, 4, 5])
    return nn.Sequential(Greedy(way), nn.Flatten(), nn.Linear(12, width), nn.ReLU(inplace=True), nn.Linear(width, 2))


ASKED = {"space": f"{__name__}:greedy_net", "proxies": PROXIES, "evaluations": 8, "batch_size": 6}


def test_serial_processes_and_resumed_runs_are_equal(tmp_path):
    whole = go(**ASKED)
    scored = [row for row in whole.record.candidates if row.status == "scored"]
    assert len(scored) == 8

    def interrupt(event):
        if event.kind == "scored" and event.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "r", observers=[interrupt], **ASKED)
    assert essence(go(tmp_path / "r", resume=True, **ASKED).record) == essence(whole.record)
    assert essence(go(engine="processes", workers=2, **ASKED).record) == essence(whole.record)


def test_a_network_is_scored_alike_whoever_came_before():
    """And the batches that all of them look at are left as they are."""
    from foresee.scoring import Job, Scorer, ScoringSettings

    settings = ScoringSettings(
        proxies=tuple(PROXIES), data="synthetic", inputs=(3, 2, 2), outputs=2, batch_size=6, repeats=2
    )
    scorer = Scorer(ASKED["space"], settings)
    texts = [f'{{"way":"{way}","width":3}}' for way in ("scale", "cut", "write")]
    names = tuple(scorer.proxies)
    before = [batch.inputs.clone() for proxy in scorer.proxies.values() for batch in scorer.batches(proxy, 0)]
    first, second = (scorer(Job(tuple(order), names, 0)) for order in (texts, texts[::-1]))
    assert [[one.value for one in found.scores] for found in first] == [
        [one.value for one in found.scores] for found in second[::-1]
    ]
    assert all(found.error is None for found in first)
    after = [batch.inputs for proxy in scorer.proxies.values() for batch in scorer.batches(proxy, 0)]
    assert all(map(torch.equal, before, after))
