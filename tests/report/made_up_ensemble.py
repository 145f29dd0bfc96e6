"""Ensembles, comparisons and defences that never happened, with plausible numbers; `text` stands wherever a name can."""

from __future__ import annotations

from typing import Any

import torch
from tests.report.conftest import cell_text

from foresee.data.normalising import Statistics
from foresee.ensembles.attacks.masking import Compared as Pair
from foresee.ensembles.attacks.masking import Masking
from foresee.ensembles.defended import OUTSIDER, WHOLE, Defence, Defended, Round
from foresee.ensembles.defending import Withstood
from foresee.ensembles.finding import EnsembleRun, EnsembleSettings
from foresee.ensembles.finding.compared import Compared, EnsembleComparison
from foresee.ensembles.measures import measure
from foresee.task import Task

CELLS = [cell_text([3, 3, 2, 1, 3, 3]), cell_text([2, 1, 3, 3, 4, 3]), cell_text([3, 2, 0, 3, 1, 3])]


def made_up_predictions(members: int = 3, samples: int = 300, classes: int = 10, seed: int = 0) -> tuple[Any, Any]:
    """Probabilities (members, samples, classes) and labels: right in three of four cases, each wrong in its own way."""
    draws = torch.Generator().manual_seed(seed)
    labels = torch.randint(classes, (samples,), generator=draws)
    logits = torch.randn(members, samples, classes, generator=draws)
    right = torch.rand(members, samples, generator=draws) < 0.75
    logits.scatter_add_(2, labels.expand(members, -1)[..., None], 3.0 * right[..., None].float())
    return logits.softmax(-1), labels


def made_up_ensemble(text: str = "", members: int = 3, seed: int = 0, **settings: Any) -> EnsembleRun:
    """A run of which only predictions and measures are there."""
    said, labels = made_up_predictions(members, seed=seed)
    found = measure(said, labels)
    texts = tuple(f"{text}{place}" if text else CELLS[place % 3] for place in range(members))
    plain = {"space": "paper_cell", "settings": {}, "task": Task((3, 8, 8), 10).to_json()}
    selected = {
        "architectures": list(texts),
        "loss": 1.0,
        "tried": [1.4, 1.0, 1.2, 1.9],
        "evaluated": [3, 6, 9, 12],
        "deltas": [-2.0, -1.0, 0.0, 1.0],
        "members": [{**plain, "architecture": one, "number": 0} for one in texts],
        "pool": [],
    }
    spent = {"networks": 3, "epochs": 60, "supernet_epochs": 20, "posterior_epochs": 20, "evaluations": 12, "scores": 0}
    names = {
        key: {"name": text or "digits", "samples": 300, "fingerprint": "0" * 16} for key in ("train", "val", "test")
    }
    return EnsembleRun(
        EnsembleSettings("nasbench201", size=members, **settings),
        texts,
        {"val": found, "test": found, "estimated": found},
        {**spent, "seconds": {"supernet": 62.0, "members": 300.0}},
        selected,
        Task((3, 8, 8), 10),
        Statistics((0.5,) * 3, (0.25,) * 3),
        names,
        None,
        {"ensemble": None, "probabilities": said, "labels": labels},
    )


def made_up_defence(text: str = "", members: int = 3, *, masked: bool = False) -> Withstood:
    """Three attacks, a control, the whole ensemble."""
    rows = []
    for place, name in enumerate(("fgsm", "pgd", "cw")):
        known = [0.6 - 0.2 * place + 0.01 * one for one in range(members)]
        rounds = [Round(name, one, 0.9, left, left + 0.2, 0.3, 0.01, 0.2, 40.0, 40.0) for one, left in enumerate(known)]
        outside = Round(name, OUTSIDER, 0.9, 0.5, 0.85, None, None, None, 40.0, 40.0)
        whole = Round(name, WHOLE, 0.93, 0.4, 0.4, 1.0, 0.01, 0.2, 40.0, 40.0)
        rows.append(Defended(name, {"eps": text or 0.01}, tuple(rounds), outside, whole))
    found = Defence(100, members, 0, 0.93, (0.9,) * members, tuple(rows))
    pair = Pair(
        "steps",
        "FGSM",
        text or "PGD of 40 steps",
        0.6,
        0.9 if masked else 0.4,
        30 if masked else 0,
        0 if masked else 20,
    )
    look = Masking(100, (pair,), 0.0, 0.0, 0.13)
    asked = {
        "networks": [{"name": text or f"member {one}", "weights": "0" * 16} for one in range(members)],
        "average": "probabilities",
        "outsider": {"name": text or "out", "weights": "1" * 16},
        "data": {"name": text or "digits/test", "fingerprint": "2" * 16, "of": 360, "samples": 100},
        "seed": 0,
    }
    looks = {**dict.fromkeys(range(members), look), WHOLE: look}
    return Withstood(
        found, asked, looks, ("images of digits/test", text or "some were seen"), 61.0, None, {"torch": text}
    )


def made_up_comparison(text: str = "", seeds: int = 3) -> EnsembleComparison:
    """Three samplers, of which one failed under one seed."""
    rows = []
    labels = ("svgd_rd", "uniform", text or "deep:ResNet")
    for number, label in enumerate(labels):
        for seed in range(seeds):
            run = made_up_ensemble(text, seed=10 * number + seed)
            plain = {key: one.to_json() for key, one in run.measures.items()}
            if number == 2 and seed == 1:
                rows.append(Compared(label, seed, label, reason=text or "the loss is nan"))
            else:
                rows.append(Compared(label, seed, label, run.architectures, plain, run.budget))
    return EnsembleComparison(labels, tuple(rows), "uniform")
